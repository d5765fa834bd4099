package stream

import (
	"fmt"

	"github.com/millrace/millrace/internal/bind"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/physical"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/stateful"
)

var joinKinds = map[plan.JoinKind]stateful.JoinKind{
	plan.Inner: stateful.InnerJoin, plan.Cross: stateful.InnerJoin, plan.LeftOuter: stateful.LeftOuterJoin,
	plan.RightOuter: stateful.RightOuterJoin, plan.FullOuter: stateful.FullOuterJoin, plan.LeftSemi: stateful.LeftSemiJoin,
}

// join plans a join of two streams.
func (c *compiler) join(p *physical.Planner, n *plan.Join) (exec.Op, error) {
	kind, ok := joinKinds[n.Kind]
	if !ok {
		return nil, physical.Unsupported(n)
	}
	keys, others := plan.EquiKeys(n.Cond, plan.OutputSet(n.Left), plan.OutputSet(n.Right))
	if len(keys) == 0 {
		text := "there is no condition"
		if n.Cond != nil {
			text = n.Cond.SQL()
		}
		return nil, errclass.New("UNSUPPORTED_STREAMING_OPERATION.JOIN_WITHOUT_EQUALITY", "condition", text)
	}
	op := &stateful.Join{Kind: kind, Operator: c.reserve()}
	var leftKeys, rightKeys []plan.Expr
	for _, k := range keys {
		leftKeys, rightKeys = append(leftKeys, k.Left), append(rightKeys, k.Right)
		op.NullSafe = append(op.NullSafe, k.NullSafe)
	}
	left, right, rest := bySide(n, others)
	var err error
	if op.Left, err = c.joinSide(p, n, n.Left, leftKeys, left); err != nil {
		return nil, err
	}
	if op.Right, err = c.joinSide(p, n, n.Right, rightKeys, right); err != nil {
		return nil, err
	}
	expireByKey(op, keys)
	if rest != nil {
		both := append(append([]*plan.Attr(nil), n.Left.Output()...), n.Right.Output()...)
		cond, err := bind.New(both, p.Zone).Expr(rest)
		if err != nil {
			return nil, err
		}
		op.Cond = &cond
	}
	if op.Left.TimeColumn >= 0 {
		c.late(n.Left, op.Operator, "left")
	}
	if op.Right.TimeColumn >= 0 {
		c.late(n.Right, op.Operator, "right")
	}
	c.add(op.Operator, &operator{
		op: op, name: "symmetricHashJoin", meaning: joinMeaning(c.out, n, keys), hitsPerBatch: 1,
		cleans: op.Left.Expiry >= 0 || op.Right.Expiry >= 0, stores: joinStores,
	})
	return op, nil
}

// joinStores are the stores that Spark keeps for each partition of a join.
var joinStores = []string{"left-keyToNumValues", "left-keyWithIndexToValue", "right-keyToNumValues", "right-keyWithIndexToValue"}

// bySide splits the conjuncts of a join condition into those that look at one side only and the rest; nil stands for none.
func bySide(n *plan.Join, conjuncts []plan.Expr) (left, right, rest plan.Expr) {
	l, r := plan.OutputSet(n.Left), plan.OutputSet(n.Right)
	for _, c := range conjuncts {
		used := len(plan.References(c)) > 0
		switch {
		case used && l.Within(c):
			left = plan.And(left, c)
		case used && r.Within(c):
			right = plan.And(right, c)
		default:
			rest = plan.And(rest, c)
		}
	}
	return left, right, rest
}

// joinSide plans one input: its columns, behind them the keys that must be computed, and what its rows expire by.
func (c *compiler) joinSide(p *physical.Planner, n *plan.Join, child plan.Node, keys []plan.Expr, own plan.Expr) (stateful.JoinSide, error) {
	s := stateful.JoinSide{TimeColumn: -1, Expiry: -1}
	in, err := p.Plan(child)
	if err != nil {
		return s, err
	}
	out := child.Output()
	s.In, s.Columns = in, len(out)
	b := p.Binder(child)
	var computed []exec.Expr
	for _, k := range keys {
		e, err := b.Expr(k)
		if err != nil {
			return s, err
		}
		at := e.Column
		if at < 0 {
			at = s.Columns + len(computed)
			computed = append(computed, e)
		}
		s.Keys = append(s.Keys, at)
	}
	if len(computed) > 0 {
		cols := make([]exec.Expr, len(out))
		for i, a := range out {
			cols[i] = exec.ColumnExpr(i, a.T)
		}
		s.In = &exec.Project{In: in, Cols: append(cols, computed...)}
	}
	c.oneEventTime("a join", out)
	for i, a := range out {
		s.Names = append(s.Names, a.Name)
		if s.TimeColumn < 0 && carriesEventTime(a) {
			s.TimeColumn = i
		}
	}
	if own != nil {
		e, err := b.Expr(own)
		if err != nil {
			return s, err
		}
		s.Own = &e
	}
	return s, c.expireByBound(&s, n, child)
}

// expireByBound finds the condition that tells by the other side's clock when a row of this side has met all its partners. Of
// several the one that waits longest counts; bounds are whole milliseconds. As in Spark a side without a watermark of its own keeps its rows.
func (c *compiler) expireByBound(s *stateful.JoinSide, n *plan.Join, child plan.Node) error {
	if s.TimeColumn < 0 {
		return nil
	}
	for _, b := range plan.TimeBounds(n.Cond, plan.OutputSet(child)) {
		offset := b.Shift
		if !b.Strict {
			offset -= 1000
		}
		at := -1
		for i, a := range child.Output() {
			if a.ID == b.State.ID {
				at = i
				break
			}
		}
		if at < 0 {
			return errclass.Internal(fmt.Errorf("stream: the time %s is not among the columns of its side", b.State.SQL()))
		}
		if s.Expiry < 0 || offset < s.Offset {
			s.Expiry, s.Offset = at, offset
		}
	}
	return nil
}

// expireByKey makes both sides expire by a key that is event time: rows that still come have a later one.
func expireByKey(op *stateful.Join, keys []plan.EquiKey) {
	for i, k := range keys {
		if carriesEventTime(k.Left) || carriesEventTime(k.Right) {
			op.Left.Expiry, op.Left.Offset = op.Left.Keys[i], 0
			op.Right.Expiry, op.Right.Offset = op.Right.Keys[i], 0
			return
		}
	}
}
