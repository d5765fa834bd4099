package setting

import (
	"errors"
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

// Every default is a value that the setting takes, and keys stand in order, as lists show them.
func TestDefaults(t *testing.T) {
	for i, k := range keys {
		if i > 0 && keys[i-1].name >= k.name {
			t.Errorf("%s stands after %s", k.name, keys[i-1].name)
		}
		if k.kind == static || k.value == Undefined {
			continue
		}
		if err := Check(k.name, k.value); err != nil && k.value != "" && k.value[0] != '<' {
			t.Errorf("default: %v", err)
		}
		if (k.kind == option || k.kind == choice) && len(options[k.name]) == 0 {
			t.Errorf("%s has no options", k.name)
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
