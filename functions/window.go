package functions

import (
	"time"

	"github.com/millrace/millrace"
)

// Window is the window of event time that a row belongs to: a struct of start and end, duration long. Group by it to aggregate over
// time. A row belongs to one window, or to several with the options.
//
//	f.Window("ts", "10 minutes")
//	f.Window("ts", "10 minutes", f.Slide("5 minutes"), f.StartTime("1 minute"))
func Window[C millrace.ColumnOrName, I millrace.Interval](eventTime C, duration I, options ...WindowOption) millrace.Column {
	var o windowOptions
	for _, set := range options {
		set(&o)
	}
	args := []any{eventTime, interval(duration)}
	if o.start != nil && o.slide == nil {
		o.slide = interval(duration)
	}
	if o.slide != nil {
		args = append(args, o.slide)
	}
	if o.start != nil {
		args = append(args, o.start)
	}
	return millrace.Call("window", args...)
}

// WindowOption changes how Window cuts time.
type WindowOption func(*windowOptions)

type windowOptions struct{ slide, start any }

// Slide starts a window each interval, so that windows overlap if it is shorter than the window.
func Slide[I millrace.Interval](every I) WindowOption {
	return func(o *windowOptions) { o.slide = interval(every) }
}

// StartTime moves the starts of windows away from 1970-01-01 00:00 UTC.
func StartTime[I millrace.Interval](offset I) WindowOption {
	return func(o *windowOptions) { o.start = interval(offset) }
}

// SessionWindow is the session that a row belongs to: a struct of start and end. A session goes on as long as the next row comes
// before gap has passed. The gap is an interval, or a Column that computes it.
func SessionWindow[C millrace.ColumnOrName, G string | time.Duration | millrace.Column](eventTime C, gap G) millrace.Column {
	length := any(gap)
	switch g := length.(type) {
	case string:
		length = interval(g)
	case time.Duration:
		length = interval(g)
	}
	return millrace.Call("session_window", eventTime, length)
}

func interval[I millrace.Interval](i I) millrace.Column {
	return millrace.Lit(millrace.IntervalText(i))
}

// Lag is the value of the row offset rows before, or otherwise where there is none.
func Lag[C millrace.ColumnOrName](col C, offset int, otherwise ...any) millrace.Column {
	return shifted("lag", col, offset, otherwise)
}

// Lead is the value of the row offset rows after, or otherwise where there is none.
func Lead[C millrace.ColumnOrName](col C, offset int, otherwise ...any) millrace.Column {
	return shifted("lead", col, offset, otherwise)
}

func shifted(name string, col any, offset int, otherwise []any) millrace.Column {
	return millrace.Call(name, append([]any{col, millrace.Lit(offset)}, literals(otherwise)...)...)
}
