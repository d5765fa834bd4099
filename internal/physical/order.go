package physical

import (
	"slices"

	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// objects are the aggregates that keep an object of a group in Spark, on which the order of groups depends: see exec.Order.
var objects = setOf("collect_list", "collect_set", "listagg", "percentile", "percentile_cont", "percentile_disc", "percentile_approx",
	"median", "mode", "histogram_numeric", "schema_of_variant_agg", "count_min_sketch", "hll_sketch_agg", "hll_union_agg",
	"theta_sketch_agg", "theta_union_agg", "theta_intersection_agg", "tuple_sketch_agg_double", "tuple_sketch_agg_integer",
	"tuple_union_agg_double", "tuple_union_agg_integer", "tuple_intersection_agg_double", "tuple_intersection_agg_integer",
	"kll_sketch_agg_bigint", "kll_sketch_agg_float", "kll_sketch_agg_double", "kll_merge_agg_bigint", "kll_merge_agg_float",
	"kll_merge_agg_double")

// bitmaps keep bytes that are no object; keepers, values of their arguments.
var (
	bitmaps = setOf("bitmap_construct_agg", "bitmap_or_agg", "bitmap_and_agg")
	keepers = setOf("min", "max", "first", "last", "min_by", "max_by")
)

func setOf(names ...string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// orderOf is the order of the groups of some aggregates: that of objects if one of them keeps an object, else by key if one keeps
// values of varying size.
func orderOf(aggs []plan.Expr) exec.Order {
	order := exec.ByPartition
	for _, e := range aggs {
		plan.WalkExpr(e, func(e plan.Expr) bool {
			a, ok := e.(*plan.Agg)
			switch {
			case !ok:
			case objects[a.Fn.Name]:
				order = exec.ByPartitionOrKey
			case order == exec.ByPartition && (bitmaps[a.Fn.Name] || keepers[a.Fn.Name] && slices.ContainsFunc(a.Args, wide)):
				order = exec.ByKey
			}
			return true
		})
	}
	return order
}

// wide tells whether values are of varying size.
func wide(e plan.Expr) bool {
	t, ok := e.(plan.Typed)
	if !ok {
		return false
	}
	switch vec.PhysOf(t.Type()) {
	case vec.PhysNull, vec.PhysBool, vec.PhysInt8, vec.PhysInt16, vec.PhysInt32, vec.PhysInt64, vec.PhysFloat32, vec.PhysFloat64,
		vec.PhysInt128, vec.PhysInterval:
		return false
	}
	return true
}

// arrange is how the groups of an input by keys come out; aggs are the columns of the result.
func (p *Planner) arrange(in plan.Node, keys, aggs []plan.Expr) exec.Arrange {
	attrs := make([]*plan.Attr, len(keys))
	for i, k := range keys {
		attrs[i] = keyAttr(k)
	}
	a := exec.Arrange{Order: orderOf(aggs), Placed: p.placed(in).holds(attrs), Idle: idle(in, keys)}
	if quick(keys, aggs) {
		a.Nulls = exec.NullsBehind
		if !calls(aggs) {
			a.Nulls = exec.NullsLast
		}
	}
	return a
}

// idle are the keys that Spark leaves out: constants, and those that were there before. It is nil if there are none.
func idle(in plan.Node, keys []plan.Expr) []bool {
	out, seen, any := make([]bool, len(keys)), map[string]bool{}, false
	for i, k := range keys {
		if a, ok := k.(*plan.Alias); ok {
			k = a.Child
		}
		text := plan.Canon(k)
		out[i] = seen[text] || constant(in, k)
		seen[text] = true
		any = any || out[i]
	}
	if !any || !slices.Contains(out, false) {
		return nil
	}
	return out
}

// constant tells whether an expression is a literal, or a column that a projection below makes of one.
func constant(in plan.Node, e plan.Expr) bool {
	switch e := e.(type) {
	case *plan.Literal:
		return true
	case *plan.Attr:
		if p, ok := in.(*plan.Project); ok {
			return slices.ContainsFunc(p.Cols, func(c plan.Expr) bool {
				a, ok := c.(*plan.Alias)
				if !ok || a.ID != e.ID {
					return false
				}
				_, ok = a.Child.(*plan.Literal)
				return ok
			})
		}
	}
	return false
}

func calls(aggs []plan.Expr) bool {
	found := false
	for _, e := range aggs {
		plan.WalkExpr(e, func(e plan.Expr) bool {
			_, ok := e.(*plan.Agg)
			found = found || ok
			return !found
		})
	}
	return found
}

// quick tells whether Spark has its table for keys without nulls: all keys are numbers or texts, and all aggregates keep numbers that it can
// change where they are.
func quick(keys, aggs []plan.Expr) bool {
	if slices.ContainsFunc(keys, func(k plan.Expr) bool {
		t, ok := k.(plan.Typed)
		if !ok {
			return true
		}
		_, text := t.Type().(types.StringType)
		return !text && wide(k)
	}) {
		return false
	}
	ok := true
	for _, e := range aggs {
		plan.WalkExpr(e, func(e plan.Expr) bool {
			a, isAgg := e.(*plan.Agg)
			if !isAgg {
				return true
			}
			switch a.Fn.Name {
			case "approx_count_distinct":
				ok = false
			case "sum", "avg", "try_sum", "try_avg":
				ok = ok && !long(a.Args[0], 8)
			default:
				ok = ok && !(keepers[a.Fn.Name] && slices.ContainsFunc(a.Args, func(e plan.Expr) bool { return long(e, 18) }))
			}
			return true
		})
	}
	return ok
}

// long tells whether an expression is a decimal of more digits.
func long(e plan.Expr, digits int) bool {
	t, ok := e.(plan.Typed)
	if !ok {
		return false
	}
	d, ok := t.Type().(types.DecimalType)
	return ok && d.Precision > digits
}

// placement says how Spark has distributed a plan's rows: all in one partition, or by the hash of one of some lists of columns.
type placement struct {
	single bool
	hash   [][]plan.ID
}

// holds tells whether rows with equal keys lie together.
func (l placement) holds(keys []*plan.Attr) bool {
	if l.single {
		return true
	}
	set := plan.IDSet{}
	for _, k := range keys {
		set[k.ID] = struct{}{}
	}
	return slices.ContainsFunc(l.hash, func(ids []plan.ID) bool {
		return !slices.ContainsFunc(ids, func(id plan.ID) bool { return !set.Has(id) })
	})
}

// placed finds out how a plan's rows are distributed. What it does not know has rows anywhere.
func (p *Planner) placed(n plan.Node) placement {
	switch n := n.(type) {
	case *plan.Range:
		return placement{single: p.slices(n) == 1}
	case *plan.Limit, *plan.Offset, *plan.Tail:
		return placement{single: true}
	case *plan.Sort:
		if n.Global {
			keys := make([]plan.Expr, len(n.Orders))
			for i, o := range n.Orders {
				keys[i] = o.Child
			}
			return p.grouped(&plan.OneRow{}, keys, exprs(n.Output()))
		}
		return p.placed(n.Child)
	case *plan.Repartition:
		if n.N == 1 {
			return placement{single: true}
		}
		if n.Shuffle && len(n.Keys) > 0 {
			return p.grouped(&plan.OneRow{}, n.Keys, exprs(n.Output()))
		}
		if !n.Shuffle {
			return placement{single: p.placed(n.Child).single}
		}
	case *plan.Aggregate:
		return p.grouped(n.Child, n.Keys, n.Aggs)
	case *plan.Distinct:
		return p.grouped(n.Child, exprs(n.Output()), exprs(n.Output()))
	case *plan.WindowFuncs:
		return p.placed(n.Child)
	case *plan.Project:
		return p.placed(n.Child).renamed(n.Cols)
	case *plan.Filter, *plan.Sample, *plan.Generate, *plan.Aliased, *plan.View, *plan.Hint, *plan.Tagged, *plan.Watermark, *plan.Observe:
		return p.placed(n.Children()[0])
	}
	return placement{}
}

// grouped is the placement of a grouping's result, whose columns are out: that of its input if it did, else by the keys.
func (p *Planner) grouped(in plan.Node, keys, out []plan.Expr) placement {
	if len(keys) == 0 {
		return placement{single: true}
	}
	attrs := make([]*plan.Attr, len(keys))
	list := make([]plan.ID, len(keys))
	for i, k := range keys {
		attrs[i] = keyAttr(k)
		list[i] = attrs[i].ID
		text := plan.Canon(k)
		for _, o := range out {
			if a, ok := o.(*plan.Alias); ok && plan.Canon(a.Child) == text {
				list[i] = a.ID
				break
			}
		}
	}
	if was := p.placed(in); was.holds(attrs) {
		return was.renamed(out)
	}
	return placement{hash: [][]plan.ID{list}}.renamed(out)
}

// renamed is the placement by the columns that a projection makes.
func (l placement) renamed(cols []plan.Expr) placement {
	to := placement{single: l.single}
	now := map[plan.ID]plan.ID{}
	for _, c := range cols {
		a := plan.AttrOf(c)
		if a == nil {
			continue
		}
		was := a.ID
		if alias, ok := c.(*plan.Alias); ok {
			if of, ok := alias.Child.(*plan.Attr); ok {
				was = of.ID
			}
		}
		if _, ok := now[was]; !ok {
			now[was] = a.ID
		}
	}
next:
	for _, ids := range l.hash {
		list := make([]plan.ID, len(ids))
		for i, id := range ids {
			renamed, ok := now[id]
			if !ok {
				continue next
			}
			list[i] = renamed
		}
		to.hash = append(to.hash, list)
	}
	return to
}
