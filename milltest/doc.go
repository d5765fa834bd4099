// Package milltest is a test kit for programs that use millrace and for millrace itself: streams that a test fills row by row, a clock
// that stands still until it is turned, a disk in memory that can lose power at any write, and queries that are run batch by batch.
//
//	func TestTotals(t *testing.T) {
//		eng := milltest.New(t)
//		events := eng.Stream("ts TIMESTAMP, user STRING, amount INT")
//		q := eng.Start(totals(events.DataFrame()), milltest.Mode(millrace.Append))
//
//		events.AddText("10:01  ann  10", "10:04  bob  20")
//		q.Expect()                  // nothing yet: the window is open
//		events.AddText("10:16  ann  30")
//		q.Expect("(10:00, 30)")     // the watermark, 5 minutes behind, has passed 10:10
//	}
//
// Nothing waits for real time. A batch runs when the test asks for it, and the same test gives the same batches every time.
//
// What a stream gives and what a query has written outlive the query, as a message log and a table would: a query can be stopped,
// crashed and started again from its checkpoint. The sink takes a batch that comes again and fails the test if its rows differ.
package milltest
