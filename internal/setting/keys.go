package setting

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
)

// keys are the settings that Spark 4.2.0 knows, with their defaults: what a client gets for a key that nobody has set. since is
// the version that Spark's own list shows; internal keys have none and are not listed.
var keys = func() []key {
	all := slices.Concat(connectKeys, fileKeys, legacyKeys, planKeys, sessionKeys, streamKeys)
	slices.SortFunc(all, func(a, b key) int { return strings.Compare(a.name, b.name) })
	return all
}()

// known finds settings by name.
var known = func() map[string]*key {
	m := make(map[string]*key, len(keys))
	for i := range keys {
		m[keys[i].name] = &keys[i]
	}
	return m
}()

//go:embed core.txt
var coreList string

// core are the settings of Spark's core, which are those of whole programs: a session can have none of its own.
var core = func() map[string]bool {
	m := map[string]bool{}
	for name := range strings.Lines(coreList) {
		m[strings.TrimSuffix(name, "\n")] = true
	}
	return m
}()

// older has for a setting the one by which it goes when it is not set itself.
var older = map[string]string{
	"spark.sql.adaptive.advisoryPartitionSizeInBytes":                               "spark.sql.adaptive.shuffle.targetPostShuffleInputSize",
	"spark.sql.connect.shuffleDependency.fileCleanup.enabled":                       "spark.sql.shuffleDependency.fileCleanup.enabled",
	"spark.sql.execution.arrow.pyspark.enabled":                                     "spark.sql.execution.arrow.enabled",
	"spark.sql.execution.arrow.pyspark.fallback.enabled":                            "spark.sql.execution.arrow.fallback.enabled",
	"spark.sql.execution.arrow.transformWithStateInPySpark.maxStateRecordsPerBatch": "spark.sql.execution.arrow.transformWithStateInPandas.maxRecordsPerBatch",
	"spark.sql.parquet.datetimeRebaseModeInRead":                                    "spark.sql.legacy.parquet.datetimeRebaseModeInRead",
	"spark.sql.parquet.filterPushdown.stringPredicate":                              "spark.sql.parquet.filterPushdown.string.startsWith",
	"spark.sql.thriftServer.interruptOnCancel":                                      "spark.sql.execution.interruptOnCancel",
}

// gone is a setting that there is no more: it can only be set to what is always so now.
type gone struct{ value, version, hint string }

var removed = map[string]gone{
	"spark.sql.ansi.strictIndexOperator":                              {"true", "3.4.0", "An index out of range fails in ANSI mode."},
	"spark.sql.execution.pandas.respectSessionTimeZone":               {"true", "3.0.0", "Times are in the session's time zone."},
	"spark.sql.fromJsonForceNullableSchema":                           {"true", "3.0.0", "Fields of from_json may always be null."},
	"spark.sql.hive.verifyPartitionPath":                              {"false", "4.0.0", "Use " + IgnoreMissingFiles + "."},
	"spark.sql.legacy.allowCreatingManagedTableUsingNonemptyLocation": {"false", "3.0.0", "A new table begins in an empty directory."},
	"spark.sql.legacy.avro.datetimeRebaseModeInRead":                  {"CORRECTED", "4.0.0", "Use " + AvroReadCalendar + "."},
	"spark.sql.legacy.avro.datetimeRebaseModeInWrite":                 {"CORRECTED", "4.0.0", "Use " + AvroWriteCalendar + "."},
	"spark.sql.legacy.compareDateTimestampInTimestamp":                {"true", "3.0.0", "Dates are compared with timestamps as timestamps."},
	"spark.sql.legacy.parquet.datetimeRebaseModeInWrite":              {"CORRECTED", "4.0.0", "Use " + ParquetWriteCalendar + "."},
	"spark.sql.legacy.parquet.int96RebaseModeInRead":                  {"CORRECTED", "4.0.0", "Use " + Int96ReadCalendar + "."},
	"spark.sql.legacy.parquet.int96RebaseModeInWrite":                 {"CORRECTED", "4.0.0", "Use " + Int96WriteCalendar + "."},
	"spark.sql.optimizer.planChangeLog.batches":                       {"", "3.1.0", "Use spark.sql.planChangeLog.batches."},
	"spark.sql.optimizer.planChangeLog.level":                         {"trace", "3.1.0", "Use spark.sql.planChangeLog.level."},
	"spark.sql.optimizer.planChangeLog.rules":                         {"", "3.1.0", "Use spark.sql.planChangeLog.rules."},
	"spark.sql.optimizer.runtimeFilter.semiJoinReduction.enabled":     {"false", "4.0.0", "There is no such filter any more."},
	"spark.sql.parquet.int64AsTimestampMillis":                        {"false", "3.0.0", "Use spark.sql.parquet.outputTimestampType."},
}

// show is a value of another setting as Spark shows it under this one: read and printed.
func (k *key) show(value string) string {
	if w, ok := k.kind.(whole); ok {
		if n, ok := w.read(value); ok {
			return strconv.FormatInt(n, 10) + w.shown
		}
	}
	return value
}
