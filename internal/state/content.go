package state

import "github.com/millrace/millrace/internal/vec"

// Content is what a state holds at a version, or what one version has changed, for those who look at it.
type Content struct {
	Header Header
	// Rows are keys and then values; of changes those that were added or changed.
	Rows []*vec.Batch
	// Gone are the keys that were removed; of changes only.
	Gone []*vec.Batch
}
