package millrace

import "github.com/millrace/millrace/internal/connectpb"

// TableFunction is the rows of a function that makes a table, such as "explode" or "sql_keywords". Arguments are Columns or literals.
func (s *Session) TableFunction(name string, args ...any) *DataFrame {
	m := &connectpb.UnresolvedTableValuedFunction{FunctionName: name}
	var err error
	for _, a := range args {
		l := Lit(a)
		m.Arguments, err = append(m.Arguments, l.expr), firstError(err, l.use())
	}
	return newDataFrame(s, &connectpb.Relation{RelType: &connectpb.Relation_UnresolvedTableValuedFunction{UnresolvedTableValuedFunction: m}}, err)
}
