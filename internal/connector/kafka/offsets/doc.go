// Package offsets has the positions of partitions, and the JSON forms in which Spark writes them in options, in the offset log and in
// progress. It knows nothing of a broker. It is tested by tables, by what it reads of what it writes, and by a fuzz target.
package offsets
