package functions

import "github.com/millrace/millrace"

// Col is the column of that name, as millrace.Col.
func Col(name string) millrace.Column { return millrace.Col(name) }

// Lit is a literal, as millrace.Lit.
func Lit(v any) millrace.Column { return millrace.Lit(v) }

// Expr is the column of a SQL expression, as millrace.Expr.
func Expr(sql string) millrace.Column { return millrace.Expr(sql) }

// Call calls a function by its name, as millrace.Call.
func Call(name string, args ...any) millrace.Column { return millrace.Call(name, args...) }

// list is columns as arguments of any type.
func list[C millrace.ColumnOrName](cols []C) []any {
	out := make([]any, len(cols))
	for i, c := range cols {
		out[i] = c
	}
	return out
}

// literals is arguments that may be left out.
func literals[T any](values []T) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = millrace.Lit(v)
	}
	return out
}

// Count counts the values of a column that are not null; "*" counts rows.
func Count[C millrace.ColumnOrName](col C) millrace.Column {
	if name, ok := any(col).(string); ok && name == "*" {
		return millrace.Call("count", millrace.Lit(1))
	}
	return millrace.Call("count", col)
}

// CountDistinct counts the distinct combinations of values of some columns.
func CountDistinct[C millrace.ColumnOrName](cols ...C) millrace.Column {
	return millrace.CallDistinct("count", list(cols)...)
}

// When is value where condition is true. Column.When adds branches, Column.Otherwise the value where none applies.
func When(condition millrace.Column, value any) millrace.Column {
	return millrace.Call("when", condition, millrace.Lit(value))
}

// ConcatWS joins strings and arrays of strings, with a separator and without nulls.
func ConcatWS[C millrace.ColumnOrName](separator string, cols ...C) millrace.Column {
	return millrace.Call("concat_ws", append([]any{millrace.Lit(separator)}, list(cols)...)...)
}

// FormatString prints columns by a format such as "%s: %d".
func FormatString[C millrace.ColumnOrName](format string, cols ...C) millrace.Column {
	return millrace.Call("format_string", append([]any{millrace.Lit(format)}, list(cols)...)...)
}

// FromJSON reads JSON texts of a schema in DDL: "id BIGINT, name STRING". Options are those of the JSON source.
func FromJSON[C millrace.ColumnOrName](col C, schema string, options ...map[string]string) millrace.Column {
	return millrace.Call("from_json", append([]any{col, millrace.Lit(schema)}, literals(options)...)...)
}

// FromCSV reads lines of CSV of a schema in DDL. Options are those of the CSV source.
func FromCSV[C millrace.ColumnOrName](col C, schema string, options ...map[string]string) millrace.Column {
	return millrace.Call("from_csv", append([]any{col, millrace.Lit(schema)}, literals(options)...)...)
}

// FromAvro reads records in Avro's binary encoding by a schema in JSON. The option mode is FAILFAST, the default, or PERMISSIVE; avroSchema
// is the schema that is wanted when the records were written by another.
func FromAvro[C millrace.ColumnOrName](col C, schema string, options ...map[string]string) millrace.Column {
	return millrace.Call("from_avro", append([]any{col, millrace.Lit(schema)}, literals(options)...)...)
}

// ToAvro writes values in Avro's binary encoding, in the form of a schema in JSON or, without one, in that of their type.
func ToAvro[C millrace.ColumnOrName](col C, schema ...string) millrace.Column {
	return millrace.Call("to_avro", append([]any{col}, literals(schema)...)...)
}

// JSONTuple makes a column of each named key of a JSON object.
func JSONTuple[C millrace.ColumnOrName](col C, keys ...string) millrace.Column {
	return millrace.Call("json_tuple", append([]any{col}, literals(keys)...)...)
}

// Log is the logarithm to a base.
func Log[C millrace.ColumnOrName](base float64, col C) millrace.Column {
	return millrace.Call("log", millrace.Lit(base), col)
}

// Asc sorts by a column from the smallest value to the largest, nulls first.
func Asc(name string) millrace.Column { return Col(name).Asc() }

// AscNullsFirst is Asc.
func AscNullsFirst(name string) millrace.Column { return Col(name).AscNullsFirst() }

// AscNullsLast is Asc with nulls last.
func AscNullsLast(name string) millrace.Column { return Col(name).AscNullsLast() }

// Desc sorts by a column from the largest value to the smallest, nulls last.
func Desc(name string) millrace.Column { return Col(name).Desc() }

// DescNullsFirst is Desc with nulls first.
func DescNullsFirst(name string) millrace.Column { return Col(name).DescNullsFirst() }

// DescNullsLast is Desc.
func DescNullsLast(name string) millrace.Column { return Col(name).DescNullsLast() }

// Broadcast marks a DataFrame as small enough to be held whole on every side of a join.
func Broadcast(df *millrace.DataFrame) *millrace.DataFrame { return df.Hint("broadcast") }
