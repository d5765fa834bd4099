package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace/millrace"
)

// local is millrace alone.
func local(t *testing.T) engines {
	t.Helper()
	s, err := millrace.Connect(t.Context(), "local[2]")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := settings(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	return engines{'M': s}
}

// stored puts a recorded run into a folder of its own.
func stored(t *testing.T, name string, prog *program) *place {
	t.Helper()
	p := &place{dir: filepath.Join(t.TempDir(), "x")}
	if err := unpack(filepath.Join("testdata", name+".zip"), p.dir); err != nil {
		t.Fatal(err)
	}
	if err := p.found(prog); err != nil {
		t.Fatal(err)
	}
	return p
}

// each runs a test for all programs, or for those that need no time to pass.
func each(t *testing.T, timed bool, f func(t *testing.T, prog *program, e engines)) {
	for i := range programs {
		prog := &programs[i]
		if timed && prog.untimed {
			continue
		}
		t.Run(prog.name, func(t *testing.T) {
			t.Parallel()
			f(t, prog, local(t))
		})
	}
}

// TestGoesOnAfterSpark continues what Spark has left, wholly its own or after turns with us, also where it looks like a crash.
func TestGoesOnAfterSpark(t *testing.T) {
	each(t, false, func(t *testing.T, prog *program, e engines) {
		after := []string{"M", "cM", "sM", "oM"}
		if prog.untimed {
			after = []string{"sMM"} // the first turn does no more than run the batch again; each waits for a second
		}
		for _, name := range []string{prog.name, prog.name + ".turns"} {
			for _, turns := range after {
				p := stored(t, name, prog)
				err := e.play(t.Context(), prog, p, turns)
				if err == nil {
					err = e.verify(t.Context(), prog, p)
				}
				if err != nil {
					t.Errorf("%s, then %s: %v", name, turns, err)
				}
			}
		}
	})
}

// TestWritesWhatSparkWrites runs programs from their beginning and compares all that is beside the data.
func TestWritesWhatSparkWrites(t *testing.T) {
	each(t, true, func(t *testing.T, prog *program, e engines) {
		want, err := os.ReadFile(filepath.Join("testdata", prog.name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		p := &place{dir: filepath.Join(t.TempDir(), "x")}
		if err := e.play(t.Context(), prog, p, "MMMMMMMM"); err != nil {
			t.Fatal(err)
		}
		got, err := p.written(prog)
		if err == nil {
			err = difference(string(want), got)
		}
		if err != nil {
			t.Error(err)
		}
	})
}

// TestGoesOnLikeSpark continues Spark's run and compares with Spark's own continuation: from a mixture nobody can tell who wrote what.
func TestGoesOnLikeSpark(t *testing.T) {
	each(t, true, func(t *testing.T, prog *program, e engines) {
		want, err := os.ReadFile(filepath.Join("testdata", prog.name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		p := stored(t, prog.name, prog)
		if err := e.play(t.Context(), prog, p, "MMMM"); err != nil {
			t.Fatal(err)
		}
		got, err := p.written(prog)
		if err == nil {
			err = difference(string(want), got)
		}
		if err != nil {
			t.Error(err)
		}
	})
}

// TestRecordedHasNoPlaces keeps names of folders and ids of the machine that testdata was recorded on out of it.
func TestRecordedHasNoPlaces(t *testing.T) {
	texts, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(texts) != len(programs) {
		t.Fatalf("%d texts of %d programs: %v", len(texts), len(programs), err)
	}
	for _, name := range texts {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range []string{"/tmp/", "/home/", "/root/"} {
			if strings.Contains(string(text), bad) {
				t.Errorf("%s has %s", name, bad)
			}
		}
	}
}
