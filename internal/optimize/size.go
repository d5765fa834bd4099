package optimize

import (
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/source"
)

// sizes are estimates of the columns' numbers of different values, by column.
type sizes map[plan.ID]float64

// unknown is taken for the number of rows of a relation of which nothing is known.
const unknown = 1000

// measure asks the sources of a plan for their sizes.
func measure(n plan.Node) sizes {
	s := sizes{}
	plan.Walk(n, func(n plan.Node) bool {
		if scan, ok := n.(*plan.Scan); ok {
			if size, ok := sizeOf(scan); ok {
				for _, a := range scan.Out {
					s[a.ID] = float64(size.Rows)
					if d, ok := size.Distinct[a.Name]; ok {
						s[a.ID] = float64(min(d, size.Rows))
					}
				}
			}
		}
		return true
	})
	return s
}

func sizeOf(n *plan.Scan) (source.Size, bool) {
	if t, ok := n.Source.(source.Sized); ok && !n.Stream {
		return t.Size()
	}
	return source.Size{}, false
}

// distinct estimates how many different values an expression has: as many as its column with the most.
func (s sizes) distinct(e plan.Expr) float64 {
	most := 0.0
	for id := range plan.References(e) {
		d, ok := s[id]
		if !ok {
			d = unknown
		}
		most = max(most, d)
	}
	return most
}

// rows estimates the number of rows of a relation.
func (s sizes) rows(n plan.Node) float64 {
	switch n := n.(type) {
	case *plan.Scan:
		if size, ok := sizeOf(n); ok {
			return float64(size.Rows)
		}
		return unknown
	case *plan.Local:
		rows := 0
		for _, b := range n.Rows {
			rows += b.Rows()
		}
		return float64(rows)
	case *plan.Range:
		return max(0, float64(n.End-n.Start)/float64(n.Step))
	case *plan.OneRow:
		return 1
	case *plan.Filter:
		rows := s.rows(n.Child)
		for _, c := range plan.Conjuncts(n.Cond) {
			rows *= s.passing(c)
		}
		return max(rows, 1)
	case *plan.Aggregate:
		rows := 1.0
		for _, k := range n.Keys {
			rows *= s.distinct(k)
		}
		return min(rows, s.rows(n.Child))
	case *plan.Union:
		rows := 0.0
		for _, in := range n.Inputs {
			rows += s.rows(in)
		}
		return rows
	case *plan.Join:
		left := s.rows(n.Left)
		switch n.Kind {
		case plan.LeftSemi, plan.LeftAnti:
			return left / 2
		case plan.LeftOuter, plan.Existence:
			return left
		}
		right := s.rows(n.Right)
		if n.Cond == nil {
			return left * right
		}
		rows, _ := joined(&tree{cols: plan.OutputSet(n.Left), rows: left}, &tree{cols: plan.OutputSet(n.Right), rows: right}, plan.Conjuncts(n.Cond), s)
		return rows
	case *plan.Limit:
		rows := s.rows(n.Child)
		if l, ok := n.N.(*plan.Literal); ok {
			if k, ok := l.Value.(int32); ok {
				return min(rows, float64(k))
			}
		}
		return rows
	}
	if c := n.Children(); len(c) == 1 {
		return s.rows(c[0])
	}
	return unknown
}

// passing estimates which share of rows meets a condition.
func (s sizes) passing(e plan.Expr) float64 {
	if c, ok := e.(*plan.Cond); ok {
		switch c.Op {
		case plan.OpAnd:
			return s.passing(c.Args[0]) * s.passing(c.Args[1])
		case plan.OpOr:
			return min(1, s.passing(c.Args[0])+s.passing(c.Args[1]))
		}
	}
	c, ok := e.(*plan.Call)
	if !ok || c.Fn == nil || len(c.Args) == 0 {
		return 0.5
	}
	switch c.Fn.Name {
	case "==", "<=>":
		return equalShare(s.distinct(c))
	case "in":
		return min(1, float64(len(c.Args)-1)*equalShare(s.distinct(c.Args[0])))
	case "<", "<=", ">", ">=":
		return 0.4
	case "like", "startswith", "endswith", "contains", "rlike":
		return 0.1
	case "isnotnull":
		return 1
	case "isnull":
		return 0.1
	case "not":
		return 1 - s.passing(c.Args[0])
	}
	return 0.5
}

// equalShare is the share of rows that equal a constant. How often texts repeat is not known, so it is not taken for very small.
func equalShare(distinct float64) float64 { return min(max(1/max(distinct, 1), 0.001), 1) }
