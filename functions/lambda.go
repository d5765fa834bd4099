package functions

import "github.com/millrace/millrace"

func lambda1(f func(x millrace.Column) millrace.Column) millrace.Column {
	return millrace.Lambda(1, func(args ...millrace.Column) millrace.Column { return f(args[0]) })
}

func lambda2(f func(x, y millrace.Column) millrace.Column) millrace.Column {
	return millrace.Lambda(2, func(args ...millrace.Column) millrace.Column { return f(args[0], args[1]) })
}

// Transform applies a function to each element of an array.
func Transform[C millrace.ColumnOrName](col C, f func(x millrace.Column) millrace.Column) millrace.Column {
	return millrace.Call("transform", col, lambda1(f))
}

// TransformIndexed applies a function to each element of an array and its position, counted from 0.
func TransformIndexed[C millrace.ColumnOrName](col C, f func(x, y millrace.Column) millrace.Column) millrace.Column {
	return millrace.Call("transform", col, lambda2(f))
}

// Filter keeps the elements of an array for which a condition is true.
func Filter[C millrace.ColumnOrName](col C, f func(x millrace.Column) millrace.Column) millrace.Column {
	return millrace.Call("filter", col, lambda1(f))
}

// Exists tells whether a condition is true for some element.
func Exists[C millrace.ColumnOrName](col C, f func(x millrace.Column) millrace.Column) millrace.Column {
	return millrace.Call("exists", col, lambda1(f))
}

// ForAll tells whether a condition is true for all elements.
func ForAll[C millrace.ColumnOrName](col C, f func(x millrace.Column) millrace.Column) millrace.Column {
	return millrace.Call("forall", col, lambda1(f))
}

// Aggregate combines the elements of an array with an initial value, one after the other. merge takes what there is so far and an
// element; finish, if given, makes the result of what there is in the end.
func Aggregate[C millrace.ColumnOrName](col C, initial any, merge func(x, y millrace.Column) millrace.Column, finish ...func(x millrace.Column) millrace.Column) millrace.Column {
	args := []any{col, millrace.Lit(initial), lambda2(merge)}
	for _, f := range finish {
		args = append(args, lambda1(f))
	}
	return millrace.Call("aggregate", args...)
}

// ZipWith combines the elements of two arrays.
func ZipWith[A, B millrace.ColumnOrName](a A, b B, f func(x, y millrace.Column) millrace.Column) millrace.Column {
	return millrace.Call("zip_with", a, b, lambda2(f))
}

// TransformKeys applies a function of key and value to make new keys.
func TransformKeys[C millrace.ColumnOrName](col C, f func(x, y millrace.Column) millrace.Column) millrace.Column {
	return millrace.Call("transform_keys", col, lambda2(f))
}

// TransformValues applies a function of key and value to make new values.
func TransformValues[C millrace.ColumnOrName](col C, f func(x, y millrace.Column) millrace.Column) millrace.Column {
	return millrace.Call("transform_values", col, lambda2(f))
}

// MapFilter keeps the entries for which a condition on key and value is true.
func MapFilter[C millrace.ColumnOrName](col C, f func(x, y millrace.Column) millrace.Column) millrace.Column {
	return millrace.Call("map_filter", col, lambda2(f))
}

// Reduce is Aggregate.
func Reduce[C millrace.ColumnOrName](col C, initial any, merge func(x, y millrace.Column) millrace.Column, finish ...func(x millrace.Column) millrace.Column) millrace.Column {
	return Aggregate(col, initial, merge, finish...)
}

// MapZipWith combines the values that two maps have for a key, null where one has none.
func MapZipWith[A, B millrace.ColumnOrName](a A, b B, f func(key, x, y millrace.Column) millrace.Column) millrace.Column {
	return millrace.Call("map_zip_with", a, b, millrace.Lambda(3, func(args ...millrace.Column) millrace.Column { return f(args[0], args[1], args[2]) }))
}
