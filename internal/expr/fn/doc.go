// Package fn is the registry of scalar functions, one file per family.
//
// A function is registered once, with its names and a Bind that chooses the implicit casts, the result type, the nullability
// and the kernel for given arguments; SQL, Connect plans and the Go API all find it here. Kernels compute dense rows, never see
// a selection and have no state but scratch.
//
// Each family is tested by tables of SQL-like calls and by the law that flat, constant and dictionary arguments give one result.
package fn
