package session

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/sql"
	"github.com/millrace/millrace/source"
)

// globalNamespace is the database of the views that all sessions share.
const globalNamespace = "global_temp"

// views are temporary views by name, in any case.
type views struct {
	mu sync.RWMutex
	m  map[string]view
}

type view struct {
	name string // as created
	n    plan.Node
}

func (v *views) find(name string) (plan.Node, bool) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	x, ok := v.m[strings.ToLower(name)]
	return x.n, ok
}

func (v *views) put(name string, n plan.Node, replace bool) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	key := strings.ToLower(name)
	if _, taken := v.m[key]; taken && !replace {
		return false
	}
	if v.m == nil {
		v.m = map[string]view{}
	}
	v.m[key] = view{name, n}
	return true
}

func (v *views) drop(name string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	key := strings.ToLower(name)
	_, ok := v.m[key]
	delete(v.m, key)
	return ok
}

// names are sorted.
func (v *views) names() []string {
	v.mu.RLock()
	defer v.mu.RUnlock()
	out := make([]string, 0, len(v.m))
	for _, x := range v.m {
		out = append(out, x.name)
	}
	slices.Sort(out)
	return out
}

func (v *views) copyFrom(o *views) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.m = map[string]view{}
	for k, x := range o.m {
		v.m[k] = x
	}
}

// CreateView gives a plan a name, within the session or for all sessions of the server. The plan is resolved first: a view means
// what it meant when it was made.
func (s *Session) CreateView(ctx context.Context, name string, n plan.Node, global, replace bool) error {
	resolved, err := s.Analyze(ctx, n)
	if err != nil {
		return err
	}
	return s.PutView(name, resolved, global, replace)
}

// PutView gives a resolved plan a name.
func (s *Session) PutView(name string, n plan.Node, global, replace bool) error {
	vs, shown := &s.views, errclass.Ident(name)
	if global {
		vs, shown = &s.server.globals, errclass.Ident(globalNamespace, name)
	}
	if old, ok := vs.find(name); ok && replace {
		if err := s.forgetView(old, n); err != nil {
			return err
		}
	}
	if !vs.put(name, n, replace) {
		return errclass.New("TEMP_TABLE_OR_VIEW_ALREADY_EXISTS", "relationName", shown)
	}
	return nil
}

// KeepTable gives a table that a connector holds a name, replacing an earlier one: the memory sink's result.
func (s *Session) KeepTable(name string, t source.Batch) error {
	parts, err := sql.ParseIdentifier(name)
	if err != nil {
		return errclass.New("INVALID_STREAMING_OPTION.QUERY_NAME", "queryName", name).WithCause(err)
	}
	if name, err = viewName(parts, false); err != nil {
		return err
	}
	scan := &plan.Scan{ID: plan.NewID(), Source: t, Name: "memory"}
	for _, f := range t.Schema().Fields {
		scan.Out = append(scan.Out, &plan.Attr{ID: plan.NewID(), Name: f.Name, T: f.Type, Null: f.Nullable, Metadata: f.Metadata})
	}
	return s.PutView(name, scan, false, true)
}

// relister is implemented by tables that fix what they read when they are opened.
type relister interface {
	// Relisted is the table as it is now: itself when it would not have changed.
	Relisted(ctx context.Context) (source.Table, error)
}

// listedAgain has the tables of the catalog in a view's plan look for their files again. What cannot be found now is as it was.
func listedAgain(n plan.Node) plan.Node {
	again, err := plan.TransformUp(n, func(n plan.Node) (plan.Node, error) {
		scan, ok := n.(*plan.Scan)
		if !ok || scan.Stream {
			return n, nil
		}
		r, ok := scan.Source.(relister)
		if !ok {
			return n, nil
		}
		t, err := r.Relisted(context.Background())
		if err != nil || t == scan.Source {
			return n, nil
		}
		c := *scan
		c.Source = t
		return &c, nil
	})
	if err != nil {
		return n
	}
	return again
}

// DropView removes a temporary view and tells whether there was one.
func (s *Session) DropView(name string, global bool) bool {
	vs := &s.views
	if global {
		vs = &s.server.globals
	}
	if n, ok := vs.find(name); ok {
		_ = s.forgetView(n, nil) // files for scratch that could not be removed are no reason to keep a view
	}
	return vs.drop(name)
}

// viewName checks the name of a temporary view in a statement.
func viewName(parts []string, global bool) (string, error) {
	switch {
	case len(parts) == 1:
		return parts[0], nil
	case global && len(parts) == 2 && strings.EqualFold(parts[0], globalNamespace):
		return parts[1], nil
	}
	return "", errclass.New("TEMP_VIEW_NAME_TOO_MANY_NAME_PARTS", "actualName", errclass.Ident(parts...))
}
