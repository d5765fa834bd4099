package source

import "context"

// BadRecord is a record that a reader cannot turn into a row.
type BadRecord struct {
	// File is the address of the file that the record stands in, or "".
	File string
	// Text is the record as it is.
	Text string
	// Err says what is wrong with it.
	Err error
}

type badRecordsKey struct{}

// WithBadRecords gives readers somebody who takes bad records. Its error, which is nil as long as the query is to go on, ends the
// reading.
func WithBadRecords(ctx context.Context, take func(BadRecord) error) context.Context {
	return context.WithValue(ctx, badRecordsKey{}, take)
}

// BadRecords is who takes bad records for a reader that would fail because of one, as text formats do in the mode FAILFAST; nil when
// nobody does. It is asked with the context of Reader.Next.
func BadRecords(ctx context.Context) func(BadRecord) error {
	take, _ := ctx.Value(badRecordsKey{}).(func(BadRecord) error)
	return take
}
