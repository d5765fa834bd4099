package session

import (
	"context"
	"slices"
	"strings"

	"github.com/millrace/millrace/internal/catalog"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

func (s *Session) showNamespaces(st *plan.ShowNamespaces) (plan.Node, error) {
	if len(st.In) > 0 && (len(st.In) > 1 || !strings.EqualFold(st.In[0], catalog.Name)) {
		if _, err := s.namespaceName(st.In); err != nil {
			return nil, err
		}
		return plan.LocalRows(types.Struct(text1("namespace")), nil) // databases hold no databases
	}
	all, err := s.server.tables.Databases()
	if err != nil {
		return nil, err
	}
	var rows []types.Row
	for _, d := range all {
		rows = append(rows, types.Row{d.Name})
	}
	return plan.LocalRows(types.Struct(text1("namespace")), filterRows(rows, 0, st.Pattern))
}

func (s *Session) showColumns(ctx context.Context, st *plan.ShowColumns) (plan.Node, error) {
	parts := st.Table
	if len(st.Namespace) > 0 {
		if n := len(parts); n > 1 && !strings.EqualFold(parts[n-2], st.Namespace[len(st.Namespace)-1]) {
			return nil, errclass.New("SHOW_COLUMNS_WITH_CONFLICT_NAMESPACE", "namespaceA", errclass.Ident(st.Namespace...), "namespaceB", errclass.Ident(parts[:n-1]...))
		}
		parts = append(slices.Clone(st.Namespace), parts[len(parts)-1])
	}
	n, err := s.relationAt(ctx, parts, st.Origin)
	if err != nil {
		return nil, err
	}
	var rows []types.Row
	for _, a := range n.Output() {
		rows = append(rows, types.Row{a.Name})
	}
	return plan.LocalRows(types.Struct(text1("col_name")), rows)
}

func (s *Session) showFunctions(st *plan.ShowFunctions) (plan.Node, error) {
	if len(st.Namespace) > 0 {
		if _, err := s.namespaceName(st.Namespace); err != nil {
			return nil, err
		}
	}
	var rows []types.Row
	if st.Scope != "USER" {
		for _, name := range listedFunctions() {
			if like(st.Pattern, name) {
				rows = append(rows, types.Row{name})
			}
		}
	}
	if st.Scope != "SYSTEM" {
		for _, name := range append(s.routines.names(), s.server.routines.names()...) {
			if like(st.Pattern, name[strings.LastIndexByte(name, '.')+1:]) {
				rows = append(rows, types.Row{name})
			}
		}
	}
	slices.SortFunc(rows, func(a, b types.Row) int { return strings.Compare(a[0].(string), b[0].(string)) })
	rows = slices.CompactFunc(rows, func(a, b types.Row) bool { return a[0] == b[0] })
	return plan.LocalRows(types.Struct(text1("function")), rows)
}
