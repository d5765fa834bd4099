package stream

import (
	"testing"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/stream/streamtest"
)

// A session takes some values that no query can use. Spark 4.2.0 refuses them at the same moments: started says that the query is there.
func TestSettingsThatAQueryRefuses(t *testing.T) {
	const stateful, stateless = "SELECT k, count(*) FROM e GROUP BY k", "SELECT k FROM e"
	for _, c := range []struct {
		key, value, query string
		class             string
		started           bool
	}{
		{keyMinBatches, "0", stateless, "INVALID_CONF_VALUE.REQUIREMENT", false},
		{keyMinBatches, "-1", stateful, "INVALID_CONF_VALUE.REQUIREMENT", false},
		{keyMinBatches, "1", stateful, "", true},
		{keyRecentProgress, "0", stateless, "INVALID_CONF_VALUE.REQUIREMENT", true},
		{keyRecentProgress, "1", stateless, "", true},
		{keyStateCodec, "no_such", stateful, "CODEC_NOT_AVAILABLE.WITH_AVAILABLE_CODECS_SUGGESTION", true},
		{keyStateCodec, "a.b.C", stateful, "CODEC_NOT_AVAILABLE.WITH_AVAILABLE_CODECS_SUGGESTION", true},
		{keyStateCodec, "LZ4", stateful, "", true},
		{keyStateCodec, "lzf", stateful, "", true},
		{keyStateCodec, "no_such", stateless, "", true},
		{keyProvider, "no_such", stateful, "STATE_STORE_INVALID_PROVIDER", true},
	} {
		w := newWorld(t)
		s := streamtest.NewSource("ts TIMESTAMP, k STRING, v INT")
		w.views["e"] = streamOf(s)
		s.Add([]any{"10:00", "a", int32(1)})
		w.conf = w.conf.With(streamtest.Conf{c.key: c.value})
		q, err := w.m.Start(t.Context(), w.request(w.resolve(c.query), "update", Trigger{Kind: AvailableNow}))
		if (err == nil) != c.started {
			t.Errorf("%s = %s: started %t, %v", c.key, c.value, err == nil, err)
		}
		if err == nil {
			_, err = q.AwaitTermination(t.Context(), -1)
		}
		if (err == nil) != (c.class == "") || err != nil && !errclass.Has(err, c.class) {
			t.Errorf("%s = %s, %s: %v", c.key, c.value, c.query, err)
		}
	}
}
