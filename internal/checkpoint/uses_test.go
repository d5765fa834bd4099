package checkpoint

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/fs/errfs"
)

// Lines that repeat an earlier one belong to the same source where there are fewer logs than lines.
func TestBySource(t *testing.T) {
	for _, x := range []struct {
		name, lines, want string
		logs              int
	}{
		{"one", "5", "5", 1},
		{"union with itself", "5 5", "5", 1},
		{"two in step", "5 5", "5 5", 2},
		{"union with itself, then another", "5 5 2", "5 2", 2},
		{"join with itself, then a union", "5 4 5", "5 4", 2},
		{"a log is lost", "5 4", "5 4", 1},
		{"sources without logs", "5 5", "5 5", 0},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := &Checkpoint{fsys: errfs.NewMem(), dir: "/ck"}
			for i := range x.logs {
				if err := fs.MakeDirs(c.fsys, c.SourceDir(i)); err != nil {
					t.Fatal(err)
				}
			}
			var lines []json.RawMessage
			for _, l := range strings.Fields(x.lines) {
				lines = append(lines, json.RawMessage(l))
			}
			var got []string
			for _, l := range c.BySource(lines) {
				got = append(got, string(l))
			}
			if strings.Join(got, " ") != x.want {
				t.Errorf("got %v, want %s", got, x.want)
			}
		})
	}
}
