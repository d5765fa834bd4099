package errclass

// deltaTable: tables of the format Delta Lake. Unlike Spark's own, these conditions do not show their SQLSTATE in texts (see Error).
var deltaTable = table{
	"DELTA_TABLE_NOT_FOUND":           {"42P01", Analysis, "There is no Delta table at <tableName>: it has no _delta_log with versions."},
	"DELTA_SCHEMA_NOT_SET":            {"KD008", Analysis, "There is no Delta table at <path>, so that the stream has no schema. Write to it first."},
	"DELTA_MISSING_DELTA_TABLE":       {"42P01", Analysis, "<tableName> is no Delta table."},
	"DELTA_ONLY_OPERATION":            {"0AKDD", Analysis, "<operation> works on Delta tables only."},
	"DELTA_PATH_EXISTS":               {"42K04", Analysis, "There is a Delta table at <path>; set the mode \"append\" or \"overwrite\"."},
	"DELTA_PATH_DOES_NOT_EXIST":       {"42K03", Analysis, "<path> does not exist or is no Delta table."},
	"DELTA_TRUNCATED_TRANSACTION_LOG": {"42K03", Other, "The log of <path> cannot be read up to version <version>: version <missing> is missing, and there is no checkpoint after it."},
	"DELTA_VERSIONS_NOT_CONTIGUOUS":   {"KD00C", Other, "The log of <path> has versions <versions>: version <missing> is missing."},
	"DELTA_STATE_RECOVER_ERROR":       {"XXKDS", Other, "The log of <path> has no <operation> up to version <version>."},
	"DELTA_VERSION_NOT_FOUND":         {"22003", Analysis, "Version <userVersion> of the table cannot be read; there are versions <earliest> to <latest>."},
	"DELTA_UNSUPPORTED_FEATURES_FOR_READ": {
		"56038", Other, "The table at <tableName> can only be read with the features <unsupported>, which are not supported.",
	},
	"DELTA_UNSUPPORTED_FEATURES_FOR_WRITE": {
		"56038", Other, "The table at <tableName> can only be written with the features <unsupported>, which are not supported.",
	},
	"DELTA_INVALID_PROTOCOL_VERSION": {
		"KD004", Other, "The table at <tableName> asks for protocol version <readerRequired> for readers and <writerRequired> for writers; this engine knows readers up to <supportedReaders> and writers up to <supportedWriters>.",
	},
	"DELTA_UNSUPPORTED_FEATURES_IN_CONFIG": {"56038", Other, "There are no table features <configs>."},
	"DELTA_UNKNOWN_CONFIGURATION":          {"F0000", Analysis, "There is no table property <config>."},
	"DELTA_ILLEGAL_OPTION":                 {"42616", IllegalArgument, "The option <name> cannot be '<input>': <explain>"},
	"DELTA_ONEOF_IN_TIMETRAVEL":            {"42601", IllegalArgument, "Only one of versionAsOf and timestampAsOf can be set."},
	"DELTA_TIME_TRAVEL_INVALID_BEGIN_VALUE": {
		"42604", IllegalArgument, "The option <timeTravelKey> must be a version number.",
	},
	"DELTA_NO_START_FOR_CDC_READ": {
		"42601", Analysis, "The change data feed needs a first version: set the option startingVersion or startingTimestamp.",
	},
	"DELTA_CDC_START_VERSION_AFTER_LATEST": {
		"22003", IllegalArgument, "The changes cannot begin with version <start>: the last version of the table is <latest>.",
	},
	"DELTA_INVALID_CDC_RANGE": {"22003", IllegalArgument, "The changes cannot begin with version <start> and end with version <end>, which is before it."},
	"DELTA_MISSING_CHANGE_DATA": {
		"KD002", Analysis, "The changes of versions <startVersion> to <endVersion> are not all recorded: the change data feed was off in version <version>. It is recorded from the version on that sets <key>=true with ALTER TABLE ... SET TBLPROPERTIES; DESCRIBE HISTORY tells which.",
	},
	"DELTA_TIMESTAMP_INVALID":             {"42816", Analysis, "<expr> cannot be read as a timestamp."},
	"DELTA_UNSUPPORTED_TIME_TRAVEL_VIEWS": {"0AKDC", Analysis, "Streams and views have no earlier versions: leave out versionAsOf and timestampAsOf, or set startingVersion."},
	"DELTA_TIMESTAMP_GREATER_THAN_COMMIT": {"42816", Analysis, "The time <providedTimestamp> is after the last commit of the table, at <commitTimestamp>."},
	"DELTA_MULTIPLE_TIME_TRAVEL_FORMATS":  {"42601", Analysis, "The version is given in the path and again as an option or in SQL; give it once."},
	"DELTA_CANNOT_RESTORE_TABLE_VERSION":  {"22003", Analysis, "The table cannot be brought back to version <version>; there are versions <startVersion> to <endVersion>."},
	"DELTA_CANNOT_RESTORE_TIMESTAMP_EARLIER": {
		"22003", Analysis, "The table cannot be brought back to <requestedTimestamp>; its first version is of <earliestTimestamp>.",
	},
	"DELTA_CANNOT_RESTORE_TIMESTAMP_GREATER": {
		"22003", Analysis, "The table cannot be brought back to <requestedTimestamp>; its last version is of <latestTimestamp>.",
	},
	"DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION": {
		"42816", Analysis, "The time <userTimestamp> is before the first version that is left, of <commitTs>.",
	},
	"DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION": {
		"0AKDC", Analysis, "Version <version> is older than delta.deletedFileRetentionDuration (<hours> hours), so that its files may be gone.",
	},

	"DELTA_METADATA_MISMATCH":                   {"42KDG", Analysis, "The rows do not fit the table at <tableName>: <reason>"},
	"DELTA_FAILED_TO_MERGE_FIELDS":              {"22005", Analysis, "The column <currentField> has the type <currentType> in the table, and rows with <updateType> cannot be put into it."},
	"DELTA_DUPLICATE_COLUMNS_FOUND.READ_SCHEMA": {"42711", Analysis, "The columns <duplicateCols> are there twice in the rows to be inserted."},
	"INVALID_TIME_TRAVEL_TIMESTAMP_EXPR.INPUT":  {"42K0E", Analysis, "The time <expr> of TIMESTAMP AS OF cannot be read as a timestamp."},
	"DELTA_DUPLICATE_COLUMNS_FOUND.DATA":        {"42711", Analysis, "The columns <duplicateCols> are there twice in the rows to be written."},
	"DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES":  {"42K05", Analysis, "Column names must not hold any of \" ,;{}()\\n\\t=\"; rename <invalidColumnNames>, or set the table property delta.columnMapping.mode to name."},
	"DELTA_CANNOT_USE_ALL_COLUMNS_FOR_PARTITION": {
		"428FT", Analysis, "A table needs a column that it is not partitioned by.",
	},
	"DELTA_INVALID_PARTITION_COLUMN":          {"42996", Analysis, "The table cannot be partitioned by <columnName>: there is no such column."},
	"DELTA_UNSUPPORTED_OUTPUT_MODE":           {"0AKDC", Analysis, "Delta tables cannot be written by streams in the output mode <mode>; use append or complete."},
	"DELTA_INVALID_IDEMPOTENT_WRITES_OPTIONS": {"42616", IllegalArgument, "Writing once needs both txnAppId and txnVersion: <reason>"},
	"DELTA_REPLACE_WHERE_MISMATCH":            {"44000", Analysis, "The rows to be written do not all meet the condition of replaceWhere, <replaceWhere>."},
	"DELTA_FAILED_RECOGNIZE_PREDICATE":        {"42601", Analysis, "The condition <predicate> cannot be read."},
	"DELTA_REPLACE_WHERE_WITH_FILTER_DATA_CHANGE_UNSET": {
		"42613", IllegalArgument, "replaceWhere and dataChange=false exclude each other.",
	},
	"DELTA_REPLACE_WHERE_WITH_DYNAMIC_PARTITION_OVERWRITE": {
		"42613", IllegalArgument, "replaceWhere and partitionOverwriteMode=dynamic exclude each other.",
	},
	"DELTA_OVERWRITE_SCHEMA_WITH_DYNAMIC_PARTITION_OVERWRITE": {
		"42613", IllegalArgument, "overwriteSchema and partitionOverwriteMode=dynamic exclude each other.",
	},
	"DELTA_CANNOT_MODIFY_APPEND_ONLY":      {"42809", Unsupported, "The table at <table_name> is append-only; to change or remove rows set its property <config> to false."},
	"DELTA_NOT_NULL_CONSTRAINT_VIOLATED":   {"23502", Other, "The column <columnName> must not be NULL."},
	"DELTA_VIOLATE_CONSTRAINT_WITH_VALUES": {"23001", Other, "The check <constraintName> (<expression>) is not met by the row <values>."},
	"DELTA_NEW_CHECK_CONSTRAINT_VIOLATION": {"23512", Analysis, "<numRows> rows of <tableName> do not meet the new check <checkConstraint>."},
	"DELTA_NEW_NOT_NULL_VIOLATION":         {"23512", Analysis, "<numRows> rows of <tableName> have NULL in the columns <colNames>."},
	"DELTA_CONSTRAINT_ALREADY_EXISTS":      {"42710", Analysis, "The table has a check <constraintName> already: <oldConstraint>."},
	"DELTA_CONSTRAINT_DOES_NOT_EXIST":      {"42704", Analysis, "The table <tableName> has no check <constraintName>."},
	"DELTA_NON_BOOLEAN_CHECK_CONSTRAINT":   {"42621", Analysis, "The check <name> (<expr>) must be true or false."},
	"DELTA_INSERT_COLUMN_ARITY_MISMATCH":   {"42802", Analysis, "<tableName> has <numColumns> columns (<columnName>) and <insertColumns> come; name the columns, or give all."},
	"DELTA_INSERT_COLUMN_MISMATCH":         {"42802", Analysis, "The column <columnName> must be given a value in INSERT."},
	"DELTA_CREATE_TABLE_SCHEME_MISMATCH":   {"42KD7", Analysis, "There is a table at <path> with the columns <existingSchema>, and CREATE TABLE says <specifiedSchema>."},
	"DELTA_CREATE_TABLE_WITH_DIFFERENT_PARTITIONING": {
		"42KD7", Analysis, "There is a table at <path> that is partitioned by <existingColumns>, and CREATE TABLE says <specifiedColumns>.",
	},
	"DELTA_CREATE_TABLE_WITH_DIFFERENT_PROPERTY": {
		"42KD7", Analysis, "There is a table at <path> whose properties are <existingProperties>, and CREATE TABLE says <specifiedProperties>.",
	},

	"DELTA_UNSUPPORTED_SUBQUERY":                     {"0AKDC", Analysis, "The condition of <operation> must not hold a subquery: <cond>."},
	"DELTA_NON_DETERMINISTIC_FUNCTION_NOT_SUPPORTED": {"0AKDC", Analysis, "<operation> needs a condition that gives the same each time: <expression>."},
	"DELTA_AGGREGATION_NOT_SUPPORTED":                {"42903", Analysis, "<operation> must not use aggregate functions: <predicate>."},
	"DELTA_CONFLICT_SET_COLUMN":                      {"42701", Analysis, "The columns <columnList> are given a value twice."},
	"DELTA_MERGE_UNRESOLVED_EXPRESSION":              {"42601", Analysis, "<sqlExpr> in <clause> is not among <cols>."},
	"DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE": {
		"21506", Unsupported, "A row of the table matches several rows of the source, so that it is not clear which of them counts. Make the source's keys unique first.",
	},

	"DELTA_METADATA_CHANGED":               {"2D521", Concurrent, "Another writer has changed the schema or the properties of the table; try again. <conflictingCommit>"},
	"DELTA_PROTOCOL_CHANGED":               {"2D521", Concurrent, "Another writer has changed the protocol of the table; try again. <conflictingCommit>"},
	"DELTA_CONCURRENT_TRANSACTION":         {"2D521", Concurrent, "Another writer has written for the same txnAppId, or the same query with the same checkpoint runs twice. <conflictingCommit>"},
	"DELTA_CONCURRENT_APPEND.WITHOUT_HINT": {"2D521", Concurrent, "Another writer has added files to what was read meanwhile; try again. <conflictingCommit>"},
	"DELTA_CONCURRENT_DELETE_READ.WITHOUT_HINT": {
		"2D521", Concurrent, "Another writer has deleted a file that was read (<file>); try again. <conflictingCommit>",
	},
	"DELTA_CONCURRENT_DELETE_DELETE.WITHOUT_HINT": {
		"2D521", Concurrent, "Another writer has deleted a file that was to be deleted (<file>); try again. <conflictingCommit>",
	},
	"DELTA_MAX_COMMIT_RETRIES_EXCEEDED": {
		"40000", Concurrent, "The commit was overtaken by other writers <numAttempts> times; try again.",
	},

	"DELTA_SOURCE_IGNORE_DELETE": {
		"0A000", Unsupported, "Version <version> deletes rows (<removedFile>), which a stream cannot follow. Set ignoreDeletes or skipChangeCommits to pass over such versions, or begin anew with another checkpoint. Table: <dataPath>.",
	},
	"DELTA_SOURCE_TABLE_IGNORE_CHANGES": {
		"0A000", Unsupported, "Version <version> changes rows (<file>), which a stream cannot follow. Set skipChangeCommits to pass over such versions, or ignoreChanges to get the rows of rewritten files again. Table: <dataPath>.",
	},
	"DELTA_SCHEMA_CHANGED_WITH_VERSION": {
		"KD007", IllegalState, "The schema of the table has changed in version <version> from <readSchema> to <dataSchema>. Start the query again to go on with the new one.",
	},
	"DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE": {
		"55019", Runtime, "The checkpoint is of a stream over the table <oldTableId>, and the table is now <newTableId>: it was made anew. Begin with another checkpoint.",
	},
	"DELTA_LOG_FILE_NOT_FOUND_FOR_STREAMING_SOURCE": {
		"42K03", FileMissing, "Version <version> of the log is gone (<logPath>), so that the stream cannot go on without losing rows. Begin with another checkpoint.",
	},
	"DELTA_STARTING_VERSION_AND_TIMESTAMP_BOTH_SET": {"42613", IllegalArgument, "Only one of startingVersion and startingTimestamp can be set: <version>, <timestamp>."},
	"DELTA_READ_SOURCE_SCHEMA_CONFLICT":             {"42K07", Analysis, "The schema given, <given>, is not that of the table: <schema>. Leave it out."},
	"DELTA_INVALID_SOURCE_OFFSET_FORMAT":            {"42000", IllegalState, "The offset <offset> in the checkpoint is not one of a Delta table."},
	"DELTA_INVALID_SOURCE_VERSION":                  {"XX000", IllegalState, "The offset in the checkpoint has the version <version>, which is not known."},

	"DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT": {
		"22003", IllegalArgument, "VACUUM would delete files that readers, writers and time travel within the last <configuredRetentionHours> hours may need. Keep more, or set spark.databricks.delta.retentionDurationCheck.enabled to false.",
	},
	"DELTA_NON_PARTITION_COLUMN_REFERENCE": {"42P10", Analysis, "The condition may only use partition columns (<columnList>), not <columnName>."},
	"DELTA_NON_PARTITION_COLUMN_SPECIFIED": {"42P10", Analysis, "The condition may only use partition columns: <columnList>."},
	"DELTA_ZORDERING_ON_PARTITION_COLUMN":  {"42P10", IllegalArgument, "<colName> is a partition column, whose files are apart anyway; order by others."},
	"DELTA_ZORDERING_COLUMN_DOES_NOT_EXIST": {
		"42703", IllegalArgument, "There is no column <columnName> to order by.",
	},
	"DELTA_OPERATION_NOT_ALLOWED":                   {"0AKDC", Analysis, "<operation> is not possible for a Delta table."},
	"DELTA_SHOW_PARTITION_IN_NON_PARTITIONED_TABLE": {"42809", Analysis, "The table <tableName> has no partitions that SHOW PARTITIONS could list."},
	"DELTA_UNSUPPORTED_DROP_PARTITION_COLUMN":       {"0AKDC", Analysis, "The columns <columnList> cannot be dropped: the table is partitioned by them."},
	"DELTA_INVALID_INTERVAL":                        {"22006", IllegalArgument, "<interval> is no interval; write it as in interval 1 week."},
	"DELTA_UNSUPPORTED_DROP_COLUMN":                 {"0AKDC", Analysis, "Columns can be dropped only if the table property delta.columnMapping.mode is name. <advice>"},
	"DELTA_UNSUPPORTED_RENAME_COLUMN":               {"0AKDC", Analysis, "Columns can be renamed only if the table property delta.columnMapping.mode is name. <advice>"},
	"DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP": {
		"0AKDC", Analysis, "The column <fieldPath> cannot become <newField>; it is <oldField>.",
	},
}
