package errclass

// scriptTable: what SQL scripts refuse.
var scriptTable = table{
	"DUPLICATE_CONDITION_IN_SCOPE":            {"42734", Parse, "The condition <condition> is declared twice in a block."},
	"DUPLICATE_EXCEPTION_HANDLER.CONDITION":   {"42734", Parse, "A block has two handlers for <condition>."},
	"DUPLICATE_EXCEPTION_HANDLER.SQLSTATE":    {"42734", Parse, "A block has two handlers for the SQLSTATE <sqlState>."},
	"END_LABEL_WITHOUT_BEGIN_LABEL":           {"42K0L", Parse, "The label <endLabel> stands at the end, but not at the beginning."},
	"INVALID_BOOLEAN_STATEMENT":               {"22546", Analysis, "<invalidStatement> is no condition: it must be a BOOLEAN."},
	"INVALID_LABEL_USAGE.DOES_NOT_EXIST":      {"42K0L", Parse, "<statementType> <labelName>: there is no such label around it."},
	"INVALID_LABEL_USAGE.ITERATE_IN_COMPOUND": {"42K0L", Parse, "ITERATE <labelName>: the label is that of a block, not of a loop."},
	"INVALID_SQLSTATE":                        {"428B3", Parse, "<sqlState> is no SQLSTATE to handle: five letters or digits, without those of success, warnings and internal errors."},
	"LABELS_MISMATCH":                         {"42K0L", Parse, "The label <beginLabel> at the beginning is <endLabel> at the end."},
	"LABEL_OR_FOR_VARIABLE_ALREADY_EXISTS":    {"42K0L", Parse, "The label <label> is there already, around this."},
	"LABEL_OR_FOR_VARIABLE_NAME_FORBIDDEN":    {"42K0L", Parse, "<label> cannot be a label."},
	"SQL_SCRIPT_IN_EXECUTE_IMMEDIATE":         {"07501", Analysis, "EXECUTE IMMEDIATE takes one statement, not the script <sqlString>"},
	"UNSUPPORTED_FEATURE.SQL_CURSOR":          {"0A000", Parse, "Cursors are not supported; use FOR."},
	"UNSUPPORTED_FEATURE.CONTINUE_EXCEPTION_HANDLER": {
		"0A000", Parse, "CONTINUE handlers are off; set spark.sql.scripting.continueHandlerEnabled, or use EXIT.",
	},
	"INVALID_ERROR_CONDITION_DECLARATION.NOT_AT_START_OF_COMPOUND_STATEMENT": {
		"42K0R", Parse, "The condition <conditionName> must be declared at the beginning of a block.",
	},
	"INVALID_HANDLER_DECLARATION.CONDITION_NOT_FOUND": {"42K0Q", Parse, "A handler is declared for <condition>, which is no condition."},
	"INVALID_HANDLER_DECLARATION.DUPLICATE_CONDITION_IN_HANDLER_DECLARATION": {
		"42K0Q", Parse, "A handler names the condition <condition> twice.",
	},
	"INVALID_HANDLER_DECLARATION.DUPLICATE_SQLSTATE_IN_HANDLER_DECLARATION": {
		"42K0Q", Parse, "A handler names the SQLSTATE <sqlState> twice.",
	},
	"INVALID_HANDLER_DECLARATION.INVALID_CONDITION_COMBINATION": {
		"42K0Q", Parse, "SQLEXCEPTION and NOT FOUND cannot be named with single conditions.",
	},
	"INVALID_HANDLER_DECLARATION.WRONG_PLACE_OF_DECLARATION": {
		"42K0Q", Parse, "Handlers are declared behind variables and before other statements of a block.",
	},
	"INVALID_VARIABLE_DECLARATION.NOT_ALLOWED_IN_SCOPE":     {"42K0M", Parse, "The variable <varName> must be declared at the beginning of a block."},
	"INVALID_VARIABLE_DECLARATION.ONLY_AT_BEGINNING":        {"42K0M", Parse, "The variable <varName> must be declared at the beginning of its block."},
	"INVALID_VARIABLE_DECLARATION.QUALIFIED_LOCAL_VARIABLE": {"42K0M", Parse, "The variable <varName> of a script is declared by its name alone."},
	"INVALID_VARIABLE_DECLARATION.REPLACE_LOCAL_VARIABLE":   {"42K0M", Parse, "OR REPLACE is for session variables, not for <varName> in a script."},
}
