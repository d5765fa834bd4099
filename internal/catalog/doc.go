// Package catalog knows the databases and tables of a warehouse: what they are called, where their files lie and what is in them.
//
// Everything it knows stands in small JSON files under <warehouse>/_catalog, one for each table in the folder of its database, and
// is kept in memory beside them; one process at a time may change a warehouse. The package reads and writes no rows: that is for
// connectors. It knows neither temporary views nor sessions. A statement that is cut off was run or was not, see change.go; the tests of that are in
// test/faults.
package catalog
