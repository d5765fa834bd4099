package fs_test

import (
	"testing"

	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/fs/errfs"
)

// A directory that MakeDirs has once made is there after a crash, also when an earlier call was interrupted by an error.
func TestMakeDirsAfterAnError(t *testing.T) {
	const dir = "/a/b/c/d"
	for k := 1; ; k++ {
		m := errfs.NewMem()
		rule := errfs.FailAt(k, func(errfs.Op) bool { return true }, errfs.ErrIO)
		if err := fs.MakeDirs(errfs.Wrap(m, rule), dir); (err != nil) != rule.Hit() {
			t.Fatalf("call %d: %v", k, err)
		}
		if err := fs.MakeDirs(m, dir); err != nil {
			t.Fatalf("call %d: again: %v", k, err)
		}
		if _, err := m.Crash(nil).Stat(dir); err != nil {
			t.Errorf("call %d: after a crash: %v", k, err)
		}
		if !rule.Hit() {
			return
		}
	}
}
