package setting

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/errclass"
)

func TestCheck(t *testing.T) {
	for _, c := range []struct{ key, value, want string }{
		{"spark.sql.ansi.enabled", " TRUE ", ""},
		{"spark.sql.ansi.enabled", "1", "INVALID_CONF_VALUE.TYPE_MISMATCH"},
		{"spark.sql.shuffle.partitions", " 5 ", ""},
		{"spark.sql.shuffle.partitions", "5.0", "INVALID_CONF_VALUE.TYPE_MISMATCH"},
		{"spark.sql.shuffle.partitions", "0", "INVALID_CONF_VALUE.REQUIREMENT"},
		{"spark.sql.streaming.noDataProgressEventInterval", "5s", ""},
		{"spark.sql.streaming.noDataProgressEventInterval", "2d", ""},
		{"spark.sql.streaming.noDataProgressEventInterval", "5 s", "INVALID_CONF_VALUE.TYPE_MISMATCH"},
		{"spark.sql.streaming.noDataProgressEventInterval", "5.5s", "INVALID_CONF_VALUE.TYPE_MISMATCH"},
		{"spark.sql.autoBroadcastJoinThreshold", "10MB", ""},
		{"spark.sql.autoBroadcastJoinThreshold", "-1", ""},
		{"spark.sql.autoBroadcastJoinThreshold", "abc", "INVALID_CONF_VALUE.TYPE_MISMATCH"},
		{"spark.sql.session.timeZone", "GMT+2", ""},
		{"spark.sql.session.timeZone", "Europe/Berlin", ""},
		{"spark.sql.session.timeZone", "nowhere", "INVALID_CONF_VALUE.TIME_ZONE"},
		{"spark.sql.timestampType", "timestamp_ntz", ""},
		{"spark.sql.timestampType", "x", "INVALID_CONF_VALUE.OUT_OF_RANGE_OF_OPTIONS"},
		{"spark.sql.streaming.multipleWatermarkPolicy", "MAX", ""},
		{"spark.sql.streaming.multipleWatermarkPolicy", "avg", "INVALID_CONF_VALUE.REQUIREMENT"},
		{"spark.sql.warehouse.dir", "/x", "CANNOT_MODIFY_STATIC_CONFIG"},
		{"spark.executor.memory", "1g", "CANNOT_MODIFY_CONFIG"},
		{"spark.app.name", "x", ""},
		{"spark.sql.fromJsonForceNullableSchema", "true", ""},
		{"spark.sql.fromJsonForceNullableSchema", "false", "_LEGACY_ERROR_TEMP_1226"},
		{"my.key", "anything", ""},
		{"", "x", ""},
	} {
		err := Check(c.key, c.value)
		got := ""
		if e, ok := errors.AsType[*errclass.Error](err); ok {
			got = e.Class
		}
		if got != c.want {
			t.Errorf("%s = %q: %v, want %s", c.key, c.value, err, c.want)
		}
	}
}

// Settings of one table stand in order, and every default is a value that its setting takes.
func TestDefaults(t *testing.T) {
	for _, table := range [][]key{connectKeys, fileKeys, legacyKeys, planKeys, sessionKeys, streamKeys} {
		for i, k := range table {
			if i > 0 && table[i-1].name >= k.name {
				t.Errorf("%s stands after %s", k.name, table[i-1].name)
			}
			if err := CheckDefault(k.name, k.value); err != nil {
				t.Errorf("default: %v", err)
			}
		}
	}
	if len(known) != len(keys) {
		t.Error("a setting stands in two tables")
	}
}

// recorded is a line of testdata/values.jsonl, which record_values.py writes: settings with the same answers of Spark 4.2.0.
type recorded struct {
	Keys    map[string]*string
	Taken   []string
	Refused [][]json.RawMessage // condition, SQLSTATE, parameters, values
}

func TestValues(t *testing.T) {
	f, err := os.Open("testdata/values.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	seen := 0
	for dec := json.NewDecoder(f); dec.More(); {
		var r recorded
		if err := dec.Decode(&r); err != nil {
			t.Fatal(err)
		}
		for key, value := range r.Keys {
			seen++
			checkDefault(t, key, value)
			for _, v := range r.Taken {
				if err := Check(key, v); err != nil {
					t.Errorf("%s = %q: %v", key, v, err)
				}
				plain := known[key].kind.plain(v)
				if err := Check(key, plain); err != nil || known[key].kind.plain(plain) != plain {
					t.Errorf("%s = %q means %q: %v", key, v, plain, err)
				}
			}
			for _, refused := range r.Refused {
				checkRefused(t, key, refused)
			}
		}
	}
	if seen != len(keys) {
		t.Errorf("%d settings are recorded, %d known", seen, len(keys))
	}
}

func checkDefault(t *testing.T, key string, want *string) {
	t.Helper()
	got, ok := New(nil).Lookup(key)
	switch {
	case want == nil && ok:
		t.Errorf("%s has the default %q, want none", key, got)
	case want != nil && *want != "?" && (!ok || got != *want):
		t.Errorf("%s has the default %q, want %q", key, got, *want)
	}
}

func checkRefused(t *testing.T, key string, refused []json.RawMessage) {
	t.Helper()
	var class, state string
	var params map[string]string
	var values []string
	for i, to := range []any{&class, &state, &params, &values} {
		if err := json.Unmarshal(refused[i], to); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range values {
		err := Check(key, v)
		e, ok := errors.AsType[*errclass.Error](err)
		if !ok {
			// Spark has looked for the class.
			if k, ok := known[key].kind.(texts); ok && k.need == className.need && className.ok(v) {
				continue
			}
			t.Errorf("%s = %q is taken, want %s", key, v, class)
			continue
		}
		got := maps.Clone(e.Params)
		for _, of := range []string{"confName", "key", "confValue", "confRequirement"} {
			delete(got, of)
		}
		if e.Class != class || e.SQLState != state || !maps.Equal(got, params) {
			t.Errorf("%s = %q: %v, want %s (%s) with %v", key, v, err, class, state, params)
		}
	}
}

// What was set under an older name counts until the newer one is set, and one that cannot be read shows when it is asked for.
func TestOlderNames(t *testing.T) {
	for _, c := range []struct{ old, value, name, want, condition string }{
		{"spark.sql.adaptive.shuffle.targetPostShuffleInputSize", "5", "spark.sql.adaptive.advisoryPartitionSizeInBytes", "5b", ""},
		{"spark.sql.execution.arrow.enabled", "false", "spark.sql.execution.arrow.pyspark.enabled", "false", ""},
		{"spark.sql.legacy.parquet.datetimeRebaseModeInRead", "LEGACY", ParquetReadCalendar, "LEGACY", ""},
		{"spark.sql.legacy.parquet.datetimeRebaseModeInRead", "3", ParquetReadCalendar, "3", "INVALID_CONF_VALUE.OUT_OF_RANGE_OF_OPTIONS"},
	} {
		s := New(nil)
		if err := s.Set(c.old, c.value); err != nil {
			t.Fatal(err)
		}
		got, _, err := s.Get(c.name)
		if got != c.want || (c.condition != "") != (err != nil) || err != nil && !errclass.Has(err, c.condition) {
			t.Errorf("%s is %q, %v", c.name, got, err)
		}
		newer := New(nil).Value(c.name)
		if err := s.Set(c.name, newer); err != nil {
			t.Fatal(err)
		}
		if got, _, err := s.Get(c.name); got != newer || err != nil {
			t.Errorf("%s is %q, %v, want %s", c.name, got, err, newer)
		}
	}
}

// What the engine sees of a value does not depend on how it was written.
func TestMeaning(t *testing.T) {
	for _, c := range []struct{ key, value, want string }{
		{ANSI, " TRUE ", "true"},
		{IgnoreCorruptFiles, "False", "false"},
		{ShufflePartitions, " +7 ", "7"},
		{SplitBytes, " 1k ", "1k"},
		{ParquetCodec, "SNAPPY", "snappy"},
		{ParquetReadCalendar, " legacy ", "LEGACY"},
		{"spark.sql.streaming.multipleWatermarkPolicy", "MAX", "max"},
		{Checkpoints, " a b ", " a b "},
		{"my.key", " X ", " X "},
	} {
		s := New(nil)
		if err := s.Set(c.key, c.value); err != nil {
			t.Fatal(err)
		}
		shown, _, err := s.Get(c.key)
		if got := s.Value(c.key); got != c.want || shown != c.value || err != nil {
			t.Errorf("%s = %q is %q and shown as %q, %v", c.key, c.value, got, shown, err)
		}
	}
}

func TestLayers(t *testing.T) {
	c := New(map[string]string{"spark.app.name": "a"})
	if v, ok := c.Lookup("spark.app.name"); v != "a" || !ok {
		t.Error("a setting of the server")
	}
	if _, ok := c.Explicit(ShufflePartitions); ok {
		t.Error("a default is not explicit")
	}
	if _, _, err := c.Get("spark.nope"); !errclass.Has(err, "SQL_CONF_NOT_FOUND") {
		t.Errorf("unknown key: %v", err)
	}
	if err := c.Set(ShufflePartitions, "7"); err != nil {
		t.Fatal(err)
	}
	copied := c.Clone()
	if err := c.Set(ShufflePartitions, "8"); err != nil {
		t.Fatal(err)
	}
	if copied.Int(ShufflePartitions) != 7 || c.Int(ShufflePartitions) != 8 {
		t.Error("a clone has a life of its own")
	}
	if d := cmp.Diff([]Pair{{"spark.app.name", "a"}, {ShufflePartitions, "8"}}, c.All()); d != "" {
		t.Error(d)
	}
	if err := c.Unset(ShufflePartitions); err != nil || c.Int(ShufflePartitions) != 200 {
		t.Errorf("unset: %v, %d", err, c.Int(ShufflePartitions))
	}
	if err := c.Set("spark.sql.streaming.noDataProgressEventInterval", "1min"); err != nil {
		t.Fatal(err)
	}
	if got := c.Duration("spark.sql.streaming.noDataProgressEventInterval"); got != time.Minute {
		t.Errorf("duration %v", got)
	}
	if got := c.Duration("spark.sql.broadcastTimeout"); got != 300*time.Second {
		t.Errorf("a duration in seconds: %v", got)
	}
	if !Modifiable(ANSI) || Modifiable(Warehouse) || Modifiable("spark.nope") {
		t.Error("modifiable")
	}
}
