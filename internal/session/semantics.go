package session

import (
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/millrace/millrace/internal/plan"
)

// Semantics is a text that resolved plans with the same meaning share: operators and expressions, with columns numbered in the
// order of their appearance instead of by identity, and without the names that the user gave. Plans with different texts may mean
// the same all the same.
func Semantics(n plan.Node) string {
	s := semantics{ids: map[plan.ID]int{}}
	s.node(n)
	return s.b.String()
}

// SemanticHash is a number that plans with the same meaning share.
func SemanticHash(n plan.Node) int32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(Semantics(n)))
	return int32(h.Sum32())
}

// identified is implemented by tables that may be opened more than once: those with one identity hold the same rows.
type identified interface{ Identity() string }

type semantics struct {
	b   strings.Builder
	ids map[plan.ID]int
}

func (s *semantics) node(n plan.Node) {
	switch n := n.(type) {
	case *plan.Project:
		if s.unchanged(n) {
			s.node(n.Child)
			from := n.Child.Output()
			for i, a := range n.Output() {
				s.ids[a.ID] = int(s.number(from[i].ID))
			}
			return
		}
		s.b.WriteString("project")
	case *plan.Tagged:
		s.node(n.Child)
		return
	case *plan.View:
		s.node(n.Child)
		return
	case *plan.Hint:
		s.node(n.Child)
		return
	case *plan.Aliased:
		if len(n.Columns) == 0 {
			s.node(n.Child)
			return
		}
	case *plan.Local: // rows are told apart by where they are
		if len(n.Rows) > 0 {
			fmt.Fprintf(&s.b, "local %p %d", n.Rows[0], len(n.Rows))
		} else {
			fmt.Fprintf(&s.b, "empty %s", plan.Schema(n).SimpleString())
		}
	case *plan.Scan:
		if f, ok := n.Source.(identified); ok && !n.Stream {
			fmt.Fprintf(&s.b, "scan %s %q", n.Name, f.Identity())
		} else {
			fmt.Fprintf(&s.b, "scan %s %p", n.Name, n.Source)
		}
	case *plan.Range:
		fmt.Fprintf(&s.b, "range %d %d %d %d", n.Start, n.End, n.Step, n.Parts)
	case *plan.Join:
		fmt.Fprintf(&s.b, "join %d", n.Kind)
	case *plan.Sort:
		fmt.Fprintf(&s.b, "sort %t", n.Global)
	case *plan.SetOp:
		fmt.Fprintf(&s.b, "set %d %t", n.Kind, n.All)
	case *plan.Filter, *plan.Aggregate, *plan.Limit, *plan.Offset, *plan.Distinct, *plan.Dedup, *plan.Union:
		fmt.Fprintf(&s.b, "%T", n)
	case *plan.OneRow, *plan.Expand, *plan.Generate, *plan.Sample, *plan.Repartition, *plan.WindowFuncs, *plan.Tail, *plan.Watermark:
		s.b.WriteString(n.Label())
	default: // whose text may not say all
		fmt.Fprintf(&s.b, "%T %p", n, n)
	}
	s.b.WriteByte('(')
	for _, c := range n.Children() {
		s.node(c)
		s.b.WriteByte(';')
	}
	for _, a := range n.Output() {
		s.number(a.ID)
	}
	for _, e := range n.Exprs() {
		if _, ok := n.(*plan.Scan); ok {
			break
		}
		s.b.WriteString(plan.Canon(s.renumbered(e)))
		s.b.WriteByte(',')
	}
	s.b.WriteByte(')')
}

// unchanged tells whether a projection gives the columns of its child as they are, if under other names.
func (s *semantics) unchanged(n *plan.Project) bool {
	out := n.Child.Output()
	if len(out) != len(n.Cols) {
		return false
	}
	for i, c := range n.Cols {
		if al, ok := c.(*plan.Alias); ok {
			c = al.Child
		}
		if a, ok := c.(*plan.Attr); !ok || a.ID != out[i].ID {
			return false
		}
	}
	return true
}

func (s *semantics) number(id plan.ID) plan.ID {
	n, ok := s.ids[id]
	if !ok {
		n = len(s.ids) + 1
		s.ids[id] = n
	}
	return plan.ID(n)
}

func (s *semantics) renumbered(e plan.Expr) plan.Expr {
	out, err := plan.TransformExprUp(e, func(e plan.Expr) (plan.Expr, error) {
		switch e := e.(type) {
		case *plan.Attr:
			c := *e
			c.ID = s.number(e.ID)
			return &c, nil
		case *plan.LambdaVar:
			c := *e
			c.ID = s.number(e.ID)
			return &c, nil
		}
		return e, nil
	})
	if err != nil {
		return e
	}
	return out
}
