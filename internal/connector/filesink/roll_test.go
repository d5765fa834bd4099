package filesink_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace/millrace/internal/connector/filesink"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/sink/sinktest"
	"github.com/millrace/millrace/types"
)

// texts are rows that no codec makes much smaller.
func texts(rows, length int) []types.Row {
	r := rand.New(rand.NewPCG(1, 2))
	out := make([]types.Row, rows)
	for i := range out {
		var b strings.Builder
		for b.Len() < length {
			fmt.Fprintf(&b, "%016x", r.Uint64())
		}
		out[i] = types.Row{int32(i % 3), b.String()[:length]}
	}
	return out
}

// Whatever the format, the codec and the size of rows, a file that is not the last of its partition has about the bytes of the limit,
// and nothing is lost between files.
func TestMaxBytesPerFile(t *testing.T) {
	const limit = 32 << 10
	for _, kind := range []string{"json", "parquet"} {
		for _, codec := range []string{"none", "gzip"} {
			for _, length := range []int{20, 3000} {
				for _, parts := range [][]string{nil, {"p"}} {
					t.Run(fmt.Sprintf("%s/%s/%d/%v", kind, codec, length, parts), func(t *testing.T) {
						s := setup{
							kind: kind, dir: t.TempDir() + "/out", ddl: "p INT, s STRING", parts: parts,
							opts: map[string]string{"maxBytesPerFile": "32k", "compression": codec},
						}
						rows := texts(300_000/length, length)
						writeAll(t, s, rows)
						if n, want := len(fileSizes(t, s.dir)), 3*max(1, len(parts)); n < want {
							t.Errorf("%d files, want at least %d", n, want)
						}
						for _, size := range fileSizes(t, s.dir) {
							if size > 3*limit {
								t.Errorf("a file has %d bytes, the limit is %d", size, limit)
							}
						}
						if got := s.rows(t); len(got) != len(rows) {
							t.Errorf("%d rows of %d", len(got), len(rows))
						}
					})
				}
			}
		}
	}
}

// writeAll writes rows as one record of batch 0.
func writeAll(t *testing.T, s setup, rows []types.Row) {
	t.Helper()
	b, _, err := s.open(t).Begin(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	w, err := b.Writer(t.Context(), 0)
	if err == nil {
		err = w.Write(t.Context(), s.record(t, rows...))
	}
	if err != nil {
		t.Fatal(err)
	}
	m, err := w.Close(t.Context())
	if err == nil {
		err = b.Commit(t.Context(), []sink.Message{m})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func fileSizes(t *testing.T, dir string) []int64 {
	t.Helper()
	var out []int64
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() && strings.HasPrefix(info.Name(), "part-") {
			out = append(out, info.Size())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// An option goes before the setting, no limit is 0 or, as Spark has it for rows, less, and what is no number is refused.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		options, conf map[string]string
		want          filesink.Limits
		class         string
	}{
		{},
		{options: map[string]string{"maxRecordsPerFile": "5"}, want: filesink.Limits{Records: 5}},
		{options: map[string]string{"MAXRECORDSPERFILE": "-1"}, want: filesink.Limits{Records: -1}},
		{conf: map[string]string{"spark.sql.files.maxRecordsPerFile": "7"}, want: filesink.Limits{Records: 7}},
		{options: map[string]string{"maxRecordsPerFile": "0"}, conf: map[string]string{"spark.sql.files.maxRecordsPerFile": "7"}},
		{options: map[string]string{"maxRecordsPerFile": ""}, class: "INVALID_STREAMING_OPTION.VALUE"},
		{options: map[string]string{"maxRecordsPerFile": "3.5"}, class: "INVALID_STREAMING_OPTION.VALUE"},
		{options: map[string]string{"maxBytesPerFile": "64m"}, want: filesink.Limits{Bytes: 64 << 20}},
		{options: map[string]string{"maxBytesPerFile": "1000"}, want: filesink.Limits{Bytes: 1000}},
		{conf: map[string]string{"spark.millrace.files.maxBytesPerFile": "1g"}, want: filesink.Limits{Bytes: 1 << 30}},
		{options: map[string]string{"maxBytesPerFile": "much"}, class: "INVALID_STREAMING_OPTION.VALUE"},
		{options: map[string]string{"maxBytesPerFile": "-1"}, class: "INVALID_STREAMING_OPTION.VALUE"},
	} {
		env := sinktest.Env()
		env.Conf = func(key string) string { return c.conf[key] }
		got, err := filesink.ParseLimits(sink.Request{Options: c.options, Env: env})
		if c.class != "" {
			if !errclass.Has(err, c.class) {
				t.Errorf("%v: %v", c.options, err)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("%v, %v: %+v, %v, want %+v", c.options, c.conf, got, err, c.want)
		}
	}
}
