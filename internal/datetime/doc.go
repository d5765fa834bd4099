// Package datetime computes with dates and times as Spark does: the proleptic Gregorian calendar for all years, days since
// 1970-01-01 and microseconds since 1970-01-01 00:00, time zones with daylight saving, the texts that casts read and print, and
// Java's date-time patterns compiled to steps.
//
// It knows numbers and bytes only, no vectors and no types. It is tested against the standard library's calendar, by tables
// recorded from Spark, and by reading back what was printed.
package datetime
