package stream

import (
	"fmt"
	"strings"

	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/types"
)

// A state's meaning is a text about what its rows are about: the grouping expressions with the parameters of windows, and the
// aggregate calls. It is stored with the state, and a query whose text differs is refused, because its rows would mix with the
// old ones although all types agree. The text is part of the checkpoint format: a change of what is written here makes old
// checkpoints unreadable.
//
// Columns are followed down to the source they come from, so that renaming changes nothing. What a query computes before it
// groups is not looked into, but for windows: a stateless part may be changed between two runs.

// meaning writes texts about one plan.
type meaning struct {
	sources map[plan.ID]string    // columns of sources: s0.name
	defs    map[plan.ID]plan.Expr // what a column of a projection is made of
	lists   map[plan.ID][]plan.Expr
}

func newMeaning(c *compiled, below plan.Node) *meaning {
	m := &meaning{sources: map[plan.ID]string{}, defs: map[plan.ID]plan.Expr{}, lists: map[plan.ID][]plan.Expr{}}
	number := map[plan.ID]int{}
	for i, s := range c.sources {
		number[s.id] = i
	}
	plan.Walk(below, func(n plan.Node) bool {
		switch n := n.(type) {
		case *plan.Scan:
			for _, a := range n.Out {
				if i, streams := number[n.ID]; streams {
					m.sources[a.ID] = fmt.Sprintf("s%d.%s", i, a.Name)
				}
			}
		case *plan.Project:
			m.note(n.Cols)
		case *plan.Aggregate:
			m.note(n.Aggs)
		case *plan.Union:
			for i, a := range n.Out {
				m.defs[a.ID] = n.Inputs[0].Output()[i]
			}
		case *plan.Expand:
			for i, a := range n.Out {
				for _, l := range n.Lists {
					if in, ok := l[i].(*plan.Attr); ok && in.ID == a.ID {
						continue // a column that passes through is still what it was
					}
					m.lists[a.ID] = append(m.lists[a.ID], l[i])
				}
			}
		}
		return true
	})
	return m
}

func (m *meaning) note(cols []plan.Expr) {
	for _, e := range cols {
		if a, ok := e.(*plan.Alias); ok {
			m.defs[a.ID] = a.Child
		}
	}
}

func aggregateMeaning(c *compiled, n *plan.Aggregate) string {
	m := newMeaning(c, n.Child)
	var b strings.Builder
	b.WriteString("group by ")
	for i, k := range n.Keys {
		if i > 0 {
			b.WriteString(", ")
		}
		m.expr(&b, plan.Trim(k), isWindow(k))
	}
	b.WriteString(": ")
	seen := map[string]bool{}
	for _, e := range n.Aggs {
		plan.WalkExpr(e, func(e plan.Expr) bool {
			a, ok := e.(*plan.Agg)
			if !ok {
				return true
			}
			var one strings.Builder
			m.aggregate(&one, a)
			if text := one.String(); !seen[text] {
				if len(seen) > 0 {
					b.WriteString(", ")
				}
				seen[text] = true
				b.WriteString(text)
			}
			return false
		})
	}
	return b.String()
}

// aggregateParts are the aggregates of a grouping with their columns of state, in the order of these.
func aggregateParts(c *compiled, n *plan.Aggregate, g *exec.HashAgg) []state.Part {
	m := newMeaning(c, n.Child)
	var parts []state.Part
	seen := map[string]bool{}
	for _, e := range n.Aggs {
		plan.WalkExpr(e, func(e plan.Expr) bool {
			a, ok := e.(*plan.Agg)
			if !ok {
				return true
			}
			if canon := plan.Canon(a); !seen[canon] && len(parts) < len(g.Aggs) {
				seen[canon] = true
				var text strings.Builder
				m.aggregate(&text, a)
				parts = append(parts, state.Part{Text: text.String(), Columns: len(g.Aggs[len(parts)].Bound.State)})
			}
			return false
		})
	}
	if len(parts) != len(g.Aggs) {
		return nil
	}
	return parts
}

func dedupMeaning(c *compiled, child plan.Node, keys []*plan.Attr) string {
	m := newMeaning(c, child)
	var b strings.Builder
	b.WriteString("distinct ")
	for i, k := range keys {
		if i > 0 {
			b.WriteString(", ")
		}
		m.expr(&b, k, k.IsTimeWindow())
	}
	return b.String()
}

func joinMeaning(c *compiled, n *plan.Join, keys []plan.EquiKey) string {
	m := newMeaning(c, n)
	var b strings.Builder
	// The kinds of join keep different rows and marks. Inner joins came first and are not named.
	switch n.Kind {
	case plan.LeftOuter:
		b.WriteString("left outer ")
	case plan.RightOuter:
		b.WriteString("right outer ")
	case plan.FullOuter:
		b.WriteString("full outer ")
	case plan.LeftSemi:
		b.WriteString("left semi ")
	}
	b.WriteString("join on ")
	for i, k := range keys {
		if i > 0 {
			b.WriteString(", ")
		}
		m.expr(&b, k.Left, isWindow(k.Left))
		b.WriteString(" = ")
		m.expr(&b, k.Right, isWindow(k.Right))
	}
	return b.String()
}

func isWindow(e plan.Expr) bool {
	a := plan.AttrOf(e)
	return a != nil && (a.IsTimeWindow() || a.IsSessionWindow())
}

func (m *meaning) aggregate(b *strings.Builder, a *plan.Agg) {
	b.WriteString(a.Fn.Name)
	if a.Fn.ID != "" { // a program's: its state is bytes, and only the name of their column tells of what
		b.WriteString(" with " + a.Bound.State[0].Name)
	}
	b.WriteByte('(')
	if a.Distinct {
		b.WriteString("distinct ")
	}
	for i, x := range a.Args {
		if i > 0 {
			b.WriteString(", ")
		}
		if l, ok := x.(*plan.Literal); ok && a.Fn.Name == "count" && l.Value != nil {
			continue // count(*), count(1) and count() are the same
		}
		m.expr(b, x, false)
	}
	if a.IgnoreNulls {
		b.WriteString(" ignore nulls")
	}
	b.WriteByte(')')
	if a.Filter != nil {
		b.WriteString(" where ")
		m.expr(b, a.Filter, false)
	}
}

// expr writes an expression. Where inside is set, a column made by a projection is replaced by what it is made of: that is how the
// parameters of a window, which the analyser has put into a projection, come into the text.
func (m *meaning) expr(b *strings.Builder, e plan.Expr, inside bool) {
	switch e := e.(type) {
	case *plan.Attr:
		m.column(b, e, inside)
	case *plan.Alias:
		m.expr(b, e.Child, inside)
	case *plan.Literal:
		fmt.Fprintf(b, "%v", e.Value)
	case *plan.Cast:
		b.WriteString("cast(")
		m.expr(b, e.Child, inside)
		b.WriteString(" as " + e.To.SQL() + ")")
	case *plan.Call:
		name := e.Name
		if e.Fn != nil {
			name = e.Fn.Name
		}
		m.call(b, name, e.Args, inside)
	case *plan.Cond:
		m.call(b, [...]string{"and", "or", "case", "if", "coalesce"}[e.Op], e.Args, inside)
	case *plan.Field:
		m.expr(b, e.Child, inside)
		fmt.Fprintf(b, "[%d]", e.Ordinal)
	case *plan.HigherOrder:
		m.call(b, e.Name, e.Args, inside)
	default:
		m.call(b, strings.TrimPrefix(fmt.Sprintf("%T", e), "*plan."), e.Kids(), inside)
	}
}

func (m *meaning) call(b *strings.Builder, name string, args []plan.Expr, inside bool) {
	b.WriteString(strings.ToLower(name) + "(")
	for i, x := range args {
		if i > 0 {
			b.WriteString(", ")
		}
		m.expr(b, x, inside)
	}
	b.WriteByte(')')
}

func (m *meaning) column(b *strings.Builder, a *plan.Attr, inside bool) {
	for range maxChain {
		if text, ok := m.sources[a.ID]; ok {
			b.WriteString(text)
			return
		}
		if lists := m.lists[a.ID]; len(lists) > 0 && inside {
			m.call(b, "expand", lists, true)
			return
		}
		def := m.defs[a.ID]
		if def == nil {
			break
		}
		next, ok := plan.Trim(def).(*plan.Attr)
		if !ok {
			if inside {
				m.expr(b, def, true)
				return
			}
			break
		}
		a = next
	}
	b.WriteString("<" + typeText(a.T) + ">")
}

// maxChain bounds how far a column is followed; plans have no cycles.
const maxChain = 1000

func typeText(t types.DataType) string {
	if t == nil {
		return "?"
	}
	return t.SQL()
}
