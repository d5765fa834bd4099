package session

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/millrace/millrace/internal/catalog"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/vec"
)

// cacheTable runs CACHE TABLE, which computes the rows at once unless it says LAZY.
func (s *Session) cacheTable(ctx context.Context, st *plan.CacheTable) error {
	level := levels["MEMORY_AND_DISK"]
	for _, k := range slices.Sorted(maps.Keys(st.Options)) {
		if !strings.EqualFold(k, "storageLevel") {
			continue
		}
		var ok bool
		if level, ok = levels[strings.ToUpper(st.Options[k])]; !ok {
			return errclass.New("INVALID_OPTION_VALUE", "option", k, "format", "CACHE TABLE", "value", st.Options[k],
				"requirement", "it must be one of "+strings.Join(slices.Sorted(maps.Keys(levels)), ", ")+".").WithKind(errclass.IllegalArgument)
		}
	}
	if st.Query != nil {
		name, err := viewName(st.Name, false)
		if err != nil {
			return err
		}
		if err := s.CreateView(ctx, name, st.Query, false, false); err != nil {
			return err
		}
	}
	n, err := s.keep(ctx, &plan.Named{Parts: st.Name}, strings.Join(st.Name, "."), level)
	if err != nil || st.Lazy {
		return err
	}
	q, err := s.PrepareResolved(n, "CACHE TABLE")
	if err != nil {
		return err
	}
	return q.Run(ctx, func(*vec.Batch) error { return nil })
}

func (s *Session) uncacheTable(ctx context.Context, st *plan.UncacheTable) error {
	err := s.Uncache(ctx, &plan.Named{Parts: st.Name})
	if st.IfExists && errclass.Has(err, "TABLE_OR_VIEW_NOT_FOUND") {
		return nil
	}
	return err
}

// refreshTable drops the rows that come from the files of a table or view, its own and those of relations made from it.
func (s *Session) refreshTable(ctx context.Context, st *plan.RefreshTable) error {
	n, err := s.relation(ctx, st.Name)
	if err != nil {
		return err
	}
	meaning := s.meaning(n)
	var roots []string
	walkAll(n, func(n plan.Node) {
		if scan, ok := n.(*plan.Scan); ok {
			if r, ok := scan.Source.(rooted); ok {
				roots = append(roots, r.Roots()...)
			}
		}
	})
	return s.server.cache.refresh(func(_ string, k *kept) bool {
		return k.inside[meaning] || slices.ContainsFunc(roots, k.from)
	})
}

// changes says what a statement that is about to run will do to the rows that are kept, and to what is known of a table; nil for nothing.
func (s *Session) changes(ctx context.Context, st plan.Statement) func() error {
	c := s.server.cache
	if st, ok := st.(*plan.Truncate); ok {
		if t, err := s.table(st.Table); err == nil {
			written := s.writtenTo(t)
			return func() error { return errors.Join(written(), s.RefreshPath(t.Location)) }
		}
	}
	if c.empty() {
		return nil
	}
	drop := func(tables ...catalog.Table) func() error {
		return func() error {
			return c.remove(func(_ string, k *kept) bool {
				return slices.ContainsFunc(tables, func(t catalog.Table) bool { return t.Location != "" && k.from(t.Location) })
			})
		}
	}
	switch st := st.(type) {
	case *plan.DropTable:
		if t, err := s.table(st.Name); err == nil && !s.isTemp(st.Name) {
			return drop(t)
		}
	case *plan.DropView:
		if n, err := s.relation(ctx, st.Name); err == nil {
			return func() error { return s.forgetView(n, nil) }
		}
	case *plan.DropNamespace:
		if tables, err := s.server.tables.Tables(st.Name[len(st.Name)-1]); err == nil {
			return drop(tables...)
		}
	}
	return nil
}

// forgetView drops the rows of a view that goes, unless what comes in its place means the same.
func (s *Session) forgetView(old, next plan.Node) error {
	if s.server.cache.empty() {
		return nil
	}
	meaning := s.meaning(old)
	if next != nil && s.meaning(next) == meaning {
		return nil
	}
	return s.server.cache.remove(func(key string, _ *kept) bool { return key == meaning })
}
