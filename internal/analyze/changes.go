package analyze

import (
	"strconv"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// ChangeFeeds is implemented by catalogs whose tables may have a change data feed.
type ChangeFeeds interface {
	// LookupChanges finds the table that a call of a table function reads the changes of; nil when the function is none of those.
	LookupChanges(function, table string) (*plan.Named, error)
}

// isChanges tells the functions that read changes. Their arguments are a table, a first version or time, and a last one.
func isChanges(name string) bool { return name == "table_changes" || name == "table_changes_by_path" }

// tableChanges resolves a call that reads the changes of a table.
func (r *resolver) tableChanges(n *plan.TableFunc, name string) (plan.Node, error) {
	c, ok := r.cat.(ChangeFeeds)
	if !ok {
		return nil, at(errclass.New("UNRESOLVABLE_TABLE_VALUED_FUNCTION", "name", errclass.Ident(n.Name...)), n.Origin)
	}
	if len(n.Args) < 2 || len(n.Args) > 3 {
		return nil, at(wrongNumArgs(name, "[2, 3]", len(n.Args)), n.Origin)
	}
	args, err := r.over().operands(n.Args)
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(args))
	for i, a := range args {
		if texts[i], err = r.changesArg(name, i, a); err != nil {
			return nil, at(err, n.Origin)
		}
	}
	t, err := c.LookupChanges(name, texts[0])
	if err != nil {
		return nil, at(err, n.Origin)
	}
	t.Origin = n.Origin
	t.Options = map[string]string{"readChangeFeed": "true"}
	for i, side := range []string{"starting", "ending"}[:len(args)-1] {
		if types.IsNumeric(plan.TypeOf(args[i+1])) {
			t.Options[side+"Version"] = texts[i+1]
		} else {
			t.Options[side+"Timestamp"] = texts[i+1]
		}
	}
	return r.named(t)
}

// changesArg is a constant argument as a text.
func (r *resolver) changesArg(name string, i int, a plan.Expr) (string, error) {
	if r.constantNode(a) == nil || len(plan.References(a)) > 0 {
		return "", errclass.New("NON_FOLDABLE_ARGUMENT", "funcName", errclass.Ident(name), "paramName", errclass.Ident([]string{"table", "start", "end"}[i]),
			"paramType", errclass.Expr(types.String.SQL()))
	}
	l, err := r.value(r.to(a, types.String))
	if err != nil {
		return "", err
	}
	text, ok := l.Value.(string)
	if !ok {
		return "", errclass.New("UNEXPECTED_INPUT_TYPE", "functionName", errclass.Ident(name), "paramIndex", ordinal(i+1),
			"requiredType", errclass.Expr(types.String.SQL()), "inputSql", errclass.Expr(a.SQL()), "inputType", errclass.Expr(plan.TypeOf(a).SQL()))
	}
	if i > 0 && types.IsNumeric(plan.TypeOf(a)) {
		if _, err := strconv.ParseInt(text, 10, 64); err != nil {
			return "", errclass.New("DELTA_ILLEGAL_OPTION", "name", []string{"startingVersion", "endingVersion"}[i-1], "input", text, "explain", "it must be a version.")
		}
	}
	return text, nil
}
