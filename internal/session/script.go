package session

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/sql"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// frame holds the variables of a block of a script, or those of a row of FOR, while it runs. A script runs on one goroutine.
type frame struct {
	label    string // what its variables can be qualified with, or ""
	id       string // what they are qualified with in messages
	vars     map[string]*variable
	handlers []*plan.Handler
	up       *frame
}

type scriptKey struct{}

func withScript(ctx context.Context, f *frame) context.Context {
	return context.WithValue(ctx, scriptKey{}, f)
}

// scriptOf is the innermost frame of the script that runs, or nil.
func scriptOf(ctx context.Context) *frame {
	f, _ := ctx.Value(scriptKey{}).(*frame)
	return f
}

func newFrame(ctx context.Context, label string) (*frame, context.Context) {
	f := &frame{label: label, id: uuid.NewString(), vars: map[string]*variable{}, up: scriptOf(ctx)}
	return f, withScript(ctx, f)
}

func (f *frame) declare(v *variable) bool {
	k := strings.ToLower(v.name)
	if f.vars[k] != nil {
		return false
	}
	f.vars[k] = v
	return true
}

// find looks a variable up, by its name alone or with the label of its block. path is what it is called below in expressions.
func (f *frame) find(parts []string) (v *variable, path string) {
	for ; f != nil; f = f.up {
		switch {
		case len(parts) == 1:
			v = f.vars[strings.ToLower(parts[0])]
		case len(parts) == 2 && f.label != "" && strings.EqualFold(parts[0], f.label):
			v = f.vars[strings.ToLower(parts[1])]
		}
		if v != nil {
			return v, "local." + errclass.Ident(f.id)
		}
	}
	return nil, ""
}

// flow says where a script goes on.
type flow struct {
	to    direction
	label string
}

type direction uint8

const (
	onward direction = iota
	leaving
	iterating
)

// scriptRun is one run of a script.
type scriptRun struct {
	s      *Session
	result plan.Node // of the last query
}

// handlerError is an error of a handler's own statements.
type handlerError struct{ error }

func (e handlerError) Unwrap() error { return e.error }

func (s *Session) runScript(ctx context.Context, st *plan.Script) (plan.Node, error) {
	r := &scriptRun{s: s}
	if _, err := r.block(ctx, st.Body); err != nil {
		if h, ok := errors.AsType[handlerError](err); ok {
			err = h.error
		}
		return nil, err
	}
	if r.result == nil {
		return nothing()
	}
	return r.result, nil
}

// block runs a block. An error that one of its handlers is for ends it, unless the handler is to go on.
func (r *scriptRun) block(ctx context.Context, b *plan.Block) (flow, error) {
	f, ctx := newFrame(ctx, b.Label)
	f.handlers = b.Handlers
	for _, st := range b.Body {
		fl, err := r.run(ctx, st)
		if err != nil {
			h := handlerFor(f.handlers, err)
			if h == nil {
				return flow{}, err
			}
			_, nested := errors.AsType[handlerError](err)
			if fl, err = r.handle(ctx, h); err != nil {
				return flow{}, err
			}
			if nested && fl.to == onward { // as in Spark, which leaves the block whose handler failed
				continue
			}
			return landed(b.Label, fl), nil
		}
		if fl.to != onward {
			return landed(b.Label, fl), nil
		}
	}
	return flow{}, nil
}

// landed is what is left of a jump behind the block or loop of a label.
func landed(label string, fl flow) flow {
	if fl.to == leaving && label != "" && fl.label == label {
		return flow{}
	}
	return fl
}

func (r *scriptRun) handle(ctx context.Context, h *plan.Handler) (flow, error) {
	fl, err := r.run(ctx, h.Body)
	if err != nil {
		if _, ok := errors.AsType[handlerError](err); !ok {
			err = handlerError{err}
		}
	}
	return fl, err
}

// handlerFor finds the handler for an error: one for its condition goes before one for its SQLSTATE, that before the general ones.
func handlerFor(handlers []*plan.Handler, err error) *plan.Handler {
	e := errclass.Internal(err)
	if h, ok := errors.AsType[handlerError](err); ok {
		e = errclass.Internal(h.error)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	main, _, _ := strings.Cut(e.Class, ".")
	for _, fits := range []func(h *plan.Handler) bool{
		func(h *plan.Handler) bool { return slices.Contains(h.Conditions, e.Class) },
		func(h *plan.Handler) bool { return slices.Contains(h.Conditions, main) },
		func(h *plan.Handler) bool { return slices.Contains(h.States, e.SQLState) },
		func(h *plan.Handler) bool { return h.NotFound && strings.HasPrefix(e.SQLState, "02") },
		func(h *plan.Handler) bool { return h.Exceptions && !strings.HasPrefix(e.SQLState, "02") },
	} {
		if i := slices.IndexFunc(handlers, fits); i >= 0 {
			return handlers[i]
		}
	}
	return nil
}

// resume runs the handler that an error has, when that is to go on behind the statement.
func (r *scriptRun) resume(ctx context.Context, err error) (flow, error) {
	for f := scriptOf(ctx); f != nil; f = f.up {
		h := handlerFor(f.handlers, err)
		switch {
		case h == nil:
			continue
		case !h.Continue:
			return flow{}, err
		}
		return r.handle(withScript(ctx, f), h)
	}
	return flow{}, err
}

// all runs statements in turn.
func (r *scriptRun) all(ctx context.Context, list []plan.Statement) (flow, error) {
	for _, st := range list {
		if fl, err := r.run(ctx, st); err != nil || fl.to != onward {
			return fl, err
		}
	}
	return flow{}, nil
}

// run runs one statement.
func (r *scriptRun) run(ctx context.Context, st plan.Statement) (flow, error) {
	if err := ctx.Err(); err != nil {
		return flow{}, context.Cause(ctx)
	}
	switch st := st.(type) {
	case *plan.Block:
		return r.block(ctx, st)
	case *plan.If:
		for _, b := range st.Branches {
			holds, err := r.condition(ctx, b)
			if err != nil {
				return r.resume(ctx, err)
			}
			if holds {
				return r.all(ctx, b.Body)
			}
		}
		return r.all(ctx, st.Else)
	case *plan.Case:
		body, err := r.choose(ctx, st)
		if err != nil {
			return r.resume(ctx, err)
		}
		return r.all(ctx, body)
	case *plan.Loop:
		return r.loop(ctx, st)
	case *plan.For:
		return r.each(ctx, st)
	case *plan.Leave:
		return flow{leaving, st.Label}, nil
	case *plan.Iterate:
		return flow{iterating, st.Label}, nil
	}
	if err := r.plain(ctx, st); err != nil {
		return r.resume(ctx, err)
	}
	return flow{}, nil
}

// plain runs a statement that is none of scripts. The rows of queries are kept, those of other statements are not.
func (r *scriptRun) plain(ctx context.Context, st plan.Statement) error {
	if d, ok := st.(*plan.Deferred); ok {
		opts := r.s.SQLOptions()
		opts.Constant = r.s.constant(ctx)
		var err error
		if st, err = sql.ParseAt(d.Text, d.At, opts); err != nil {
			return err
		}
	}
	var n plan.Node
	switch st := st.(type) {
	case *plan.Query:
		n = st.Plan
	default:
		out, err := r.s.Run(ctx, st)
		if err != nil {
			return err
		}
		if _, ok := st.(*plan.ExecuteImmediate); !ok || len(out.Output()) == 0 {
			return nil
		}
		n = out
	}
	q, err := r.s.Prepare(ctx, n, "collect")
	if err != nil {
		return err
	}
	rows, err := q.Collect(ctx)
	if err != nil {
		return err
	}
	r.result = &plan.Local{Out: plan.Attrs(q.Schema), Rows: rows}
	return nil
}

// condition evaluates a condition of IF or of a loop. NULL does not hold.
func (r *scriptRun) condition(ctx context.Context, b plan.Branch) (bool, error) {
	row, st, err := r.s.evaluate(ctx, b.Cond)
	if err != nil {
		return false, err
	}
	if st.Fields[0].Type != types.Boolean {
		return false, errclass.New("INVALID_BOOLEAN_STATEMENT", "invalidStatement", strings.ToUpper(b.Text))
	}
	holds, _ := row[0].(bool)
	return holds, nil
}

// choose finds the statements of CASE value WHEN.
func (r *scriptRun) choose(ctx context.Context, st *plan.Case) ([]plan.Statement, error) {
	row, schema, err := r.s.evaluate(ctx, st.Value)
	if err != nil {
		return nil, err
	}
	for _, b := range st.Branches {
		same := &plan.Func{Name: []string{"="}, Args: []plan.Expr{&plan.Literal{Value: row[0], T: schema.Fields[0].Type}, b.Cond}}
		out, _, err := r.s.evaluate(ctx, same)
		if err != nil {
			return nil, err
		}
		if holds, _ := out[0].(bool); holds {
			return b.Body, nil
		}
	}
	return st.Else, nil
}

func (r *scriptRun) loop(ctx context.Context, l *plan.Loop) (flow, error) {
	for {
		if l.Cond != nil && !l.Until {
			if holds, err := r.condition(ctx, l.Branch); err != nil {
				return r.resume(ctx, err)
			} else if !holds {
				return flow{}, nil
			}
		}
		fl, err := r.all(ctx, l.Body)
		if err != nil {
			return flow{}, err
		}
		if fl.to == leaving || fl.to == iterating && fl.label != l.Label {
			return landed(l.Label, fl), nil
		}
		if l.Until {
			if holds, err := r.condition(ctx, l.Branch); err != nil {
				return r.resume(ctx, err)
			} else if holds {
				return flow{}, nil
			}
		}
		if err := ctx.Err(); err != nil {
			return flow{}, context.Cause(ctx)
		}
	}
}

// each runs FOR.
func (r *scriptRun) each(ctx context.Context, st *plan.For) (flow, error) {
	batches, schema, err := r.s.Batches(ctx, st.Query, "collect")
	if err != nil {
		return r.resume(ctx, err)
	}
	for _, b := range batches {
		for i := range b.N {
			f, inner := newFrame(ctx, st.Variable)
			for j, value := range vec.RowAt(b, i) {
				field := schema.Fields[j]
				f.declare(&variable{name: field.Name, value: &plan.Literal{Value: value, T: field.Type}})
			}
			fl, err := r.all(inner, st.Body)
			if err != nil {
				return flow{}, err
			}
			if fl.to == leaving || fl.to == iterating && fl.label != st.Label {
				return landed(st.Label, fl), nil
			}
		}
	}
	return flow{}, nil
}

// constant gives a function that evaluates what stands in IDENTIFIER(...), which may be a variable.
func (s *Session) constant(ctx context.Context) func(e plan.Expr) (any, types.DataType, error) {
	return func(e plan.Expr) (any, types.DataType, error) {
		row, st, err := s.evaluate(ctx, e)
		if err != nil {
			return nil, nil, err
		}
		return row[0], st.Fields[0].Type, nil
	}
}
