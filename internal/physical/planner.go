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
	// Slices is how many parts rows that come with the plan and ranges are cut into, which functions of a row's part and sums of doubles show; 0
	// leaves it to the operators.
	Slices int
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
	if p.Slices > 1 && local(n) {
		whole := *p
		whole.Slices = 0
		op, err := whole.Plan(n)
		return &exec.Cut{In: op, Slices: p.Slices}, err
	}
	switch n := n.(type) {
	case *plan.Local:
		return &exec.Values{Batches: n.Rows, Out: attrTypes(n.Out)}, nil
	case *plan.OneRow:
		return &exec.Values{Batches: []*vec.Batch{vec.NewBatch(1)}}, nil
	case *plan.Range:
		return &exec.Range{Start: n.Start, End: n.End, Step: n.Step, Slices: p.slices(n)}, nil
	case *plan.Scan:
		return p.scan(n)
	case *plan.Kept:
		return p.kept(n)
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
	case *plan.TopRows:
		return p.topRows(n)
	case *plan.Recursive:
		return p.recursive(n)
	case *plan.RecursiveRef:
		return &exec.RecursiveRef{ID: uint64(n.ID), Name: n.Name, Out: attrTypes(n.Out)}, nil
	case *plan.Expand:
		return p.expand(n)
	case *plan.WindowFuncs:
		return p.windowFuncs(n)
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

// slices is how many parts a range has, or 0.
func (p *Planner) slices(n *plan.Range) int {
	if n.Parts > 0 {
		return n.Parts
	}
	return p.Slices
}

// local tells whether a plan is rows that came with it, and what Spark computes of them while it optimises.
func local(n plan.Node) bool {
	switch n := n.(type) {
	case *plan.Local:
		return true
	case *plan.Project, *plan.Filter, *plan.Limit, *plan.Aliased, *plan.View, *plan.Hint, *plan.Tagged:
		return local(n.Children()[0])
	}
	return false
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
		w.Filters = append(w.Filters, SourceFilters(f)...)
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
	s := &exec.Sort{In: in, Limit: limit, Local: !n.Global}
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
	h := &exec.HashAgg{In: in, Arrange: p.arrange(child, exprs(keys), nil)}
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
	var keys []*plan.Attr
	place := map[plan.ID]int{}
	for _, k := range n.Keys {
		if a := plan.AttrOf(k); a != nil {
			if _, ok := place[a.ID]; !ok {
				place[a.ID] = len(keys)
				keys = append(keys, a)
			}
		}
	}
	if len(keys) == 0 || len(keys) == len(out) {
		return p.distinct(n.Child, out)
	}
	in, err := p.Plan(n.Child)
	if err != nil {
		return nil, err
	}
	h := &exec.HashAgg{In: in, Arrange: p.arrange(n.Child, exprs(keys), nil)}
	if h.Nulls == exec.NullsLast {
		h.Nulls = exec.NullsBehind
	}
	b := p.Binder(n.Child)
	for _, k := range keys {
		e, err := b.Expr(k)
		if err != nil {
			return nil, err
		}
		h.Keys = append(h.Keys, e)
	}
	order := make([]exec.Expr, len(out))
	for i, a := range out {
		if at, ok := place[a.ID]; ok {
			order[i] = exec.ColumnExpr(at, a.T)
			continue
		}
		e, err := b.Expr(a)
		if err != nil {
			return nil, err
		}
		bound, err := bindFirst(a)
		if err != nil {
			return nil, err
		}
		if wide(a) {
			h.Order = exec.ByKey
		}
		order[i] = exec.ColumnExpr(len(keys)+len(h.Aggs), a.T)
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

func (p *Planner) topRows(n *plan.TopRows) (exec.Op, error) {
	in, err := p.Plan(n.Child)
	if err != nil {
		return nil, err
	}
	top := &exec.TopRows{In: in, Rank: exec.SortKey{Desc: n.Order.Desc}, N: n.N, Last: n.Last, Ranked: n.Ranked}
	top.Key = slices.IndexFunc(n.Child.Output(), func(a *plan.Attr) bool { return a.ID == n.Key.ID })
	top.Rank.Expr, err = p.Binder(n.Child).Expr(n.Order.Child)
	return top, err
}

func (p *Planner) recursive(n *plan.Recursive) (exec.Op, error) {
	anchor, err := p.Plan(n.Anchor)
	if err != nil {
		return nil, err
	}
	step, err := p.Plan(n.Step)
	if err != nil {
		return nil, err
	}
	return &exec.Recursive{ID: uint64(n.ID), Name: n.Name, Anchor: anchor, Step: step, Levels: n.Levels, Rows: n.Rows}, nil
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
	case "variant_explode", "variant_explode_outer":
		op.Position, op.Inline = true, true
	default:
		return nil, Unsupported(n)
	}
	return op, nil
}

func (p *Planner) sample(n *plan.Sample) (exec.Op, error) {
	in, err := p.Plan(n.Child)
	if err != nil {
		return nil, err
	}
	if n.WithReplacement {
		return &exec.Draw{In: in, Mean: n.Hi - n.Lo, Seed: n.Seed}, nil
	}
	rand, err := bindRand(n.Seed)
	if err != nil {
		return nil, err
	}
	return &exec.Sample{In: in, Lo: n.Lo, Hi: n.Hi, Random: rand}, nil
}

func (p *Planner) repartition(n *plan.Repartition) (exec.Op, error) {
	in, err := p.Plan(n.Child)
	if err != nil {
		return nil, err
	}
	if !n.Shuffle || n.N == 1 {
		return &exec.Coalesce{In: in, N: n.N}, nil
	}
	x := &exec.Exchange{In: in, N: n.N, Joined: n.Joined || n.N == 0}
	b := p.Binder(n.Child)
	for _, k := range n.Keys {
		key := exec.SortKey{NullsFirst: true}
		x.By = exec.PlaceByHash
		if o, ok := k.(*plan.SortOrder); ok {
			x.By, k, key = exec.PlaceByRange, o.Child, exec.SortKey{Desc: o.Desc, NullsFirst: o.NullsFirst}
		}
		if key.Expr, err = b.Expr(k); err != nil {
			return nil, err
		}
		x.Keys = append(x.Keys, key)
	}
	if n.ByNumber {
		x.By = exec.PlaceByNumber
	}
	return x, nil
}
