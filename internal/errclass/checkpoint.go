package errclass

// checkpointTable: damage and disorder in a checkpoint that Spark has no condition for. Those it has
// are in streamingTable.
var checkpointTable = table{
	"STREAMING_CHECKPOINT_CORRUPT_FILE": {"KD002", IllegalState, "The file <file> of the checkpoint is damaged: <reason>. <advice>"},
	"STREAMING_CHECKPOINT_LOCKED":       {"0A000", IllegalState, "The checkpoint <checkpointLocation> is in use by another process; stop the query there, or use another checkpointLocation."},
}
