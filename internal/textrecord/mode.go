package textrecord

import "strings"

// Mode says what becomes of a record that does not fit its schema.
type Mode uint8

// The modes.
const (
	// Permissive gives what could be read, nulls for the rest, and the record's text in the corrupt record column.
	Permissive Mode = iota
	// DropMalformed passes over the record.
	DropMalformed
	// FailFast makes the record an error.
	FailFast
)

// ParseMode reads a mode; a word that is none of the three means Permissive, as in Spark.
func ParseMode(s string) Mode {
	switch strings.ToUpper(s) {
	case "DROPMALFORMED":
		return DropMalformed
	case "FAILFAST":
		return FailFast
	}
	return Permissive
}

// String is the mode's name.
func (m Mode) String() string {
	switch m {
	case DropMalformed:
		return "DROPMALFORMED"
	case FailFast:
		return "FAILFAST"
	}
	return "PERMISSIVE"
}
