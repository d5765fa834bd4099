package checkup_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace"
	_ "github.com/millrace/millrace/engine"
	"github.com/millrace/millrace/internal/checkup"
	"github.com/millrace/millrace/internal/fs"
)

// bench is a query from JSON files to JSON files with a checkpoint.
type bench struct {
	t        *testing.T
	dir      string
	provider string
	stateful bool
	files    int
}

func (b *bench) path(names ...string) string {
	return filepath.Join(append([]string{b.dir}, names...)...)
}

func (b *bench) feed(n int) {
	b.t.Helper()
	if err := os.MkdirAll(b.path("in"), 0o755); err != nil {
		b.t.Fatal(err)
	}
	for range n {
		text := fmt.Sprintf("{\"ts\":\"2026-01-01 10:%02d:00\",\"k\":\"k%d\",\"v\":%d}\n", b.files, b.files%3, b.files)
		if err := os.WriteFile(b.path("in", fmt.Sprintf("%03d.json", b.files)), []byte(text), 0o644); err != nil {
			b.t.Fatal(err)
		}
		b.files++
	}
}

func (b *bench) session() *millrace.Session {
	b.t.Helper()
	s, err := millrace.Connect(b.t.Context(), "local[2]", millrace.WithConf("spark.sql.shuffle.partitions", "2"),
		millrace.WithConf("spark.sql.streaming.stateStore.providerClass", b.provider))
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = s.Close() })
	return s
}

func (b *bench) run() error {
	ctx := context.Background()
	df := b.session().ReadStream().SchemaDDL("ts TIMESTAMP, k STRING, v INT").Option("maxFilesPerTrigger", "1").JSON(b.path("in"))
	if b.stateful {
		df = df.WithWatermark("ts", "1 minute").DropDuplicates("ts", "k", "v")
	}
	q, err := df.WriteStream().Format("json").Option("checkpointLocation", b.path("ck")).Trigger(millrace.AvailableNow()).Start(ctx, b.path("out"))
	if err != nil {
		return err
	}
	return q.AwaitTermination(ctx)
}

// rows are the values in the output.
func (b *bench) rows() []int {
	b.t.Helper()
	var out []int
	for r, err := range b.session().Read().SchemaDDL("v INT").JSON(b.path("out")).Rows(b.t.Context()) {
		if err != nil {
			b.t.Fatal(err)
		}
		out = append(out, int(r.At(0).(int32)))
	}
	slices.Sort(out)
	return out
}

func begun(t *testing.T, provider string, stateful bool) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir(), provider: provider, stateful: stateful}
	b.feed(4)
	if err := b.run(); err != nil {
		t.Fatal(err)
	}
	return b
}

// damages are what can become of a file.
var damages = map[string]func(name string) error{
	"missing": os.Remove,
	"empty":   func(name string) error { return os.WriteFile(name, nil, 0o644) },
	"torn": func(name string) error {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		return os.Truncate(name, info.Size()/2)
	},
	"flipped": func(name string) error {
		content, err := os.ReadFile(name)
		if err != nil || len(content) == 0 {
			return err
		}
		content[len(content)-1] ^= 0x10
		return os.WriteFile(name, content, 0o644)
	},
}

// TestDamage spoils each file of a checkpoint in each way: Verify names the file, or nothing needs it; a restart is refused by a condition
// or right; and after Repair every row is in the output once.
func TestDamage(t *testing.T) {
	for _, c := range []struct {
		name, provider string
		stateful       bool
	}{{"stateless", "millrace.mem", false}, {"in memory", "millrace.mem", true}, {"in files", "millrace.lsm", true}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			whole := begun(t, c.provider, c.stateful)
			for _, file := range filesOf(t, whole.path("ck")) {
				for kind, spoil := range damages {
					if needless(file) || c.stateful && !strings.HasPrefix(file, "state") && c.provider != "millrace.mem" {
						continue
					}
					b := &bench{t: t, dir: t.TempDir(), provider: c.provider, stateful: c.stateful, files: whole.files}
					copyTo(t, whole.dir, b.dir)
					if err := spoil(b.path("ck", file)); err != nil {
						t.Fatal(err)
					}
					b.recovers(kind + " " + file)
				}
			}
		})
	}
}

// needless are files that say something to people only.
func needless(file string) bool { return strings.HasSuffix(file, "_elsewhere") }

// recovers wants a damaged checkpoint to be repaired.
func (b *bench) recovers(what string) {
	t := b.t
	t.Helper()
	b.feed(2)
	_, name, _ := strings.Cut(what, " ")
	r, err := checkup.Verify(t.Context(), fs.Local(), b.path("ck"))
	if err != nil {
		t.Errorf("%s: verify: %v", what, err)
		return
	}
	if len(r.Findings) == 0 {
		// What is not found is not needed.
		if err := b.run(); err != nil {
			t.Errorf("%s: nothing is wrong, but: %v", what, err)
			return
		}
		b.complete(what)
		return
	}
	if !slices.ContainsFunc(r.Findings, func(f checkup.Finding) bool {
		return strings.Contains(f.String(), name) || strings.Contains(f.String(), filepath.Dir(name))
	}) {
		t.Errorf("%s: findings %v", what, r.Findings)
	}
	told, err := checkup.Repair(t.Context(), fs.Local(), b.path("ck"), checkup.Options{DryRun: true, Output: b.path("out")})
	if err != nil {
		if strings.Contains(err.Error(), "there is no batch") {
			return
		}
		t.Errorf("%s: %v", what, err)
		return
	}
	did, err := checkup.Repair(t.Context(), fs.Local(), b.path("ck"), checkup.Options{Output: b.path("out")})
	if err != nil || len(did) != len(told) {
		t.Errorf("%s: %v\n%q\n%q", what, err, did, told)
		return
	}
	if err := b.run(); err != nil {
		t.Errorf("%s: after %q: %v", what, did, err)
		return
	}
	b.complete(what + fmt.Sprintf(" %q", did))
}

// complete wants every row of the input in the output, once.
func (b *bench) complete(what string) {
	b.t.Helper()
	var want []int
	for i := range b.files {
		want = append(want, i)
	}
	if d := cmp.Diff(want, b.rows()); d != "" {
		b.t.Errorf("%s: (-want +got)\n%s", what, d)
	}
}

func filesOf(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			out = append(out, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// copyTo copies a folder; the source's log names absolute paths, which are changed.
func copyTo(t *testing.T, from, to string) {
	t.Helper()
	for _, name := range filesOf(t, from) {
		content, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(name, "sources") || strings.Contains(name, "_spark_metadata") {
			content = []byte(strings.ReplaceAll(string(content), from, to))
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(to, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestShow: where a query stands.
func TestShow(t *testing.T) {
	for _, provider := range []string{"millrace.mem", "millrace.lsm"} {
		b := begun(t, provider, true)
		r, err := checkup.Verify(t.Context(), fs.Local(), b.path("ck"))
		if err != nil || len(r.Findings) > 0 {
			t.Fatal(err, r.Findings)
		}
		if r.Next != 5 || r.Planned || string(r.Offsets[0]) != `{"logOffset":3}` || len(r.Operators) != 1 || r.Provider != provider || r.Partitions != "2" {
			t.Errorf("%+v", r)
		}
		if o := r.Operators[0]; o.Name != "dedupe" || o.Rows != 1 {
			t.Errorf("%+v", o)
		}
	}
}

// TestRepairAsksAboutTheSink: going back over what a sink has been given takes a word about the sink.
func TestRepairAsksAboutTheSink(t *testing.T) {
	b := begun(t, "millrace.mem", false)
	if err := os.WriteFile(b.path("ck", "offsets", "3"), []byte("v1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := checkup.Repair(t.Context(), fs.Local(), b.path("ck"), checkup.Options{}); err == nil || !strings.Contains(err.Error(), "--output") {
		t.Errorf("got %v", err)
	}
	steps, err := checkup.Repair(t.Context(), fs.Local(), b.path("ck"), checkup.Options{RowsAgain: true, DryRun: true})
	want := []string{
		"the sink may be given rows of the batches 3 to 3 again", "remove from the offset log: 3", "remove from the commit log: 3",
		"the query goes on with batch 3, which is planned anew",
	}
	if d := cmp.Diff(want, steps); d != "" || err != nil {
		t.Error(err, d)
	}
}

// TestVerifyOutput: the log of an output, and the files that it lists.
func TestVerifyOutput(t *testing.T) {
	b := begun(t, "millrace.mem", false)
	look := func(want int, word string) {
		t.Helper()
		found, err := checkup.VerifyOutput(fs.Local(), b.path("out"))
		if err != nil || len(found) != want || want > 0 && !strings.Contains(found[0].String(), word) {
			t.Errorf("%v %v", found, err)
		}
	}
	look(0, "")
	for _, name := range filesOf(t, b.path("out")) {
		if !strings.Contains(name, "_spark_metadata") {
			if err := os.Truncate(b.path("out", name), 3); err != nil {
				t.Fatal(err)
			}
			look(1, "it has 3 bytes")
			if err := os.Remove(b.path("out", name)); err != nil {
				t.Fatal(err)
			}
			look(1, name)
			break
		}
	}
	if err := os.Remove(b.path("out", "_spark_metadata", "1")); err != nil {
		t.Fatal(err)
	}
	look(1, "_spark_metadata/1")
}
