package optimize

import (
	"math"
	"slices"

	"github.com/millrace/millrace/internal/plan"
)

// orderJoins puts inner joins of batch relations in the order that is expected to make the fewest rows, and of each pair the smaller
// one to the right, where the hash table is built. Joins of small relations stay as they were written, and so do their rows.
func orderJoins(n plan.Node) (plan.Node, error) {
	o := &orderer{sizes: measure(n)}
	return o.node(n)
}

type orderer struct{ sizes sizes }

// many is the number of rows from which on an order pays.
const many = 10_000

func (o *orderer) node(n plan.Node) (plan.Node, error) {
	j, ok := n.(*plan.Join)
	if !ok || !reorderable(j) {
		return plan.MapChildren(n, o.node)
	}
	var c chain
	c.add(j)
	for i, r := range c.parts {
		x, err := plan.MapChildren(r, o.node)
		if err != nil {
			return nil, err
		}
		c.parts[i] = x
	}
	big := false
	for _, r := range c.parts {
		big = big || o.sizes.rows(r) >= many
	}
	if !big && !(c.cross && len(c.parts) > 2) {
		return plan.MapChildren(n, o.node)
	}
	x := c.join(o.sizes)
	out := j.Output()
	if slices.EqualFunc(x.Output(), out, func(a, b *plan.Attr) bool { return a.ID == b.ID }) {
		return x, nil
	}
	p := &plan.Project{Child: x}
	for _, a := range out {
		p.Cols = append(p.Cols, a)
	}
	return p, nil
}

func reorderable(j *plan.Join) bool {
	return (j.Kind == plan.Inner || j.Kind == plan.Cross) && !j.Streaming() && (j.Cond == nil || deterministic(j.Cond))
}

// chain are relations that inner joins bring together, and the conditions under which.
type chain struct {
	parts []plan.Node
	conds []plan.Expr
	cross bool // a join had no condition
}

func (c *chain) add(n plan.Node) {
	if p, ok := n.(*plan.Project); ok && onlyColumns(p) {
		if j, ok := p.Child.(*plan.Join); ok && reorderable(j) {
			n = j
		}
	}
	j, ok := n.(*plan.Join)
	if !ok || !reorderable(j) {
		c.parts = append(c.parts, n)
		return
	}
	c.add(j.Left)
	c.add(j.Right)
	if j.Cond == nil {
		c.cross = true
		return
	}
	c.conds = append(c.conds, plan.Conjuncts(j.Cond)...)
}

func onlyColumns(p *plan.Project) bool {
	for _, c := range p.Cols {
		if _, ok := c.(*plan.Attr); !ok {
			return false
		}
	}
	return true
}

// tree is a part of the join that is being built.
type tree struct {
	n    plan.Node
	cols plan.IDSet
	rows float64
}

// join brings together, again and again, the two parts whose join is expected to have the fewest rows. Parts without a condition between
// them come last.
func (c *chain) join(s sizes) plan.Node {
	var trees []*tree
	for _, r := range c.parts {
		trees = append(trees, &tree{r, plan.OutputSet(r), s.rows(r)})
	}
	conds := c.conds
	for len(trees) > 1 {
		bestA, bestB, best := 0, 1, math.Inf(1)
		linked := false
		for a := range trees {
			for b := a + 1; b < len(trees); b++ {
				rows, link := joined(trees[a], trees[b], conds, s)
				if link && !linked || link == linked && rows < best {
					bestA, bestB, best, linked = a, b, rows, link
				}
			}
		}
		l, r := trees[bestA], trees[bestB]
		if r.rows > l.rows {
			l, r = r, l
		}
		t := &tree{cols: union(l.cols, r.cols), rows: max(best, 1)}
		j := &plan.Join{Left: l.n, Right: r.n, Kind: plan.Cross}
		var mine, rest []plan.Expr
		for _, e := range conds {
			if t.cols.Within(e) {
				mine = append(mine, e)
			} else {
				rest = append(rest, e)
			}
		}
		if len(mine) > 0 {
			j.Kind, j.Cond = plan.Inner, plan.And(mine...)
		}
		t.n, conds = j, rest
		trees[bestA] = t
		trees = slices.Delete(trees, bestB, bestB+1)
	}
	n := trees[0].n
	if len(conds) > 0 {
		n = &plan.Filter{Cond: plan.And(conds...), Child: n}
	}
	return n
}

func union(a, b plan.IDSet) plan.IDSet {
	out := make(plan.IDSet, len(a)+len(b))
	for id := range a {
		out[id] = struct{}{}
	}
	for id := range b {
		out[id] = struct{}{}
	}
	return out
}

// joined estimates the rows of the join of two parts, and tells whether an equation links them. Of several equations the most selective
// one counts whole and each other one a little: keys of several columns depend on each other.
func joined(a, b *tree, conds []plan.Expr, s sizes) (rows float64, linked bool) {
	both := union(a.cols, b.cols)
	strongest, others := 1.0, 1.0
	for _, e := range conds {
		if !both.Within(e) || a.cols.Within(e) || b.cols.Within(e) {
			continue
		}
		keys, _ := plan.EquiKeys(e, a.cols, b.cols)
		if len(keys) == 0 {
			others *= 0.5
			continue
		}
		linked = true
		f := 1 / max(s.distinct(keys[0].Left), s.distinct(keys[0].Right), 1)
		others *= 0.9
		strongest = min(strongest, f)
	}
	return a.rows * b.rows * strongest * others, linked
}
