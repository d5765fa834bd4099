package stream

import (
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/cockroachdb/datadriven"

	"github.com/millrace/millrace/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// variant is one choice of what must not matter.
type variant struct {
	partitions, vector, workers, splits int
	restart                             bool // between any two batches
	provider                            string
	conf                                map[string]string
}

func (v variant) String() string {
	text := fmt.Sprintf("partitions=%d,vectors=%d,workers=%d,splits=%d", v.partitions, v.vector, v.workers, v.splits)
	if v.restart {
		text += ",restarts"
	}
	if v.provider != "" {
		text += "," + v.provider
	}
	return text
}

// variants are those of a script. The first writes the results when the flag -rewrite is given, the others must agree.
func variants(l limits) []variant {
	vs := []variant{
		{partitions: 2, vector: 4096, workers: 2, splits: 1},
		{partitions: 1, vector: 1, workers: 1, splits: 1},
		{partitions: 5, vector: 3, workers: 5, splits: 3},
	}
	vs = append(vs, variant{partitions: 3, vector: 4096, workers: 2, splits: 1, provider: "millrace.lsm"})
	if l.noSplits {
		vs[2].splits = 1
	}
	if !l.noRestart {
		vs = append(vs, variant{partitions: 5, vector: 1, workers: 2, splits: 1, restart: true})
		vs = append(vs, variant{partitions: 2, vector: 4096, workers: 2, splits: 1, restart: true, provider: "millrace.lsm"})
	}
	return vs
}

// scripts calls f for every script.
func scripts(t *testing.T, f func(t *testing.T, path string, l limits)) {
	paths, err := filepath.Glob("testdata/*.stream")
	if err != nil || len(paths) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			l, err := limitsOf(path)
			if err != nil {
				t.Fatal(err)
			}
			f(t, path, l)
		})
	}
}

func TestScripts(t *testing.T) {
	if *remote != "" {
		t.Skip("the scripts are run remotely")
	}
	scripts(t, func(t *testing.T, path string, l limits) {
		for i, v := range variants(l) {
			if i > 0 && rewriting() {
				return
			}
			t.Run(v.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := newRunner(newLocal(t, v), v)
					datadriven.RunTest(t, path, r.run)
				})
			})
		}
	})
}

func newRunner(l *local, v variant) *runner {
	r := &runner{t: l}
	if v.restart {
		r.between = func() error {
			if !r.running || r.ended {
				return nil
			}
			return l.q.TryRestart()
		}
	}
	return r
}
