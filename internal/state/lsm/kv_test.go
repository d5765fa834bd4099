package lsm

import (
	"testing"

	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/state/statetest"
)

// openKV opens a store that has room for a few keys only.
func openKV(fsys fs.FS, spec state.Spec) (state.KVStore, error) {
	p := Provider{FS: fsys, Memory: &Memory{}, Limit: minLimit}
	s, err := p.OpenKV("/state", spec)
	if err == nil {
		small(p, s.(*kvStore).store)
		s.(*kvStore).snapshotChanges = 3
	}
	return s, err
}

func TestKVIsAMap(t *testing.T) { statetest.KVIsAMap(t, openKV) }

func TestKVKeepsWhatIsDurable(t *testing.T) {
	step := 7
	if testing.Short() {
		step = 31
	}
	statetest.KVKeepsWhatIsDurable(t, openKV, step)
}

func TestKVRefusesDamage(t *testing.T) { statetest.KVRefusesDamage(t, openKV) }
func TestKVRefusesOthers(t *testing.T) { statetest.KVRefusesOthers(t, openKV) }

// BenchmarkKV counts 100 k keys once each and makes them durable.
func BenchmarkKV(b *testing.B) {
	statetest.BenchKV(b, func() state.KVStore {
		s, err := Provider{FS: fs.WithoutSync(fs.Local()), Memory: &Memory{}}.OpenKV(b.TempDir(), statetest.Spec(4))
		if err != nil {
			b.Fatal(err)
		}
		return s
	})
}
