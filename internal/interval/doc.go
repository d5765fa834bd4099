// Package interval reads and prints intervals of time: calendar intervals ("1 hour 30 minutes"), as window durations,
// watermark delays and triggers are written, and the ANSI forms ('1-2' YEAR TO MONTH, '1 02:03:04.5' DAY TO SECOND).
//
// It knows texts and numbers only; where an interval may be used and which type it gets is the caller's matter. It is tested
// by tables of texts whose results were recorded from Spark, by printing and reading back, and by fuzzing.
package interval
