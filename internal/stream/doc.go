// Package stream runs streaming queries: the micro-batch driver, triggers, watermarks, progress, and the queries of a session.
//
// A query is one goroutine that does one micro-batch after the other. What a batch does is a function of the plan, its entry in
// the offset log and the state before it, so that it can be run again after a crash at any point; driver.go says for every step
// what a crash after it means. The order of what is made durable:
//
//	{commit of batch N-1, offsets of batch N}   one round of fsyncs
//	the batch runs: state and sink files are written
//	{state of all operators}                    one round
//	sink commit                                 makes the batch visible
//
// The commit of a batch waits for the next batch's offsets, unless there is nothing to wait for: when the query is idle, waits
// for its trigger or ends, it is made at once.
//
// The package owns when things happen. It must not know what an expression means (that is bind and exec), what lies in a state
// table (stateful, state), what an offset says (connectors) or how clients ask (connect). Legality of plans is checked by the
// caller through a hook.
//
// Everything that waits uses the runtime's clock. Tests run in testing/synctest bubbles or with a manual clock, with sources and
// sinks of package streamtest on a file system that can crash.
package stream
