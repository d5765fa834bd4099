package sql

func set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}

var (
	// notRelationAlias are the words that connect relations; unquoted, they cannot name one.
	notRelationAlias = set("ANTI", "CROSS", "EXCEPT", "FULL", "INNER", "INTERSECT", "JOIN", "LATERAL", "LEFT", "NATURAL",
		"ON", "RIGHT", "SEMI", "SETMINUS", "MINUS", "UNION", "USING")

	// clauseStart are the words that start a clause behind a select list or a relation.
	clauseStart = set("FROM", "WHERE", "GROUP", "HAVING", "QUALIFY", "ORDER", "SORT", "CLUSTER", "DISTRIBUTE", "WINDOW", "LIMIT",
		"OFFSET", "UNION", "EXCEPT", "INTERSECT", "MINUS", "SETMINUS", "LATERAL", "PIVOT", "UNPIVOT", "TABLESAMPLE",
		"WATERMARK", "SELECT")

	// neverBare are the names that the formatter puts in backticks: unquoted, one of them could be taken for something else.
	neverBare = set("ALL", "AND", "ANTI", "ANY", "AS", "ASC", "BETWEEN", "BY", "CASE", "CAST", "CLUSTER", "COLLATE", "CROSS",
		"CURRENT_CATALOG", "CURRENT_DATABASE", "CURRENT_DATE", "CURRENT_SCHEMA", "CURRENT_TIME", "CURRENT_TIMESTAMP",
		"CURRENT_USER", "DATE", "DEFAULT", "DELAY", "DESC", "DISTINCT", "DISTRIBUTE", "DIV", "ELSE", "END", "ESCAPE", "EXCEPT",
		"EXCLUDE", "EXISTS", "EXTRACT", "FALSE", "FILTER", "FOR", "FROM", "FULL", "GROUP", "HAVING", "IDENTIFIER", "IGNORE",
		"ILIKE", "IN", "INCLUDE", "INNER", "INTERSECT", "INTERVAL", "IS", "JOIN", "LATERAL", "LEFT", "LIKE", "LIMIT", "MAP",
		"MINUS", "NATURAL", "NOT", "NULL", "NULLS", "OFFSET", "ON", "OR", "ORDER", "OUTER", "OVER", "OVERLAY", "PARTITION", "PIVOT",
		"PLACING", "POSITION", "R", "RANGE", "REDUCE", "REGEXP", "RESPECT", "RIGHT", "RLIKE", "ROWS", "SELECT", "SEMI", "SESSION_USER",
		"SETMINUS", "SOME", "SORT", "STREAM", "STRUCT", "TABLE", "TABLESAMPLE", "THEN", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ",
		"TIMESTAMP_NTZ", "TO", "TRIM", "TRUE", "TRY_CAST", "UNION", "UNPIVOT", "USER", "USING", "VALUES", "VERSION", "WATERMARK",
		"WHEN", "WHERE", "WINDOW", "WITH", "WITHIN", "X")
)
