package sql

import (
	"math"
	"sort"
	"strconv"

	"github.com/millrace/millrace/internal/plan"
)

// query prints a node as a query. Nodes in the order in which SELECT and its clauses build them print as SELECT; all other
// combinations print with brackets and pipes, which build one node each.
func (f *formatter) query(n plan.Node) {
	switch n := n.(type) {
	case nil:
	case *plan.With:
		f.with(n)
	case *plan.Limit:
		if o, ok := n.Child.(*plan.Offset); ok {
			f.sorted(o.Child)
			f.between(" LIMIT ", n.N, " OFFSET ", o.N)
			return
		}
		f.sorted(n.Child)
		f.between(" LIMIT ", n.N)
	case *plan.Offset:
		f.sorted(n.Child)
		f.between(" OFFSET ", n.N)
	default:
		f.sorted(n)
	}
}

func (f *formatter) with(w *plan.With) {
	f.str("WITH ")
	if w.Recursive {
		f.str("RECURSIVE ")
	}
	f.each(len(w.Names), func(i int) {
		f.str(quoteName(w.Names[i]))
		q := w.Plans[i]
		if a, ok := q.(*plan.Aliased); ok && a.Name == w.Names[i] && a.Columns != nil {
			f.names(a.Columns)
			q = a.Child
		}
		if w.Levels != nil && w.Levels[i] != 0 {
			f.str(" MAX RECURSION LEVEL " + strconv.FormatInt(w.Levels[i], 10))
		}
		f.str(" AS (")
		f.query(q)
		f.str(")")
	})
	f.str(" ")
	if _, nested := w.Child.(*plan.With); nested {
		f.bracketed(w.Child)
	} else {
		f.query(w.Child)
	}
}

func (f *formatter) bracketed(n plan.Node) {
	f.str("(")
	f.query(n)
	f.str(")")
}

// sorted prints a node with its ordering.
func (f *formatter) sorted(n plan.Node) {
	switch s := n.(type) {
	case *plan.Sort:
		if s.Global {
			f.term(s.Child)
			f.str(" ORDER BY ")
		} else {
			f.distributed(s.Child)
			f.str(" SORT BY ")
		}
		f.orders(s.Orders)
	default:
		f.distributed(n)
	}
}

func (f *formatter) distributed(n plan.Node) {
	r, ok := n.(*plan.Repartition)
	if !ok || r.Keys == nil || r.N != 0 {
		f.term(n)
		return
	}
	f.term(r.Child)
	f.str(" DISTRIBUTE BY ")
	f.list(r.Keys)
}

// term prints a term of set operations or, in brackets, any other query.
func (f *formatter) term(n plan.Node) {
	switch q := n.(type) {
	case *plan.Distinct:
		if u, ok := q.Child.(*plan.Union); ok && len(u.Inputs) == 2 {
			f.setOp(u.Inputs[0], " UNION ", u.Inputs[1])
			return
		}
	case *plan.Union:
		if len(q.Inputs) == 2 {
			op := " UNION ALL "
			if q.ByName {
				op += "BY NAME "
			}
			f.setOp(q.Inputs[0], op, q.Inputs[1])
			return
		}
	case *plan.SetOp:
		op := " EXCEPT "
		if q.Kind == plan.Intersect {
			op = " INTERSECT "
		}
		if q.All {
			op += "ALL "
		}
		f.setOp(q.Left, op, q.Right)
		return
	case *plan.With, *plan.Limit, *plan.Offset, *plan.Sort, *plan.Repartition:
		f.bracketed(n)
		return
	}
	switch {
	case isSelect(n):
		f.selectCore(n)
	case isFrom(n):
		f.str("FROM ")
		f.from(n)
	default:
		f.str("(") // clauses may follow, and a pipe would take them for its own
		f.piped(n)
		f.str(")")
	}
}

func (f *formatter) setOp(left plan.Node, op string, right plan.Node) {
	f.bracketed(left)
	f.str(op)
	f.bracketed(right)
}

// selectParts are the nodes of a SELECT, from the outside in; those that it has not got are nil.
type selectParts struct {
	hints    []*plan.Hint
	distinct bool
	having   *plan.Having
	qualify  *plan.Qualify
	project  *plan.Project
	agg      *plan.Aggregate
	filter   *plan.Filter
	from     plan.Node
}

func splitSelect(n plan.Node) (s selectParts, ok bool) {
	for {
		h, isHint := n.(*plan.Hint)
		if !isHint {
			break
		}
		s.hints = append(s.hints, h)
		n = h.Child
	}
	if d, isDistinct := n.(*plan.Distinct); isDistinct {
		s.distinct, n = true, d.Child
	}
	if q, isQualify := n.(*plan.Qualify); isQualify {
		s.qualify, n = q, q.Child
	}
	if h, isHaving := n.(*plan.Having); isHaving {
		s.having, n = h, h.Child
	}
	switch q := n.(type) {
	case *plan.Project:
		if s.having != nil {
			return s, false
		}
		s.project, n = q, q.Child
	case *plan.Aggregate:
		if q.Kind == plan.GroupPivot || q.KeysInOutput || s.having == nil && len(q.Keys) == 0 && q.Kind == plan.GroupBy {
			return s, false
		}
		s.agg, n = q, q.Child
	default:
		return s, false
	}
	if w, isFilter := n.(*plan.Filter); isFilter {
		s.filter, n = w, w.Child
	}
	s.from = n
	_, none := n.(*plan.OneRow)
	return s, none || isFrom(n)
}

func isSelect(n plan.Node) bool {
	_, ok := splitSelect(n)
	return ok
}

func (f *formatter) selectCore(n plan.Node) {
	s, _ := splitSelect(n)
	f.str("SELECT ")
	if s.hints != nil {
		f.str("/*+ ")
		f.each(len(s.hints), func(i int) {
			f.str(quoteName(s.hints[i].Name))
			if s.hints[i].Args != nil {
				f.str("(")
				f.list(s.hints[i].Args)
				f.str(")")
			}
		})
		f.str(" */ ")
	}
	if s.distinct {
		f.str("DISTINCT ")
	}
	if s.project != nil {
		f.list(s.project.Cols)
	} else {
		f.list(s.agg.Aggs)
	}
	if _, none := s.from.(*plan.OneRow); !none {
		f.str(" FROM ")
		f.from(s.from)
	}
	if s.filter != nil {
		f.between(" WHERE ", s.filter.Cond)
	}
	if s.agg != nil {
		f.groupBy(s.agg)
	}
	if s.having != nil {
		f.between(" HAVING ", s.having.Cond)
	}
	if s.qualify != nil {
		f.between(" QUALIFY ", s.qualify.Cond)
	}
}

func (f *formatter) groupBy(a *plan.Aggregate) {
	switch a.Kind {
	case plan.GroupRollup, plan.GroupCube:
		if a.Kind == plan.GroupRollup {
			f.str(" GROUP BY ROLLUP(")
		} else {
			f.str(" GROUP BY CUBE(")
		}
		f.each(len(a.Keys), func(i int) { f.set(a.Keys[i : i+1]) })
		f.str(")")
	case plan.GroupSets:
		f.str(" GROUP BY ")
		f.list(a.Keys)
		f.str(" GROUPING SETS (")
		f.each(len(a.Sets), func(i int) { f.set(a.Sets[i]) })
		f.str(")")
	default:
		if len(a.Keys) > 0 {
			f.str(" GROUP BY ")
			f.list(a.Keys)
		}
	}
}

// set prints a grouping set. A single key stays without brackets, unless it is a row: its own would be taken for those of the set.
func (f *formatter) set(keys []plan.Expr) {
	if len(keys) == 1 && !isRow(keys[0]) {
		f.expr(keys[0])
		return
	}
	f.str("(")
	f.list(keys)
	f.str(")")
}

func isRow(e plan.Expr) bool {
	call, ok := e.(*plan.Func)
	return ok && len(call.Name) == 1 && call.Name[0] == plan.RowName
}

// piped prints a node that only the pipe syntax can put over its child.
func (f *formatter) piped(n plan.Node) {
	children := n.Children()
	if len(children) == 0 {
		f.str(n.Label())
		return
	}
	distinct := ""
	if d, ok := n.(*plan.Distinct); ok {
		if c, ok := d.Child.(*plan.Project); ok {
			n, children, distinct = c, c.Children(), "DISTINCT "
		}
	}
	f.bracketed(children[0])
	f.str(" |> ")
	switch n := n.(type) {
	case *plan.Project:
		f.str("SELECT ", distinct)
		f.list(n.Cols)
	case *plan.Filter:
		f.between("WHERE ", n.Cond)
	case *plan.WithColumns:
		f.str("SET ")
		f.each(len(n.Cols), func(i int) { f.between(quoteName(n.Cols[i].Name), " = ", n.Cols[i].Child) })
	case *plan.Aliased:
		f.str("AS ", quoteName(n.Name))
	case *plan.Aggregate:
		if n.Kind == plan.GroupPivot {
			f.pivot(n)
			return
		}
		f.str("AGGREGATE ")
		f.list(n.Aggs)
		if len(n.Keys) > 0 {
			f.str(" GROUP BY ")
			f.list(n.Keys)
		}
	case *plan.Unpivot:
		f.unpivot(n)
	case *plan.Sample:
		f.sample(n)
	case *plan.Join:
		f.join(n)
	default:
		f.str(n.Label())
	}
}

// ---- relations

// isFrom tells whether a node prints behind FROM: a relation with lateral views or without.
func isFrom(n plan.Node) bool {
	for {
		g, ok := n.(*plan.Generate)
		if !ok {
			break
		}
		n = g.Child
	}
	return isRelation(n)
}

// isRelation tells whether a node prints as a relation or a join of them.
func isRelation(n plan.Node) bool {
	switch n := n.(type) {
	case *plan.Named, *plan.TableFunc, *plan.Values, *plan.Aliased:
		return true
	case *plan.Join:
		if _, none := n.Left.(*plan.OneRow); none {
			return n.Lateral && isRelation(n.Right)
		}
		return isRelation(n.Left) && isRelation(n.Right)
	case *plan.Aggregate:
		return n.Kind == plan.GroupPivot && n.ImplicitKeys && isRelation(n.Child)
	case *plan.Unpivot:
		return isRelation(n.Child)
	case *plan.Sample, *plan.Watermark:
		return isRelation(sampled(n))
	}
	return false
}

// sampled is what lies under a relation's watermark and sample.
func sampled(n plan.Node) plan.Node {
	if w, ok := n.(*plan.Watermark); ok {
		n = underWatermark(w)
	}
	if s, ok := n.(*plan.Sample); ok {
		n = s.Child
	}
	return n
}

// underWatermark is a watermark's input without the column that its clause computes.
func underWatermark(w *plan.Watermark) plan.Node {
	if p := computedWatermark(w); p != nil {
		return p.Child
	}
	return w.Child
}

// computedWatermark is the projection that WATERMARK expression AS name puts under a watermark, or nil.
func computedWatermark(w *plan.Watermark) *plan.Project {
	p, ok := w.Child.(*plan.Project)
	if !ok || len(p.Cols) != 2 {
		return nil
	}
	a, ok1 := p.Cols[0].(*plan.Alias)
	s, ok2 := p.Cols[1].(*plan.Star)
	c, ok3 := w.Col.(*plan.Column)
	if !ok1 || !ok2 || !ok3 || s.Target != nil || s.Except != nil || len(c.Parts) != 1 || c.Parts[0] != a.Name {
		return nil
	}
	return p
}

func (f *formatter) from(n plan.Node) {
	if g, ok := n.(*plan.Generate); ok {
		f.from(g.Child)
		f.str(" ")
		f.lateralView(g)
		return
	}
	f.relation(n)
}

// relation prints a relation or a join.
func (f *formatter) relation(n plan.Node) {
	switch n := n.(type) {
	case *plan.Join:
		if _, none := n.Left.(*plan.OneRow); none {
			f.str("LATERAL ")
			f.primary(n.Right)
			return
		}
		f.relation(n.Left)
		f.str(" ")
		f.join(n)
	case *plan.Aggregate:
		f.relation(n.Child)
		f.str(" ")
		f.pivot(n)
	case *plan.Unpivot:
		f.relation(n.Child)
		f.str(" ")
		f.unpivot(n)
	default:
		f.primary(n)
	}
}

// primary prints a relation that may stand behind JOIN.
func (f *formatter) primary(n plan.Node) {
	switch n := n.(type) {
	case *plan.Named:
		f.table(n)
	case *plan.TableFunc:
		f.name(n.Name)
		f.str("(")
		f.each(len(n.Args), func(i int) {
			if n.ArgNames != nil && n.ArgNames[i] != "" {
				f.str(quoteName(n.ArgNames[i]), " => ")
			}
			f.expr(n.Args[i])
		})
		f.str(")")
	case *plan.Values:
		f.str("VALUES ")
		f.each(len(n.Rows), func(i int) { f.row(n.Rows[i]) })
	case *plan.Aliased:
		f.sampledBase(n.Child, n.Name == autoAlias && n.Columns == nil)
		if n.Name != autoAlias || n.Columns != nil {
			f.str(" AS ", quoteName(n.Name))
		}
		if n.Columns != nil {
			f.names(n.Columns)
		}
	case *plan.Sample, *plan.Watermark:
		f.sampledBase(n, false)
	default:
		f.str("(")
		f.relation(n)
		f.str(")")
	}
}

// sampledBase prints a relation with its sample and watermark, ready for an alias. With asQuery, what is below them is a query in
// brackets, even where it could do without.
func (f *formatter) sampledBase(n plan.Node, asQuery bool) {
	base := sampled(n)
	_, alias := base.(*plan.Aliased)
	switch base.(type) {
	case *plan.Named, *plan.TableFunc:
		if asQuery {
			f.bracketed(base)
		} else {
			f.primary(base)
		}
	default:
		if auto, ok := base.(*plan.Aliased); asQuery || !isRelation(base) || ok && auto.Name == autoAlias {
			f.bracketed(base)
		} else if alias {
			f.str("(")
			f.primary(base)
			f.str(")")
		} else if _, rows := base.(*plan.Values); rows {
			f.bracketed(base)
		} else {
			f.primary(base)
		}
	}
	w, _ := n.(*plan.Watermark)
	if w != nil {
		n = underWatermark(w)
	}
	if s, ok := n.(*plan.Sample); ok {
		f.str(" ")
		f.sample(s)
	}
	if w != nil {
		f.watermark(w)
	}
}

func (f *formatter) table(t *plan.Named) {
	if t.Stream {
		f.str("STREAM ")
	}
	f.name(t.Parts)
	switch {
	case t.Time == nil:
	case t.Time.Timestamp != nil:
		f.between(" TIMESTAMP AS OF ", t.Time.Timestamp)
	default:
		f.str(" VERSION AS OF ", quoteString(t.Time.Version))
	}
	if t.Options != nil {
		keys := make([]string, 0, len(t.Options))
		for k := range t.Options {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		f.str(" WITH (")
		f.each(len(keys), func(i int) { f.str(quoteString(keys[i]), " = ", quoteString(t.Options[keys[i]])) })
		f.str(")")
	}
}

func (f *formatter) watermark(w *plan.Watermark) {
	f.str(" WATERMARK ")
	if p := computedWatermark(w); p != nil {
		f.expr(p.Cols[0])
	} else {
		f.expr(w.Col)
	}
	d := w.Delay
	f.str(" DELAY OF INTERVAL '", strconv.Itoa(int(d.Months)), "' MONTH '", strconv.Itoa(int(d.Days)), "' DAY '",
		strconv.FormatInt(d.Micros, 10), "' MICROSECOND")
}

func (f *formatter) sample(s *plan.Sample) {
	// The percentage is chosen so that reading it gives the same fraction again.
	percent := s.Hi * 100
	for percent/100 > s.Hi {
		percent = math.Nextafter(percent, 0)
	}
	for percent/100 < s.Hi {
		percent = math.Nextafter(percent, 101)
	}
	f.str("TABLESAMPLE (", strconv.FormatFloat(percent, 'g', -1, 64), "D PERCENT) REPEATABLE (", strconv.FormatInt(s.Seed, 10), "L)")
}

// join prints a join without its left side.
func (f *formatter) join(j *plan.Join) {
	if j.Natural {
		f.str("NATURAL ")
	}
	f.str(joinNames[j.Kind], " JOIN ")
	if j.Lateral {
		f.str("LATERAL ")
	}
	f.primary(j.Right)
	if j.Cond != nil {
		f.between(" ON ", j.Cond)
	}
	if j.Using != nil {
		f.str(" USING ")
		f.names(j.Using)
	}
}

func (f *formatter) pivot(a *plan.Aggregate) {
	f.str("PIVOT (")
	f.list(a.Aggs)
	f.str(" FOR ")
	if c, ok := a.PivotCol.(*plan.Func); ok {
		f.str("(")
		f.list(c.Args)
		f.str(")")
	} else {
		f.expr(a.PivotCol)
	}
	f.str(" IN (")
	f.list(a.PivotValues)
	f.str("))")
}

func (f *formatter) unpivot(u *plan.Unpivot) {
	f.str("UNPIVOT ")
	if u.IncludeNulls {
		f.str("INCLUDE NULLS ")
	}
	f.str("(")
	many := len(u.ValueNames) > 1 || len(u.Values) > 0 && len(u.Values[0]) != 1
	if many {
		f.names(u.ValueNames)
	} else {
		f.str(quoteName(u.ValueNames[0]))
	}
	f.str(" FOR ", quoteName(u.VariableName), " IN (")
	f.each(len(u.Values), func(i int) {
		if many {
			f.str("(")
		}
		f.list(u.Values[i])
		if many {
			f.str(")")
		}
		if u.Aliases != nil && u.Aliases[i] != "" {
			f.str(" AS ", quoteName(u.Aliases[i]))
		}
	})
	f.str("))")
}

func (f *formatter) lateralView(g *plan.Generate) {
	f.str("LATERAL VIEW ")
	if g.Outer {
		f.str("OUTER ")
	}
	f.expr(g.Gen)
	if g.Qualifier != "" {
		f.str(" ", quoteName(g.Qualifier))
	}
	if g.Names != nil {
		f.str(" AS ")
		f.each(len(g.Names), func(i int) { f.str(quoteName(g.Names[i])) })
	}
}
