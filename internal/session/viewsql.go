package session

import (
	"context"
	"strings"

	"github.com/millrace/millrace/internal/catalog"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/sql"
)

// viewPlan is the query of a persistent view, under the view's column names. The columns are found by the names that they had when
// the view was made, so that those which a table gets later do not show.
func (s *Session) viewPlan(t catalog.Table, n *plan.Named) (plan.Node, error) {
	if n.Stream {
		return nil, errclass.New("UNSUPPORTED_FEATURE.RELATION", "relation", "STREAM of a view")
	}
	opts := s.SQLOptions()
	opts.Home = orDefault(t.Namespace, t.Database)
	q, err := sql.ParseQuery(t.Text, opts)
	if err != nil {
		return nil, err
	}
	if t.SchemaMode != "EVOLUTION" && !repeated(t.QueryColumns) && len(t.QueryColumns) == len(t.Schema.Fields) {
		p := &plan.Project{Child: q}
		for i, f := range t.Schema.Fields {
			var e plan.Expr = &plan.Column{Parts: t.QueryColumns[i : i+1], PlanID: -1}
			p.Cols = append(p.Cols, &plan.Alias{Child: e, Name: f.Name, Metadata: f.Metadata})
		}
		q = p
	} else if t.SchemaMode != "EVOLUTION" {
		q = &plan.ToNames{Names: t.Schema.Names(), Child: q}
	}
	return &plan.View{Name: []string{catalog.Name, t.Database, t.Name}, Child: q}, nil
}

func repeated(names []string) bool {
	seen := map[string]bool{}
	for _, n := range names {
		if k := strings.ToLower(n); seen[k] {
			return true
		} else {
			seen[k] = true
		}
	}
	return false
}

func (s *Session) createPersistentView(ctx context.Context, st *plan.CreateView) (plan.Node, error) {
	db, name, err := s.tableName(st.Name)
	if err != nil {
		return nil, err
	}
	old, exists, err := s.server.tables.Find(db, name)
	if err != nil || exists && st.IfNotExists {
		return after(err)
	}
	t := catalog.Table{
		Database: db, Name: name, Comment: st.Comment, Properties: st.Properties, SchemaMode: st.SchemaMode, Created: s.server.Runtime.Clock.Now().UTC(),
	}
	if t.Collation, err = defaultCollation(st.Collation); err != nil {
		return nil, err
	}
	if t, err = s.viewTable(ctx, t, st.Query, st.Text, st.Columns); err != nil {
		return nil, err
	}
	if exists && st.Replace && old.Kind != catalog.View {
		return nil, errclass.New("EXPECT_VIEW_NOT_TABLE.NO_ALTERNATIVE", "tableName", tableIdent(old), "operation", "CREATE OR REPLACE VIEW")
	}
	return after(s.server.tables.Create(t, st.Replace))
}

// viewTable is a view with another query, and the names and comments of its columns; nil columns are the query's own.
func (s *Session) viewTable(ctx context.Context, t catalog.Table, query plan.Node, text string, columns []plan.ViewColumn) (catalog.Table, error) {
	n, err := s.Analyze(ctx, query)
	if err != nil {
		return t, err
	}
	if err := s.checkView(t, query, n); err != nil {
		return t, err
	}
	t.QueryColumns = plan.Schema(n).Names()
	if columns != nil {
		if n, err = s.namedColumns(ctx, t.Name, n, columns); err != nil {
			return t, err
		}
	}
	t.Kind, t.Schema, t.Text, t.Namespace = catalog.View, plan.Schema(n), text, s.Namespace()
	for i, f := range t.Schema.Fields {
		if t.Schema.IndexFold(f.Name) < i {
			return t, errclass.New("COLUMN_ALREADY_EXISTS", "columnName", errclass.Ident(strings.ToLower(f.Name)))
		}
	}
	return t, nil
}

// checkView refuses views that would not outlive the session, and those that read themselves. n is the resolved query.
func (s *Session) checkView(t catalog.Table, query, n plan.Node) error {
	var err error
	refuse := func(name []string, kind string) {
		if err == nil {
			err = errclass.New("INVALID_TEMP_OBJ_REFERENCE", "obj", "VIEW", "objName", tableIdent(t), "tempObj", kind, "tempObjName", errclass.Ident(name...))
		}
	}
	self := strings.ToLower(catalog.Name + "." + t.Database + "." + t.Name)
	plan.Walk(n, func(n plan.Node) bool {
		v, ok := n.(*plan.View)
		switch {
		case !ok:
		case len(v.Name) < 3:
			refuse(v.Name, "VIEW")
		case strings.ToLower(strings.Join(v.Name, ".")) == self && err == nil:
			err = errclass.New("RECURSIVE_VIEW", "viewIdent", tableIdent(t), "newPath", tableIdent(t)+" -> "+tableIdent(t))
		}
		return err == nil
	})
	plan.Walk(n, func(n plan.Node) bool {
		for _, e := range n.Exprs() {
			plan.WalkExpr(e, func(e plan.Expr) bool {
				if l, ok := e.(*plan.Literal); ok {
					if name, ok := variableOf(l); ok {
						refuse([]string{name}, "VARIABLE")
					}
				}
				return err == nil
			})
		}
		return err == nil
	})
	s.temporaries(query, refuse)
	return err
}

// temporaries finds the temporary functions that an unresolved plan calls.
func (s *Session) temporaries(n plan.Node, found func(name []string, kind string)) {
	var inExpr func(e plan.Expr) bool
	inNode := func(n plan.Node) bool {
		for _, e := range n.Exprs() {
			plan.WalkExpr(e, inExpr)
		}
		if f, ok := n.(*plan.TableFunc); ok && s.isTemporaryFunction(f.Name) {
			found(f.Name, "FUNCTION")
		}
		return true
	}
	inExpr = func(e plan.Expr) bool {
		switch e := e.(type) {
		case *plan.Func:
			if s.isTemporaryFunction(e.Name) {
				found(e.Name, "FUNCTION")
			}
		case *plan.Subquery:
			plan.Walk(e.Plan, inNode)
		}
		return true
	}
	plan.Walk(n, inNode)
}

func (s *Session) isTemporaryFunction(parts []string) bool {
	return len(parts) > 0 && s.routines.find(parts[len(parts)-1]) != nil && (lookup{s: s}).LookupRoutine(parts) == s.routines.find(parts[len(parts)-1])
}
