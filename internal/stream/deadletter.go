package stream

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/millrace/millrace/internal/bind"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/physical"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// A dead letter is a row for which an expression fails, or a record that a reader in the mode FAILFAST cannot read. With the option
// deadLetterPath it goes to a folder and the query goes on without it.
//
// Below every operator whose expressions can fail a Sieve tries them first. What fails elsewhere has no single row at fault: such plans
// are refused, but for the aggregate functions themselves, whose overflows end the query as ever.

// deadLetterSchema are the columns of the folder.
var deadLetterSchema = types.StructType{Fields: []types.Field{
	{Name: "batchId", Type: types.Long, Nullable: true},
	{Name: "batchTime", Type: types.Timestamp, Nullable: true},
	{Name: "errorClass", Type: types.String, Nullable: true},
	{Name: "sqlState", Type: types.String, Nullable: true},
	{Name: "message", Type: types.String, Nullable: true},
	{Name: "source", Type: types.String, Nullable: true},
	{Name: "startOffset", Type: types.String, Nullable: true},
	{Name: "endOffset", Type: types.String, Nullable: true},
	{Name: "file", Type: types.String, Nullable: true},
	{Name: "row", Type: types.String, Nullable: true},
}}

// defaultDeadLetterMax bounds the dead letters of a batch, which are kept in memory until it is written.
const defaultDeadLetterMax = 10_000

// sieve puts a Sieve below every node with expressions that can fail.
func (c *compiler) sieve(n plan.Node) (plan.Node, error) {
	return plan.TransformUp(n, func(n plan.Node) (plan.Node, error) {
		if !n.Streaming() {
			return n, nil
		}
		var tests []plan.Expr
		switch n := n.(type) {
		case *plan.Project:
			tests = n.Cols
		case *plan.Filter:
			tests = []plan.Expr{n.Cond}
		case *plan.Generate:
			if g, ok := n.Gen.(*plan.Generator); ok {
				tests = g.Args
			}
		case *plan.Aggregate:
			tests = append(tests, n.Keys...)
			for _, e := range n.Aggs {
				plan.WalkExpr(e, func(e plan.Expr) bool {
					if a, ok := e.(*plan.Agg); ok {
						tests = append(tests, a.Args...)
						if a.Filter != nil {
							tests = append(tests, a.Filter)
						}
						return false
					}
					return true
				})
			}
		case *plan.Join:
			both := append(append([]*plan.Attr(nil), n.Left.Output()...), n.Right.Output()...)
			if n.Cond != nil && c.fails(n.Cond, both) {
				return nil, noSieve(n.Cond, "the condition of a join")
			}
			return n, nil
		default:
			return n, nil
		}
		child := n.Children()[0]
		var can []plan.Expr
		for _, e := range tests {
			if e = plan.Trim(e); c.fails(e, child.Output()) {
				can = append(can, e)
			}
		}
		if len(can) == 0 {
			return n, nil
		}
		return n.WithChildren([]plan.Node{sieveOver(child, can)}), nil
	})
}

func noSieve(e plan.Expr, place string) error {
	return errclass.New("UNSUPPORTED_STREAMING_OPERATION.DEAD_LETTERS", "expression", errclass.Expr(e.SQL()), "place", place)
}

// fails tells whether an expression over some columns may fail. What cannot be compiled by itself is left to its operator.
func (c *compiler) fails(e plan.Expr, over []*plan.Attr) bool {
	x, err := bind.New(over, c.zone).Expr(e)
	return err == nil && !expr.CannotFail(x.New())
}

// checkResults refuses results of a grouping that may fail.
func (c *compiler) checkResults(n *plan.Aggregate, result *exec.Project) error {
	if !c.letters {
		return nil
	}
	for i, x := range result.Cols {
		if !expr.CannotFail(x.New()) {
			return noSieve(plan.Trim(n.Aggs[i]), "the result of a grouping")
		}
	}
	return nil
}

// sieveOver makes a Sieve. Where rows come straight from files it learns which: the file is read along as the hidden column _metadata,
// which goes no further.
func sieveOver(child plan.Node, tests []plan.Expr) plan.Node {
	s := &plan.Sieve{Tests: tests, Child: child, ID: plan.NewID()}
	below, file := withFile(child)
	if file == nil {
		return s
	}
	s.Child, s.File = below, file
	p := &plan.Project{Child: s}
	for _, a := range child.Output() {
		p.Cols = append(p.Cols, a)
	}
	return p
}

// withFile adds the file to the columns of a source that stands below nothing but filters and watermarks.
func withFile(n plan.Node) (plan.Node, plan.Expr) {
	switch n := n.(type) {
	case *plan.Scan:
		for _, list := range [][]*plan.Attr{n.Out, n.Hidden} {
			for _, a := range list {
				file := fileOf(a)
				if file == nil {
					continue
				}
				s := *n
				if !plan.OutputSet(n).Has(a.ID) {
					s.Out = append(append([]*plan.Attr(nil), n.Out...), a)
				}
				return &s, file
			}
		}
	case *plan.Project: // of a sieve below
		if s, ok := n.Child.(*plan.Sieve); ok && s.File != nil {
			return s, s.File
		}
	case *plan.Filter, *plan.Watermark, *plan.Sieve:
		if child, file := withFile(n.Children()[0]); file != nil {
			return n.WithChildren([]plan.Node{child}), file
		}
	}
	return n, nil
}

// fileOf is the address of the file in a column _metadata, or nil.
func fileOf(a *plan.Attr) plan.Expr {
	s, ok := a.T.(types.StructType)
	if i := s.Index("file_path"); ok && a.Name == "_metadata" && i >= 0 {
		return &plan.Field{Child: a, Ordinal: i, Name: "file_path"}
	}
	return nil
}

// planSieve plans the place.
func (c *compiler) planSieve(p *physical.Planner, n *plan.Sieve) (exec.Op, error) {
	in, err := p.Plan(n.Child)
	if err != nil {
		return nil, err
	}
	op := &exec.Sieve{In: in, Site: c.sites, Input: -1}
	c.sites++
	b := p.Binder(n.Child)
	for _, e := range n.Tests {
		x, err := b.Expr(e)
		if err != nil {
			return nil, err
		}
		op.Tests = append(op.Tests, x)
	}
	if n.File != nil {
		x, err := b.Expr(n.File)
		if err != nil {
			return nil, err
		}
		op.File = &x
	}
	if ids := streamsBelow(n.Child); len(ids) == 1 {
		for i, s := range c.out.sources {
			if s.id == ids[0] {
				op.Input = i
			}
		}
	}
	op.Row, err = c.rowText(n.Child.Output(), n.File)
	return op, err
}

// rowText makes what writes rows as JSON, but for the column that was added for the file.
func (c *compiler) rowText(attrs []*plan.Attr, file plan.Expr) (func() func([]*vec.Vector, int) *vec.Vector, error) {
	var shown []*plan.Attr
	var at []int
	for i, a := range attrs {
		if f, ok := file.(*plan.Field); ok && f.Child == plan.Expr(a) {
			continue
		}
		shown, at = append(shown, a), append(at, i)
	}
	schema := plainSchema(shown)
	bound, err := fn.Lookup("to_json").Bind(&fn.Binding{Name: "to_json", Args: []fn.Arg{{Type: schema}}, Zone: c.zone})
	if err != nil {
		return nil, err
	}
	return func() func([]*vec.Vector, int) *vec.Vector {
		kernel := bound.New()
		var e expr.Eval
		e.Batch = &expr.BatchParams{Zone: c.zone}
		return func(cols []*vec.Vector, n int) *vec.Vector {
			kids := make([]*vec.Vector, len(at))
			for i, k := range at {
				kids[i] = cols[k].Flatten()
			}
			return kernel(&e, n, []*vec.Vector{vec.NewStruct(schema, n, kids)}, &vec.Vector{})
		}
	}, nil
}

// writeLetters writes the dead letters of the batch at hand.
func (d *driver) writeLetters(ctx context.Context, dead *exec.DeadLetters, out *exec.SideOutput) error {
	letters := dead.Sorted()
	if len(letters) == 0 {
		return nil
	}
	meta := d.logged.Metadata
	cols := vec.NewBuilders(deadLetterSchema)
	text := func(i int, s string) {
		if s == "" {
			cols[i].AppendNull()
		} else {
			cols[i].AppendString(s)
		}
	}
	for _, l := range letters {
		cols[0].AppendInt64(d.batch)
		cols[1].AppendInt64(meta.BatchTimestampMs * 1000)
		class, state, message := "", "", l.Err.Error()
		if e, ok := errors.AsType[*errclass.Error](l.Err); ok {
			class, state, message = e.Class, e.SQLState, e.Message
		}
		text(2, class)
		text(3, state)
		text(4, message)
		var from, to json.RawMessage
		name := ""
		if l.Input >= 0 {
			in := d.inputs[l.Input]
			name, from, to = in.stream.Description(), in.start, in.end
		}
		text(5, name)
		text(6, string(from))
		text(7, string(to))
		text(8, l.File)
		text(9, l.Row)
	}
	b := vec.NewBatch(len(letters))
	for _, c := range cols {
		b.Cols = append(b.Cols, c.Finish())
	}
	w := out.Writer(0)
	if err := w.Write(ctx, b); err != nil {
		w.Abort()
		return err
	}
	return w.Close(ctx)
}
