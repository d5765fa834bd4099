package checkpoint

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"path/filepath"
	"strconv"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
)

// Spark leaves a checksum beside each file that it writes on a local disk: "crc", a zero byte, the size of a chunk and the CRC-32 of
// every chunk, big-endian. We write none, and heed those that are there.

// VerifySum compares a file with its checksum, if there is one.
func VerifySum(fsys fs.FS, file string, content []byte) error {
	sum, err := fs.ReadFile(fsys, filepath.Join(filepath.Dir(file), "."+filepath.Base(file)+".crc"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(sum) < 8 || string(sum[:4]) != "crc\x00" {
		return nil // of another kind, which is not ours to judge
	}
	size, sums := int(binary.BigEndian.Uint32(sum[4:])), sum[8:]
	if size < 1 {
		return nil
	}
	expected := 0
	for from := 0; from < len(content); from += size {
		got := crc32.ChecksumIEEE(content[from:min(len(content), from+size)])
		if len(sums) < 4 || binary.BigEndian.Uint32(sums) != got {
			var want uint32
			if len(sums) >= 4 {
				want = binary.BigEndian.Uint32(sums)
			}
			return sumError(file, strconv.FormatUint(uint64(got), 16), strconv.FormatUint(uint64(want), 16), len(content), expected)
		}
		sums = sums[4:]
		expected += size
	}
	if len(sums) > 0 {
		return sumError(file, "none", strconv.FormatUint(uint64(binary.BigEndian.Uint32(sums)), 16), len(content), expected+1)
	}
	return nil
}

func sumError(file, got, want string, size, expected int) error {
	return errclass.New("CHECKPOINT_FILE_CHECKSUM_VERIFICATION_FAILED", "fileName", file, "computedChecksum", got, "expectedChecksum", want,
		"computedSize", strconv.Itoa(size), "expectedSize", "more than "+strconv.Itoa(expected))
}
