package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// column is a column of the table of values.
type column struct {
	name, typ string
	values    []string // as SQL, each of which is cast to typ
}

// columns are values at the edges of their types, and some in between. There are several of the types that most functions take.
var columns = []column{
	{"b", "BOOLEAN", []string{"true", "false"}},
	{"i8", "TINYINT", []string{"-128", "127", "0", "1", "-1", "5"}},
	{"i16", "SMALLINT", []string{"-32768", "32767", "0", "7", "-3", "256"}},
	{"i32", "INT", []string{"-2147483648", "2147483647", "0", "1", "-1", "2", "42", "100000"}},
	{"n", "INT", []string{"0", "1", "2", "3", "-1", "10", "4"}},
	{"i64", "BIGINT", []string{"-9223372036854775808", "9223372036854775807", "0", "1", "-1", "1700000000", "4294967296", "60"}},
	{"f32", "FLOAT", []string{"'NaN'", "'Infinity'", "'-Infinity'", "0.0", "'-0.0'", "1.5", "-2.25", "3.4e38", "1e-40"}},
	{"f64", "DOUBLE", []string{"'NaN'", "'Infinity'", "'-Infinity'", "0.0", "'-0.0'", "1.5", "-2.25", "1.7e308", "1e-320", "0.1", "1234567.891"}},
	{"x", "DOUBLE", []string{"0.5", "1.0", "2.0", "-1.0", "3.25", "10.0", "0.001"}},
	{"d9", "DECIMAL(9,2)", []string{"0", "1.25", "-1.25", "9999999.99", "-9999999.99", "0.01", "2.50"}},
	{"d38", "DECIMAL(38,10)", []string{"0", "1", "-1.5", "9999999999999999999999999999.9999999999", "-9999999999999999999999999999.9999999999", "0.0000000001", "123456789.987654321"}},
	{"d20", "DECIMAL(20,0)", []string{"0", "1", "-1", "99999999999999999999", "-99999999999999999999", "12"}},
	{"s", "STRING", []string{"''", "' '", "'a'", "'Spark SQL'", "'ÄÖü ß'", "'日本語'", "'😀x'", "'12'", "'-3.5'", "'true'", "'2024-02-29'", "'abcabc'", "'%_\\\\'", "'a,b,c'", "' trim '"}},
	{"t", "STRING", []string{"'a'", "'b'", "'ab'", "''", "'SPARK'", "'x y z'", "'0'", "'zz'"}},
	{"num", "STRING", []string{"'0'", "'1'", "'-7'", "'3.75'", "'1e3'", "' 8 '", "'abc'", "'99999999999'", "'NaN'", "''"}},
	{"bin", "BINARY", []string{"''", "X'00'", "X'FF00FF'", "'abc'", "X'E4B8AD'"}},
	{"day", "DATE", []string{"'1970-01-01'", "'2024-02-29'", "'0001-01-01'", "'9999-12-31'", "'1969-12-31'", "'2023-12-31'", "'1582-10-15'", "'2024-03-31'"}},
	{"ts", "TIMESTAMP", []string{"'1970-01-01 00:00:00'", "'2024-02-29 23:59:59.999999'", "'0001-01-01 00:00:00'", "'9999-12-31 23:59:59.999999'", "'1969-12-31 23:59:59.5'", "'2024-03-31 01:30:00'", "'2024-06-15 12:34:56.789'"}},
	{"ntz", "TIMESTAMP_NTZ", []string{"'1970-01-01 00:00:00'", "'2024-02-29 23:59:59.999999'", "'1900-01-01 00:00:00'", "'2024-06-15 12:34:56.789'"}},
	{"dsi", "INTERVAL DAY TO SECOND", []string{"INTERVAL '0 00:00:00' DAY TO SECOND", "INTERVAL '1 02:03:04.567' DAY TO SECOND", "INTERVAL '-5 00:00:01' DAY TO SECOND", "INTERVAL '100000 00:00:00' DAY TO SECOND"}},
	{"ymi", "INTERVAL YEAR TO MONTH", []string{"INTERVAL '0-0' YEAR TO MONTH", "INTERVAL '1-2' YEAR TO MONTH", "INTERVAL '-3-11' YEAR TO MONTH", "INTERVAL '100-0' YEAR TO MONTH"}},
	{"ai", "ARRAY<INT>", []string{"array()", "array(1)", "array(3,1,2)", "array(1,NULL,1)", "array(5,-5,0,5)", "array(2147483647,-2147483648)"}},
	{"as", "ARRAY<STRING>", []string{"array()", "array('a')", "array('b','a','b')", "array(NULL,'x')", "array('','z','ab')"}},
	{"aa", "ARRAY<ARRAY<INT>>", []string{"array()", "array(array(1,2),array())", "array(array(3),NULL,array(NULL))"}},
	{"m", "MAP<STRING,INT>", []string{"map()", "map('a',1)", "map('a',1,'b',NULL)", "map('x',3,'y',2,'z',1)"}},
	{"d5", "DECIMAL(5,5)", []string{"0", "0.5", "-0.99999", "0.00001"}},
	{"dd", "DECIMAL(38,38)", []string{"0", "0.5", "-0.99999999999999999999999999999999999999", "0.00000000000000000000000000000000000001"}},
	{"tm", "TIME(6)", []string{"'00:00:00'", "'12:34:56.789012'", "'23:59:59.999999'", "'01:00:00'"}},
	{"t0", "TIME(0)", []string{"'00:00:00'", "'12:34:56'", "'23:59:59'"}},
	{"iy", "INTERVAL YEAR", []string{"INTERVAL '0' YEAR", "INTERVAL '-7' YEAR", "INTERVAL '178956970' YEAR"}},
	{"im", "INTERVAL MONTH", []string{"INTERVAL '0' MONTH", "INTERVAL '13' MONTH", "INTERVAL '-2147483648' MONTH"}},
	{"idd", "INTERVAL DAY", []string{"INTERVAL '0' DAY", "INTERVAL '-3' DAY", "INTERVAL '106751991' DAY"}},
	{"ih", "INTERVAL HOUR TO SECOND", []string{"INTERVAL '0:0:0' HOUR TO SECOND", "INTERVAL '25:01:01.5' HOUR TO SECOND", "INTERVAL '-1:00:00' HOUR TO SECOND"}},
	{"ci", "INTERVAL", []string{"make_interval(1,2,3,4,5,6,7.5)", "make_interval()", "make_interval(0,-1,0,30)", "make_interval(0,0,0,0,-5)"}},
	{"v", "VARIANT", []string{"parse_json('1')", "parse_json('{\"a\":[1,\"x\",null]}')", "parse_json('\"s\"')", "parse_json('null')", "parse_json('1.5')", "parse_json('true')", "to_variant_object(array(1,2))"}},
	{"mi", "MAP<INT,ARRAY<STRING>>", []string{"map()", "map(1,array('a'))", "map(1,NULL,2,array(NULL,'b'))"}},
	{"ast", "ARRAY<STRUCT<x:INT,y:STRING>>", []string{"array()", "array(named_struct('x',1,'y','a'))", "array(NULL,named_struct('x',NULL,'y','b'))"}},
	{"ad", "ARRAY<DOUBLE>", []string{"array()", "array(1.5D,CAST('NaN' AS DOUBLE),-0.0D)", "array(NULL,2.0D)"}},
	{"nest", "STRUCT<a:ARRAY<DECIMAL(9,2)>,b:STRUCT<c:DATE,d:TIMESTAMP>>", []string{"named_struct('a',array(1.25,NULL),'b',named_struct('c',DATE'2024-02-29','d',TIMESTAMP'2024-02-29 12:00:00'))", "named_struct('a',NULL,'b',NULL)"}},
	{"st", "STRUCT<x:INT,y:STRING>", []string{"named_struct('x',1,'y','a')", "named_struct('x',NULL,'y','b')", "named_struct('x',-7,'y',NULL)"}},
}

// view is the statement that makes a table of random values under a name. A tenth of the values are null.
func view(r *rand.Rand, name string, rows int) string {
	var out strings.Builder
	fmt.Fprintf(&out, "CREATE OR REPLACE TEMPORARY VIEW %s AS SELECT * FROM VALUES ", name)
	for i := range max(1, rows) {
		if i > 0 {
			out.WriteString(", ")
		}
		fmt.Fprintf(&out, "(%d", i)
		for _, c := range columns {
			v := "NULL"
			if r.IntN(10) > 0 {
				v = c.values[r.IntN(len(c.values))]
			}
			fmt.Fprintf(&out, ", CAST(%s AS %s)", v, c.typ)
		}
		out.WriteString(")")
	}
	out.WriteString(" AS v(id")
	for _, c := range columns {
		out.WriteString(", `" + c.name + "`")
	}
	out.WriteString(")")
	if rows == 0 {
		out.WriteString(" WHERE id < 0")
	}
	return out.String()
}
