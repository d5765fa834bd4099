package stream

import (
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/state/providers"
)

// Settings of the session that a query goes by. They are read when it starts.
const (
	keyAllowMultiple   = setting.AllowMultiple
	keyMergeSessions   = "spark.sql.streaming.sessionWindow.merge.sessions.in.local.partition"
	keyCheck           = setting.UnsupportedCheck
	keyCheckpoints     = setting.Checkpoints
	keyDefaultFormat   = setting.Source
	keyDeleteTemporary = "spark.sql.streaming.forceDeleteTempCheckpointLocation"
	keyMinBatches      = setting.MinBatches
	keyNoDataBatches   = "spark.sql.streaming.noDataMicroBatches.enabled"
	keyNoDataProgress  = "spark.sql.streaming.noDataProgressEventInterval"
	keyPollingDelay    = "spark.sql.streaming.pollingDelay"
	keyRealTimeLeast   = "spark.sql.streaming.realTimeMode.minBatchDuration"
	keyRecentProgress  = "spark.sql.streaming.numRecentProgressUpdates"
	keyStateCodec      = "spark.sql.streaming.stateStore.compression.codec"
	keyStopActive      = "spark.sql.streaming.stopActiveRunOnRestart"
	keyStopTimeout     = "spark.sql.streaming.stopTimeout"
	keyVerifyEmpty     = "spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart"
	keyVerifyMetadata  = "spark.sql.streaming.checkpoint.verifyMetadataExists.enabled"
)

// Settings that are fixed by the first batch of a checkpoint, under the names by which the offset log knows them.
const (
	keyPartitions = setting.ShufflePartitions
	keyProvider   = providers.Key
	keyPolicy     = "spark.sql.streaming.multipleWatermarkPolicy"
)

// Settings beyond Spark, see optin.go. An option of the writer of the same meaning goes before.
const (
	keyIdleTimeout = "spark.millrace.streaming.watermark.idleTimeout"
	keyPerInput    = "spark.millrace.streaming.watermark.perInput"
	keyRepartition = "spark.millrace.streaming.state.repartition"
	keyAllowAdded  = state.AllowAddedKey
)
