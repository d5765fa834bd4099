"""Records formats.jsonl: what Apache Spark 4.2.0 reads and writes under each option of its file formats.

    python record_formats.py sc://HOST:PORT FOLDER [EVERY] > formats.jsonl

FOLDER is a directory that the server sees under the same path; with EVERY, one case in so many is asked. The server needs
the package spark-avro. A case reads some files, or writes a query; its answer is the schema with the rows as JSON texts, or the files as
they are written (of Avro files their schema, of other compressed ones nothing), or an error by its condition. Cases for which Spark fails
without a condition are left out. formats_differ.txt has those that have another answer here.
"""

import base64
import datetime
import gzip
import hashlib
import json
import pathlib
import re
import shutil
import sys

import pyarrow
import pyarrow.parquet
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

READ, WRITE = [], []

def read(fmt, text, schema, opts=None, name=None, query=None, files=None):
    READ.append({"format": fmt, "files": files or {name or "f." + fmt: text}, "schema": schema, "options": opts or {}, "query": query or ""})

def write(fmt, select, opts=None):
    WRITE.append({"format": fmt, "select": select, "options": opts or {}})

FLAGS = ["true", "false", "yes"]
ALLFLAGS = ["true", "false", "TRUE", "yes", "", " true"]
def flags(fmt, key, text, schemas, also=None, name=None):
    for s in schemas:
        for v in FLAGS:
            read(fmt, text, s, {**(also or {}), key: v}, name)

# ---- json
J = "json"
basic = '{"a":1,"b":"x","c":[1,2],"d":{"e":1.5}}\n{"a":2,"b":null}\n'
read(J, basic, None); read(J, basic, "a INT, b STRING")
for v in ALLFLAGS:
    for f, k in [("json", "multiLine"), ("json", "primitivesAsString"), ("csv", "header"), ("csv", "multiLine"), ("csv", "inferSchema"), ("xml", "excludeAttribute"), ("text", "wholetext"), ("text", "recursiveFileLookup"), ("parquet", "mergeSchema")]:
        read(f, "<r a='1'><b>1</b></r>" if f == "xml" else '{"a":1}\n', None, {"rowTag": "r", k: v})
flags(J, "primitivesAsString", '{"a":1,"b":true,"c":[1.5,null],"d":{"e":1}}\n', [None])
flags(J, "prefersDecimal", '{"a":1.5,"b":12345678901234567890,"c":1e10,"d":0.1e-40,"e":1}\n{"a":0.0000000001,"b":1.1,"c":123456789012345678901234567890123456789012}', [None])
flags(J, "allowComments", '{"a":1 /* x */}\n{"a":2} // y\n{"a":3} # z\n// all\n', ["a INT, _corrupt_record STRING", None])
flags(J, "allowUnquotedFieldNames", '{a:1, b_1:"x", $c:2, d-e:3}\n{é:1}\n{1a:1}\n{a:4}', ["a INT, b_1 STRING, `1a` INT, _corrupt_record STRING", None])
flags(J, "allowSingleQuotes", "{'a':'x', \"b\":'it\\'s', 'c':\"d'd\"}\n{'a':\"'\"}\n{'a':'\"'}", ["a STRING, b STRING, c STRING, _corrupt_record STRING", None])
flags(J, "allowNumericLeadingZeros", '{"a":007}\n{"a":-01.5}\n{"a":00}\n{"a":0}', ["a DOUBLE, _corrupt_record STRING", "a INT, _corrupt_record STRING", None])
flags(J, "allowNonNumericNumbers", '{"a":NaN}\n{"a":Infinity}\n{"a":-Infinity}\n{"a":+Infinity}\n{"a":INF}\n{"a":-INF}\n{"a":+INF}\n{"a":"NaN"}\n{"a":"Infinity"}\n{"a":"-Infinity"}\n{"a":"INF"}\n{"a":"+INF"}\n{"a":"-INF"}\n{"a":"+Infinity"}', ["a DOUBLE, _corrupt_record STRING", "a FLOAT, _corrupt_record STRING", "a STRING, _corrupt_record STRING", None])
flags(J, "allowBackslashEscapingAnyCharacter", '{"a":"\\x\\q\\$"}\n{"a":"\\\'"}\n{"a":"\\u0041\\n"}', ["a STRING, _corrupt_record STRING", None])
flags(J, "allowUnquotedControlChars", '{"a":"x\ty\x01"}\n{"a":"z"}', ["a STRING, _corrupt_record STRING", None])
flags(J, "allowTrailingComma", '{"a":1,}\n{"a":[1,],}', ["a STRING, _corrupt_record STRING"])
flags(J, "dropFieldIfAllNull", '{"a":null,"b":[],"c":{},"d":[null],"e":{"f":null},"g":1,"h":""}\n{"a":null}', [None])
flags(J, "inferTimestamp", '{"a":"2020-01-02T03:04:05","b":"2020-01-02","c":"2020-01-02T03:04:05Z","d":"x"}\n', [None])
flags(J, "multiLine", '{"a":1,\n"b":2}\n{"a":3}', ["a INT, b INT, _corrupt_record STRING", None])
flags(J, "multiLine", '[{"a":1},\n{"a":2}]', ["a INT, _corrupt_record STRING", None])
flags(J, "multiLine", '', ["a INT, _corrupt_record STRING", None])
flags(J, "multiLine", '{"a":1,', ["a INT, _corrupt_record STRING", None])
flags(J, "multiLine", '"x"', ["a INT, _corrupt_record STRING", None])
flags(J, "enableDateTimeParsingFallback", '{"a":"2020-1-2","b":"2020-01-02 03:04:05","c":"2020-01-02"}\n{"a":"20200102","b":"x","c":"1"}', ["a DATE, b TIMESTAMP, c TIMESTAMP_NTZ, _corrupt_record STRING"], {"dateFormat": "dd.MM.yyyy", "timestampFormat": "dd.MM.yyyy"})
bad = '{"a":1}\n{"a":"x"}\n{"a":\n\n   \n5\n"s"\n[{"a":2},{"a":3}]\n{"a":4} tail\nnull\n{"a":1.5}\n{"a":99999999999}\n{"a":true}\n{"b":1}\n'
for m in ["PERMISSIVE", "DROPMALFORMED", "FAILFAST", "failfast", "dropMalformed", "nope", ""]:
    for s in ["a INT, _corrupt_record STRING", "a INT", None]:
        read(J, bad, s, {"mode": m})
        read(J, bad, s, {"mode": m, "multiLine": "true"})
for c in ["bad", "a", "", "_corrupt_record", "B A D"]:
    for s in [None, "a INT, bad STRING", "a INT, bad INT"]:
        read(J, bad, s, {"columnNameOfCorruptRecord": c})
dates = '{"d":"2020-01-02","t":"2020-01-02 03:04:05","n":"2020-01-02T03:04:05.123456"}\n{"d":"02/01/2020","t":"02/01/2020 03:04","n":"02/01/2020 03:04"}\n{"d":"1 Jan 2020","t":"1 Jan 2020","n":"Jan"}\n{"d":18000,"t":1577934245,"n":5}\n'
for k, vs in {"dateFormat": ["dd/MM/yyyy", "d MMM yyyy", "yyyy-MM-dd", "", "QQQQQQ", "b", "yyyy-MM-dd'T'HH"],
              "timestampFormat": ["dd/MM/yyyy HH:mm", "d MMM yyyy", "yyyy-MM-dd HH:mm:ss", "", "bbbb", "yyyy-MM-dd'T'HH:mm:ss[.SSS][XXX]"],
              "timestampNTZFormat": ["dd/MM/yyyy HH:mm", "", "XXX", "yyyy-MM-dd'T'HH:mm:ss.SSSSSS", "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"]}.items():
    for v in vs:
        for m in ["PERMISSIVE", "FAILFAST"]:
            read(J, dates, "d DATE, t TIMESTAMP, n TIMESTAMP_NTZ, _corrupt_record STRING", {k: v, "mode": m})
        read(J, dates, None, {k: v, "inferTimestamp": "true"})
for tz in ["America/Los_Angeles", "+05:30", "UTC", "", "nope", "GMT+1", "PST", "CET", "5"]:
    read(J, dates, "d DATE, t TIMESTAMP, n TIMESTAMP_NTZ", {"timeZone": tz})
for loc in ["de-DE", "fr", "en-US", "", "zz-ZZ", "de_DE", "ja-JP"]:
    read(J, '{"d":"2 Januar 2020","x":"1.000,5"}\n{"d":"2 janvier 2020"}\n{"d":"2 January 2020"}', "d DATE, x DECIMAL(10,2), _corrupt_record STRING", {"locale": loc, "dateFormat": "d MMMM yyyy"})
read(J, '{"x":"1.000,5"}\n{"x":"1,000.5"}\n{"x":"7"}\n', "x DECIMAL(10,2), _corrupt_record STRING", {"locale": "de-DE"})
read(J, '{"x":"1.000,5"}\n{"x":"1,000.5"}\n{"x":"7"}\n', "x DECIMAL(10,2), _corrupt_record STRING", {})
for enc in ["UTF-8", "UTF-16", "UTF-16LE", "UTF-16BE", "UTF-32", "UTF-32BE", "ISO-8859-1", "windows-1252", "nope", "", "utf-8", "cp1251", "US-ASCII"]:
    for codec in ["utf-8", "utf-16le", "utf-16", "latin-1"]:
        for also in [{}, {"multiLine": "true"}, {"lineSep": "\n"}]:
            for key in ["encoding"] + (["charset"] if codec == "utf-8" and not also else []):
                READ.append({"format": J, "files": {"f.json": '{"a":"\u00e9t\u00e9"}\n{"a":"b"}\n'.encode(codec)}, "schema": "a STRING, _corrupt_record STRING", "options": {key: enc, **also}, "query": ""})
for sep in [";", "\n", "\r\n", "||", "", "\u00e9", "}\n"]:
    for s in ["a INT, _corrupt_record STRING", None]:
        read(J, '{"a":1};{"a":2}\n{"a":3}||{"a":4}\r\n{"a":5}\u00e9{"a":6}', s, {"lineSep": sep})
for r in ["1", "0.5", "0.000001", "0", "-1", "2", "x", "", "NaN", "1.0001"]:
    read(J, '{"a":1}\n', None, {"samplingRatio": r}); read(J, '{"a":1}\n', "a INT", {"samplingRatio": r})
for c in ["gzip", "none", "nope", "", "GZIP"]:
    read(J, basic, "a INT", {"compression": c})
for v in ["1", "2", "5", "0", "-1", "x", "", "1000", "100000"]:
    for s in ["a STRING, _corrupt_record STRING", "a ARRAY<ARRAY<INT>>, _corrupt_record STRING", None]:
        read(J, '{"a":[[1]]}\n{"a":[[[[[2]]]]]}', s, {"maxNestingDepth": v})
for v in ["1", "3", "10", "0", "-1", "x", ""]:
    for s in ["a STRING, _corrupt_record STRING", "a DOUBLE, _corrupt_record STRING", None]:
        read(J, '{"a":12345}\n{"a":1}\n{"a":1.2345}\n{"a":"abcdefghij"}', s, {"maxNumLen": v})
        read(J, '{"a":12345}\n{"a":1}\n{"a":1.2345}\n{"a":"abcdefghij"}', s, {"maxStringLen": v})
for v in ["v", "a", ""]:
    for s in [None, "v VARIANT", "v STRING", "v VARIANT, _corrupt_record STRING", "a INT, v VARIANT"]:
        read(J, basic + "{bad\n[1,2]\n", s, {"singleVariantColumn": v})
        read(J, basic, s, {"singleVariantColumn": v, "multiLine": "true"})
for v in ["HH:mm", "HH:mm:ss", "", "bb"]:
    read(J, '{"t":"10:11"}\n{"t":"10:11:12.5"}\n{"t":"x"}', "t TIME(6), _corrupt_record STRING", {"timeFormat": v})
flags(J, "ignoreNullFields", basic, ["a INT"]); flags(J, "pretty", basic, ["a INT"])
read(J, basic, "a INT", {"noSuchOption": "x"})

jq = "SELECT 1 a, CAST(NULL AS STRING) b, named_struct('c', CAST(NULL AS INT), 'd', 'é\U0001F600') s, array(1, NULL) l, map('k', CAST(NULL AS INT)) m, DATE'2020-01-02' dt, TIMESTAMP'2020-01-02 03:04:05.123' ts, TIMESTAMP_NTZ'2020-01-02 03:04:05' n, X'0102' bin, CAST('NaN' AS DOUBLE) nan, 1.50BD de"
for v in FLAGS:
    for k in ["ignoreNullFields", "pretty", "writeNonAsciiCharacterAsCodePoint"]:
        write(J, jq, {k: v})
for k, vs in {"dateFormat": ["dd/MM/yyyy", "d MMM yyyy", "", "b", "EEEE"], "timestampFormat": ["dd/MM/yyyy HH:mm", "", "b", "XXX", "EEEE MMMM"], "timestampNTZFormat": ["dd/MM/yyyy HH:mm", "", "b", "XXX"],
              "timeZone": ["America/Los_Angeles", "+05:30", "nope", ""], "locale": ["de-DE", "fr", "", "nope"], "encoding": ["UTF-16", "UTF-16LE", "UTF-16BE", "ISO-8859-1", "UTF-32", "nope", "", "US-ASCII"],
              "lineSep": [";", "\r\n", "", "ab"], "compression": ["none", "uncompressed", "gzip", "GZip", "bzip2", "deflate", "lz4", "snappy", "zstd", "nope", "", "org.apache.hadoop.io.compress.GzipCodec", "brotli", "xz"],
              "mode": ["x"], "samplingRatio": ["x"], "multiLine": ["x"], "charset": ["UTF-16", "nope"]}.items():
    for v in vs:
        write(J, jq, {k: v})
        if k in ("locale",):
            write(J, jq, {k: v, "dateFormat": "d MMMM yyyy", "timestampFormat": "EEEE d MMM"})
write(J, jq, {"encoding": "UTF-16LE", "lineSep": "|"})
write(J, jq, {"encoding": "UTF-16", "pretty": "true"})
write(J, "SELECT INTERVAL 1 DAY i, INTERVAL 2 MONTH y, TIME'10:11:12.5' t, parse_json('{\"a\":1}') v", {})
write(J, "SELECT INTERVAL 1 DAY i", {}); write(J, "SELECT INTERVAL 2 MONTH i", {}); write(J, "SELECT TIME'10:11:12.5' i", {}); write(J, "SELECT TIME'10:11:12.5' i", {"timeFormat": "HH.mm"}); write(J, "SELECT parse_json('{\"a\":1}') i", {}); write(J, "SELECT make_interval(1,2) i", {}); write(J, "SELECT NULL i", {})
write(J, "SELECT 1 a, 2 a", {}); write(J, "SELECT 1 a, 2 A", {})
write(J, "SELECT map(1, 2) a, map(DATE'2020-01-01', 2) b, map(1.5, 2) c", {})

# ---- csv
C = "csv"
cb = 'a,b\n1,x\n2,"y,z"\n3,\n4,""\n'
read(C, cb, None); read(C, cb, "a INT, b STRING")
flags(C, "header", cb, [None, "a INT, b STRING", "b STRING, a STRING, _corrupt_record STRING"])
for es in FLAGS:
    for s in ["a INT, b STRING", "b STRING, a STRING", "x INT, y STRING", "A INT, B STRING", "a INT", "a INT, b STRING, c INT"]:
        read(C, cb, s, {"header": "true", "enforceSchema": es})
flags(C, "inferSchema", "1,1.5,true,2020-01-02,2020-01-02 03:04:05,x,,12345678901,1e5\n2,2,false,2020-01-03,2020-01-02,1,,1,1\n", [None])
flags(C, "preferDate", "1,1.5,true,2020-01-02,2020-01-02 03:04:05,x,,12345678901,1e5\n2,2,false,2020-01-03,2020-01-02,1,,1,1\n", [None], {"inferSchema": "true"})
flags(C, "preferDate", "2020-01-02\n", ["a STRING"], {"inferSchema": "true"})
for v in FLAGS:
    for k in ["ignoreLeadingWhiteSpace", "ignoreTrailingWhiteSpace"]:
        read(C, '  a , b \n " q " ,x\n', "a STRING, b STRING, _corrupt_record STRING", {k: v})
        read(C, ' 1 , 2.5 \n', None, {k: v, "inferSchema": "true"})
        read(C, ' a , b \n', None, {k: v, "header": "true"})
for s in [",", ";", "||", "\\t", "\t", "", "\\", "\\x", "\\\\", "\u00e9", "ab", " ", "\\u0001", "\\0", "\x00", ",,"]:
    for k in ["sep", "delimiter"]:
        read(C, 'a,b;c||d\te\u00e9f\\gabh\x01i\x00j,,k\n', "c0 STRING, c1 STRING, c2 STRING", {k: s})
read(C, "a,b;c\n", "a STRING, b STRING", {"sep": ";", "delimiter": ","})
for q in ['"', "'", "", "|", "ab", "\u00e9", "\U0001F600", ","]:
    for k in ["quote", "escape", "comment", "charToEscapeQuoteEscaping"]:
        read(C, '"a,b",c\n\'d,e\',f\n|x,y|,z\n#com,1\n"q\\"r",s\n"t""u",v\n"w\\\\",x\nab,2\n"w\\\\"",x\n', "a STRING, b STRING, _corrupt_record STRING", {k: q})
for k, vs in {"nullValue": ["", "NA", "x", "-", " "], "emptyValue": ["", "E", '""'], "nanValue": ["", "nan", "x"], "positiveInf": ["+I", "", "x"], "negativeInf": ["-I", "", "x"]}.items():
    for v in vs:
        read(C, 'NA,x\n"",-\n,""\nnan,nan\n+I,-I\nInf,-Inf\n"NA",""\n""\n', "a STRING, b STRING, _corrupt_record STRING", {k: v})
        read(C, 'nan,x\nNaN,NaN\n+I,-I\nInf,-Inf\n,""\nInfinity,-Infinity\nNA,-\n', "a DOUBLE, b FLOAT, _corrupt_record STRING", {k: v})
        read(C, 'nan,x\nNaN,NaN\n+I,-I\nInf,-Inf\n,""\n', None, {k: v, "inferSchema": "true"})
        read(C, 'h,"",NA\n1,2,3\n', None, {k: v, "header": "true"})
cd = "2020-01-02,2020-01-02 03:04:05,2020-01-02T03:04:05.123456\n02/01/2020,02/01/2020 03:04,02/01/2020 03:04\n1 Jan 2020,1 Jan 2020,Jan\n18000,1577934245,5\n"
for k, vs in {"dateFormat": ["dd/MM/yyyy", "d MMM yyyy", "yyyy-MM-dd", "", "b", "yyyy-MM-dd'T'HH"],
              "timestampFormat": ["dd/MM/yyyy HH:mm", "d MMM yyyy", "yyyy-MM-dd HH:mm:ss", "", "bbbb", "yyyy-MM-dd'T'HH:mm:ss[.SSS][XXX]"],
              "timestampNTZFormat": ["dd/MM/yyyy HH:mm", "", "XXX", "yyyy-MM-dd'T'HH:mm:ss.SSSSSS"]}.items():
    for v in vs:
        for m in ["PERMISSIVE", "FAILFAST", "DROPMALFORMED"]:
            read(C, cd, "d DATE, t TIMESTAMP, n TIMESTAMP_NTZ, _corrupt_record STRING", {k: v, "mode": m})
        read(C, cd, None, {k: v, "inferSchema": "true"})
        read(C, cd.splitlines()[0] + "\n", None, {k: v, "inferSchema": "true"})
flags(C, "enableDateTimeParsingFallback", "2020-1-2,2020-01-02 03:04:05,2020-01-02\n20200102,x,1\n", ["a DATE, b TIMESTAMP, c TIMESTAMP_NTZ, _corrupt_record STRING"], {"dateFormat": "dd.MM.yyyy", "timestampFormat": "dd.MM.yyyy"})
for tz in ["America/Los_Angeles", "+05:30", "UTC", "", "nope", "GMT+1", "PST", "CET", "5"]:
    read(C, cd, "d DATE, t TIMESTAMP, n TIMESTAMP_NTZ", {"timeZone": tz})
for loc in ["de-DE", "fr", "en-US", "", "zz-ZZ", "de_DE", "ja-JP"]:
    read(C, '2 Januar 2020,"1.000,5"\n2 janvier 2020,"1,000.5"\n2 January 2020,7\n', "d DATE, x DECIMAL(10,2), _corrupt_record STRING", {"locale": loc, "dateFormat": "d MMMM yyyy"})
    read(C, '2 Januar 2020;1.000,5\n2 janvier 2020;1000,5\n2 January 2020;7\n', None, {"locale": loc, "dateFormat": "d MMMM yyyy", "inferSchema": "true", "sep": ";"})
read(C, '"1.000,5"\n"1,000.5"\n7\n', "x DECIMAL(10,2), _corrupt_record STRING", {"locale": "de-DE"})
for v in ["1", "2", "3", "0", "-1", "x", "", "20480"]:
    for s in ["a STRING, b STRING, _corrupt_record STRING", None]:
        read(C, "1,2,3\n4,5\n", s, {"maxColumns": v})
        read(C, "abc,d\nabcdef,g\n", s, {"maxCharsPerColumn": v})
cbad = "1,x\nz,y\n3\n4,p,q\n\n  \n99999999999,r\n\"5,\n6,s\n"
for m in ["PERMISSIVE", "DROPMALFORMED", "FAILFAST", "failfast", "nope", ""]:
    for ml in ["true", "false"]:
        for s in ["a INT, b STRING, _corrupt_record STRING", "a INT, b STRING", None]:
            read(C, cbad, s, {"mode": m, "multiLine": ml})
for c in ["bad", "a", "", "_corrupt_record"]:
    for s in [None, "a INT, bad STRING", "a INT, bad INT", "bad STRING, a INT"]:
        read(C, cbad, s, {"columnNameOfCorruptRecord": c})
flags(C, "multiLine", 'a,"x\ny"\nb,"p\r\nq"\r\nc,d\n', ["a STRING, b STRING, _corrupt_record STRING", None])
flags(C, "columnPruning", cbad, ["a INT, b STRING"])
for v in ["STOP_AT_DELIMITER", "STOP_AT_CLOSING_QUOTE", "BACK_TO_DELIMITER", "SKIP_VALUE", "RAISE_ERROR", "raise_error", "nope", ""]:
    for ml in ["true", "false"]:
        read(C, '"a"b,c\nx,"d"e"\n"f" ,g\n"h"i,j"\n', "a STRING, b STRING, _corrupt_record STRING", {"unescapedQuoteHandling": v, "multiLine": ml})
for enc in ["UTF-8", "UTF-16", "UTF-16LE", "ISO-8859-1", "windows-1252", "nope", "", "US-ASCII", "UTF-32"]:
    for codec in ["utf-8", "utf-16le", "utf-16", "latin-1"]:
        for also in [{}, {"multiLine": "true"}, {"lineSep": "\n"}]:
            for key in ["encoding"] + (["charset"] if codec == "latin-1" and not also else []):
                READ.append({"format": C, "files": {"f.csv": '\u00e9t\u00e9,1\nb,2\n'.encode(codec)}, "schema": "a STRING, b STRING, _corrupt_record STRING", "options": {key: enc, **also}, "query": ""})
for sep in [";", "\n", "\r\n", "||", "", "\u00e9", "abc", "|"]:
    for ml in ["false", "true"]:
        read(C, 'a,1;b,2\nc,3||d,4\r\ne,5\u00e9f,6abcg,7', "a STRING, b STRING, _corrupt_record STRING", {"lineSep": sep, "multiLine": ml})
for r in ["1", "0.5", "0", "-1", "2", "x", ""]:
    read(C, '1\n', None, {"samplingRatio": r}); read(C, '1\n', "a INT", {"samplingRatio": r}); read(C, '1\n', None, {"samplingRatio": r, "inferSchema": "true"})
for v in ["x", "128", "0", "-1", ""]:
    read(C, cb, "a STRING", {"inputBufferSize": v})
for v in ["v", ""]:
    for s in [None, "v VARIANT", "v STRING", "a INT, v VARIANT", "v VARIANT, _corrupt_record STRING"]:
        read(C, "a,b\n1,x\n", s, {"singleVariantColumn": v, "header": "true"})
        read(C, "a,b\n1,x\n", s, {"singleVariantColumn": v})
for c in ["gzip", "nope", ""]:
    read(C, cb, "a STRING", {"compression": c})
for v in ["dat", "csv", "", "ab c", "x.y", ".csv", "a1", "é"]:
    read(C, cb, "a STRING", {"extension": v}); write(C, "SELECT 1 a", {"extension": v})
flags(C, "quoteAll", cb, ["a STRING"]); flags(C, "escapeQuotes", cb, ["a STRING"])
read(C, "10:11,x\n", "t TIME(6), b STRING, _corrupt_record STRING", {"timeFormat": "HH:mm"})
read(C, "10:11,x\n", "t TIME(6), b STRING, _corrupt_record STRING", {})
read(C, "1,x\n", "a ARRAY<INT>", {}); read(C, "1,x\n", "a MAP<INT,INT>", {}); read(C, "1,x\n", "a STRUCT<b:INT>", {}); read(C, "AQI=,x\n", "a BINARY", {}); read(C, "1,x\n", "a VARIANT, b VARIANT", {}); read(C, "INTERVAL '1' DAY,x\n", "a INTERVAL DAY", {})

cq = "SELECT * FROM VALUES (1, 'x,y', DATE'2020-01-02', TIMESTAMP'2020-01-02 03:04:05.123', TIMESTAMP_NTZ'2020-01-02 03:04:05', DOUBLE('NaN'), true), (2, ' q\"r\\\\ ', NULL, NULL, NULL, DOUBLE('Infinity'), NULL), (NULL, '', NULL, NULL, NULL, DOUBLE('-Infinity'), NULL), (3, 'a\\nb', NULL, NULL, NULL, 1.5D, false), (4, '#z', NULL, NULL, NULL, 1e10D, NULL), (5, 'é', NULL, NULL, NULL, -0.0D, NULL) t(a, b, dt, ts, n, d, f)"
for v in FLAGS:
    for k in ["header", "quoteAll", "escapeQuotes", "ignoreLeadingWhiteSpace", "ignoreTrailingWhiteSpace", "multiLine", "inferSchema"]:
        write(C, cq, {k: v})
for k, vs in {"sep": [";", "\\t", "||", "", "\\", "q", "\u00e9"], "quote": ["'", "", "|", "ab", "\u0000"], "escape": ["'", "", "|", "ab", '"'], "comment": ["#", "ab", ""], "charToEscapeQuoteEscaping": ["|", "ab", "", "\\"],
              "nullValue": ["NULL", "", "\u2205", "1"], "emptyValue": ["E", "", "''"], "nanValue": ["nan"], "positiveInf": ["+I"], "negativeInf": ["-I"],
              "dateFormat": ["dd/MM/yyyy", "d MMM yyyy", "", "b", "EEEE"], "timestampFormat": ["dd/MM/yyyy HH:mm", "", "b", "XXX"], "timestampNTZFormat": ["dd/MM/yyyy HH:mm", "", "b", "XXX"],
              "timeZone": ["America/Los_Angeles", "nope", ""], "locale": ["de-DE", "fr", "", "nope"], "encoding": ["UTF-16", "UTF-16LE", "ISO-8859-1", "UTF-32", "nope", "", "US-ASCII"], "charset": ["UTF-16", "nope"],
              "lineSep": [";", "\r\n", "", "ab", "abc"], "compression": ["none", "uncompressed", "gzip", "bzip2", "deflate", "lz4", "snappy", "zstd", "nope", "", "org.apache.hadoop.io.compress.GzipCodec", "xz"], "codec": ["gzip"],
              "mode": ["x"], "samplingRatio": ["x"], "maxColumns": ["2", "x"], "maxCharsPerColumn": ["2"]}.items():
    for v in vs:
        write(C, cq, {k: v})
        if k == "locale":
            write(C, cq, {k: v, "dateFormat": "d MMMM yyyy"})
        if k in ("quote", "escape", "charToEscapeQuoteEscaping"):
            write(C, cq, {k: v, "quoteAll": "true"})
            write(C, "SELECT * FROM VALUES ('a\"b'), ('a\\\\b'), ('a\\\\\"b,'), ('c|d,'), ('a\\'b,') t(a)", {k: v})
        if k in ("nullValue", "emptyValue"):
            write(C, cq, {k: v, "quoteAll": "true"}); write(C, "SELECT '' a UNION ALL SELECT NULL", {k: v}); write(C, "SELECT '' a, NULL b", {k: v, "header": "true"})
for t in ["array(1)", "map(1,2)", "named_struct('a',1)", "X'01'", "parse_json('1')", "INTERVAL 1 DAY", "INTERVAL 1 MONTH", "TIME'10:11:12.5'", "make_interval(1)", "NULL", "1.50BD", "CAST(1.5 AS FLOAT)", "CAST(1 AS TINYINT)", "''", "' '", "'\"'", "'\\n'", "'\\r'", "'a\\tb'"]:
    write(C, f"SELECT {t} a", {}); write(C, f"SELECT {t} a", {"header": "true"}); write(C, f"SELECT 1 x, {t} a", {"ignoreLeadingWhiteSpace": "false", "ignoreTrailingWhiteSpace": "false"})
    write(J, f"SELECT {t} a", {})
write(C, "SELECT ' a' ` h `, 1 `x,y`, 2 `q\"r`", {"header": "true"})
write(C, "SELECT 1 a WHERE false", {"header": "true"}); write(C, "SELECT 1 a WHERE false", {}); write(J, "SELECT 1 a WHERE false", {})

# ---- text
T = "text"
tb = "a\nb\r\nc\rd||e;f\n\n"
for v in FLAGS:
    read(T, tb, None, {"wholetext": v}); read(T, tb, "x STRING", {"wholeText": v}); read(T, "", None, {"wholetext": v})
for sep in [";", "\n", "\r\n", "\r", "||", "", "\u00e9", "abc", "\x00"]:
    read(T, tb, None, {"lineSep": sep}); read(T, tb, None, {"lineSep": sep, "wholetext": "true"})
    write(T, "SELECT * FROM VALUES ('a'), (NULL), ('b\u00e9'), ('') t(a)", {"lineSep": sep})
for enc in ["UTF-8", "UTF-16", "UTF-16LE", "ISO-8859-1", "nope", "", "US-ASCII"]:
    for codec in ["utf-8", "utf-16le", "latin-1"]:
        READ.append({"format": T, "files": {"f.txt": '\u00e9t\u00e9\nb\n'.encode(codec)}, "schema": None, "options": {"encoding": enc}, "query": ""})
        READ.append({"format": T, "files": {"f.txt": '\u00e9t\u00e9\nb\n'.encode(codec)}, "schema": None, "options": {"encoding": enc, "lineSep": "\n"}, "query": ""})
    write(T, "SELECT 'b\u00e9' a", {"encoding": enc})
for c in ["none", "uncompressed", "gzip", "bzip2", "deflate", "lz4", "snappy", "zstd", "nope", ""]:
    write(T, "SELECT 'b\u00e9' a", {"compression": c}); read(T, tb, None, {"compression": c})
read(T, tb, "a INT", {}); read(T, tb, "a STRING, b STRING", {})
for q in ["SELECT 1 a", "SELECT 'a' a, 'b' b", "SELECT X'61' a", "SELECT NULL a", "SELECT CAST('a' AS VARCHAR(3)) a"]:
    write(T, q, {})

# ---- binaryFile
B = "binaryFile"
for o in [{}, {"pathGlobFilter": "*.dat"}, {"pathGlobFilter": ""}, {"pathGlobFilter": "[x"}, {"recursiveFileLookup": "true"}, {"recursiveFileLookup": "x"}, {"ignoreCorruptFiles": "x"}, {"wholetext": "x"}]:
    for q in ["SELECT substring_index(path, '/', -1) p, length, content FROM {v}", "SELECT count(*) c FROM {v}", "SELECT content FROM {v} WHERE length > 3"]:
        read(B, None, None, o, query=q, files={"a.dat": b"abc", "b.bin": b"", "sub/c.dat": b"\x00\x01\x02\x03"})
read(B, None, "a INT", {}, files={"a.dat": b"abc"}); read(B, None, "path STRING, modificationTime TIMESTAMP, length BIGINT, content BINARY", {}, files={"a.dat": b"abc"}, query="SELECT length FROM {v}")
write(B, "SELECT 1 a", {})
write(B, "SELECT '' path, TIMESTAMP'2020-01-01' modificationTime, 1L length, X'' content", {})

# ---- generic options, with text
many = {"a.txt": "a\n", "b.csv": "b\n", "_h.txt": "h\n", ".d.txt": "d\n", "sub/c.txt": "c\n", "sub/deep/e.txt": "e\n", "x._COPYING_": "x\n"}
parted = {"p=1/a.txt": "a\n", "p=2/q=x/b.txt": "b\n"}
parted2 = {"p=1/q=x/a.txt": "a\n", "p=2/q=y/b.txt": "b\n", "p=__HIVE_DEFAULT_PARTITION__/q=z%20z/c.txt": "c\n"}
for k, vs in {"pathGlobFilter": ["*.txt", "*.{txt,csv}", "?.txt", "[ab].*", "{", "[a", "", "*", "nope", "\\", "sub/*", "[^a]*", "[!a]*", "**"],
              "recursiveFileLookup": FLAGS, "ignoreMissingFiles": FLAGS, "ignoreCorruptFiles": FLAGS,
              "modifiedBefore": ["2100-01-01T00:00:00", "2000-01-01T00:00:00", "2100-01-01", "", "x", "2100-01-01 00:00:00", "2100-01-01T00:00:00Z", "2100-01-01T00:00:00.5", "2100"],
              "modifiedAfter": ["2100-01-01T00:00:00", "2000-01-01T00:00:00", "2000-01-01", "", "x", "2000-01-01 00:00:00", "2000-01-01T00:00:00+01:00"],
              "basePath": ["", "nope", "/"], "timeZone": ["nope", "UTC"], "maxFilesPerTrigger": ["x"], "latestFirst": ["x"], "cleanSource": ["x"]}.items():
    for v in vs:
        read(T, None, None, {k: v}, files=many)
        read(T, None, None, {k: v}, files=parted2)
        read(J, None, None, {k: v}, files={"a.txt": '{"a":1}\n', "b.csv": '{"b":1}\n'})
read(T, None, None, {"modifiedBefore": "2100-01-01T00:00:00", "timeZone": "nope"}, files=many)
read(T, None, None, {}, files=parted)
read(T, None, None, {"recursiveFileLookup": "true"}, files=parted)
for f in [T, C, J, "xml", "parquet", "avro", B]:
    read(f, None, None, {"rowTag": "r"}, files={"_x": ""}); read(f, None, "value STRING", {"rowTag": "r"}, files={"_x": ""}); read(f, None, None, {"pathGlobFilter": "no", "rowTag": "r"}, files={"f.txt": "1\n"})
for f in [J, C, "xml", T]:
    for ic in ["true", "false"]:
        READ.append({"format": f, "files": {"a.gz": b"nogzip\n", "b": '{"a":1}\n' if f == J else "<r><a>1</a></r>"}, "schema": "a STRING", "options": {"ignoreCorruptFiles": ic, "rowTag": "r"}, "query": ""})
        READ.append({"format": f, "files": {"a.gz": b"nogzip\n", "b": '{"a":1}\n' if f == J else "<r><a>1</a></r>"}, "schema": None, "options": {"ignoreCorruptFiles": ic, "rowTag": "r"}, "query": ""})
for f in ["parquet", "avro"]:
    for ic in ["true", "false"]:
        for s in ["a STRING", None]:
            READ.append({"format": f, "files": {"a." + f: b"nope\n"}, "schema": s, "options": {"ignoreCorruptFiles": ic}, "query": ""})
            READ.append({"format": f, "files": {"a." + f: b""}, "schema": s, "options": {"ignoreCorruptFiles": ic}, "query": ""})

# ---- xml
X = "xml"
R = {"rowTag": "r"}
xb = '<?xml version="1.0"?>\n<rs>\n <r id="1"><a>1</a><b x="y"> t </b><l>1</l><l>2</l></r>\n <r><a/><n:c xmlns:n="u">q</n:c></r>\n</rs>\n'
for t in ["r", "rs", "", None, "<r>", "nope", "a", "R", "n:c"]:
    read(X, xb, None, {"rowTag": t} if t is not None else {}); read(X, xb, "a STRING", {"rowTag": t} if t is not None else {})
for k in ["excludeAttribute", "ignoreSurroundingSpaces", "ignoreNamespace", "inferSchema", "prefersDecimal", "multiLine", "validateName"]:
    flags(X, k, xb, [None, "_id INT, a STRING, b STRUCT<_VALUE: STRING, _x: STRING>, l ARRAY<INT>, c STRING, _corrupt_record STRING"], R)
for k, vs in {"attributePrefix": ["@", "", "x", "_"], "valueTag": ["v", "", "a", "_x"], "columnNameOfCorruptRecord": ["bad", "", "a"], "wildcardColName": ["w", ""], "nullValue": ["", "1", "q", " "],
              "encoding": ["UTF-8", "nope", "", "ISO-8859-1", "UTF-16"], "charset": ["nope"], "timeZone": ["nope", "", "America/Los_Angeles"], "locale": ["", "de-DE", "zz"], "samplingRatio": ["x", "0", "0.5", "2", "-1"], "mode": ["nope"],
              "compression": ["gzip", "nope"], "singleVariantColumn": ["v", ""], "rowValidationXSDPath": ["/nope.xsd"], "rootTag": ["x", "", "<x>"], "declaration": ["x", "", "<x>"], "arrayElementName": ["x", "", "<x>"], "indent": ["", "\t", "xx"], "lineSep": ["", ";"]}.items():
    for v in vs:
        for s in [None, "_id INT, a STRING, b STRING, l ARRAY<INT>, c STRING, _corrupt_record STRING", "`@id` INT, w STRING, a STRING, bad STRING", "v VARIANT"]:
            read(X, xb, s, {**R, k: v})
xd = "<rs><r><d>2020-01-02</d><t>2020-01-02 03:04:05</t><n>2020-01-02T03:04:05</n></r><r><d>02/01/2020</d><t>02/01/2020 03:04</t><n>02/01/2020 03:04</n></r><r><d>x</d><t>x</t><n>x</n></r></rs>"
for k, vs in {"dateFormat": ["dd/MM/yyyy", "yyyy-MM-dd", "", "b"], "timestampFormat": ["dd/MM/yyyy HH:mm", "yyyy-MM-dd HH:mm:ss", "", "b"], "timestampNTZFormat": ["dd/MM/yyyy HH:mm", "", "XXX"]}.items():
    for v in vs:
        for m in ["PERMISSIVE", "FAILFAST", "DROPMALFORMED"]:
            read(X, xd, "d DATE, t TIMESTAMP, n TIMESTAMP_NTZ, _corrupt_record STRING", {**R, k: v, "mode": m})
        read(X, xd, None, {**R, k: v})
        read(X, xd.split("</r>")[0] + "</r></rs>", None, {**R, k: v})
for tz in ["America/Los_Angeles", "+05:30", "nope", ""]:
    read(X, xd, "d DATE, t TIMESTAMP, n TIMESTAMP_NTZ, _corrupt_record STRING", {**R, "timeZone": tz})
for loc in ["de-DE", "fr", "zz-ZZ", ""]:
    read(X, "<rs><r><d>2 Januar 2020</d><x>1.000,5</x></r><r><d>2 January 2020</d><x>1,000.5</x></r></rs>", "d DATE, x DECIMAL(10,2), _corrupt_record STRING", {**R, "locale": loc, "dateFormat": "d MMMM yyyy"})
    read(X, "<rs><r><d>2 Januar 2020</d><x>1.000,5</x></r></rs>", None, {**R, "locale": loc, "dateFormat": "d MMMM yyyy"})
outside = {
 "clean": "<rs><r><a>1</a></r></rs>", "text before": "text<r><a>1</a></r>", "text after": "<r><a>1</a></r>text", "text between": "<rs><r><a>1</a></r>text<r><a>2</a></r></rs>",
 "no root": "<r><a>1</a></r><r><a>2</a></r>", "no root lines": "<r><a>1</a></r>\n<r><a>2</a></r>\n", "other before": "<rs><q>z</q><r><a>1</a></r></rs>", "other between": "<rs><r><a>1</a></r><q>z</q><r><a>2</a></r></rs>",
 "open root": "<rs><r><a>1</a></r>", "no end": "<rs><r><a>1</a></r><r><a>2</a>", "amp": "<rs>&amp;<r><a>1</a></r>&nope;<r><a>2</a></r></rs>", "lt": "<rs>< <r><a>1</a></r></rs>", "gt": "<rs>><r><a>1</a></r></rs>",
 "bad close": "<rs><r><a>1</a></r></x><r><a>2</a></r></rs>", "only text": "text", "only other": "<q>1</q>", "cdata": "<rs><![CDATA[<r><a>9</a></r>]]><r><a>1</a></r></rs>", "comment": "<rs><!-- <r><a>9</a></r> --><r><a>1</a></r></rs>",
 "pi": "<rs><?pi <r>?><r><a>1</a></r></rs>", "doctype": "<!DOCTYPE rs [<!ENTITY e 'x'>]><rs><r><a>&e;</a></r></rs>", "nested": "<rs><r><a>1</a><r><a>2</a></r></r></rs>", "unclosed in": "<rs><r><a>1</r><r><a>2</a></r></rs>",
 "bad attr": "<rs><r a=1><a>1</a></r><r><a>2</a></r></rs>", "dup attr": "<rs><r x='1' x='2'><a>1</a></r><r><a>2</a></r></rs>", "empty": "", "blank": " \n", "self": "<rs><r/><r a='1'/></rs>", "trailing junk": "<rs><r><a>1</a></r></rs>junk<r><a>3</a></r>",
 "two roots": "<rs><r><a>1</a></r></rs><rs><r><a>2</a></r></rs>", "bom": "\ufeff<rs><r><a>1</a></r></rs>", "decl late": " <?xml version='1.0'?><rs><r><a>1</a></r></rs>", "ctrl": "<rs>\x01<r><a>1</a></r></rs>", "ctrl in": "<rs><r><a>\x01</a></r><r><a>2</a></r></rs>",
 "prefix": "<rs><n:r><a>1</a></n:r><r><a>2</a></r></rs>", "rr": "<rs><rr><a>0</a></rr><r><a>2</a></r></rs>", "text in": "<rs><r>t<a>1</a>u</r></rs>", "ent in": "<rs><r><a>&lt;&#65;&nope;</a></r><r><a>2</a></r></rs>",
}
for n, t in outside.items():
    for m in ["PERMISSIVE", "DROPMALFORMED", "FAILFAST"]:
        for s in [None, "a STRING, _corrupt_record STRING"] if m != "PERMISSIVE" else [None, "a STRING, _corrupt_record STRING", "a INT", "a INT, _corrupt_record STRING"]:
            read(X, t, s, {**R, "mode": m})
    read(X, t, "a STRING, _corrupt_record STRING", {**R, "multiLine": "false"})
# where a record is no XML, and how reading goes on
broken = ["<a>&x;</a><b>1</b></r>{r}<r><a>&y;</a>", "<a>1</a><b>&n;</b>", "<a>&n;</a><r><a>9</a></r>", "<a>x</a><b>3</b><r><a>9</a></r>", "<a q='&n;'>1</a>", "<a q=1>1</a>", "<a q='1' q='2'>1</a>", "<a>1</b>",
 "<a>1</r>{r}<r>", "<a>1 & 2</a>", "<a>1 &amp 2</a>", "<a>1 < 2</a>", "<a>&#0;</a>", "<a>&#xZ;</a>", "<!-- a -- b --><a>1</a>", "<a>1<!-- -- --></a>", "<?xml version='1.0'?><a>1</a>", "<a>1<?xml version='1'?></a>",
 "<a>\x01\x02</a>", "<a>\x01 x</a>", "<a>&n;&m;</a>", "<a><![CDATA[\x01]]></a>", "<a>1<![CDATA[\x01]]></a>", "<a><!-- \x01 --></a>", "<a><?pi \x01 ?></a>", "<a>1</a>&n;", "<b>3</b><c>&n;</c>", "<b>3</b><c><d/>&n;</c>", "<b>3</b><c>x</d></c>",
 "<b>3</b><a>1&n;</a><b>4</b>", "<b>3</b><a><x>&n;</x><y>5</y></a>", "<b>3</b><a><x>1</x>&n;<y>2</y></a>", "<b>3</b><a>1</a><a>&n;</a>", "<a>&n;</a>&m;", "<a>&n;</a></r>&m;<r>", "<a>&n;</a></r></rs><r>", "<b>1<1></b>", "<b>1<></b>",
 "<b>1<!DOCTYPE x></b>", "<b>&</b>", "<b>AT&T</b><a>1</a>", "<b>a?b=1&c=2</b>{r}<b>a?b=1&c=2&d=4</b>"]
for t in broken:
    t = "<rs><r><a>0</a></r><r>" + t.replace("{r}", "<r><a>2</a></r>") + "</r><r><a>2</a></r></rs>"
    for s in ["a STRING, b STRING", "a INT, b INT", "a STRUCT<x: INT, y: STRING>, b STRING", "a MAP<STRING,INT>, b STRING"]:
        read(X, t, s + ", _corrupt_record STRING", R)
    read(X, t, "v VARIANT", {**R, "singleVariantColumn": "v"})
    read(X, t, None, R)
xq = "SELECT 1 a, CAST(NULL AS STRING) b, named_struct('c', CAST(NULL AS INT), '_d', 'é<&') s, array(1, NULL) l, DATE'2020-01-02' dt, TIMESTAMP'2020-01-02 03:04:05.123' ts, TIMESTAMP_NTZ'2020-01-02 03:04:05' n, 'at\"t' _x, array(array(1),array(2,3)) ll, named_struct('_VALUE', 1, '_k', 2) vv, 1.5D dd, X'0102' bin"
for k, vs in {"rowTag": ["r", "", "<r>", "a b"], "rootTag": ["x", "", "x y='1'", "<x>"], "declaration": ["", "x", "version=\"1.1\"", "<?xml?>"], "arrayElementName": ["x", "", "a b"], "nullValue": ["N", "", "null"], "attributePrefix": ["@", "", "_"], "valueTag": ["v", "", "_VALUE"],
              "indent": ["", "\t", "  ", "xx"], "validateName": FLAGS, "excludeAttribute": FLAGS, "ignoreNamespace": FLAGS, "dateFormat": ["dd/MM/yyyy", "", "b"], "timestampFormat": ["dd/MM/yyyy HH:mm", "", "b"], "timestampNTZFormat": ["dd/MM/yyyy HH:mm", "", "XXX"], "timeZone": ["America/Los_Angeles", "nope"],
              "locale": ["de-DE", ""], "encoding": ["UTF-16", "ISO-8859-1", "nope", "", "US-ASCII"], "charset": ["ISO-8859-1"], "compression": ["none", "gzip", "bzip2", "deflate", "lz4", "snappy", "zstd", "nope", ""], "lineSep": [";"], "mode": ["x"]}.items():
    for v in vs:
        write(X, xq, {**R, k: v})
    if k == "locale":
        write(X, xq, {**R, "locale": "de-DE", "dateFormat": "d MMMM yyyy"})
write(X, xq, {}); write(X, "SELECT 1 a WHERE false", R)
for t in ["map('k',1)", "parse_json('{\"a\":[1,2]}')", "INTERVAL 1 DAY", "TIME'10:11:12.5'", "NULL", "1.50BD", "''", "' '", "array()", "named_struct('a',1)", "array(named_struct('a',1,'_b',2))", "map('a b', 1)", "'\\n'", "CAST('NaN' AS DOUBLE)", "true", "array('a',NULL)", "'\\u0001'"]:
    write(X, f"SELECT {t} a", R)
write(X, "SELECT 1 `a b`", R); write(X, "SELECT 1 `a b`", {**R, "validateName": "false"}); write(X, "SELECT 1 `1a`", R); write(X, "SELECT 1 `a:b`", R)
write(X, "SELECT 1 a UNION ALL SELECT 2", R)

# ---- avro
A = "avro"


def varint(n):
    n, out = (n << 1) ^ (n >> 63), b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def avro_text(s):
    s = s if isinstance(s, bytes) else s.encode()
    return varint(len(s)) + s


def avro_file(schema, records, meta=None):
    """An Avro file of records that are encoded already."""
    meta = {"avro.schema": schema if isinstance(schema, str) else json.dumps(schema), "avro.codec": "null", **(meta or {})}
    body = b"".join(records)
    block = varint(len(records)) + varint(len(body)) + body + b"M" * 16 if records else b""
    return b"Obj\x01" + varint(len(meta)) + b"".join(avro_text(k) + avro_text(v) for k, v in meta.items()) + b"\x00" + b"M" * 16 + block


def avro_record(*fields, name="r"):
    return {"type": "record", "name": name, "fields": [dict(zip(("name", "type", "default"), f)) for f in fields]}


# days and microseconds on both sides of 1582 and 1900
DAYS = [-719164, -719162, -354285, -171498, -141438, -141428, -141427, -25568, -25567, 0, 18000]
MICROS = [d * 86400000000 + 45296123456 for d in DAYS]
WRITERS = {"none": {}, "4.2": {"org.apache.spark.version": "4.2.0"}, "2.4": {"org.apache.spark.version": "2.4.8"}, "3.0": {"org.apache.spark.version": "3.0.0"},
           "legacy": {"org.apache.spark.version": "3.1.0", "org.apache.spark.legacyDateTime": ""},
           "zone": {"org.apache.spark.version": "3.2.0", "org.apache.spark.legacyDateTime": "", "org.apache.spark.timeZone": "UTC"}}
TIMES = {"d": {"type": "int", "logicalType": "date"}, "u": {"type": "long", "logicalType": "timestamp-micros"}, "m": {"type": "long", "logicalType": "timestamp-millis"}, "n": {"type": "long", "logicalType": "local-timestamp-micros"}}
for writer, meta in WRITERS.items():
    for mode in [None, "CORRECTED", "LEGACY", "EXCEPTION"] + (["legacy", "x", ""] if writer == "none" else []):
        for n, s in TIMES.items():
            values = DAYS if n == "d" else [m // 1000 for m in MICROS] if n == "m" else MICROS
            read(A, None, None, {"datetimeRebaseMode": mode} if mode is not None else {}, files={"f.avro": avro_file(avro_record(("k", "int"), (n, s)), [varint(i) + varint(v) for i, v in enumerate(values)], meta)})
for new in [0, 18000]:
    for n, s in TIMES.items():
        read(A, None, None, {"datetimeRebaseMode": "EXCEPTION"}, files={"f.avro": avro_file(avro_record((n, s)), [varint(new * (1 if n == "d" else 86400000))])})
for n, s, values in [("d", TIMES["d"], [-141428, -141427]), ("u", TIMES["u"], [-2208988800000001, -2208988800000000]), ("m", TIMES["m"], [-2208988800001, -2208988800000]), ("l", "long", [-62135596800000])]:
    for v in values:
        for mode in ["EXCEPTION", "LEGACY"]:
            read(A, None, "l TIMESTAMP" if n == "l" else None, {"datetimeRebaseMode": mode}, files={"f.avro": avro_file(avro_record((n, s)), [varint(v)])})
for mode in ["CORRECTED", "LEGACY", "EXCEPTION", "x"]:
    given = json.dumps(avro_record(("d", TIMES["d"]), ("u", TIMES["u"])))
    for how in ["PERMISSIVE", "FAILFAST"]:
        read("text", "x", None, query=f"SELECT from_avro(X'{(varint(-171498) + varint(-12219292800000001)).hex()}', '{given}', map('datetimeRebaseMode', '{mode}', 'mode', '{how}')) v FROM {{v}}")
read(A, None, None, {"datetimeRebaseMode": "LEGACY"}, files={"f.avro": avro_file(avro_record(("a", {"type": "array", "items": TIMES["d"]}), ("x", ["null", TIMES["u"]])), [varint(2) + varint(-719162) + varint(5) + varint(0) + varint(1) + varint(MICROS[1])])})

node = avro_record(("v", "int"), ("next", ["null", "Node"]), name="Node")
chain = b"".join(varint(i) + varint(1) for i in range(4)) + varint(9) + varint(0)
tree = avro_record(("v", "int"), ("kids", {"type": "array", "items": "Tree"}), name="Tree")
leaf = lambda v: varint(v) + b"\x00"
boughs = varint(1) + varint(2) + leaf(2) + varint(3) + varint(1) + leaf(4) + b"\x00" + b"\x00"
names = avro_record(("v", "int"), ("by", {"type": "map", "values": "Names"}), name="Names")
named = varint(1) + varint(1) + avro_text("k") + leaf(2) + b"\x00"
mutual = avro_record(("v", "int"), ("b", ["null", avro_record(("w", "int"), ("a", ["null", "A"]), name="B")]), name="A")
turns = varint(1) + varint(1) + varint(2) + varint(1) + varint(3) + varint(0)
choice = avro_record(("v", "int"), ("c", ["null", "Choice", "string"]), name="Choice")
chosen = varint(1) + varint(1) + varint(2) + varint(2) + avro_text("x")
within = avro_record(("h", node), ("i", ["null", "Node"]), name="top")
only = avro_record(("next", ["null", "Only"]), name="Only")
CIRCLES = [(node, chain), (tree, boughs), (names, named), (mutual, turns), (choice, chosen), (within, chain + varint(1) + chain), (only, varint(1) + varint(1) + varint(0))]
for s, r in CIRCLES:
    for depth in [None, "-1", "0", "1", "2", "3", "4", "15", "16", "x", ""]:
        o = {"recursiveFieldMaxDepth": depth} if depth is not None else {}
        read(A, None, None, o, files={"f.avro": avro_file(s, [r])})
        given = ", map(" + ", ".join(f"'{k}', '{v}'" for k, v in o.items()) + ")" if o else ""
        read("text", "x", None, query=f"SELECT from_avro(X'{r.hex()}', '{json.dumps(s)}'{given}) v FROM {{v}}")
        read("text", "x", None, query=f"SELECT schema_of_avro('{json.dumps(s)}'{given}) v FROM {{v}}")
read(A, None, None, {"recursiveFieldMaxDepth": "2", "avroSchema": json.dumps(node)}, files={"f.avro": avro_file(node, [chain])})
read(A, None, "v INT", {"recursiveFieldMaxDepth": "2"}, files={"f.avro": avro_file(node, [chain])})
read(A, None, "v INT", {}, files={"f.avro": avro_file(node, [chain])})
read(A, None, "v INT, next STRUCT<v: INT>", {}, files={"f.avro": avro_file(node, [chain])})
read(A, None, None, {"recursiveFieldMaxDepth": "3"}, files={"f.avro": avro_file(node, [chain])}, query="SELECT next.v FROM {v}")
read(A, None, None, {"recursiveFieldMaxDepth": "3"}, files={"f.avro": avro_file(node, [chain])}, query="SELECT count(*) c FROM {v}")

plain = avro_record(("a", "int"), ("b", "string"))
two = [varint(1) + avro_text("x"), varint(2) + avro_text("y")]
SCHEMAS = [None, "a INT, b STRING", "b STRING", "x INT, y STRING", "x STRING, y INT", "A INT", "a BIGINT, b STRING", "c INT", "a INT, b STRING, c INT", "y STRING"]
for s in SCHEMAS:
    for v in [None, "true", "false", "yes"]:
        read(A, None, s, {"positionalFieldMatching": v} if v else {}, files={"f.avro": avro_file(plain, two)})
for given in [avro_record(("a", "long")), avro_record(("z", ["null", "int"], None)), avro_record(("z", "int", 7)), avro_record(("z", "int")), avro_record(("b", "string"), ("a", "double"), name="other"), {**plain, "aliases": ["x"]}, plain, "int", {"type": "array", "items": "int"}, "{", ""]:
    for s in [None, "a INT", "z INT"]:
        read(A, None, s, {"avroSchema": given if isinstance(given, str) and given != "int" else json.dumps(given)}, files={"f.avro": avro_file(plain, two)})
for v in ["true", "false", "x", ""]:
    read(A, None, None, {"ignoreExtension": v}, files={"f.avro": avro_file(plain, two), "g.dat": avro_file(plain, two)})
    read(A, None, "a INT", {"ignoreExtension": v}, files={"g.dat": avro_file(plain, two)})
    read(A, None, None, {"ignoreExtension": v}, files={"g.dat": avro_file(plain, two)})
unions = avro_record(("u", ["null", "int", "string"]), ("w", ["int", "long"]), ("x", ["float", "double"]), ("y", [avro_record(("q", "int"), name="In"), {"type": "enum", "name": "En", "symbols": ["A", "B"]}]), ("z", ["string"]), ("f", ["int", "double", {"type": "fixed", "name": "Fx", "size": 2}]))
some = [varint(1) + varint(5) + varint(0) + varint(6) + varint(0) + b"\x00\x00\x80\x3f" + varint(0) + varint(4) + varint(0) + avro_text("z") + varint(2) + b"ab",
        varint(2) + avro_text("t") + varint(1) + varint(7) + varint(1) + b"\x00\x00\x00\x00\x00\x00\xf0\x3f" + varint(1) + varint(1) + varint(0) + avro_text("y") + varint(0) + varint(9)]
twice = avro_record(("u", ["int", {"type": "enum", "name": "a", "symbols": ["A"]}, {"type": "enum", "name": "A", "symbols": ["B"]}]))
for o in [{}, {"enableStableIdentifiersForUnionType": "true"}, {"enableStableIdentifiersForUnionType": "false"}, {"enableStableIdentifiersForUnionType": "x"}, {"enableStableIdentifiersForUnionType": ""}, {"stableIdentifierPrefixForUnionType": "p_"}, {"enableStableIdentifiersForUnionType": "true", "stableIdentifierPrefixForUnionType": "p_"}, {"enableStableIdentifiersForUnionType": "true", "stableIdentifierPrefixForUnionType": ""}]:
    read(A, None, None, o, files={"f.avro": avro_file(unions, some)})
    read(A, None, None, o, files={"f.avro": avro_file(twice, [varint(0) + varint(3)])})
for o in [{"mode": "PERMISSIVE"}, {"mode": "x"}, {"compression": "x"}, {"compression": "deflate"}, {"mergeSchema": "true"}, {"recordName": "1x"}, {"avroSchemaUrl": "/nope"}]:
    read(A, None, None, o, files={"f.avro": avro_file(plain, two)})

aq = "SELECT 1 a, 'x' b, CAST(NULL AS BIGINT) c, array(1, NULL) l, map('k', 1) m, named_struct('q', 1.50BD, 'd', DATE'2020-01-02') s, TIMESTAMP'2020-01-02 03:04:05.123456' t, TIMESTAMP_NTZ'2020-01-02 03:04:05' n, X'01' i"
write(A, aq); write(A, "SELECT INTERVAL 1 DAY i, INTERVAL 2 MONTH y"); write(A, "SELECT NULL i"); write(A, "SELECT 1 `a b`"); write(A, "SELECT map(1, 2) i"); write(A, "SELECT TIME'10:11:12' i"); write(A, "SELECT parse_json('1') i"); write(A, "SELECT 1Y a, 1S b, 1F c, 1D d, true e")
for v in ["R", "a.b", "a b", "", "1", "top_1"]:
    write(A, aq, {"recordName": v}); write(A, aq, {"recordNamespace": v}); write(A, aq, {"recordName": "N", "recordNamespace": v})
for v in ["uncompressed", "snappy", "deflate", "bzip2", "xz", "zstandard", "zstd", "none", "nope", "", "SNAPPY", "gzip", "lz4"]:
    write(A, "SELECT 1 a", {"compression": v}); write("parquet", "SELECT 1 a", {"compression": v}); write("parquet", "SELECT 1 a", {"parquet.compression": v})
for v in ["brotli", "lz4_raw", "lzo", "ZSTD"]:
    write("parquet", "SELECT 1 a", {"compression": v})
for given in [avro_record(("a", "int"), ("b", "string")), avro_record(("a", ["null", "int"]), ("b", ["string", "null"])), avro_record(("x", "int"), ("y", "string")), avro_record(("b", "string"), ("a", "int")), avro_record(("a", "long"), ("b", "string")), avro_record(("a", "int"), ("b", {"type": "enum", "name": "e", "symbols": ["x", "y"]})),
              avro_record(("a", "int"), ("b", {"type": "enum", "name": "e", "symbols": ["y"]})), avro_record(("a", "int")), avro_record(("a", "int"), ("b", "string"), ("c", ["null", "int"])), avro_record(("a", "int"), ("b", "string"), ("c", "int", 5)), avro_record(("A", "int"), ("B", "string")), avro_record(("a", "int"), ("b", ["int", "string"])), "int", "{"]:
    for o in [{}, {"positionalFieldMatching": "true"}]:
        for q in ["SELECT 1 a, 'x' b", "SELECT CAST(NULL AS INT) a, 'x' b"]:
            write(A, q, {"avroSchema": given if given == "{" else json.dumps(given), **o})

# ---- parquet
P = "parquet"


def parquet_file(meta=None, int96=False, **columns):
    table = pyarrow.table(columns)
    out = pyarrow.BufferOutputStream()
    with pyarrow.parquet.ParquetWriter(out, table.schema, use_deprecated_int96_timestamps=int96, store_schema=False, compression="none", version="2.6") as w:
        w.write_table(table)
        if meta:
            w.add_key_value_metadata(meta)
    return out.getvalue().to_pybytes()


for writer, meta in WRITERS.items():
    meta = {**meta, **({"org.apache.spark.legacyINT96": ""} if "org.apache.spark.legacyDateTime" in meta else {})}
    files96 = {"f.parquet": parquet_file(meta, True, k=list(range(len(MICROS) + 1)), t=pyarrow.array(MICROS + [None], pyarrow.timestamp("us", "UTC")))}
    files64 = {n: {"f.parquet": parquet_file(meta, k=list(range(len(DAYS))), **{n: v})} for n, v in {"d": pyarrow.array(DAYS, pyarrow.date32()), "u": pyarrow.array(MICROS, pyarrow.timestamp("us", "UTC")), "m": pyarrow.array([m // 1000 for m in MICROS], pyarrow.timestamp("ms", "UTC")), "n": pyarrow.array(MICROS, pyarrow.timestamp("us"))}.items()}
    for mode in [None, "CORRECTED", "LEGACY", "EXCEPTION"] + (["legacy", "x", ""] if writer == "none" else []):
        read(P, None, None, {"int96RebaseMode": mode} if mode is not None else {}, files=files96)
        for f in files64.values():
            read(P, None, None, {"datetimeRebaseMode": mode} if mode is not None else {}, files=f)
for mode in ["EXCEPTION", "LEGACY"]:
    for d in [-141428, -141427]:
        read(P, None, None, {"datetimeRebaseMode": mode}, files={"f.parquet": parquet_file(d=pyarrow.array([d], pyarrow.date32()))})
    for u in [-2208988800000001, -2208988800000000]:
        read(P, None, None, {"datetimeRebaseMode": mode}, files={"f.parquet": parquet_file(u=pyarrow.array([u], pyarrow.timestamp("us", "UTC")))})
        read(P, None, None, {"int96RebaseMode": mode}, files={"f.parquet": parquet_file(None, True, u=pyarrow.array([u], pyarrow.timestamp("us", "UTC")))})
    read(P, None, None, {"datetimeRebaseMode": mode}, files={"f.parquet": parquet_file(a=pyarrow.array([[-141428]], pyarrow.list_(pyarrow.date32())))})
    read(P, None, None, {"datetimeRebaseMode": mode}, files={"f.parquet": parquet_file(d=pyarrow.array([-171498] * 50 + [None, -171498], pyarrow.date32()))}, query="SELECT d, count(*) c FROM {v} GROUP BY d")
for mode in ["LEGACY", "EXCEPTION"]:
    for t in ["0001-01-01", "1582-10-15", "1700-01-01", "2020-01-01"]:
        read(P, None, None, {"datetimeRebaseMode": mode, "int96RebaseMode": mode}, files={"f.parquet": parquet_file(d=pyarrow.array([datetime.date.fromisoformat(t)], pyarrow.date32()))}, query=f"SELECT * FROM {{v}} WHERE d = DATE'{t}'")
merged = {"a.parquet": parquet_file(a=pyarrow.array([1], pyarrow.int32()), s=pyarrow.array([{"x": 1}])), "b.parquet": parquet_file(b=["y"], s=pyarrow.array([{"y": "q"}]))}
clash = {"a.parquet": parquet_file(a=pyarrow.array([1], pyarrow.int32())), "b.parquet": parquet_file(a=["y"])}
wider = {"a.parquet": parquet_file(a=pyarrow.array([1], pyarrow.int32())), "b.parquet": parquet_file(a=pyarrow.array([2], pyarrow.int64()))}
cases = {"a.parquet": parquet_file(a=pyarrow.array([1], pyarrow.int32())), "b.parquet": parquet_file(A=pyarrow.array([2], pyarrow.int32()))}
decimals = {"a.parquet": parquet_file(a=pyarrow.array([1], pyarrow.decimal128(5, 2))), "b.parquet": parquet_file(a=pyarrow.array([2], pyarrow.decimal128(9, 2)))}
scales = {"a.parquet": parquet_file(a=pyarrow.array([1], pyarrow.decimal128(5, 2))), "b.parquet": parquet_file(a=pyarrow.array([2], pyarrow.decimal128(9, 3)))}
for f in [merged, clash, wider, cases, decimals, scales]:
    for v in [None, "true", "false", "x", ""]:
        read(P, None, None, {"mergeSchema": v} if v is not None else {}, files=f)
    read(P, None, "a BIGINT", {"mergeSchema": "true"}, files=f)


def quote(s):
    for a, b in [("\\", "\\\\"), ("'", "\\'"), ("\n", "\\n"), ("\r", "\\r"), ("\x00", "\\0"), ("\t", "\\t")]:
        s = s.replace(a, b)
    return "'" + s + "'"


def options(o):
    return "OPTIONS (" + ", ".join(f"{quote(k)} {quote(v)}" for k, v in o.items()) + ")" if o else ""


def text(b):
    if isinstance(b, str):
        return b
    try:
        return b.decode() if all(x < 128 for x in b) else "base64:" + base64.b64encode(b).decode()
    except UnicodeDecodeError:
        return "base64:" + base64.b64encode(b).decode()


def read_answer(spark, c, folder):
    for name, content in c["files"].items():
        p = folder / name
        p.parent.mkdir(parents=True, exist_ok=True)
        p.write_bytes(content if isinstance(content, bytes) else content.encode())
    schema = f"({c['schema']})" if c["schema"] else ""
    o = {**c["options"], "path": str(folder)}
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW fv {schema} USING {c['format']} {options(o)}").collect()
    df = spark.sql(c["query"].replace("{v}", "fv") if c["query"] else "SELECT * FROM fv")
    out = {"schema": df.schema.simpleString()}
    if not df.columns:
        return {**out, "rows": [str(df.count())]}
    rows = df.selectExpr("to_json(struct(*), map('ignoreNullFields', 'false')) j").collect()
    return {**out, "rows": sorted(r.j for r in rows)}


def avro_schema(b):
    """The schema that an Avro file has in its head."""
    at = b.index(b"avro.schema") + len("avro.schema")
    size = shift = 0
    while True:
        size, shift, at = size | (b[at] & 127) << shift, shift + 7, at + 1
        if b[at - 1] < 128:
            break
    return b[at:at + (size >> 1)]


def write_answer(spark, c, folder):
    spark.sql(f"INSERT OVERWRITE DIRECTORY {quote(str(folder))} USING {c['format']} {options(c['options'])} {c['select']}").collect()
    out = {}
    for p in sorted(folder.iterdir()):
        if p.name.startswith((".", "_")):
            continue
        ext = re.sub(r"^part-\d+-[0-9a-f-]{36}(-c\d+|\.c\d+)?", "", p.name)
        b = p.read_bytes()
        if ext.endswith(".gz"):
            b = gzip.decompress(b)
        elif ext.endswith(".avro"):
            b = avro_schema(b)
        elif re.search(r"\.(bz2|deflate|lz4|snappy|zst|parquet)$", ext):
            b = b""
        out[ext] = out.get(ext, b"") + b
    return {"files": {ext: text(b) for ext, b in out.items()}}


def main():
    spark = SparkSession.builder.remote(sys.argv[1]).create()
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    # Thousands of schemas would mean thousands of classes to compile, one by one; the answers are the same without.
    spark.conf.set("spark.sql.codegen.wholeStage", "false")
    spark.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    every = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    seen = set()
    for kind, ask, cases in [("read", read_answer, READ), ("write", write_answer, WRITE)]:
        for n, c in enumerate(cases):
            shown = {k: v if k != "files" else {f: text(t or "") for f, t in v.items()} for k, v in c.items() if v}
            key = hashlib.sha1(json.dumps(shown, sort_keys=True).encode()).hexdigest()[:12]
            if key in seen:
                continue
            seen.add(key)
            if len(seen) % every:
                continue
            folder = pathlib.Path(sys.argv[2]) / f"{kind}{n}"
            shutil.rmtree(folder, ignore_errors=True)
            try:
                answer = ask(spark, c, folder)
            except PySparkException as e:
                condition = e.getCondition()
                if not condition or condition.startswith("_LEGACY") or condition == "INTERNAL_ERROR":
                    continue
                answer = {"class": condition, "state": e.getSqlState()}
            print(json.dumps({"key": key, **shown, "answer": answer}, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main()
