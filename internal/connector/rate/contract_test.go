package rate

import (
	"testing"
	"time"

	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/source/sourcetest"
)

func opened(t *testing.T, f source.Format, env source.Env, options source.Options) source.Streamer {
	t.Helper()
	table, err := f.Open(t.Context(), source.Request{Stream: true, Options: options, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	return table.(source.Streamer)
}

// With one partition: several divide the rows of each range anew. The micro-batch source cannot keep the contract, as Spark defines it: the
// time of a row depends on the batch that it comes with.
func TestRateContract(t *testing.T) {
	env, now := sourcetest.Env(), time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)
	env.Now = func() time.Time { return now }
	sourcetest.Stream(t, sourcetest.StreamHarness{
		Open: func(t *testing.T) source.Streamer {
			return opened(t, Rate{FS: fs.Local()}, env, source.Options{"rowsPerSecond": "3", "numPartitions": "1"})
		},
		Add: func(*testing.T) { now = now.Add(2 * time.Second) },
	})
}
