// Command handover shows that a query without state can be stopped in one engine and continued in the other: it runs programs in turns on
// a real Apache Spark and on millrace, over one checkpoint and one output folder, and finds every row of the input in the output
// exactly once. It also runs each program wholly on either engine and compares what they have written beside the data, byte for
// byte but for ids, times and the names of data files.
//
//	make oracle
//	go run ./test/handover -spark sc://localhost:15099            all programs in all turns
//	go run ./test/handover -spark sc://localhost:15099 -record    write testdata anew
//
// The tests need no Spark: testdata has, for each program, what Apache Spark 4.2.0 left of a run (<program>.zip, to be continued by
// millrace), what it left of one that went on from a checkpoint of millrace (<program>.turns.zip), and what it wrote beside the data in
// a run of its own (<program>.txt, to be compared with ours).
package main
