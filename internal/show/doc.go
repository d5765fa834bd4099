// Package show renders rows as text: the table that DataFrame.show prints, its vertical and HTML forms, and single cells.
//
// Cells are what a cast to STRING gives, except that binaries are shown as bytes in brackets and nulls as NULL wherever they
// stand. The package knows vectors and casts; it fetches no rows. It is tested against tables printed by Spark.
package show
