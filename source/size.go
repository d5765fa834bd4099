package source

// Size is what is known of a table without reading its rows. Numbers may be estimates; they decide how fast a query is, never what it
// gives.
type Size struct {
	Rows int64
	// Distinct bounds how many different values columns have, for those of which something is known.
	Distinct map[string]int64
}

// Sized is implemented by batch tables that know their size.
type Sized interface {
	Size() (Size, bool)
}
