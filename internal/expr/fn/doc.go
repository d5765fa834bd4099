// Package fn is the registry of scalar functions, one file per family.
//
// A function is registered once, with its names and a Bind that chooses the implicit casts, the result type, the nullability
// and the kernel for given arguments; SQL, Connect plans and the Go API all find it here. The rules by which types meet
// (CommonType, ComparisonType), casts (BindCast, CanCast, ForcesNull) and the text by which results name a call (CallSQL) are here
// too, and nowhere else. Kernels compute dense rows, never see a selection and have no state but scratch.
//
// This package knows nothing of plans, names or sessions: a Binding holds all that a function may depend on before it runs, an
// expr.Eval all that it may depend on while it does.
//
// It is tested against answers recorded from Spark (testdata, made by record.py): type, nullability, value and error class of
// some twelve hundred calls, each with constants and with columns, which must not make a difference.
package fn
