package types

// Days is a DATE: days since 1970-01-01.
type Days int32

// Micros is a TIMESTAMP: microseconds since 1970-01-01 UTC.
type Micros int64

// MicrosNTZ is a TIMESTAMP_NTZ: microseconds since 1970-01-01 00:00 on the same clock.
type MicrosNTZ int64

// TimeOfDay is a TIME: nanoseconds since midnight.
type TimeOfDay int64

// Interval is an INTERVAL: months, days and microseconds, which do not convert into each other.
type Interval struct {
	Months, Days int32
	Micros       int64
}

// YearMonth is an INTERVAL YEAR TO MONTH: months.
type YearMonth int32

// DayTime is an INTERVAL DAY TO SECOND: microseconds.
type DayTime int64

// MapValue is a MAP: its entries in the order they were made.
type MapValue []MapEntry

// MapEntry is a key of a map with its value.
type MapEntry struct{ Key, Value any }

// Row is a row or a STRUCT: the values of the fields in order.
type Row []any

// VariantValue is a VARIANT in its binary form.
type VariantValue struct{ Value, Metadata []byte }
