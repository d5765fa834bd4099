// Package kafka is the Kafka source, in batch and as a stream, and the Kafka sink.
//
// A stream asks its brokers for the ends of the partitions, and a fetcher of its own reads ahead of the batches; splits take what it has,
// and whatever else they need from the brokers. Offsets are never taken from Kafka: the query's checkpoint alone decides. The package knows
// the protocol by franz-go; how records become columns is in records, the JSON forms of offsets in offsets, the settings of the
// client in client. It is tested with an in-process broker here, and with Apache Kafka by test/kafka.
package kafka
