// Package xmlfile reads and writes files of XML: elements of one name are the rows of a table.
//
// It knows where records begin and end in a text; what is in them is package xmlrow's, files are package files' and filesink's. It is
// tested against files written and read by Apache Spark 4.2.0.
package xmlfile
