// Package types holds the data types of Spark SQL, schemas, and the Go values of rows.
//
// Types are plain struct values (IntegerType{}, DecimalType{10, 2}, ArrayType{...}), never
// pointers; the variables Integer, Long, String, ... are the ready instances of those without
// parameters. Compare with Equal, not with ==: a StructType holds a slice, and == on two of
// them panics. Comparing with a simple type (t == types.Integer) is safe.
//
// # Texts
//
// A type has three names: TypeName as in the JSON form and printSchema ("integer"),
// SimpleString as in explain and df.dtypes ("int", "struct<a:int>") and SQL as in messages and
// DDL ("INT", "STRUCT<a: INT>"). Schemas are read from DDL (ParseDDL), from JSON (ParseJSON)
// or from either (ParseSchema) and written by DDL, JSON and TreeString. ArrowSchema,
// FromArrowSchema and their parts map types to Arrow and back.
//
// # Values
//
// A value of a row, a literal or a parameter is a Go value of the kind below; nil is null.
//
//	BOOLEAN                 bool
//	TINYINT ... BIGINT      int8, int16, int32, int64
//	FLOAT, DOUBLE           float32, float64
//	DECIMAL                 Decimal
//	STRING, CHAR, VARCHAR   string
//	BINARY                  []byte
//	DATE                    Days
//	TIMESTAMP               Micros
//	TIMESTAMP_NTZ           MicrosNTZ
//	TIME                    TimeOfDay
//	INTERVAL                Interval
//	INTERVAL YEAR TO MONTH  YearMonth
//	INTERVAL DAY TO SECOND  DayTime
//	ARRAY                   []any
//	MAP                     MapValue
//	STRUCT                  Row
//	VARIANT                 VariantValue
//	VOID                    nil
//
// CheckValue says whether a value is of a type; ToValue also takes the usual Go types of a
// program (int, time.Time, time.Duration, *big.Int, slices, maps) and converts them.
//
// The package knows nothing of expressions, plans or vectors. It is tested by tables recorded
// from Spark, by laws (print and read back) and by fuzzing the DDL and JSON readers.
package types
