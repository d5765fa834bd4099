package main

// A production makes an expression of a type. In its text {k} stands for an expression of the kind k: a type by its short name, or a
// class of types. T is a type that is the same wherever it stands, and the result's if that is T.
type production struct {
	result string
	t      string // the class that T is from
	text   string
}

// Short names are those of the table's columns, with dec for decimals of any size. Classes are lists of them.
var classes = map[string][]string{
	"int":  {"i8", "i16", "i32", "i64"},
	"num":  {"i8", "i16", "i32", "i64", "f32", "f64", "d9", "d38", "d20"},
	"frac": {"f32", "f64"},
	"dec":  {"d9", "d38", "d20"},
	"time": {"day", "ts", "ntz"},
	"ord":  {"b", "i8", "i16", "i32", "i64", "f32", "f64", "d9", "d38", "d20", "s", "bin", "day", "ts", "ntz", "dsi", "ymi", "ai", "as", "st"},
	"any":  {"b", "i8", "i16", "i32", "i64", "f32", "f64", "d9", "d38", "d20", "s", "bin", "day", "ts", "ntz", "dsi", "ymi", "ai", "as", "aa", "m", "st"},
	"txt":  {"b", "i8", "i16", "i32", "i64", "f32", "f64", "d9", "d38", "d20", "s", "bin", "day", "ts", "ntz"},
	"arr":  {"ai", "as"},
	"all": {
		"b", "i8", "i16", "i32", "n", "i64", "f32", "f64", "x", "d9", "d38", "d20", "d5", "dd", "s", "t", "num", "bin", "day", "ts", "ntz", "tm", "t0", "dsi", "ymi", "iy", "im", "idd", "ih",
		"ci", "v", "ai", "as", "aa", "ad", "m", "mi", "st", "ast", "nest", "void",
	},
}

// sqlTypes are the names for casts.
var sqlTypes = map[string]string{
	"b": "BOOLEAN", "i8": "TINYINT", "i16": "SMALLINT", "i32": "INT", "i64": "BIGINT", "f32": "FLOAT", "f64": "DOUBLE", "d9": "DECIMAL(9,2)",
	"d38": "DECIMAL(38,10)", "d20": "DECIMAL(20,0)", "s": "STRING", "bin": "BINARY", "day": "DATE", "ts": "TIMESTAMP", "ntz": "TIMESTAMP_NTZ",
	"dsi": "INTERVAL DAY TO SECOND", "ymi": "INTERVAL YEAR TO MONTH", "ai": "ARRAY<INT>", "as": "ARRAY<STRING>", "aa": "ARRAY<ARRAY<INT>>",
	"m": "MAP<STRING,INT>", "st": "STRUCT<x:INT,y:STRING>",
}

var productions = expand(map[string]string{
	// result [class of T]: texts, one a line
	"T any": `
coalesce({T}, {T})
nvl({T}, {T})
ifnull({T}, {T})
nullif({T}, {T})
nvl2({any}, {T}, {T})
if({b}, {T}, {T})
CASE WHEN {b} THEN {T} WHEN {b} THEN {T} ELSE {T} END
CASE {n} WHEN 1 THEN {T} WHEN 2 THEN {T} END
CAST({T} AS @T)
TRY_CAST({s} AS @T)
CAST({txt} AS @T)
TRY_CAST({txt} AS @T)
decode({n}, 1, {T}, 2, {T}, {T})
element_at(array({T}, {T}, {T}), 2)
get(array({T}, {T}), {n})
array({T}, {T})[1]
named_struct('f', {T}).f
map('k', {T})['k']`,
	"T ord": `
greatest({T}, {T}, {T})
least({T}, {T})
array_max(array({T}, {T}))
array_min(array({T}, {T}))
sort_array(array({T}, {T}, {T}))[0]`,
	"T num": `
{T} + {T}
{T} - {T}
{T} * {T}
{T} % {T}
-{T}
+{T}
abs({T})
negative({T})
positive({T})
mod({T}, {T})
pmod({T}, {T})
try_add({T}, {T})
try_subtract({T}, {T})
try_multiply({T}, {T})
try_mod({T}, {T})
round({T}, {n})
bround({T}, 1)`,
	"T int": `
{T} & {T}
{T} | {T}
{T} ^ {T}
~{T}
bit_reverse({T})
shiftleft({T}, {n})
shiftright({T}, {n})
reverse(array({T}, {T}))[0]`,
	"i64": `
{int} div {int}
{dec} div {dec}
bit_count({int})
shiftrightunsigned({i64}, {n})
{i64} << {n}
hash({any}, {any})
xxhash64({any}, {any})
crc32({bin})
factorial({n})
unix_seconds({ts})
unix_millis({ts})
unix_micros({ts})
unix_timestamp({ts})
to_unix_timestamp({s}, 'yyyy-MM-dd')
datediff({day}, {day})
timestampdiff(HOUR, {ts}, {ts})
timestampdiff(MONTH, {ts}, {ts})
floor({x})
ceil({d9})
conv({num}, 10, 16)
width_bucket({x}, 0.0, 10.0, 5)
aggregate({ai}, 0L, (acc, e) -> acc + coalesce(e, 0))
length({s}) + size({ai})`,
	"i32": `
length({s})
char_length({s})
bit_length({s})
octet_length({bin})
ascii({s})
instr({s}, {t})
locate({t}, {s}, {n})
position({t} IN {s})
levenshtein({s}, {t})
levenshtein({s}, {t}, {n})
find_in_set({t}, {s})
size({arr})
size({m})
cardinality({ai})
array_size({arr})
array_position({ai}, {n})
year({time})
month({time})
quarter({time})
day({time})
dayofweek({time})
weekday({day})
dayofyear({time})
weekofyear({time})
hour({ts})
minute({ts})
second({ntz})
extract(YEAROFWEEK FROM {day})
extract(DAY FROM {dsi})
extract(MONTH FROM {ymi})
datediff({day}, {day})
date_diff({ts}, {day})
unix_date({day})
element_at({ai}, {n})
element_at({m}, {t})
{ai}[{n}]
{m}[{t}]
{st}.x
hash({any})
sign({i32})
regexp_count({s}, '[a-z]')
regexp_instr({s}, 'a')
bit_get({i32}, {n})
json_array_length(to_json({ai}))
getbit({i64}, {n})`,
	"f64": `
{num} / {x}
try_divide({x}, {x})
sqrt({x})
cbrt({x})
exp({x})
ln({x})
log({x})
log({x}, {x})
log2({x})
log10({x})
log1p({x})
expm1({x})
pow({x}, {n})
power({f64}, {x})
sin({x})
cos({x})
tan({x})
cot({x})
asin({x})
acos({x})
atan({x})
atan2({x}, {x})
sinh({x})
cosh({x})
tanh({x})
asinh({x})
acosh({x})
atanh({x})
degrees({x})
radians({x})
hypot({x}, {x})
signum({num})
rint({f64})
ceil({f64})
nanvl({f64}, {x})
months_between({ts}, {ts})
months_between({day}, {day}, false)
e() * pi()
sec({x})
csc({x})
ceiling({x}, 1)`,
	"d9": `
ceil({d9}, 1)
CAST({x} AS DECIMAL(9,2))`,
	"d38": `{d9} * {d9}` + "\n" + `{d20} + {d9}` + "\n" + `{d38} / {d9}` + "\n" + `{d20} % {d38}` + "\n" + `{d9} / {i32}` + "\n" + `to_number({num}, '999.99')` + "\n" + `try_to_number({num}, 'S999D99')`,
	"b": `
{T:ord} = {T}
{T:ord} <> {T}
{T:ord} < {T}
{T:ord} >= {T}
{T:ord} <=> {T}
{num} < {num}
{num} = {num}
{s} = {num}
{day} < {ts}
{ntz} >= {day}
{b} AND {b}
{b} OR {b}
NOT {b}
{any} IS NULL
{any} IS NOT NULL
{b} IS TRUE
{b} IS NOT UNKNOWN
{T:ord} BETWEEN {T} AND {T}
{T:ord} IN ({T}, {T}, NULL)
{T:ord} NOT IN ({T}, {T})
{T:ord} IS DISTINCT FROM {T}
{s} LIKE {t}
{s} LIKE '%a_'
{s} ILIKE '%S%'
{s} RLIKE '[a-c]+'
{s} NOT LIKE ALL ('a%', '%b')
{s} LIKE ANY ('a%', '%b')
startswith({s}, {t})
endswith({s}, {t})
contains({s}, {t})
isnan({frac})
isnull({any})
isnotnull({any})
array_contains({ai}, {i32})
arrays_overlap({ai}, {ai})
map_contains_key({m}, {t})
exists({ai}, e -> e > 1)
forall({ai}, e -> e > 0)
equal_null({T:ord}, {T})
regexp({s}, '^a')
luhn_check({num})
is_valid_utf8({s})`,
	"s": `
upper({s})
lower({s})
initcap({s})
trim({s})
ltrim({s})
rtrim({s})
btrim({s}, {t})
trim(BOTH 'a' FROM {s})
trim(LEADING {t} FROM {s})
concat({s}, {t})
{s} || {txt}
concat_ws(',', {s}, {as}, {t})
substring({s}, {n})
substring({s}, {n}, {n})
substr({s} FROM {n} FOR 2)
left({s}, {n})
right({s}, {n})
repeat({t}, {n})
reverse({s})
replace({s}, {t}, 'q')
translate({s}, 'abc', {t})
lpad({s}, {n}, {t})
rpad({s}, 7, {t})
overlay({s} PLACING {t} FROM 2)
overlay({s} PLACING {t} FROM {n} FOR 1)
split({s}, {t})[0]
split_part({s}, ',', {n})
substring_index({s}, {t}, {n})
regexp_replace({s}, '([a-z])', '<$1>')
regexp_extract({s}, '([a-z]+)', 1)
regexp_extract_all({s}, '([a-z])', 1)[0]
regexp_substr({s}, '[0-9]+')
format_string('%s-%d-%5.2f', {s}, {i32}, {x})
printf('%x %o %e', {i64}, {i32}, {x})
format_number({num}, 2)
format_number({x}, '#,##0.000')
hex({i64})
hex({s})
hex({bin})
bin({i64})
conv({num}, 10, {n})
base64({bin})
md5({bin})
sha1({bin})
sha2({bin}, 256)
soundex({s})
space({n})
chr({i64})
char({i32})
elt({n}, {s}, {t}, 'c')
date_format({ts}, 'yyyy-MM-dd HH:mm:ss.SSS')
date_format({ts}, 'EEE, d MMM y h:mm a')
date_format({day}, 'G yyyy D Q')
dayname({day})
monthname({day})
from_unixtime({i64}, 'yyyy-MM-dd HH:mm:ss')
to_json({st})
to_json({m})
to_json({ai})
to_json(named_struct('a', {txt}, 'b', {day}))
to_csv({st})
get_json_object(to_json({st}), '$.x')
get_json_object('{"a":[1,{"b":"c"}]}', '$.a[1].b')
typeof({any})
array_join({as}, {t})
array_join({as}, ',', 'null!')
element_at({as}, {n})
{as}[{n}]
{st}.y
quote({s})
mask({s})
url_encode({s})
url_decode({t})
parse_url('http://u@h.com:80/p?q=1&a=b#f', 'QUERY', 'a')
to_char({d9}, 'S999G999D99')
to_varchar({i32}, '999999')
decode(encode({s}, 'UTF-8'), 'UTF-8')
decode({bin}, 'UTF-16')
str_to_map({s}, ',', ':')['a']
string({txt})
sentences({s})[0][0]
schema_of_json('{"a":1.5,"b":[true]}')
validate_utf8({s})
make_valid_utf8({s})
collation({s})`,
	"bin": `
unhex({t})
unbase64(base64({bin}))
encode({s}, 'UTF-16BE')
to_binary({num}, 'hex')
try_to_binary({s}, 'base64')
binary({s})
concat({bin}, {bin})
substring({bin}, {n}, 2)
lpad({bin}, 5, X'01')
reverse({bin})
overlay({bin} PLACING X'AA' FROM 1)
aes_decrypt(aes_encrypt({bin}, '0000111122223333'), '0000111122223333')`,
	"day": `
date_add({day}, {n})
date_sub({day}, {n})
{day} + {n}
{day} - {ymi}
add_months({day}, {n})
last_day({day})
next_day({day}, 'TU')
trunc({day}, 'MM')
trunc({day}, 'WEEK')
trunc({day}, {t})
to_date({s})
to_date({s}, 'yyyy-MM-dd')
try_to_date({s})
make_date({n}, {n}, {n})
date_from_unix_date({n})
date({ts})
{day} + INTERVAL 1 MONTH
sequence({day}, date_add({day}, 3))[1]`,
	"ts": `
date_trunc('HOUR', {ts})
date_trunc('WEEK', {ts})
date_trunc('QUARTER', {ts})
{ts} + {dsi}
{ts} - {dsi}
{ts} + {ymi}
{ts} + INTERVAL '1' DAY
timestampadd(MONTH, {n}, {ts})
timestampadd(MINUTE, {i32}, {ts})
dateadd(DAY, {n}, {ts})
to_timestamp({s})
to_timestamp({s}, 'yyyy-MM-dd')
try_to_timestamp({s})
timestamp_seconds({i32})
timestamp_millis({i64})
timestamp_micros({i64})
make_timestamp(2024, {n}, 15, {n}, 30, 12.5)
try_make_timestamp({n}, 1, 1, 0, 0, {x})
to_utc_timestamp({ts}, 'Asia/Tokyo')
from_utc_timestamp({ts}, 'America/New_York')
convert_timezone('UTC', 'Europe/Berlin', {ntz})
timestamp({day})
window_time(window({ts}, '10 minutes'))`,
	"ntz": `
to_timestamp_ntz({s})
make_timestamp_ntz(2024, {n}, 1, 2, 3, 4.5)
{ntz} + {dsi}
convert_timezone('UTC', 'Asia/Kolkata', {ntz})
date_trunc('DAY', {ntz})`,
	"dsi": `
{dsi} + {dsi}
{dsi} - {dsi}
-{dsi}
{dsi} * {n}
{dsi} / {n}
abs({dsi})
{ts} - {ts}
{day} - {day}
{ntz} - {ntz}
make_dt_interval({n}, {n}, {n}, {x})
try_add({dsi}, {dsi})`,
	"ymi": `
{ymi} + {ymi}
{ymi} * {n}
{ymi} / {n}
-{ymi}
sign({ymi}) * {ymi}
make_ym_interval({n}, {n})`,
	"ai": `
array({i32}, {i32})
array_distinct({ai})
array_union({ai}, {ai})
array_intersect({ai}, {ai})
array_except({ai}, {ai})
array_remove({ai}, {i32})
array_repeat({i32}, {n})
array_append({ai}, {i32})
array_prepend({ai}, {i32})
array_insert({ai}, {n}, {i32})
array_compact({ai})
sort_array({ai})
sort_array({ai}, false)
array_sort({ai})
array_sort({ai}, (l, r) -> CASE WHEN l > r THEN -1 WHEN l < r THEN 1 ELSE 0 END)
slice({ai}, {n}, {n})
reverse({ai})
flatten({aa})
concat({ai}, {ai})
sequence({n}, {n})
sequence(1, {n}, 2)
transform({ai}, e -> e * 2)
transform({ai}, (e, i) -> e + i)
filter({ai}, e -> e IS NOT NULL)
zip_with({ai}, {ai}, (l, r) -> coalesce(l, r))
map_values({m})
from_json(to_json({ai}), 'ARRAY<INT>')
element_at({aa}, {n})`,
	"as": `
split({s}, {t})
split({s}, '[, ]', {n})
array({s}, {t})
array_sort({as})
array_distinct({as})
map_keys({m})
transform({as}, e -> upper(e))
filter({as}, e -> length(e) > 0)
regexp_extract_all({s}, '[a-z]', 0)
slice({as}, 1, {n})
array_union({as}, {as})
json_object_keys(to_json({m}))
flatten(array({as}, {as}))`,
	"aa": `array({ai}, {ai})` + "\n" + `transform({ai}, e -> array(e, e))` + "\n" + `reverse({aa})`,
	"m": `
map({t}, {i32})
map_from_arrays(array('p', 'q'), array({i32}, {n}))
map_filter({m}, (k, v) -> v > 1)
transform_values({m}, (k, v) -> v + 1)
transform_keys({m}, (k, v) -> upper(k))
map_zip_with({m}, {m}, (k, a, b) -> coalesce(a, b))
map_from_entries(map_entries({m}))
map_concat({m}, map('!', 9))
from_json(to_json({m}), 'MAP<STRING,INT>')`,
	"st": `
named_struct('x', {i32}, 'y', {s})
from_json(to_json({st}), 'x INT, y STRING')
from_csv(to_csv({st}), 'x INT, y STRING')
array({st}, {st})[0]
element_at(arrays_zip({ai}, {as}), 1)
map_entries(map({i32}, {s}))[0]`,
})

// aggregates are calls over groups, with the same placeholders.
var aggregates = lines(`
count(*)
count({any})
count(DISTINCT {ord})
count_if({b})
sum({num})
sum(DISTINCT {i32})
avg({num})
avg({dsi})
min({ord})
max({ord})
sum({ymi})
stddev({x})
stddev_pop({x})
variance({x})
var_pop({x})
skewness({x})
kurtosis({x})
corr({x}, {x})
covar_pop({x}, {x})
covar_samp({x}, {x})
regr_slope({x}, {x})
regr_r2({x}, {x})
regr_count({x}, {x})
bool_and({b})
some({b})
bit_and({int})
bit_or({int})
bit_xor({int})
max_by({any}, id)
min_by({any}, id)
median({x})
percentile({x}, 0.3)
percentile({i32}, array(0.0, 0.5, 1.0))
percentile_approx({x}, 0.5)
percentile_cont(0.25) WITHIN GROUP (ORDER BY {x})
percentile_disc(0.25) WITHIN GROUP (ORDER BY {x} DESC)
mode({i32}, true)
sort_array(collect_set({ord}))
sort_array(collect_list({ord}))
listagg({s}, ',') WITHIN GROUP (ORDER BY id)
approx_count_distinct({txt})
try_sum({num})
try_avg({num})
grouping_id()
any_value({n}) IS NULL
sum({n}) FILTER (WHERE {b})
count(*) FILTER (WHERE {b})
min(DISTINCT {s})
`)

// overs are window functions, over an order that has no ties.
var overs = lines(`
row_number() OVER (PARTITION BY {n} ORDER BY id)
rank() OVER (PARTITION BY {t} ORDER BY {n})
dense_rank() OVER (ORDER BY {n})
percent_rank() OVER (PARTITION BY {b} ORDER BY {n})
cume_dist() OVER (ORDER BY {n})
ntile(3) OVER (PARTITION BY {b} ORDER BY id)
lag({any}) OVER (ORDER BY id)
lead({ord}, 2, NULL) OVER (PARTITION BY {n} ORDER BY id)
lag({i32}, 1, -1) OVER (PARTITION BY {t} ORDER BY id DESC)
first_value({any}) OVER (PARTITION BY {n} ORDER BY id)
last_value({any}) OVER (PARTITION BY {n} ORDER BY id)
nth_value({any}, 2) OVER (PARTITION BY {b} ORDER BY id)
first_value({s}) IGNORE NULLS OVER (ORDER BY id)
sum({x}) OVER (PARTITION BY {b} ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)
count({any}) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
max({ord}) OVER (PARTITION BY {n} ORDER BY id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)
min({x}) OVER (ORDER BY id RANGE BETWEEN 2 PRECEDING AND 2 FOLLOWING)
avg({n}) OVER (PARTITION BY {t})
sum({n}) OVER (ORDER BY {day} RANGE BETWEEN INTERVAL 10 DAYS PRECEDING AND CURRENT ROW)
count(*) OVER (PARTITION BY {b}, {n})
collect_list({n}) OVER (PARTITION BY {b} ORDER BY id)
`)
