// Package descriptors compares the protocol that internal/connectpb was compiled from with the one inside an installed
// pyspark-client wheel: every file, message, field, number, type, enum value and method. It has one test, which run.sh
// starts with the build tag wheel and the wheel's descriptors; it knows nothing of what the messages mean.
package descriptors
