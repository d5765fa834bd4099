package millrace_test

import (
	"context"
	"maps"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace"
	"github.com/millrace/millrace/engine"
	"github.com/millrace/millrace/internal/leaktest"
	"github.com/millrace/millrace/types"
)

// remoteVar names a Spark Connect server to run the suite on, as well as on our own engine.
const remoteVar = "MILLRACE_TEST_REMOTE"

func TestMain(m *testing.M) { leaktest.Main(m) }

// each runs a test on every engine: ours in this process, there again with every message and record in its form on the wire, behind gRPC, and
// Spark. What it expects must hold on all of them; Spark decides.
func each(t *testing.T, test func(t *testing.T, spark *millrace.Session)) {
	t.Helper()
	for name, address := range map[string]func(t *testing.T) string{
		"embedded": func(*testing.T) string { return "local[2]" },
		"exact":    func(*testing.T) string { return "local[2]" },
		"loopback": serve,
		"spark": func(t *testing.T) string {
			if address := os.Getenv(remoteVar); address != "" {
				return address
			}
			t.Skip(remoteVar + " names no Spark Connect server")
			return ""
		},
	} {
		t.Run(name, func(t *testing.T) {
			var opts []millrace.ConnectOption
			switch name {
			case "exact":
				opts = append(opts, millrace.WithExact(), warehouse(t))
			case "embedded":
				opts = append(opts, warehouse(t))
			}
			test(t, connect(t, address(t), opts...))
		})
	}
}

// warehouse keeps tables out of the package's directory.
func warehouse(t *testing.T) millrace.ConnectOption {
	return millrace.WithConf("spark.sql.warehouse.dir", t.TempDir())
}

// serve starts a server and returns its address.
func serve(t *testing.T) string {
	t.Helper()
	return serveWith(t, nil)
}

// serveWith is serve with settings.
func serveWith(t *testing.T, conf map[string]string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	options := engine.Options{Workers: 2, Conf: map[string]string{"spark.sql.warehouse.dir": t.TempDir()}}
	maps.Copy(options.Conf, conf)
	return serveOn(t, l, options)
}

// serveOn serves on a listener and returns the address.
func serveOn(t *testing.T, l net.Listener, options engine.Options) string {
	t.Helper()
	serving, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- engine.Serve(serving, l, options) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return "sc://" + l.Addr().String()
}

func connect(t *testing.T, address string, opts ...millrace.ConnectOption) *millrace.Session {
	t.Helper()
	opts = append([]millrace.ConnectOption{
		millrace.WithConf("spark.sql.shuffle.partitions", "2"), // Spark takes seconds a batch with its default
		millrace.WithConf("spark.sql.session.timeZone", "UTC"),
	}, opts...)
	s, err := millrace.Connect(ctx(t), address, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// ctx ends a test that hangs with an error that says where.
func ctx(t *testing.T) context.Context {
	c, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 5*time.Minute)
	t.Cleanup(cancel)
	return c
}

// collect runs a plan and returns the values of its rows; structs become slices of values.
func collect(t *testing.T, d *millrace.DataFrame) [][]any {
	t.Helper()
	rows, err := d.Collect(ctx(t))
	if err != nil {
		t.Fatalf("collect: %v", detail(err))
	}
	out := make([][]any, len(rows))
	for i, r := range rows {
		out[i] = flat(r).([]any)
	}
	return out
}

func flat(v any) any {
	switch v := v.(type) {
	case millrace.Row:
		return flat(v.Values())
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = flat(e)
		}
		return out
	case types.MapValue:
		out := make(types.MapValue, len(v))
		for i, e := range v {
			out[i] = types.MapEntry{Key: flat(e.Key), Value: flat(e.Value)}
		}
		return out
	case time.Time:
		return v.Format("2006-01-02 15:04:05.999999 MST")
	}
	return v
}

// rows is the expected values of rows.
func rows(r ...[]any) [][]any { return r }

// row is the expected values of a row.
func row(v ...any) []any { return v }

// exact compares decimals by value and scale.
var exact = cmp.Comparer(func(a, b types.Decimal) bool { return a == b })

// expect compares the result of a plan.
func expect(t *testing.T, d *millrace.DataFrame, want ...[]any) {
	t.Helper()
	if want == nil {
		want = [][]any{}
	}
	if diff := cmp.Diff(want, collect(t, d), exact); diff != "" {
		t.Errorf("rows differ (-want +got):\n%s", diff)
	}
}

// sql is the DataFrame of a statement that must be right.
func sql(t *testing.T, spark *millrace.Session, text string, args ...any) *millrace.DataFrame {
	t.Helper()
	d, err := spark.SQL(ctx(t), text, args...)
	if err != nil {
		t.Fatalf("%s: %v", text, detail(err))
	}
	return d
}

func detail(err error) string {
	if e, ok := asError(err); ok {
		return e.Detail()
	}
	return err.Error()
}

// expectClass checks the condition of an error.
func expectClass(t *testing.T, err error, class string) *millrace.Error {
	t.Helper()
	e, ok := asError(err)
	if !ok || e.Class != class {
		t.Fatalf("got %v, want the condition %s", err, class)
	}
	return e
}

// write puts a file into a directory, whole at once.
func write(t *testing.T, dir, name, content string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	tmp := filepath.Join(dir, "."+name)
	if err := os.WriteFile(tmp, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(tmp, filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}
