package errclass

// apiTable: mistakes in programs that use the Go API, found before anything is sent.
var apiTable = table{
	"NOT_COLUMN_OR_STR":   {"42K09", IllegalArgument, "<argName> must be a Column or a name, not a Go <argType>."},
	"NOT_EXPECTED_TYPE":   {"42K09", IllegalArgument, "<argName> must be <expectedType>, not a Go <argType>."},
	"CANNOT_BE_EMPTY":     {"22023", IllegalArgument, "At least one <item> must be given."},
	"VALUE_NOT_BETWEEN":   {"22023", IllegalArgument, "<argName> must be from <min> to <max>, not <value>."},
	"VALUE_NOT_ALLOWED":   {"22023", IllegalArgument, "<argName> must be <allowed>, not <value>."},
	"SESSION_NOT_SAME":    {"42K0E", IllegalArgument, "Both DataFrames must come from the same session."},
	"UNUSABLE_COLUMN":     {"42K0E", IllegalArgument, "<what>"},
	"UNUSABLE_LISTENER":   {"42K09", IllegalArgument, "A <goType> cannot be told apart from other listeners; register a pointer."},
	"NO_EMBEDDED_ENGINE":  {"0A000", Unsupported, "The address <address> asks for the engine in this process, which the program does not link; import _ \"github.com/millrace/millrace/engine\"."},
	"SESSION_CLOSED":      {"08003", IllegalState, "The session is closed."},
	"UNEXPECTED_RESPONSE": {"08P01", SparkFailure, "The server's answer cannot be right: <reason>"},

	"RESULT_CONVERSION.TYPE":        {"22018", IllegalArgument, "<path> is a <dataType>, which cannot become a Go <goType>."},
	"RESULT_CONVERSION.RANGE":       {"22003", IllegalArgument, "The value <value> of <path> is out of the range of a Go <goType>."},
	"RESULT_CONVERSION.NULL":        {"22004", IllegalArgument, "The value of <path> is null, which a Go <goType> cannot hold; use a pointer."},
	"RESULT_CONVERSION.NO_COLUMN":   {"42703", IllegalArgument, "There is no column for <path>. The columns are <columns>."},
	"RESULT_CONVERSION.COLUMNS":     {"22023", IllegalArgument, "A Go <goType> takes the rows of one column; there are <count>."},
	"RESULT_CONVERSION.FIXED_ARRAY": {"22023", IllegalArgument, "<path> has <count> elements, which do not fit a Go <goType>."},
}
