package mem

import (
	"testing"

	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/state/statetest"
)

func openKV(fsys fs.FS, spec state.Spec) (state.KVStore, error) {
	s, err := Provider{FS: fsys}.OpenKV("/state", spec)
	if err == nil {
		s.(*kvStore).minSnapshot, s.(*kvStore).maxDeltas, s.(*kvStore).small = 1<<9, 3, 0
	}
	return s, err
}

func TestKVIsAMap(t *testing.T)             { statetest.KVIsAMap(t, openKV) }
func TestKVKeepsWhatIsDurable(t *testing.T) { statetest.KVKeepsWhatIsDurable(t, openKV, 1) }
func TestKVRefusesDamage(t *testing.T)      { statetest.KVRefusesDamage(t, openKV) }
func TestKVRefusesOthers(t *testing.T)      { statetest.KVRefusesOthers(t, openKV) }

// BenchmarkKV counts 100 k keys once each and makes them durable.
func BenchmarkKV(b *testing.B) {
	statetest.BenchKV(b, func() state.KVStore {
		s, err := Provider{FS: fs.WithoutSync(fs.Local())}.OpenKV(b.TempDir(), statetest.Spec(4))
		if err != nil {
			b.Fatal(err)
		}
		return s
	})
}
