// Package sketch holds what the sketches below it have in common: the hash of values. Each sketch is a package of its own and reads
// and writes the binary images of Apache DataSketches, or of Spark where the sketch is Spark's own, so that a sketch made here can be
// merged there and the other way round.
//
// The packages know nothing of vectors, types or plans. They are tested against images recorded from Apache Spark.
package sketch
