package setting

// Settings by which the engine itself goes.
const (
	ANSI              = "spark.sql.ansi.enabled"
	CaseSensitive     = "spark.sql.caseSensitive"
	TimeZone          = "spark.sql.session.timeZone"
	TimestampType     = "spark.sql.timestampType"
	ShufflePartitions = "spark.sql.shuffle.partitions"
	Adaptive          = "spark.sql.adaptive.enabled"
	Coalesce          = "spark.sql.adaptive.coalescePartitions.enabled"
	LeafParallelism   = "spark.sql.leafNodeDefaultParallelism"
	Source            = "spark.sql.sources.default"
	Warehouse         = "spark.sql.warehouse.dir"
	MemoryLimit       = "spark.millrace.memoryLimit"
	LocalDir          = "spark.local.dir"
	Checkpoints       = "spark.sql.streaming.checkpointLocation"
	BinaryStyle       = "spark.sql.binaryOutputStyle"
	DoubleQuoted      = "spark.sql.ansi.doubleQuotedIdentifiers"
	ArrowMaxRecords   = "spark.sql.execution.arrow.maxRecordsPerBatch"
	LargeVarTypes     = "spark.sql.execution.arrow.useLargeVarTypes"
	// Version tells this engine from Spark, which has no setting of that name.
	Version = "spark.millrace.version"
)

// Settings of the analysis and of expressions.
const (
	UnsupportedCheck     = "spark.sql.streaming.unsupportedOperationCheck"
	CorrectnessCheck     = "spark.sql.streaming.statefulOperator.checkCorrectness.enabled"
	AllowMultiple        = "spark.sql.streaming.statefulOperator.allowMultiple"
	MaxTransposed        = "spark.sql.transposeMaxValues"
	OrderByOrdinal       = "spark.sql.orderByOrdinal"
	GroupByOrdinal       = "spark.sql.groupByOrdinal"
	GroupByAliases       = "spark.sql.groupByAliases"
	RecursionLevels      = "spark.sql.cteRecursionLevelLimit"
	RecursionRows        = "spark.sql.cteRecursionRowLimit"
	ParameterlessCount   = "spark.sql.legacy.allowParameterlessCount"
	MapKeyPolicy         = "spark.sql.mapKeyDedupPolicy"
	VariantDuplicateKeys = "spark.sql.variant.allowDuplicateKeys"
	ReservedKeywords     = "spark.sql.ansi.enforceReservedKeywords"
	ContinueHandlers     = "spark.sql.scripting.continueHandlerEnabled"
	SourceEvolution      = "spark.sql.streaming.queryEvolution.enableSourceEvolution"
	CurrentDatabase      = "spark.millrace.currentDatabase"
	CurrentUser          = "spark.millrace.currentUser"
)

// Settings of tables.
const (
	StorePolicy   = "spark.sql.storeAssignmentPolicy"
	OverwriteMode = "spark.sql.sources.partitionOverwriteMode"
	MaxBuckets    = "spark.sql.sources.bucketing.maxBuckets"
	PathOption    = "spark.sql.legacy.pathOptionBehavior.enabled"
)

// Settings of files and their formats.
const (
	CorruptRecordColumn = "spark.sql.columnNameOfCorruptRecord"
	IgnoreNullFields    = "spark.sql.jsonGenerator.ignoreNullFields"
	JSONPartialResults  = "spark.sql.json.enablePartialResults"
	CSVColumnPruning    = "spark.sql.csv.parser.columnPruning.enabled"
	ParquetMergeSchema  = "spark.sql.parquet.mergeSchema"
	ParquetCodec        = "spark.sql.parquet.compression.codec"
	// The calendars of days and times before 1582, in files that do not say it themselves and in those that are written. Int96 is
	// about times in 96 bits, which only Parquet has.
	ParquetReadCalendar  = "spark.sql.parquet.datetimeRebaseModeInRead"
	ParquetWriteCalendar = "spark.sql.parquet.datetimeRebaseModeInWrite"
	Int96ReadCalendar    = "spark.sql.parquet.int96RebaseModeInRead"
	Int96WriteCalendar   = "spark.sql.parquet.int96RebaseModeInWrite"
	AvroReadCalendar     = "spark.sql.avro.datetimeRebaseModeInRead"
	AvroWriteCalendar    = "spark.sql.avro.datetimeRebaseModeInWrite"
	SchemaInference      = "spark.sql.streaming.schemaInference"
	ForceNullable        = "spark.sql.streaming.fileSource.schema.forceNullable"
	IgnoreMissingFiles   = "spark.sql.files.ignoreMissingFiles"
	IgnoreCorruptFiles   = "spark.sql.files.ignoreCorruptFiles"
	PartitionInference   = "spark.sql.sources.partitionColumnTypeInference.enabled"
	ValidatePartitions   = "spark.sql.sources.validatePartitionColumns"
	IgnoreSinkLog        = "spark.sql.streaming.fileStreamSink.ignoreMetadata"
	SplitBytes           = "spark.sql.files.maxPartitionBytes"
	OpenCost             = "spark.sql.files.openCostInBytes"
	MinSplits            = "spark.sql.files.minPartitionNum"
	MaxSplits            = "spark.sql.files.maxPartitionNum"
	MaxRecordsPerFile    = "spark.sql.files.maxRecordsPerFile"
	MaxBytesPerFile      = "spark.millrace.files.maxBytesPerFile"
	MinBatches           = "spark.sql.streaming.minBatchesToRetain"
	SourceLogInterval    = "spark.sql.streaming.fileSource.log.compactInterval"
	SourceLogDelay       = "spark.sql.streaming.fileSource.log.cleanupDelay"
	SourceLogDeletion    = "spark.sql.streaming.fileSource.log.deletion"
	SinkLogInterval      = "spark.sql.streaming.fileSink.log.compactInterval"
	SinkLogDelay         = "spark.sql.streaming.fileSink.log.cleanupDelay"
	SinkLogDeletion      = "spark.sql.streaming.fileSink.log.deletion"
)

// Settings of Delta tables.
const (
	DeltaAutoMerge      = "spark.databricks.delta.schema.autoMerge.enabled"
	DeltaUserMetadata   = "spark.databricks.delta.commitInfo.userMetadata"
	DeltaTxnApp         = "spark.databricks.delta.write.txnAppId"
	DeltaTxnVersion     = "spark.databricks.delta.write.txnVersion"
	DeltaRetentionCheck = "spark.databricks.delta.retentionDurationCheck.enabled"
)
