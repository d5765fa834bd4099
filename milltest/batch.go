package milltest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/millrace/millrace"
	"github.com/millrace/millrace/types"
)

// Batch is a micro-batch that has run.
type Batch struct {
	ID int64
	// Rows are what the sink has got, in its order.
	Rows []types.Row
	// Progress is the query's report.
	Progress millrace.StreamingQueryProgress
	// NoData is set for a batch without new rows, which runs because the watermark has moved.
	NoData bool
	// Rerun is set when the batch was planned by an earlier run of the query.
	Rerun bool
	// Watermark is the one that the batch ran with and Next that of the batch that follows; both are zero for a query without one.
	Watermark, Next time.Time
}

// BatchOf is what the report of a batch says about it: everything but its rows and what only the checkpoint knows.
func BatchOf(p millrace.StreamingQueryProgress) (Batch, error) {
	b := Batch{ID: p.BatchID, Progress: p, NoData: noData(&p)}
	text, ok := p.EventTime["watermark"]
	if !ok {
		return b, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	b.Watermark, b.Next = at, at
	return b, err
}

// Dropped is how many rows were too late, as Spark counts them: for an aggregation groups.
func (b Batch) Dropped() int64 {
	var n int64
	for _, o := range b.Progress.StateOperators {
		n += o.NumRowsDroppedByWatermark
	}
	return n
}

// The columns of String.
const (
	rowsAt      = 12
	watermarkAt = 43
	stateAt     = 75
)

// longRows is how much of a line rows may take before they get lines of their own.
const longRows = 64

// String is the batch in a line: its number, its rows, how many were dropped for being late, its watermark and the next one where that
// is another, how many rows each stateful operator keeps, and what is special about it.
//
//	batch 3     rows: (10:00, 30)              watermark 10:11                 state 1   (no data)
func (b Batch) String() string {
	line := fmt.Sprintf("batch %d", b.ID)
	pad := func(to int) {
		if len(line) > rowsAt-3 {
			line += "   "
		}
		if len(line) < to {
			line += strings.Repeat(" ", to-len(line))
		}
	}
	pad(rowsAt)
	rows := FormatRows(b.Rows)
	var below string
	switch {
	case len(rows) == 0:
		line += "rows: none"
	case len(strings.Join(rows, "  ")) > longRows:
		line += fmt.Sprintf("rows: %d", len(rows))
		below = "\n" + strings.Repeat(" ", rowsAt) + strings.Join(rows, "\n"+strings.Repeat(" ", rowsAt))
	default:
		line += "rows: " + strings.Join(rows, "  ")
	}
	if n := b.Dropped(); n > 0 {
		line += fmt.Sprintf("   dropped %d", n)
	}
	if !b.Watermark.IsZero() {
		pad(watermarkAt)
		line += "watermark " + FormatTime(b.Watermark)
		if !b.Next.Equal(b.Watermark) {
			line += " -> " + FormatTime(b.Next)
		}
	}
	if ops := b.Progress.StateOperators; len(ops) > 0 {
		pad(stateAt)
		counts := make([]string, len(ops))
		for i, o := range ops {
			counts[i] = fmt.Sprint(o.NumRowsTotal)
		}
		line += "state " + strings.Join(counts, ", ")
	}
	for _, mark := range []struct {
		set  bool
		text string
	}{{b.NoData, "(no data)"}, {b.Rerun, "(re-run)"}} {
		if mark.set {
			line += "   " + mark.text
		}
	}
	return line + below
}

// FormatBatches writes batches, one a line.
func FormatBatches(bs []Batch) string {
	lines := make([]string, len(bs))
	for i, b := range bs {
		lines[i] = b.String()
	}
	return strings.Join(lines, "\n")
}

// RowsOf are the rows of batches as text, sorted.
func RowsOf(bs []Batch) []string {
	var out []string
	for _, b := range bs {
		out = append(out, FormatRows(b.Rows)...)
	}
	slices.Sort(out)
	return out
}

// noData tells from a report whether any source had moved.
func noData(p *millrace.StreamingQueryProgress) bool {
	return !slices.ContainsFunc(p.Sources, func(s millrace.SourceProgress) bool { return s.StartOffset != s.EndOffset })
}
