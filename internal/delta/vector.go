package delta

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"strings"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/google/uuid"
)

// Deleted are the numbers of the rows of a file that are deleted.
type Deleted = roaring64.Bitmap

// vectorMagic begins a deletion vector.
const vectorMagic = 1681511377

// maxVector bounds a deletion vector: a size beyond it is taken for damage.
const maxVector = 1 << 30

var errVector = errors.New("the deletion vector is damaged")

// Deleted reads the deletion vector of a file; nil for one without.
func (l *Log) Deleted(a *Add) (*Deleted, error) {
	d := a.DeletionVector
	if d == nil {
		return nil, nil
	}
	data, err := l.vectorBytes(d)
	if err != nil {
		return nil, fmt.Errorf("deletion vector of %s: %w", a.Path, err)
	}
	if len(data) < 4 || binary.LittleEndian.Uint32(data) != vectorMagic {
		return nil, fmt.Errorf("deletion vector of %s: %w: it is of a format that is not known", a.Path, errVector)
	}
	m := roaring64.New()
	if _, err := m.ReadFrom(bytes.NewReader(data[4:])); err != nil {
		return nil, fmt.Errorf("deletion vector of %s: %w: %w", a.Path, errVector, err)
	}
	return m, nil
}

func (l *Log) vectorBytes(d *DeletionVector) ([]byte, error) {
	switch d.StorageType {
	case "i":
		b, err := decodeZ85(d.PathOrInlineDv)
		if err != nil || len(b) < int(d.SizeInBytes) {
			return nil, errVector
		}
		return b[:d.SizeInBytes], nil
	case "u", "p":
	default:
		return nil, fmt.Errorf("storage type %q is not known", d.StorageType)
	}
	path, err := l.vectorFile(d)
	if err != nil {
		return nil, err
	}
	f, err := l.FS.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	off := int64(1)
	if d.Offset != nil {
		off = int64(*d.Offset)
	}
	if d.SizeInBytes < 0 || d.SizeInBytes > maxVector {
		return nil, errVector
	}
	buf := make([]byte, 4+int(d.SizeInBytes)+4)
	if _, err := f.ReadAt(buf, off); err != nil {
		return nil, err
	}
	data := buf[4 : 4+d.SizeInBytes]
	if binary.BigEndian.Uint32(buf) != uint32(d.SizeInBytes) || binary.BigEndian.Uint32(buf[len(buf)-4:]) != crc32.ChecksumIEEE(data) {
		return nil, errVector
	}
	return data, nil
}

// vectorFile is the file that a deletion vector lies in.
func (l *Log) vectorFile(d *DeletionVector) (string, error) {
	if d.StorageType == "p" {
		return l.DataFile(d.PathOrInlineDv)
	}
	if len(d.PathOrInlineDv) < 20 {
		return "", errVector
	}
	at := len(d.PathOrInlineDv) - 20
	b, err := decodeZ85(d.PathOrInlineDv[at:])
	if err != nil {
		return "", err
	}
	id, err := uuid.FromBytes(b)
	if err != nil {
		return "", err
	}
	return filepath.Join(l.Path, d.PathOrInlineDv[:at], "deletion_vector_"+id.String()+".bin"), nil
}

// WriteDeleted writes a deletion vector to a file of its own, durably but for the name of the file in its folder.
func (l *Log) WriteDeleted(m *Deleted) (*DeletionVector, error) {
	var data bytes.Buffer
	data.Write(binary.LittleEndian.AppendUint32(nil, vectorMagic))
	m.RunOptimize()
	if _, err := m.WriteTo(&data); err != nil {
		return nil, err
	}
	id := uuid.New()
	n := data.Len()
	out := append([]byte{1}, binary.BigEndian.AppendUint32(nil, uint32(n))...)
	out = append(out, data.Bytes()...)
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(data.Bytes()))
	w, err := l.FS.Create(filepath.Join(l.Path, "deletion_vector_"+id.String()+".bin"))
	if err != nil {
		return nil, err
	}
	_, err = w.Write(out)
	if err := errors.Join(err, w.Sync(), w.Close()); err != nil {
		return nil, err
	}
	offset := int32(1)
	return &DeletionVector{
		StorageType: "u", PathOrInlineDv: encodeZ85(id[:]), Offset: &offset, SizeInBytes: int32(n), Cardinality: int64(m.GetCardinality()),
	}, nil
}

// VectorFiles are the names of files with deletion vectors that actions name, by the file that each lies in.
func (l *Log) vectorName(d *DeletionVector) (string, bool) {
	if d == nil || d.StorageType == "i" {
		return "", false
	}
	name, err := l.vectorFile(d)
	return name, err == nil
}

const z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"

// encodeZ85 writes bytes, whose number is a multiple of four, as text.
func encodeZ85(b []byte) string {
	var out []byte
	for ; len(b) >= 4; b = b[4:] {
		x := binary.BigEndian.Uint32(b)
		var five [5]byte
		for i := 4; i >= 0; i-- {
			five[i] = z85[x%85]
			x /= 85
		}
		out = append(out, five[:]...)
	}
	return string(out)
}

func decodeZ85(s string) ([]byte, error) {
	if len(s)%5 != 0 {
		return nil, errVector
	}
	var out []byte
	for ; len(s) > 0; s = s[5:] {
		x := uint64(0)
		for i := range 5 {
			d := strings.IndexByte(z85, s[i])
			if d < 0 {
				return nil, errVector
			}
			x = x*85 + uint64(d)
		}
		if x > 1<<32-1 {
			return nil, errVector
		}
		out = binary.BigEndian.AppendUint32(out, uint32(x))
	}
	return out, nil
}
