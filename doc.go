// Package millrace is a client and, with package engine, an engine for Spark Structured Streaming and Spark SQL.
//
// Connect makes a Session, in this process or on a Spark Connect server. A DataFrame is a plan made with the methods of the session and of
// other DataFrames; building it does no I/O and never fails. Methods that take a context run the plan, or ask the engine about it, and
// report whatever is wrong, also mistakes made while building:
//
//	spark, err := millrace.Connect(ctx, "local[2]") // or "sc://host:15002"
//	...
//	events := spark.ReadStream().SchemaDDL("ts TIMESTAMP, user STRING, amount INT").JSON("in")
//	totals := events.
//		WithWatermark("ts", "5 minutes").
//		GroupBy(f.Window("ts", "10 minutes")).
//		Agg(f.Sum("amount").As("total"))
//	query, err := totals.WriteStream().OutputMode(millrace.Update).Format("memory").QueryName("totals").
//		Trigger(millrace.AvailableNow()).Start(ctx)
//	...
//	err = query.AwaitTermination(ctx)
//	for row, err := range spark.Table("totals").Rows(ctx) { ... }
//
// The functions for Columns are in package functions, imported as f. Errors that the engine reports are *Error, the same from every engine.
//
// # Values
//
// The values of a Row have these Go types; nil is null. CollectAs, RowsAs and GetAs convert them to those of a program.
//
//	BOOLEAN                 bool
//	TINYINT ... BIGINT      int8, int16, int32, int64
//	FLOAT, DOUBLE           float32, float64
//	DECIMAL                 types.Decimal
//	STRING, CHAR, VARCHAR   string
//	BINARY                  []byte
//	DATE                    time.Time, midnight UTC
//	TIMESTAMP               time.Time, in the time zone of the session
//	TIMESTAMP_NTZ           time.Time, in UTC
//	TIME                    types.TimeOfDay
//	INTERVAL                types.Interval
//	INTERVAL YEAR TO MONTH  types.YearMonth
//	INTERVAL DAY TO SECOND  time.Duration, cut at some 292 years
//	ARRAY                   []any
//	MAP                     types.MapValue
//	STRUCT                  Row
//	VARIANT                 types.VariantValue
//	VOID                    nil
//
// In the other direction, in literals and local rows, more Go types are taken: see Lit and Session.CreateDataFrame.
//
// # How it is built
//
// The package makes messages of the Spark Connect protocol and nothing else. It knows no plans, vectors or operators: what it cannot
// say in the protocol it cannot do, so that every engine behaves alike. Its test-suite is written once and runs on the engine in this
// process, on a millrace server, and on Spark itself (MILLRACE_TEST_REMOTE=sc://host:port).
package millrace
