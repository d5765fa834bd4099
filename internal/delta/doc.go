// Package delta is the table format Delta Lake: the log of a table, by the open protocol.
//
// It owns the actions that a log consists of, snapshots of tables, checkpoints, what statistics and partition values look like, protocol
// versions and table features, and transactions: a commit becomes version N by making the file of that name, which only one writer can,
// and is checked against what others have committed meanwhile. It does not know how rows are read and written; checkpoints, which are
// Parquet, go through a Codec.
//
// Everything is durable before it is visible: data files are synced before the commit that names them, and the commit before it gets its
// name.
//
// It is tested against tables that Delta Lake itself has written, and with file systems that fail at every call.
package delta
