// Package textrecord has what the readers and writers of text records, packages jsonrow and csvrow, share: what becomes of a record
// that does not fit its schema, how options are read, and how a record is shown in a message.
//
// It knows neither format. It is tested through the two packages.
package textrecord
