package physical

import (
	"fmt"
	"slices"
	"time"

	"github.com/millrace/millrace/internal/bind"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// Planner makes operators of plans.
type Planner struct {
	// Zone is the session time zone.
	Zone *time.Location
	// Now is the query's clock in microseconds, for arguments that are evaluated while planning.
	Now int64
	// Stateful plans the nodes of a streaming query that keep state; nil for batch queries.
	Stateful StatefulPlanner
}

// StatefulPlanner plans the nodes that work differently in a stream. It answers nil for a node that is planned as in a batch query.
type StatefulPlanner interface {
	Plan(p *Planner, n plan.Node) (exec.Op, error)
}

// Plan returns the operator tree of a resolved plan. Its columns are those of n.Output.
func (p *Planner) Plan(n plan.Node) (exec.Op, error) {
	if p.Stateful != nil && n.Streaming() {
		if op, err := p.Stateful.Plan(p, n); op != nil || err != nil {
			return op, err
		}
	}
	switch n := n.(type) {
	case *plan.Local:
		return &exec.Values{Batches: n.Rows, Out: attrTypes(n.Out)}, nil
	case *plan.OneRow:
		return &exec.Values{Batches: []*vec.Batch{vec.NewBatch(1)}}, nil
	case *plan.Range:
		return &exec.Range{Start: n.Start, End: n.End, Step: n.Step}, nil
	case *plan.Scan:
		return p.scan(n)
	case *plan.Project:
		return p.project(n)
	case *plan.Filter:
		return p.filter(n)
	case *plan.Aggregate:
		return p.aggregate(n)
	case *plan.Sort:
		return p.sort(n, -1)
	case *plan.Limit:
		return p.limit(n)
	case *plan.Offset:
		return p.offset(n)
	case *plan.Tail:
		in, err := p.Plan(n.Child)
		if err != nil {
			return nil, err
		}
		return &exec.Tail{In: in, N: n.N}, nil
	case *plan.Distinct:
		return p.distinct(n.Child, n.Child.Output())
	case *plan.Dedup:
		return p.dedup(n)
	case *plan.Union:
		return p.union(n)
	case *plan.Join:
		return p.join(n)
	case *plan.Expand:
		return p.expand(n)
	case *plan.Generate:
		return p.generate(n)
	case *plan.Sample:
		return p.sample(n)
	case *plan.Repartition:
		return p.repartition(n)
	case *plan.Aliased:
		return p.Plan(n.Child)
	case *plan.View:
		return p.Plan(n.Child)
	case *plan.Hint:
		return p.Plan(n.Child)
	case *plan.Tagged:
		return p.Plan(n.Child)
	case *plan.Watermark:
		return p.Plan(n.Child) // means nothing in a batch query
	case *plan.Observe:
		return p.observe(n)
	case *plan.TransformGroups:
		return p.Transform(n)
	}
	return nil, Unsupported(n)
}

// Unsupported is the error for a node that this version can't run.
func Unsupported(n plan.Node) error {
	return errclass.New("UNSUPPORTED_FEATURE.OPERATOR", "operator", n.Label())
}

func attrTypes(attrs []*plan.Attr) []types.DataType {
	ts := make([]types.DataType, len(attrs))
	for i, a := range attrs {
		ts[i] = a.T
	}
	return ts
}

// Binder compiles expressions over the output of a node.
func (p *Planner) Binder(n plan.Node) *bind.Binder { return bind.New(n.Output(), p.Zone) }

// Schema is a node's output as a schema.
func Schema(attrs []*plan.Attr) types.StructType {
	st := types.StructType{Fields: make([]types.Field, len(attrs))}
	for i, a := range attrs {
		st.Fields[i] = types.Field{Name: a.Name, Type: a.T, Nullable: a.Null, Metadata: a.Metadata}
	}
	return st
}

func (p *Planner) scan(n *plan.Scan) (exec.Op, error) {
	table, ok := n.Source.(source.Batch)
	if !ok || n.Stream {
		return nil, errclass.New("UNSUPPORTED_FEATURE.OPERATOR", "operator", n.Label())
	}
	return &exec.SourceScan{Name: n.Name, Table: table, Want: Want(n), Out: Schema(n.Out)}, nil
}

// Want is what a scan needs of its source.
func Want(n *plan.Scan) source.Projection {
	w := source.Projection{Columns: make([]string, len(n.Out))}
	for i, a := range n.Out {
		w.Columns[i] = a.Name
	}
	for _, f := range n.Filters {
		w.Filters = append(w.Filters, sourceFilters(f)...)
	}
	return w
}

func (p *Planner) project(n *plan.Project) (exec.Op, error) {
	in, err := p.Plan(n.Child)
	if err != nil {
		return nil, err
	}
	cols, err := p.Binder(n.Child).All(n.Cols)
	if err != nil {
		return nil, err
	}
	return &exec.Project{In: in, Cols: cols}, nil
}

func (p *Planner) filter(n *plan.Filter) (exec.Op, error) {
	in, err := p.Plan(n.Child)
	if err != nil {
		return nil, err
	}
	pred, err := p.Binder(n.Child).Expr(n.Cond)
	if err != nil {
		return nil, err
	}
	return &exec.Filter{In: in, Pred: pred}, nil
}

func (p *Planner) sort(n *plan.Sort, limit int64) (exec.Op, error) {
	in, err := p.Plan(n.Child)
	if err != nil {
		return nil, err
	}
	s := &exec.Sort{In: in, Limit: limit}
	b := p.Binder(n.Child)
	for _, o := range n.Orders {
		e, err := b.Expr(o.Child)
		if err != nil {
			return nil, err
		}
		s.Keys = append(s.Keys, exec.SortKey{Expr: e, Desc: o.Desc, NullsFirst: o.NullsFirst})
	}
	return s, nil
}

func (p *Planner) limit(n *plan.Limit) (exec.Op, error) {
	k, err := p.Count(n.N)
	if err != nil {
		return nil, err
	}
	switch c := n.Child.(type) {
	case *plan.Sort:
		if c.Global {
			return p.sort(c, k)
		}
	case *plan.Project: // a limit does not care whether columns are computed before or after it
		if s, ok := c.Child.(*plan.Sort); ok && s.Global {
			in, err := p.sort(s, k)
			if err != nil {
				return nil, err
			}
			cols, err := p.Binder(s).All(c.Cols)
			if err != nil {
				return nil, err
			}
			return &exec.Project{In: in, Cols: cols}, nil
		}
	}
	in, err := p.Plan(n.Child)
	if err != nil {
		return nil, err
	}
	return &exec.Limit{In: in, N: k}, nil
}

func (p *Planner) offset(n *plan.Offset) (exec.Op, error) {
	k, err := p.Count(n.N)
	if err != nil {
		return nil, err
	}
	in, err := p.Plan(n.Child)
	if err != nil {
		return nil, err
	}
	return &exec.Limit{In: in, N: -1, Offset: k}, nil
}

// Count evaluates the constant of a LIMIT or OFFSET.
func (p *Planner) Count(e plan.Expr) (int64, error) {
	v, err := bind.Value(e, &expr.BatchParams{Zone: p.Zone, Now: p.Now})
	if err != nil {
		return 0, err
	}
	switch x := vec.ValueAt(v, 0).(type) {
	case int8:
		return int64(x), nil
	case int16:
		return int64(x), nil
	case int32:
		return int64(x), nil
	case int64:
		return x, nil
	}
	return 0, errclass.Internal(fmt.Errorf("limit %s is not an integer", e.SQL()))
}

func (p *Planner) distinct(child plan.Node, keys []*plan.Attr) (exec.Op, error) {
	in, err := p.Plan(child)
	if err != nil {
		return nil, err
	}
	h := &exec.HashAgg{In: in}
	b := p.Binder(child)
	for _, k := range keys {
		e, err := b.Expr(k)
		if err != nil {
			return nil, err
		}
		h.Keys = append(h.Keys, e)
	}
	if i := slices.IndexFunc(keys, (*plan.Attr).IsSessionWindow); i >= 0 { // a grouping like others: windows that touch are one
		return &exec.SessionAgg{Group: h, Session: i}, nil
	}
	return h, nil
}

// dedup keeps the first row of each key: an aggregation of the other columns by "first".
func (p *Planner) dedup(n *plan.Dedup) (exec.Op, error) {
	out := n.Child.Output()
	keys := plan.IDSet{}
	for _, k := range n.Keys {
		keys.AddAll(k)
	}
	if len(n.Keys) == 0 || len(keys) == len(out) {
		return p.distinct(n.Child, out)
	}
	in, err := p.Plan(n.Child)
	if err != nil {
		return nil, err
	}
	h := &exec.HashAgg{In: in}
	b := p.Binder(n.Child)
	order := make([]exec.Expr, len(out))
	others := 0
	for i, a := range out {
		e, err := b.Expr(a)
		if err != nil {
			return nil, err
		}
		if keys.Has(a.ID) {
			order[i] = exec.ColumnExpr(len(h.Keys), a.T)
			h.Keys = append(h.Keys, e)
			continue
		}
		bound, err := bindFirst(a)
		if err != nil {
			return nil, err
		}
		order[i] = exec.ColumnExpr(len(keys)+others, a.T)
		others++
		h.Aggs = append(h.Aggs, exec.AggExpr{Bound: bound, Args: []exec.Expr{e}})
	}
	return &exec.Project{In: h, Cols: order}, nil
}

func (p *Planner) union(n *plan.Union) (exec.Op, error) {
	u := &exec.Union{}
	for _, c := range n.Inputs {
		in, err := p.Plan(c)
		if err != nil {
			return nil, err
		}
		u.Ins = append(u.Ins, in)
	}
	return u, nil
}

func (p *Planner) expand(n *plan.Expand) (exec.Op, error) {
	in, err := p.Plan(n.Child)
	if err != nil {
		return nil, err
	}
	e := &exec.Expand{In: in}
	b := p.Binder(n.Child)
	for _, l := range n.Lists {
		cols, err := b.All(l)
		if err != nil {
			return nil, err
		}
		e.Lists = append(e.Lists, cols)
	}
	return e, nil
}

func (p *Planner) generate(n *plan.Generate) (exec.Op, error) {
	g, ok := n.Gen.(*plan.Generator)
	if !ok {
		return nil, Unsupported(n)
	}
	if other, err := known(n, g); other != nil || err != nil {
		if err != nil {
			return nil, err
		}
		return p.Plan(other)
	}
	if len(g.Args) != 1 {
		return nil, Unsupported(n)
	}
	in, err := p.Plan(n.Child)
	if err != nil {
		return nil, err
	}
	of, err := p.Binder(n.Child).Expr(g.Args[0])
	if err != nil {
		return nil, err
	}
	op := &exec.Generate{In: in, Of: of, Outer: n.Outer || g.Outer}
	switch g.Name {
	case "explode", "explode_outer":
	case "posexplode", "posexplode_outer":
		op.Position = true
	case "inline", "inline_outer":
		op.Inline = true
	default:
		return nil, Unsupported(n)
	}
	return op, nil
}

func (p *Planner) sample(n *plan.Sample) (exec.Op, error) {
	if n.WithReplacement {
		return nil, Unsupported(n)
	}
	in, err := p.Plan(n.Child)
	if err != nil {
		return nil, err
	}
	rand, err := bindRand(n.Seed)
	if err != nil {
		return nil, err
	}
	return &exec.Sample{In: in, Lo: n.Lo, Hi: n.Hi, Random: rand}, nil
}

// repartition has one visible effect in this engine: coalesce(1) and repartition(1) give a single part, hence a single file.
func (p *Planner) repartition(n *plan.Repartition) (exec.Op, error) {
	in, err := p.Plan(n.Child)
	if err != nil || n.N != 1 {
		return in, err
	}
	return &exec.Coalesce{In: in}, nil
}
