package analyze

import (
	"slices"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/setting"
)

// The output modes.
const (
	Append   = "append"
	Update   = "update"
	Complete = "complete"
)

// CheckStreaming checks that a resolved plan can run as a streaming query in an output mode ("append", "update" or "complete").
func CheckStreaming(n plan.Node, mode string, conf Conf) error {
	mode = strings.ToLower(mode)
	if !n.Streaming() {
		return errclass.New("WRITE_STREAM_NOT_ALLOWED")
	}
	if !conf.flag(setting.UnsupportedCheck) {
		return nil
	}
	n, err := plan.GroupDistinct(n)
	if err != nil {
		return err
	}
	c := &streamCheck{mode: mode, conf: conf}
	if err := c.outputMode(n); err != nil {
		return err
	}
	if err := c.up(n); err != nil {
		return err
	}
	if !conf.flag(setting.CorrectnessCheck) {
		return nil
	}
	return c.chains(n)
}

// CheckBatch checks that a resolved plan can run as a batch query. action is what was asked for, for the message.
func CheckBatch(n plan.Node, action string) error {
	if n.Streaming() {
		return errclass.New("UNSUPPORTED_STREAMING_OPERATION.BATCH_ACTION", "operation", action)
	}
	var err error
	plan.Walk(n, func(n plan.Node) bool {
		if d, ok := n.(*plan.Dedup); ok && d.WithinWatermark && err == nil {
			err = errclass.New("UNSUPPORTED_FEATURE.RELATION", "relation", "dropDuplicatesWithinWatermark on a batch frame")
		}
		return err == nil
	})
	return err
}

type streamCheck struct {
	mode string
	conf Conf
}

// aggregates are the streaming groupings of a plan, the topmost first.
func aggregates(n plan.Node) []*plan.Aggregate {
	var out []*plan.Aggregate
	plan.Walk(n, func(n plan.Node) bool {
		if a, ok := n.(*plan.Aggregate); ok && a.Streaming() {
			out = append(out, a)
		}
		return true
	})
	return out
}

func (c *streamCheck) unsupportedMode(operation string) error {
	return errclass.New("STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION", "outputMode", c.mode, "operation", operation)
}

func hasKey(a *plan.Aggregate, p func(*plan.Attr) bool) bool {
	return slices.ContainsFunc(a.Keys, func(k plan.Expr) bool {
		at, ok := plan.Trim(k).(*plan.Attr)
		return ok && p(at)
	})
}

// hasTimeKey tells whether an event time is among the columns by which duplicates are dropped.
func hasTimeKey(d *plan.Dedup) bool {
	is := func(e plan.Expr) bool { a, ok := plan.Trim(e).(*plan.Attr); return ok && a.EventTime }
	if d.AllColumns || len(d.Keys) == 0 {
		return slices.ContainsFunc(d.Child.Output(), func(a *plan.Attr) bool { return a.EventTime })
	}
	return slices.ContainsFunc(d.Keys, is)
}

// outputMode checks what the mode asks of the topmost grouping.
func (c *streamCheck) outputMode(n plan.Node) error {
	aggs := aggregates(n)
	switch {
	case c.mode == Complete && len(aggs) == 0:
		return c.unsupportedMode("no streaming aggregations")
	case c.mode == Append && len(aggs) > 0 && !hasKey(aggs[0], func(a *plan.Attr) bool { return a.EventTime }):
		return c.unsupportedMode("streaming aggregations without watermark")
	case c.mode == Update && len(aggs) > 0 && hasKey(aggs[0], (*plan.Attr).IsSessionWindow):
		return c.unsupportedMode("session window streaming aggregations")
	}
	return nil
}

// up checks each operator over checked inputs.
func (c *streamCheck) up(n plan.Node) error {
	for _, child := range n.Children() {
		if err := c.up(child); err != nil {
			return err
		}
	}
	if !n.Streaming() {
		return nil
	}
	if err := c.operator(n); err != nil {
		return err
	}
	return c.expressions(n)
}

func unsupported(what string, kv ...string) error {
	return errclass.New("UNSUPPORTED_STREAMING_OPERATION."+what, kv...)
}

func (c *streamCheck) operator(n plan.Node) error {
	switch n := n.(type) {
	case *plan.Aggregate:
		return c.aggregate(n)
	case *plan.Dedup:
		if n.WithinWatermark && !slices.ContainsFunc(n.Child.Output(), func(a *plan.Attr) bool { return a.EventTime }) {
			return unsupported("DEDUP_WITHOUT_WATERMARK")
		}
		return nil
	case *plan.Join:
		return c.join(n)
	case *plan.Union:
		if slices.ContainsFunc(n.Inputs, func(i plan.Node) bool { return !i.Streaming() }) {
			return unsupported("UNION_WITH_BATCH")
		}
	case *plan.SetOp:
		if n.Kind == plan.Intersect {
			return unsupported("INTERSECT")
		}
		return unsupported("EXCEPT")
	case *plan.Limit:
		if c.mode == Update {
			return unsupported("LIMIT", "outputMode", c.mode)
		}
	case *plan.Offset:
		return unsupported("OFFSET")
	case *plan.Tail:
		return unsupported("OTHER", "operation", "tail")
	case *plan.Sort:
		if c.mode != Complete || len(aggregates(n)) == 0 {
			return unsupported("SORT", "outputMode", c.mode)
		}
	case *plan.Sample:
		return unsupported("SAMPLE")
	case *plan.WindowFuncs:
		return windowFuncs(n)
	case *plan.Watermark:
		return c.watermark(n)
	}
	return nil
}

func (c *streamCheck) aggregate(n *plan.Aggregate) error {
	for _, e := range n.Aggs {
		if plan.Exists(e, func(e plan.Expr) bool { a, ok := e.(*plan.Agg); return ok && a.Distinct }) {
			return unsupported("DISTINCT_AGGREGATION")
		}
	}
	if len(n.Keys) == 1 && hasKey(n, (*plan.Attr).IsSessionWindow) {
		return unsupported("GLOBAL_SESSION_WINDOW")
	}
	return nil
}

// watermark refuses a second watermark on a stream that has one.
func (c *streamCheck) watermark(n *plan.Watermark) error {
	if !c.conf.flag(setting.AllowMultiple) {
		return nil
	}
	found := false
	plan.Walk(n.Child, func(m plan.Node) bool {
		w, ok := m.(*plan.Watermark)
		found = found || ok && w.Streaming()
		return !found
	})
	if found {
		return unsupported("WATERMARK_REDEFINED", "column", errclass.Ident(plan.AttrOf(n.Col).Name))
	}
	return nil
}

func windowFuncs(n *plan.WindowFuncs) error {
	var funcs, names, specs []string
	for _, col := range n.Cols {
		o, ok := plan.Trim(col).(*plan.Over)
		if !ok {
			continue
		}
		text := o.SQL()
		fn := o.Fn.SQL()
		funcs = append(funcs, "'"+fn+"'")
		names = append(names, "'"+plan.AttrOf(col).Name+"'")
		specs = append(specs, strings.TrimPrefix(text, fn+" OVER "))
	}
	return errclass.New("NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING", "windowFunc", strings.Join(funcs, ", "),
		"columnName", strings.Join(names, ", "), "windowSpec", strings.Join(specs, ", "))
}

// expressions refuses functions that make no sense on a stream.
func (c *streamCheck) expressions(n plan.Node) error {
	for _, e := range n.Exprs() {
		if plan.Exists(e, func(e plan.Expr) bool {
			f, ok := e.(*plan.Call)
			return ok && strings.EqualFold(f.Name, "monotonically_increasing_id")
		}) {
			return unsupported("MONOTONICALLY_INCREASING_ID")
		}
	}
	return nil
}

var joinNames = map[plan.JoinKind]string{
	plan.Inner: "inner", plan.Cross: "cross", plan.LeftOuter: "left outer", plan.RightOuter: "right outer", plan.FullOuter: "full outer",
	plan.LeftSemi: "left semi", plan.LeftAnti: "left anti",
	plan.Existence: "existence",
}

func side(n plan.Node) string {
	if n.Streaming() {
		return "a stream"
	}
	return "a batch frame"
}

// join checks which sides of which join may be streams.
func (c *streamCheck) join(n *plan.Join) error {
	left, right := n.Left.Streaming(), n.Right.Streaming()
	name := joinNames[n.Kind]
	refuse := unsupported("JOIN", "joinType", name, "left", side(n.Left), "right", side(n.Right))
	switch n.Kind {
	case plan.LeftAnti, plan.Existence:
		if right {
			return refuse
		}
	case plan.LeftOuter, plan.LeftSemi:
		if !left {
			return refuse
		}
	case plan.RightOuter:
		if !right {
			return refuse
		}
	case plan.FullOuter:
		if !left || !right {
			return refuse
		}
	}
	if !left || !right {
		return nil
	}
	outer := n.Kind == plan.LeftOuter || n.Kind == plan.RightOuter || n.Kind == plan.FullOuter
	if c.mode == Complete || outer && c.mode != Append {
		return unsupported("JOIN_OUTPUT_MODE", "joinType", name, "outputMode", c.mode)
	}
	return boundedJoin(n, name) // whether there is an equality is seen when conditions above the join have moved into it
}

// boundedJoin checks that a join of two streams that must find out when a row has had all its partners can.
func boundedJoin(n *plan.Join, name string) error {
	left, right := plan.OutputSet(n.Left), plan.OutputSet(n.Right)
	keys, _ := plan.EquiKeys(n.Cond, left, right)
	for _, k := range keys {
		for _, e := range []plan.Expr{k.Left, k.Right} {
			if a, ok := plan.Trim(e).(*plan.Attr); ok && a.EventTime {
				return nil
			}
		}
	}
	bounded := func(state plan.IDSet) bool { return len(plan.TimeBounds(n.Cond, state)) > 0 }
	other := "right"
	switch n.Kind {
	case plan.LeftOuter, plan.LeftSemi:
		if bounded(left) {
			return nil
		}
	case plan.RightOuter:
		if bounded(right) {
			return nil
		}
		other = "left"
	case plan.FullOuter:
		if bounded(left) || bounded(right) {
			return nil
		}
	default:
		return nil
	}
	return unsupported("JOIN_WITHOUT_WATERMARK", "joinType", name, "side", other)
}

// chains refuses stateful operators above a grouping that does not run in append mode: what the grouping emits changes later.
func (c *streamCheck) chains(n plan.Node) error {
	if c.mode == Append {
		return nil
	}
	var err error
	plan.Walk(n, func(n plan.Node) bool {
		what := ""
		switch x := n.(type) {
		case *plan.TransformGroups:
			what = "a stateful processor above a grouping"
		case *plan.Aggregate:
			if x.Streaming() {
				what = "a grouping above a grouping"
			}
		case *plan.Dedup: // one that never forgets does not mind
			if x.WithinWatermark || x.Streaming() && hasTimeKey(x) {
				what = "dropDuplicates above a grouping"
			}
		case *plan.Join:
			if x.Left.Streaming() && x.Right.Streaming() {
				what = "a join above a grouping"
			}
		}
		if what != "" && err == nil {
			for _, child := range n.Children() {
				if len(aggregates(child)) > 0 {
					err = unsupported("MULTIPLE_STATEFUL", "outputMode", c.mode, "operation", what)
				}
			}
		}
		return err == nil
	})
	return err
}
