package main

import (
	"regexp"
	"strings"
)

// known are differences that stay, by the smallest question that shows them, with the reason: a row of docs/differences.md.
var known = []struct {
	query  *regexp.Regexp
	reason string
}{
	{regexp.MustCompile(`^from_xml\(.*'[^']*\bTIME\(`), "XML has no TIME"},
	{regexp.MustCompile(`^to_xml\(.*(AS TIME\(|AS INTERVAL|make_interval|` + "`(tm|t0|i[ymdh]|idd|ci|dsi|ymi)`" + `)`), "XML has no TIME and no intervals"},
	{regexp.MustCompile(`^from_csv\(.*(ARRAY|MAP|STRUCT)<`), "a schema that no row can have is refused at once"},
	{regexp.MustCompile(`'epoch'`), "special dates are not read"},
	{regexp.MustCompile(`^levenshtein\(.*, (NULL|CAST\(NULL AS [A-Z0-9(),]+\))\)$`), "a third argument that is null"},
	{regexp.MustCompile(`^unix_timestamp\(\)`), "the time goes on"},
	{regexp.MustCompile(`LEFT JOIN LATERAL (pos)?(explode|inline|variant_explode|stack|json_tuple)\(.*\) AS x$`), "Spark drops the rows of the left side for which a table function gives none, unless ON is written"},
}

// knownKinds are differences that stay whatever the question, by how they look.
var knownKinds = []struct {
	query, diff *regexp.Regexp
	reason      string
}{
	{regexp.MustCompile(`PIVOT.*(IN \('a', 'a'|FOR k IN \(1, 2)`), regexp.MustCompile(`^rows `), "Spark fails over a pivot value that is listed twice"},
	{regexp.MustCompile(`NULL (PRECEDING|FOLLOWING)`), regexp.MustCompile(`^rows `), "a frame bounded by NULL means nothing"},
	{regexp.MustCompile(`>>`), regexp.MustCompile(`^rows and error PARSE_SYNTAX_ERROR`), "Spark's lexer takes a shift for the end of a type"},
	{regexp.MustCompile(`^TRY_CAST|^CAST`), regexp.MustCompile(`^errors NULL_MAP_KEY 2200E and UNEXPECTED_RESPONSE`), "a map with a null key cannot be sent"},
	{regexp.MustCompile(`^xpath_.*sum\(`), regexp.MustCompile(`^rows `), "sum() leaves out what is no number"},
	{regexp.MustCompile(`^from_csv\(.*VARIANT`), regexp.MustCompile(`^error UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE`), "not built yet"},
	{regexp.MustCompile(`\b(corr|covar_\w+|var_\w+|variance|std\w*|regr_\w+|skewness|kurtosis)\(`), regexp.MustCompile(`^rows .*(NaN|Inf|e\+30|<nil>)`), "partial results with infinities are put together in another order"},
	{
		regexp.MustCompile(`LIMIT|OFFSET|PARTITION BY|GROUP BY`),
		regexp.MustCompile(`^error (INVALID_LIMIT_LIKE_EXPRESSION.IS_UNFOLDABLE|(GROUP_)?EXPRESSION_TYPE_IS_NOT_ORDERABLE) \S+ at `),
		"a mistake about a column itself is placed where the first column of the relation was named",
	},
}

// whole is a query that is more than an expression, of which byRow knows better.
var whole = regexp.MustCompile(`^(SELECT|FROM|WITH|VALUES|TABLE)\b`)

// reasonOf is why a difference stays; rows is how many rows the table has.
func reasonOf(query, diff string, rows int) string {
	if rows > 1 && whole.MatchString(query) && twoErrors.MatchString(diff) && strings.HasPrefix(diff, "error") {
		return "of several rows that fail, any may be reported"
	}
	for _, k := range known {
		if k.query.MatchString(query) {
			return k.reason
		}
	}
	for _, k := range knownKinds {
		if k.query.MatchString(query) && k.diff.MatchString(diff) {
			return k.reason
		}
	}
	return ""
}
