// Package userfunc is what a program's function in expressions and the engine that calls it have in common.
//
// The root package wraps typed Go functions into a Scalar or an Aggregate; packages expr/fn and expr/agg make functions like any other of
// them. Values travel as Arrow arrays, some thousand rows at a time, so that both sides work column by column; the buffers of aggregates
// travel as bytes. The package knows nothing of vectors and plans, because programs that only talk to a server link it too. It is
// tested with programs' functions: udf_test.go of the root package.
package userfunc

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/millrace/millrace/types"
)

// Param is a parameter of a function.
type Param struct {
	// Type is what arguments are cast to that it does not take as they are; nil for none.
	Type types.DataType
	// Takes tells whether it takes values of a type as they are.
	Takes func(t types.DataType) bool
}

// Signature is what is known of a function before it is called.
type Signature struct {
	// Name is how calls of it are shown. A checkpoint knows an aggregate by it.
	Name string
	// ID tells functions of one name apart.
	ID     string
	Params []Param
	// Open is set when the last parameter stands for any number of arguments.
	Open bool
	// Result is the type of what it gives.
	Result   types.DataType
	Nullable bool
	// SkipsNulls is set when a row with any null argument gives null without the function being called.
	SkipsNulls bool
	// Nondeterministic is set when two calls with the same arguments may differ.
	Nondeterministic bool
}

// Fail notes that a row cannot be computed.
type Fail func(row int, err error)

// Scalar is a function of columns. It is not changed by its use.
type Scalar interface {
	Signature() Signature
	// New returns a worker for arguments of some types, which belongs to one goroutine.
	New(args []types.DataType) (Worker, error)
}

// Worker computes rows.
type Worker interface {
	// Call gives the results for n rows as an array of the signature's type. What it gives for rows that have failed does not matter. The
	// arrays are not written to later on.
	Call(args []arrow.Array, n int, fail Fail) (arrow.Array, error)
}

// Aggregate is a function of groups of rows. It is not changed by its use.
type Aggregate interface {
	Signature() Signature
	// Buffer describes the bytes of a buffer: buffers with equal descriptions are exchangeable.
	Buffer() string
	New(args []types.DataType) (Buffers, error)
}

// Buffers are the intermediate results of an aggregate, by group. They belong to one goroutine.
type Buffers interface {
	// Grow makes room for groups 0 to n-1; new ones are empty.
	Grow(n int)
	// Update adds row i of the arguments to group groups[i].
	Update(groups []uint32, args []arrow.Array, fail Fail) error
	// Merge adds a saved buffer to a group.
	Merge(group uint32, image []byte) error
	// Finish gives the results of groups. Errors are noted by position in groups.
	Finish(groups []uint32, fail Fail) (arrow.Array, error)
	// Save appends a group's buffer to b; ok is false for a group without rows.
	Save(group uint32, b []byte) (image []byte, ok bool, err error)
	Clear(groups []uint32)
	// Bytes estimates the memory held.
	Bytes() int64
}
