package streamtest

import (
	"maps"
	"strconv"
	"strings"
	"time"
)

// Conf are settings for a query: those that are given over Spark's defaults.
type Conf map[string]string

var defaults = Conf{
	"spark.sql.sources.default":                                   "parquet",
	"spark.sql.streaming.noDataMicroBatches.enabled":              "true",
	"spark.sql.streaming.multipleWatermarkPolicy":                 "min",
	"spark.sql.streaming.stopActiveRunOnRestart":                  "true",
	"spark.sql.streaming.stopTimeout":                             "0",
	"spark.sql.streaming.pollingDelay":                            "10",
	"spark.sql.streaming.noDataProgressEventInterval":             "10000",
	"spark.sql.streaming.numRecentProgressUpdates":                "100",
	"spark.sql.streaming.minBatchesToRetain":                      "100",
	"spark.sql.streaming.statefulOperator.allowMultiple":          "true",
	"spark.sql.streaming.unsupportedOperationCheck":               "true",
	"spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart":   "true",
	"spark.sql.streaming.checkpoint.verifyMetadataExists.enabled": "true",
}

// With returns the settings with others over them.
func (c Conf) With(more Conf) Conf {
	out := maps.Clone(c)
	if out == nil {
		out = Conf{}
	}
	maps.Copy(out, more)
	return out
}

// Explicit implements stream.Conf.
func (c Conf) Explicit(key string) (string, bool) {
	v, ok := c[key]
	return v, ok
}

// Value implements stream.Conf.
func (c Conf) Value(key string) string {
	if v, ok := c[key]; ok {
		return v
	}
	return defaults[key]
}

// Bool implements stream.Conf.
func (c Conf) Bool(key string) bool { return strings.EqualFold(c.Value(key), "true") }

// Int implements stream.Conf.
func (c Conf) Int(key string) int64 {
	n, err := strconv.ParseInt(c.Value(key), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Duration implements stream.Conf; numbers are milliseconds.
func (c Conf) Duration(key string) time.Duration { return time.Duration(c.Int(key)) * time.Millisecond }
