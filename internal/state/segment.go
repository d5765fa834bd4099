package state

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/klauspost/compress/s2"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// A segment file holds the changes that one batch made to the state of one operator, or, as a snapshot, the whole state at a
// version. See docs/format/state.md.
const (
	segmentMagic   = "millrace state 1\n"
	segmentTrailer = 12 // CRC of header and body, length of both
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Header describes a segment.
type Header struct {
	Version    int64        `json:"version"`
	Snapshot   bool         `json:"snapshot,omitempty"`
	Kind       string       `json:"kind,omitempty"` // bytesKind, or nothing for tables
	Operator   string       `json:"operator"`
	Meaning    string       `json:"meaning,omitempty"`
	Partitions int          `json:"partitions"`
	Keys       []string     `json:"keys"`   // types, as DDL
	Values     []string     `json:"values"` // types, as DDL
	Parts      []Part       `json:"parts,omitempty"`
	Views      []View       `json:"views,omitempty"`
	Shards     []ShardRange `json:"shards,omitempty"`
}

// ShardRange counts the rows of one shard, in the order in which they lie in the segment.
type ShardRange struct {
	Puts    int `json:"puts"`
	Deletes int `json:"deletes,omitempty"`
}

// Changes are the rows of one shard in a segment.
type Changes struct {
	Keys, Values []*vec.Vector // of rows that were added or changed
	Puts         int
	Deleted      []*vec.Vector // keys of rows that were removed
	Deletes      int
}

// NewHeader fills in what a Spec says.
func NewHeader(spec Spec, version int64, snapshot bool) Header {
	return Header{
		Version: version, Snapshot: snapshot, Kind: spec.kind, Operator: spec.Name, Meaning: spec.Meaning, Partitions: spec.Partitions,
		Keys: typeTexts(spec.Keys), Values: typeTexts(spec.Values), Parts: spec.Parts, Views: viewsOf(spec),
	}
}

func typeTexts(fs []types.Field) []string {
	out := make([]string, len(fs))
	for i, f := range fs {
		out[i] = f.Type.SQL()
	}
	return out
}

func columns(prefix string, fs []types.Field) types.StructType {
	st := types.StructType{}
	for i, f := range fs {
		st.Fields = append(st.Fields, types.Field{Name: fmt.Sprintf("%s%d", prefix, i), Type: f.Type, Nullable: true})
	}
	return st
}

// schemas are the layouts of the two tables in a segment: rows that were put, and keys that were deleted.
func schemas(spec Spec) (puts, deletes types.StructType) {
	deletes = columns("k", spec.Keys)
	puts = types.StructType{Fields: append(append([]types.Field(nil), deletes.Fields...), columns("v", spec.Values).Fields...)}
	return puts, deletes
}

// EncodeSegment returns the bytes of a segment with the changes of all shards.
func EncodeSegment(spec Spec, h Header, shards []Changes) ([]byte, error) {
	putSchema, delSchema := schemas(spec)
	puts, dels := make([]*vec.Batch, len(shards)), make([]*vec.Batch, len(shards))
	h.Shards = make([]ShardRange, len(shards))
	for i, c := range shards {
		h.Shards[i] = ShardRange{Puts: c.Puts, Deletes: c.Deletes}
		if c.Puts > 0 {
			puts[i] = vec.NewBatch(c.Puts, append(append([]*vec.Vector(nil), c.Keys...), c.Values...)...)
		}
		if c.Deletes > 0 {
			dels[i] = vec.NewBatch(c.Deletes, c.Deleted...)
		}
	}
	body, err := packTable(putSchema, puts, spec.workers())
	if err != nil {
		return nil, err
	}
	split := 0
	for _, p := range body {
		split += p.size
	}
	deleted, err := packTable(delSchema, dels, spec.workers())
	if err != nil {
		return nil, err
	}
	packed, err := joinPacked(append(body, deleted...)...)
	if err != nil {
		return nil, err
	}
	return frame(h, split, packed)
}

// frame returns a segment's bytes: split is where in its body, which is packed, the deletions begin.
func frame(h Header, split int, packed []byte) ([]byte, error) {
	header, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(segmentMagic)+4+len(header)+8+len(packed)+segmentTrailer)
	out = append(out, segmentMagic...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(header)))
	out = append(out, header...)
	out = binary.LittleEndian.AppendUint64(out, uint64(split))
	out = append(out, packed...)
	out = binary.LittleEndian.AppendUint32(out, crc32.Checksum(out, castagnoli))
	return binary.LittleEndian.AppendUint64(out, uint64(len(out)-4)), nil
}

// DecodeSegment reads a segment back. name is for messages.
func DecodeSegment(spec Spec, name string, content []byte) (Header, []Changes, error) {
	h, split, body, err := open(name, content)
	if err != nil {
		return h, nil, err
	}
	if err := Fits(spec, h); err != nil {
		return h, nil, err
	}
	putSchema, delSchema := schemas(spec)
	puts, err := readTable(body[:split], putSchema)
	if err != nil {
		return h, nil, Damaged(name, err)
	}
	dels, err := readTable(body[split:], delSchema)
	if err != nil {
		return h, nil, Damaged(name, err)
	}
	out := make([]Changes, len(h.Shards))
	nk := len(spec.Keys)
	for i, r := range h.Shards {
		c := Changes{Puts: r.Puts, Deletes: r.Deletes}
		if r.Puts > 0 {
			if len(puts) == 0 || puts[0].N != r.Puts {
				return h, nil, Damaged(name, fmt.Errorf("shard %d does not have the %d rows that the header names", i, r.Puts))
			}
			c.Keys, c.Values = puts[0].Cols[:nk], puts[0].Cols[nk:]
			puts = puts[1:]
		}
		if r.Deletes > 0 {
			if len(dels) == 0 || dels[0].N != r.Deletes {
				return h, nil, Damaged(name, fmt.Errorf("shard %d does not have the %d deletions that the header names", i, r.Deletes))
			}
			c.Deleted = dels[0].Cols
			dels = dels[1:]
		}
		out[i] = c
	}
	return h, out, nil
}

// ReadHeader reads what a segment is about.
func ReadHeader(name string, content []byte) (Header, error) {
	h, _, _, err := open(name, content)
	return h, err
}

// Inspect reads a segment whoever it belongs to: the columns are those that its header names.
func Inspect(name string, content []byte) (Header, []Changes, error) {
	h, _, _, err := open(name, content)
	if err != nil {
		return h, nil, err
	}
	spec, err := h.Spec()
	if err != nil {
		return h, nil, Damaged(name, err)
	}
	return DecodeSegment(spec, name, content)
}

// open checks the frame of a segment and unpacks its body.
func open(name string, content []byte) (h Header, split int, body []byte, err error) {
	if len(content) < len(segmentMagic)+4+8+segmentTrailer || string(content[:len(segmentMagic)]) != segmentMagic {
		return h, 0, nil, Damaged(name, fmt.Errorf("it does not begin with %q or is cut off", segmentMagic[:len(segmentMagic)-1]))
	}
	end := len(content) - segmentTrailer
	if got := binary.LittleEndian.Uint64(content[end+4:]); got != uint64(end) {
		return h, 0, nil, Damaged(name, fmt.Errorf("it says it has %d bytes and has %d", got, end))
	}
	if crc32.Checksum(content[:end], castagnoli) != binary.LittleEndian.Uint32(content[end:]) {
		return h, 0, nil, Damaged(name, fmt.Errorf("its checksum does not match"))
	}
	rest := content[len(segmentMagic):end]
	size := int(binary.LittleEndian.Uint32(rest))
	if size+12 > len(rest) {
		return h, 0, nil, Damaged(name, fmt.Errorf("its header is longer than the file"))
	}
	if err := json.Unmarshal(rest[4:4+size], &h); err != nil {
		return h, 0, nil, Damaged(name, err)
	}
	if body, err = s2.Decode(nil, rest[12+size:]); err != nil {
		return h, 0, nil, Damaged(name, fmt.Errorf("its body does not unpack: %w", err))
	}
	first := binary.LittleEndian.Uint64(rest[4+size:])
	if first > uint64(len(body)) {
		return h, 0, nil, Damaged(name, fmt.Errorf("its first table is longer than its body"))
	}
	return h, int(first), body, nil
}

func readTable(b []byte, st types.StructType) ([]*vec.Batch, error) {
	if len(b) == 0 {
		return nil, nil
	}
	r, err := ipc.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	var out []*vec.Batch
	for r.Next() {
		vb, err := vec.FromArrow(r.RecordBatch(), st)
		if err != nil {
			return nil, err
		}
		out = append(out, vb)
	}
	return out, r.Err()
}

// Damaged is the error of a file that is not what it should be, for the reason that err gives.
func Damaged(name string, err error) error {
	return errclass.New("CANNOT_LOAD_STATE_STORE.CANNOT_READ_STREAMING_STATE_FILE", "fileToRead", name).WithCause(err)
}

func kindText(kind string) string {
	if kind == "" {
		return "tables"
	}
	return kind
}
