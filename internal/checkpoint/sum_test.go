package checkpoint

import (
	"encoding/binary"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/millrace/millrace/internal/errclass"
	mfs "github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/fs/errfs"
)

// TestSums: an entry that does not fit the checksum that Spark has left of it is refused by name.
func TestSums(t *testing.T) {
	sum := func(content string) []byte {
		out := binary.BigEndian.AppendUint32([]byte("crc\x00"), 512)
		for len(content) > 0 {
			n := min(len(content), 512)
			out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE([]byte(content[:n])))
			content = content[n:]
		}
		return out
	}
	good := "v1\n{\"nextBatchWatermarkMs\":7" + strings.Repeat(" ", 600) + "}"
	for name, c := range map[string]struct {
		content string
		sum     []byte
		bad     bool
	}{
		"fits":               {good, sum(good), false},
		"none":               {good, nil, false},
		"of another kind":    {good, []byte("sum of a kind"), false},
		"flipped":            {strings.Replace(good, "7", "6", 1), sum(good), true},
		"flipped at the end": {strings.TrimSuffix(good, "}") + "\t}", sum(good), true},
		"torn":               {good[:512], sum(good), true},
		"too short a sum":    {good, sum(good)[:12], true},
	} {
		m := errfs.NewMem()
		if err := m.MkdirAll("/ck/commits"); err != nil {
			t.Fatal(err)
		}
		if err := mfs.WriteOnce(t.Context(), m, "/ck/commits/0", []byte(c.content)); err != nil {
			t.Fatal(err)
		}
		if c.sum != nil {
			if err := mfs.WriteOnce(t.Context(), m, "/ck/commits/.0.crc", c.sum); err != nil {
				t.Fatal(err)
			}
		}
		l, err := OpenCommits(m, "/ck/commits")
		if err != nil {
			t.Fatal(err)
		}
		_, err = l.Get(0)
		if errclass.Has(err, "CHECKPOINT_FILE_CHECKSUM_VERIFICATION_FAILED") != c.bad || err == nil == c.bad || c.bad && !strings.Contains(err.Error(), "/ck/commits/0") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
