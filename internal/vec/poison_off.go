//go:build !invariants

package vec

// Invariants tells that the program was built to check itself.
const Invariants = false

// Poison does nothing in this build. With the build tag invariants it overwrites the scratch memory behind a batch's Borrowed
// columns: a producer calls it before it makes its next batch.
func Poison(*Batch) {}

func (v *Vector) poisonRows() {}
