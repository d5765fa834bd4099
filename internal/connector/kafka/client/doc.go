// Package client makes Kafka clients of Spark's kafka.* options, which are the settings of Kafka's Java client.
//
// A setting is either carried out, or accepted because it cannot matter to this client, or refused by name: none that would change
// what is read, what is written or how safe a connection is gets lost. It is tested by tables of settings, and against brokers with each
// kind of security.
package client
