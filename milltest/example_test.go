package milltest_test

import (
	"fmt"

	"github.com/millrace/millrace"
	f "github.com/millrace/millrace/functions"
	"github.com/millrace/millrace/milltest"
)

// totals is the program under test: what each window of ten minutes sums up to, once no more rows can come for it.
func totals(events *millrace.DataFrame) *millrace.DataFrame {
	return events.
		WithWatermark("ts", "5 minutes").
		GroupBy(f.Window(f.Col("ts"), "10 minutes")).
		Agg(f.Sum("amount").As("total")).
		Select(f.Col("window.start"), f.Col("total"))
}

// A test fills a stream, runs the query and looks at what came out. Where this example has a Panic, a test has its *testing.T.
func Example() {
	t := &milltest.Panic{}
	defer t.Done()

	eng := milltest.New(t)
	events := eng.Stream("ts TIMESTAMP, user STRING, amount INT")
	q := eng.Start(totals(events.DataFrame()), milltest.Mode(millrace.Append))

	events.AddText(
		"10:01  ann  10",
		"10:04  bob  20")
	q.Expect() // no rows: the window may still get some

	events.AddText("10:16  ann  30")
	q.Expect("(10:00, 30)") // rows may be 5 minutes late, so 10:00 to 10:10 is over

	events.AddText("10:02  bob  99")
	for _, b := range q.Process() {
		fmt.Println(b.Dropped(), "row came too late")
	}

	// The machine stops after the next batch was planned, and comes back.
	events.AddText("10:31  ann  1")
	q.CrashAfter(milltest.AfterOffsets)
	q.Restart()
	q.Expect("(10:10, 30)")

	fmt.Println(milltest.FormatBatches(q.Batches()))
	// Output:
	// 1 row came too late
	// batch 0     rows: none                     watermark 1970-01-01 -> 09:59   state 1
	// batch 1     rows: none                     watermark 09:59                 state 1   (no data)
	// batch 2     rows: none                     watermark 09:59 -> 10:11        state 2
	// batch 3     rows: (10:00, 30)              watermark 10:11                 state 1   (no data)
	// batch 4     rows: none   dropped 1         watermark 10:11                 state 1
	// batch 5     rows: none                     watermark 10:11 -> 10:26        state 2   (re-run)
	// batch 6     rows: (10:10, 30)              watermark 10:26                 state 1   (no data)
}
