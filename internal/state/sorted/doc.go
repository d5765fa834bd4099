// Package sorted is a map of bytes in order, kept in memory, whose cursors are snapshots: what is put while one is open is not seen by
// it. The shards of state that are ordered bytes stand on it: the memory provider holds all keys in one, the other one what a batch
// has changed.
//
// It knows nothing of files or versions. The law in its test compares it with a plain map.
package sorted
