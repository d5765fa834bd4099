// Package xmlpath evaluates XPath 1.0 expressions over XML texts, for the xpath functions.
//
// It knows texts and plain values, no columns. The expressions themselves are compiled and evaluated by a library, over the tree of
// nodes that is made here. It is tested by the functions of package fn, against answers of Apache Spark 4.2.0 (testdata/xml.txt there).
package xmlpath
