package main

// wordings are strings that mean something to some functions, as SQL.
var wordings = map[string][]string{
	"date text": {
		"'2024-02-29'", "'2024-02-30'", "'2024-1-1'", "' 2024-06-15 '", "'0000-01-01'", "'-0044-03-15'", "'+10000-01-01'", "'2024'", "'2024-06'", "'2024-06-15T'",
		"'2024-06-15 x'", "'15/06/2024'", "'epoch'", "'20240615'", "'294247-01-10'", "'5881580-07-11'", "'9999-12-31'",
	},
	"stamp text": {
		"'2024-02-29 12:34:56.789'", "'2024-02-29T12:34:56Z'", "'2024-02-29 12:34:56+02:00'", "'2024-02-29 12:34:56 Europe/Berlin'", "'2024-02-29 12:34'", "'12:34:56'",
		"'T12:34'", "'2024-03-31 02:30:00'", "'2024-02-29 24:00:00'", "'2024-02-29 12:34:56.1234567'", "'2024-02-29 12:60:00'", "'2024-02-29 1:2:3'",
		"'2024-02-29 12:34:56 PST'", "'2024-02-29 12:34:56 GMT+1'", "'2024-02-29 12:34:56-8:30'", "'29/02/2024 12:34:56'", "'Thu, 29 Feb 2024'", "'2024-02-29 00:00:00UTC'",
		"'1900-01-01 00:00:00'", "'-0001-01-01 00:00:00'", "'294247-01-10T04:00:54.775807Z'", "'294247-01-10T04:00:54.775808Z'",
	},
	"time text": {"'12:34:56'", "'12:34'", "'1:2:3'", "'23:59:59.999999'", "'24:00:00'", "'12:34:56.7'", "'12:34:56 PM'", "'00:00:00'", "' 12:00 '", "'12'", "'12:34:56.1234567'"},
	"pattern": {
		"'yyyy-MM-dd'", "'yyyy-MM-dd HH:mm:ss'", "'yyyy-MM-dd HH:mm:ss.SSS'", "'dd/MM/yyyy HH:mm:ss'", "'EEE, d MMM y'", "'y-M-d H:m:s'", "'D'", "'QQQ yyyy'", "'MMMM'", "'hh:mm a'",
		"'yyyyMMdd'", "'yy'", "'HH:mm:ss.SSSSSS'", "'XXX'", "'VV'", "'z'", "'O'", "'[yyyy][-MM]'", "'''q''yyyy'", "'G'", "'u'", "'L'", "'e'", "'k'", "'K'", "'F'", "'n'", "'A'", "'YYYY'",
		"'ww'", "'yyyyyyy'", "'SSSSSSSSSS'", "'xxx'", "'Z'", "'q'", "'E'", "'EEEEE'", "'MMMMM'", "'abc'", "'{'", "'#'", "''", "'ZZZZZ'", "'yyyy-MM-dd''T''HH:mm:ssXXX'", "'c'", "'B'", "'aa'", "'dd'", "'DDD'",
	},
	"number format": {
		"'999'", "'999.99'", "'S9,999.99'", "'$999.99'", "'000D00'", "'99G999PR'", "'9MI'", "'MI99.9'", "'9,9,9'", "'.99'", "'9.'", "'0'", "'$S9'", "'9$'", "'PR9'", "'99,99.9,9'", "'abc'", "''", "'S'", "'999999999999999999999999999999999999999'",
	},
	"number text": {"'1'", "'12.34'", "'-1,234.50'", "'$12.3'", "'<12>'", "'+7'", "'7-'", "'1e5'", "'.5'", "'5.'", "' 5'", "'0x1F'", "'1_000'", "'Infinity'", "'-inf'", "'NaN'", "'1d'", "'2f'", "'1L'", "'١٢'", "'99999999999999999999999999999999999999999'", "'1e-400'", "'1e400'", "'--1'", "''"},
	"regex":       {"'a'", "'(a)(b)?'", "'['", "'\\\\d+'", "'^$'", "'(?i)A'", "'a|b'", "'.*'", "''", "'(?<n>[a-z])'", "'\\\\p{L}'", "'(?=a)'", "'a{2,1}'", "'x*'", "'\\\\s'", "'(a'", "'[a-z&&[^b]]'"},
	"format": {
		"'%s %s'", "'%d'", "'%5.2f'", "'%x'", "'%-10s|'", "'%c'", "'%b'", "'%e'", "'%,d'", "'%%'", "'%n'", "'%1$s %1$s'", "'%2$s'", "'%05d'", "'%+d'", "'%(d'", "'% d'", "'%o'", "'%X'", "'%h'", "'%g'", "'%a'", "'%S'", "'%tY'", "'%q'", "'%'", "'%.3s'", "'%#x'", "'%10.3e'", "'%<s'", "'%,.2f'", "'%-5d|'",
	},
	"decimal format": {"'#,##0.000'", "'0'", "'#'", "'00.##'", "'#,###'", "'0.0E0'", "'$0.00'", "'0%'", "'abc0'", "'#.#;(#.#)'", "'0.0.0'", "''"},
	"json text": {
		"'{\"a\":1,\"b\":[1,2]}'", "'[1,2]'", "'{'", "'null'", "'1'", "'\"x\"'", "'{\"a\":{\"b\":null}}'", "''", "'{\"a\":\"2024-01-01\",\"b\":true}'", "'{\"A\":1.5e3,\"b\":\"x\",\"c\":9223372036854775808}'", "'[{\"a\":1},{\"a\":2}]'",
		"'{\"a\":1,\"a\":2}'", "'{a:1}'", "'{\\'a\\':1}'", "'{\"a\":NaN}'", "'{\"a\":\"\\\\u00e9\"} x'", "'[1,\"a\",null,{}]'", "'{\"a\":[[1],[2]],\"b\":{\"x\":\"y\"}}'", "'{\"a\":\"1\",\"b\":2.0,\"c\":\"\"}'", "'{\"a\":true,\"b\":{},\"c\":[]}'", "' {\"a\" : -0.0 } '", "'{\"a\":01}'", "'{\"a\":\"12:34:56\"}'", "'{\"a\":\"INTERVAL \\'1\\' DAY\"}'",
	},
	"json path": {"'$.a'", "'$.b[0]'", "'$.b[*]'", "'$'", "'$..a'", "'$.a.b'", "'$[\\'a\\']'", "'a'", "'$[0].a'", "'$[*]'", "'$.*'", "''", "'$.a[*].b'", "'$.a[-1]'", "'$. a'", "'$.b[0][0]'", "'$[1]'"},
	"csv text":  {"'1,abc'", "'a,\"b,c\"'", "'1'", "''", "'1,2,3'", "'\"x'", "'a|b'", "' 1 , 2 '", "'2024-01-01,true'", "'NaN,-Inf'", "',,'", "'\"a\"\"b\",c'", "'null,1'", "'1.50,99999999999'", "'#c,1'", "'a\\\\\"b,1'"},
	"xml text": {
		"'<p><a>1</a><b>x</b></p>'", "'<p><a>1</a><a>2</a></p>'", "'<p a=\"1\"><b>2</b>t</p>'", "'<p>'", "''", "'x'", "'<p/>'", "'<p><a><b>1</b></a></p>'", "'<?xml version=\"1.0\"?><p><a> 1.5 </a></p>'", "'<p><a>true</a><b></b></p>'", "'<p><![CDATA[x]]></p>'", "'<n:p xmlns:n=\"u\"><n:a>1</n:a></n:p>'", "'<p><a>2024-01-01</a><b>&lt;</b></p>'",
	},
	"xpath":   {"'p/a/text()'", "'sum(p/a)'", "'p/b'", "'//a'", "'p/@a'", "'count(//*)'", "'p/a[1]'", "'p['", "''", "'boolean(p/a)'", "'p/a = 1'"},
	"schema":  {"'a INT, b STRING'", "'ARRAY<INT>'", "'STRUCT<a: INT>'", "'a: int'", "'x'", "'MAP<STRING, INT>'", "'a DOUBLE, b ARRAY<INT>'", "'INT'", "'VARIANT'", "'a DATE'", "''", "'a INT NOT NULL'", "'STRING'"},
	"url":     {"'https://u:p@host.com:8080/p/a?q=1&a=b%20c#f'", "'http://h'", "'h?x=1'", "'not a url'", "'ftp://[::1]/x'", "'%zz'", "'a+b%20c%C3%A9'", "''", "'http://a/b?k=v&k=w&e'", "'mailto:a@b.c'"},
	"part":    {"'HOST'", "'QUERY'", "'PATH'", "'REF'", "'PROTOCOL'", "'FILE'", "'AUTHORITY'", "'USERINFO'", "'host'", "'x'"},
	"zone":    {"'UTC'", "'Europe/Berlin'", "'+02:00'", "'PST'", "'Asia/Kolkata'", "'XX/YY'", "'GMT+1'", "'-8:00'", "'America/New_York'", "'Z'", "''", "'+19:00'", "'UTC+5'", "'EST'", "'+5'", "'+01:02:03'"},
	"unit":    {"'YEAR'", "'month'", "'WEEK'", "'hour'", "'MILLISECOND'", "'Q'", "'QUARTER'", "'MM'", "'dd'", "'SECOND'", "'MICROSECOND'", "'DAYOFWEEK'", "'x'", "'yy'", "'mon'", "'minute'", "''", "'DOW'", "'DOY'", "'YEAROFWEEK'", "'MON'", "'Day'"},
	"weekday": {"'MO'", "'Tuesday'", "'sun'", "'x'", "'TH'", "''", "'FRI'"},
	"charset": {"'UTF-8'", "'UTF-16'", "'ISO-8859-1'", "'US-ASCII'", "'UTF-32'", "'utf-16le'", "'windows-1252'", "'x'", "'utf8'", "''"},
	"coding":  {"'hex'", "'base64'", "'utf-8'", "'UTF8'", "'x'", "'HEX'"},
	"coded":   {"'616263'", "'YWJj'", "'abc'", "'zz'", "'F'", "'YQ=='", "'YQ'", "'!!'", "'YWJj\\nYWJj'", "'é'", "''"},
	"interval text": {
		"'1 day'", "'interval 3 hours'", "'1-2'", "'3 04:05:06'", "'INTERVAL \\'1\\' YEAR'", "'10 minutes'", "'-1 month 2 days'", "'x'", "'1'", "'1.5 seconds'", "''", "'INTERVAL \\'1 2:3:4\\' DAY TO SECOND'", "'99999999999 days'", "'+1-3'", "'1 day 1 day'", "'178956971-0'", "'INTERVAL \\'5\\' DAY'", "'12:30'", "'1 year'",
	},
	"odd text": {
		"'é'", "'e\\u0301'", "'\\u0000'", "'😀👨‍👩‍👧'", "'\\t\\n'", "'İstanbul'", "'ǅ'", "'ﬁ'", "'ß'", "'ΑΣ'", "'日本'", "'a\\\\b'", "'''x'''", "'\"'", "'\\u00a0x\\u2003'", "'true'", "'t'", "'yes'", "'N'", "'off'", "'%'", "'_'", "'a%'", "'TRUE '", "'\\uFEFF1'", "'A-B c_d'", "'Hello World'", "'79927398713'",
	},
	"key":  {"'0000111122223333'", "'x'", "'abcdefghijklmnop12345678ABCDEFGH'"},
	"mode": {"'GCM'", "'ECB'", "'CBC'", "'x'"},
}

// hints are the kinds of texts that functions want as their arguments.
var hints = map[string][]string{
	"date_format": {"stamp text", "pattern"}, "to_date": {"date text", "pattern"}, "try_to_date": {"date text", "pattern"}, "to_timestamp": {"stamp text", "pattern"},
	"try_to_timestamp": {"stamp text", "pattern"}, "to_timestamp_ltz": {"stamp text", "pattern"}, "to_timestamp_ntz": {"stamp text", "pattern"},
	"unix_timestamp": {"stamp text", "pattern"}, "to_unix_timestamp": {"stamp text", "pattern"}, "from_unixtime": {"", "pattern"},
	"to_time": {"time text", "pattern"}, "try_to_time": {"time text", "pattern"}, "trunc": {"date text", "unit"}, "date_trunc": {"unit", "stamp text"},
	"time_trunc": {"unit", "time text"}, "time_diff": {"unit", "time text", "time text"}, "next_day": {"date text", "weekday"}, "last_day": {"date text"},
	"from_utc_timestamp": {"stamp text", "zone"}, "to_utc_timestamp": {"stamp text", "zone"}, "convert_timezone": {"zone", "zone", "stamp text"},
	"make_timestamp": {"", "", "", "", "", "", "zone"}, "make_timestamp_ltz": {"", "", "", "", "", "", "zone"}, "try_make_timestamp": {"", "", "", "", "", "", "zone"},
	"to_number": {"number text", "number format"}, "try_to_number": {"number text", "number format"}, "to_char": {"", "number format"}, "to_varchar": {"", "number format"},
	"format_number": {"", "decimal format"}, "format_string": {"format"}, "printf": {"format"}, "regexp_replace": {"", "regex"}, "regexp_extract": {"", "regex"},
	"regexp_extract_all": {"", "regex"}, "regexp_count": {"", "regex"}, "regexp_instr": {"", "regex"}, "regexp_substr": {"", "regex"}, "regexp_like": {"", "regex"},
	"rlike": {"", "regex"}, "regexp": {"", "regex"}, "split": {"", "regex"}, "get_json_object": {"json text", "json path"}, "json_array_length": {"json text"}, "json_object_keys": {"json text"},
	"from_json": {"json text", "schema"}, "from_csv": {"csv text", "schema"}, "from_xml": {"xml text", "schema"}, "schema_of_json": {"json text"}, "schema_of_csv": {"csv text"},
	"schema_of_xml": {"xml text"}, "parse_json": {"json text"}, "try_parse_json": {"json text"}, "variant_get": {"", "json path", "schema"}, "try_variant_get": {"", "json path", "schema"},
	"xpath": {"xml text", "xpath"}, "xpath_boolean": {"xml text", "xpath"}, "xpath_double": {"xml text", "xpath"}, "xpath_float": {"xml text", "xpath"}, "xpath_int": {"xml text", "xpath"},
	"xpath_long": {"xml text", "xpath"}, "xpath_number": {"xml text", "xpath"}, "xpath_short": {"xml text", "xpath"}, "xpath_string": {"xml text", "xpath"},
	"parse_url": {"url", "part"}, "try_parse_url": {"url", "part"}, "url_decode": {"url"}, "try_url_decode": {"url"}, "url_encode": {"url"},
	"encode": {"", "charset"}, "decode": {"", "charset"}, "to_binary": {"coded", "coding"}, "try_to_binary": {"coded", "coding"}, "unhex": {"coded"}, "unbase64": {"coded"},
	"aes_decrypt": {"", "key", "mode"}, "try_aes_decrypt": {"", "key", "mode"},
}

// recordOptions are pairs for maps of options.
var recordOptions = []string{
	"'mode', 'FAILFAST'", "'mode', 'PERMISSIVE'", "'mode', 'DROPMALFORMED'", "'mode', 'x'", "'dateFormat', 'dd/MM/yyyy'", "'timestampFormat', 'yyyy-MM-dd HH:mm'", "'ignoreNullFields', 'false'", "'pretty', 'true'",
	"'sep', '|'", "'header', 'true'", "'quote', ''", "'nullValue', 'a'", "'emptyValue', 'e'", "'rowTag', 'a'", "'attributePrefix', '@'", "'valueTag', 'V'", "'primitivesAsString', 'true'", "'prefersDecimal', 'true'",
	"'allowComments', 'true'", "'allowUnquotedFieldNames', 'true'", "'allowSingleQuotes', 'false'", "'allowNumericLeadingZeros', 'true'", "'allowNonNumericNumbers', 'false'", "'columnNameOfCorruptRecord', 'b'",
	"'timeZone', 'Asia/Tokyo'", "'locale', 'de-DE'", "'inferSchema', 'false'", "'quoteAll', 'true'", "'escape', '#'", "'ignoreLeadingWhiteSpace', 'true'", "'nanValue', 'x'", "'rootTag', 'r'", "'dropFieldIfAllNull', 'true'",
	"'timestampNTZFormat', 'yyyy'", "'sortKeys', 'true'", "'writeNullIfWithDefaultValue', 'false'", "'arrayElementName', 'el'", "'allowBackslashEscapingAnyCharacter', 'true'",
}
