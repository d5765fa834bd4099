// Package numtext reads and prints numbers and booleans in the forms that Java and Spark use.
//
// It knows bytes and numbers only. Casts, connectors and the rendering of results share it, so that a value looks the same
// wherever it is shown. It is tested by tables and by reading back what was printed.
package numtext
