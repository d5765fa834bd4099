package physical

import (
	"github.com/millrace/millrace/internal/bind"
	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/vec"
)

func oneRow() *vec.Batch { return vec.NewBatch(1) }

func (p *Planner) over(attrs []*plan.Attr) *bind.Binder { return bind.New(attrs, p.Zone) }

var joinKinds = map[plan.JoinKind]exec.JoinKind{
	plan.Inner: exec.JoinInner, plan.Cross: exec.JoinInner, plan.LeftOuter: exec.JoinOuter, plan.RightOuter: exec.JoinOuter,
	plan.FullOuter: exec.JoinFull, plan.LeftSemi: exec.JoinSemi, plan.LeftAnti: exec.JoinAnti,
	plan.Existence: exec.JoinMark,
}

// join builds a hash table of one side: of the right one, except where the right side's rows must all come out, only it is a stream, or Spark
// builds one of the left side, which shows in the order of rows. A side that was turned around is put back by a projection.
func (p *Planner) join(n *plan.Join) (exec.Op, error) {
	pairs, others := plan.EquiKeys(n.Cond, plan.OutputSet(n.Left), plan.OutputSet(n.Right))
	rest := plan.And(others...)
	inner := n.Kind == plan.Inner || n.Kind == plan.Cross
	turn := n.Kind == plan.RightOuter || inner && (n.Right.Streaming() && !n.Left.Streaming() || !n.Streaming() && smaller(n.Left, n.Right))
	probe, build := n.Left, n.Right
	if turn {
		probe, build = build, probe
	}
	j := &exec.HashJoin{Kind: joinKinds[n.Kind]}
	var err error
	if j.Probe, err = p.Plan(probe); err != nil {
		return nil, err
	}
	if j.Build, err = p.Plan(build); err != nil {
		return nil, err
	}
	pb, bb := p.Binder(probe), p.Binder(build)
	for _, e := range pairs {
		pk, bk := e.Left, e.Right
		if turn {
			pk, bk = bk, pk
		}
		px, err := pb.Expr(pk)
		if err != nil {
			return nil, err
		}
		bx, err := bb.Expr(bk)
		if err != nil {
			return nil, err
		}
		j.ProbeKeys, j.BuildKeys = append(j.ProbeKeys, px), append(j.BuildKeys, bx)
		j.NullSafe = append(j.NullSafe, e.NullSafe)
	}
	both := append(append([]*plan.Attr(nil), probe.Output()...), build.Output()...)
	if rest != nil {
		c, err := p.over(both).Expr(rest)
		if err != nil {
			return nil, err
		}
		j.Cond = &c
	}
	if !turn {
		return j, nil
	}
	back := &exec.Project{In: j}
	np := len(probe.Output())
	for i, a := range build.Output() {
		back.Cols = append(back.Cols, exec.ColumnExpr(np+i, a.T))
	}
	for i, a := range probe.Output() {
		back.Cols = append(back.Cols, exec.ColumnExpr(i, a.T))
	}
	return back, nil
}
