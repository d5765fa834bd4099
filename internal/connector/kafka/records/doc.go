// Package records turns the record batches of Kafka's protocol into columns, without a row in between.
//
// Keys and values are spans over the bytes that came from the broker, or over what they decompress to. The package knows nothing of
// brokers. It is tested beside the decoder of the Kafka library on batches that the library writes, and by a fuzz target.
package records
