package fn

import "strings"

// shown says how a call is named in results where that is not as it was written.
type shown struct {
	name string
	// fill are the arguments that stand for ones left out, by place; places before the first are never left out.
	from int
	fill []string
	// drop leaves out the arguments from this place on; 0 drops none.
	drop int
}

// upper are the functions whose names are shown in capitals.
var upper = []string{
	"sqrt", "cbrt", "exp", "expm1", "power", "log10", "log2", "log1p", "sin", "cos", "tan", "cot", "sec", "csc", "asin", "acos", "atan",
	"atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "degrees", "radians", "signum", "hypot", "spark_partition_id", "e", "pi",
	"rlike", "regexp_like", "regexp",
}

var shownCalls = func() map[string]shown {
	const pattern = "yyyy-MM-dd HH:mm:ss"
	tupleAgg, tupleUnionAgg := shown{from: 2, fill: []string{"12", "sum"}}, shown{from: 1, fill: []string{"12", "sum"}}
	tupleMode1, tupleMode2 := shown{from: 1, fill: []string{"sum"}}, shown{from: 2, fill: []string{"sum"}}
	m := map[string]shown{
		"round": {from: 1, fill: []string{"0"}}, "bround": {from: 1, fill: []string{"0"}},
		"substring": {from: 2, fill: []string{"2147483647"}}, "substr": {from: 2, fill: []string{"2147483647"}},
		"regexp_extract": {from: 2, fill: []string{"1"}}, "regexp_extract_all": {from: 2, fill: []string{"1"}},
		"regexp_replace": {from: 3, fill: []string{"1"}}, "regexp_instr": {from: 2, fill: []string{"0"}},
		"split": {from: 2, fill: []string{"-1"}}, "replace": {from: 2, fill: []string{""}},
		"locate": {from: 2, fill: []string{"1"}}, "position": {from: 2, fill: []string{"1"}},
		"lpad": {from: 2, fill: []string{" "}}, "rpad": {from: 2, fill: []string{" "}}, "overlay": {from: 3, fill: []string{"-1"}},
		"mask":          {from: 1, fill: []string{"X", "x", "n", "NULL"}},
		"from_unixtime": {from: 1, fill: []string{pattern}}, "unix_timestamp": {from: 1, fill: []string{pattern}},
		"to_unix_timestamp": {from: 1, fill: []string{pattern}}, "months_between": {from: 2, fill: []string{"true"}},
		"make_interval":    {fill: []string{"0", "0", "0", "0", "0", "0", "0.000000"}},
		"make_dt_interval": {fill: []string{"0", "0", "0", "0.000000"}}, "make_ym_interval": {fill: []string{"0", "0"}},
		"try_make_interval": {fill: []string{"0", "0", "0", "0", "0", "0", "0.000000"}}, "sentences": {from: 1, fill: []string{"", ""}},
		"aes_encrypt": {from: 2, fill: []string{"GCM", "DEFAULT", "", ""}}, "schema_of_xml": {drop: 1},
		"aes_decrypt": {from: 2, fill: []string{"GCM", "DEFAULT", ""}}, "try_aes_decrypt": {from: 2, fill: []string{"GCM", "DEFAULT", ""}},
		"vector_norm": {from: 1, fill: []string{"2.0"}}, "vector_normalize": {from: 1, fill: []string{"2.0"}},
		"sort_array": {from: 1, fill: []string{"true"}}, "str_to_map": {from: 1, fill: []string{",", ":"}},
		"curdate": {name: "current_date"}, "random": {name: "rand"}, "dateadd": {name: "date_add"},
		"from_json": {drop: 1}, "from_csv": {drop: 1}, "to_json": {drop: 1}, "to_csv": {drop: 1}, "schema_of_json": {drop: 1}, "schema_of_csv": {drop: 1}, "shuffle": {drop: 1},
		"try_make_timestamp": {drop: 6}, "from_xml": {drop: 1}, "to_xml": {drop: 1}, "variant_get": {drop: 2}, "try_variant_get": {drop: 2},
		// Aggregates.
		"array_agg": {name: "collect_list"}, "percentile": {from: 2, fill: []string{"1"}},
		"percentile_approx": {from: 2, fill: []string{"10000"}}, "approx_percentile": {from: 2, fill: []string{"10000"}},
		"from_avro": {from: 2, fill: []string{"NULL"}}, "to_avro": {from: 1, fill: []string{"NULL"}},
		"approx_top_k": {from: 1, fill: []string{"5", "10000"}}, "approx_top_k_accumulate": {from: 1, fill: []string{"10000"}},
		"approx_top_k_combine": {from: 1, fill: []string{"-1"}}, "approx_top_k_estimate": {from: 1, fill: []string{"5"}},
		"listagg": {from: 1, fill: []string{"NULL"}}, "string_agg": {from: 1, fill: []string{"NULL"}},
		"approx_count_distinct": {drop: 1}, "first": {drop: 1}, "last": {drop: 1}, "first_value": {drop: 1}, "last_value": {drop: 1},
		"any_value":      {drop: 1},
		"hll_sketch_agg": {from: 1, fill: []string{"12"}}, "hll_union_agg": {from: 1, fill: []string{"false"}},
		"theta_sketch_agg": {from: 1, fill: []string{"12"}}, "theta_union_agg": {from: 1, fill: []string{"12"}},
		"tuple_sketch_agg_double": tupleAgg, "tuple_sketch_agg_integer": tupleAgg,
		"tuple_union_agg_double": tupleUnionAgg, "tuple_union_agg_integer": tupleUnionAgg,
		"tuple_intersection_agg_double": tupleMode1, "tuple_intersection_agg_integer": tupleMode1,
		// Sketches.
		"hll_union": {from: 2, fill: []string{"false"}}, "theta_union": {from: 2, fill: []string{"12"}},
		"tuple_union_double": tupleAgg, "tuple_union_integer": tupleAgg,
		"tuple_union_theta_double": tupleAgg, "tuple_union_theta_integer": tupleAgg,
		"tuple_intersection_double": tupleMode2, "tuple_intersection_integer": tupleMode2,
		"tuple_intersection_theta_double": tupleMode2, "tuple_intersection_theta_integer": tupleMode2,
		"tuple_sketch_summary_double": tupleMode1, "tuple_sketch_summary_integer": tupleMode1,
	}
	for _, name := range upper {
		m[name] = shown{name: strings.ToUpper(name)}
	}
	return m
}()

// naturalOrder is how results show the comparator that array_sort has by default.
const naturalOrder = "lambdafunction((IF(((namedlambdavariable() IS NULL) AND (namedlambdavariable() IS NULL)), 0, (IF((namedlambdavariable() IS NULL), 1, " +
	"(IF((namedlambdavariable() IS NULL), -1, (IF((namedlambdavariable() < namedlambdavariable()), -1, " +
	"(IF((namedlambdavariable() > namedlambdavariable()), 1, 0)))))))))), namedlambdavariable(), namedlambdavariable())"

// untypedOrder is the same comparator before its variables have types.
const untypedOrder = "lambdafunction((IF(((left IS NULL) AND (right IS NULL)), 0, (IF((left IS NULL), 1, (IF((right IS NULL), -1, " +
	"(IF((left < right), -1, (IF((left > right), 1, 0)))))))))), left, right)"

// Shown is the text by which results name a call of a function or aggregate; ok is false when that is name(args) as written.
func Shown(name string, args []string) (text string, ok bool) {
	name = strings.ToLower(name)
	list := strings.Join(args, ", ")
	switch n := len(args); {
	case n > 0 && (name == LikeAll || name == LikeAny || name == NotLikeAll || name == NotLikeAny):
		return strings.ReplaceAll(name, " ", "") + "(" + args[0] + ")", true
	case n == 2 && (name == "extract" || name == "datepart"):
		return name + "(" + args[0] + " FROM " + args[1] + ")", true
	case n == 2 && (name == "trim" || name == "ltrim" || name == "rtrim"):
		side := map[string]string{"trim": "BOTH", "ltrim": "LEADING", "rtrim": "TRAILING"}[name]
		return "TRIM(" + side + " " + args[0] + " FROM " + args[1] + ")", true
	case n == 1 && name == "raise_error":
		return "raise_error(USER_RAISED_EXCEPTION, map(errorMessage, " + list + "))", true
	case n == 1 && name == "log":
		return "LOG(E(), " + list + ")", true
	case name == "log":
		return "LOG(" + list + ")", true
	case n == 1 && (name == "floor" || name == "ceil"):
		return strings.ToUpper(name) + "(" + list + ")", true
	case n == 3 && name == "dateadd":
		return "timestampadd(" + list + ")", true
	case n == 3 && (name == "datediff" || name == "date_diff"):
		return "timestampdiff(" + list + ")", true
	case n <= 3 && (name == "make_timestamp_ltz" || name == "try_make_timestamp_ltz"):
		return "make_timestamp(" + list + ")", true
	case n == 1 && name == "array_sort":
		return "array_sort(" + list + ", " + naturalOrder + ")", true
	case n > 1 && name == "from_json" && strings.HasPrefix(strings.ToUpper(strings.TrimSpace(args[1])), "MAP<"):
		return "entries", true
	case name == "try_to_time":
		return "try_to_time(to_time(" + list + "))", true
	case n == 2 && name == "convert_timezone":
		return "convert_timezone(current_timezone(), " + list + ")", true
	case n == 2 && name == "mode" && args[1] == "false":
		return "mode(" + args[0] + ")", true
	case n == 2 && name == "mode" && args[1] == "true":
		return "mode() WITHIN GROUP (ORDER BY " + args[0] + " DESC)", true
	case n == 1 && name == "assert_true":
		return "assert_true(" + list + ", '" + list + "' is not true!)", true
	case n == 0 && (name == "unix_timestamp"):
		return "unix_timestamp(current_timestamp(), yyyy-MM-dd HH:mm:ss)", true
	}
	s, ok := shownCalls[name]
	if !ok {
		return "", false
	}
	if s.name != "" {
		name = s.name
	}
	if s.drop > 0 && len(args) > s.drop {
		args = args[:s.drop]
	}
	if missing := s.from + len(s.fill) - len(args); missing > 0 && missing <= len(s.fill) {
		args = append(args[:len(args):len(args)], s.fill[len(s.fill)-missing:]...)
	}
	return name + "(" + strings.Join(args, ", ") + ")", true
}
