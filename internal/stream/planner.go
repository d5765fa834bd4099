package stream

import (
	"fmt"
	"slices"
	"time"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/optimize"
	"github.com/millrace/millrace/internal/physical"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/stateful"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// compiled is a query's plan, made once at its start and run by every batch.
type compiled struct {
	analysed, optimised plan.Node
	root                exec.Op
	schema              types.StructType // of the result
	sources             []*sourcePlan    // in the order of their first use: the numbers of their logs
	uses                []int            // the source of each use of one, in the order of the plan: the lines of the offset log
	operators           []*operator      // by number
	watermarks          []*watermark     // in the order in which they stand in the plan, the topmost first
	refusal             error            // what the first batch fails with when it is planned
	timed               bool             // the query was written with a watermark, whatever the optimiser left of it
	observed            []*exec.Observe
	late                []*latePlace // where rows may be late, if anybody asks
}

// sourcePlan is what the plan wants of one source.
type sourcePlan struct {
	id   plan.ID
	name string
	// table is the connector's; it is shared by all uses of the source in the plan.
	table source.Streamer
	want  source.Projection
	out   types.StructType // the columns that the splits deliver
}

// watermark is one withWatermark of the plan.
type watermark struct {
	id      plan.ID
	delay   int64     // ms
	sources []plan.ID // that stand below it
}

// compiler makes operators of the nodes that work differently in a stream. It implements physical.StatefulPlanner.
type compiler struct {
	mode stateful.Mode
	out  *compiled
	byID map[plan.ID]*sourcePlan
	// single is set when one watermark serves for all operators (statefulOperator.allowMultiple=false): then a second withWatermark
	// may stand above a first.
	single bool
	// mergeFirst makes sessions of a batch's rows before late ones are dropped.
	mergeFirst bool
	asides     map[plan.ID]*stateful.LateRows
	// twice are the nodes whose operators report twice what they do.
	twice map[plan.Node]bool
	// letters is set when rows for which an expression fails leave the query; sites counts the places where they may.
	letters bool
	sites   int
	zone    *time.Location
}

// compile optimises and plans a resolved query.
func compile(analysed plan.Node, mode stateful.Mode, conf Conf, zone *time.Location, now time.Time, asked optIn) (*compiled, error) {
	c := &compiler{mode: mode, out: &compiled{analysed: analysed}, byID: map[plan.ID]*sourcePlan{}, asides: map[plan.ID]*stateful.LateRows{}}
	c.zone, c.letters = zone, asked.deadPath != ""
	c.single, c.mergeFirst = !conf.Bool(keyAllowMultiple), conf.Bool(keyMergeSessions)
	if err := c.findSources(analysed, plan.IDSet{}, false); err != nil {
		return nil, err
	}
	if err := c.checkWatermarks(analysed); err != nil {
		return nil, err
	}
	plan.Walk(analysed, func(n plan.Node) bool {
		w, ok := n.(*plan.Watermark)
		c.out.timed = c.out.timed || ok && w.Streaming()
		return !c.out.timed
	})
	grouped, err := plan.GroupDistinct(analysed)
	if err != nil {
		return nil, err
	}
	rules := optimize.Options{Zone: zone}
	rules.Prepare = func(n plan.Node) (plan.Node, error) {
		var err error
		if c.letters {
			n, err = c.sieve(n)
		}
		if asked.latePath != "" && err == nil {
			n, err = c.watchLate(n) // closest to its operator
		}
		return n, err
	}
	opt, err := optimize.Plan(grouped, rules)
	if err != nil {
		return nil, err
	}
	c.out.optimised, c.twice = opt, sampled(opt)
	c.project(opt)
	ph := &physical.Planner{Zone: zone, Now: now.UnixMicro(), Stateful: c}
	if c.out.root, err = ph.Plan(opt); err != nil {
		return nil, err
	}
	readNoMore(c.out.root, 0)
	if asked.latePath != "" {
		if err := c.checkLate(); err != nil {
			return nil, err
		}
	}
	if c.out.refusal == nil {
		c.out.refusal = clockMisuse(analysed)
	}
	c.out.schema = physical.Schema(opt.Output())
	return c.out, nil
}

// readNoMore tells sources below a limit with nothing but projections between them how many rows of a part are wanted: as in Spark
// the rest is not read, does not count as input and moves no watermark.
func readNoMore(op exec.Op, most int64) {
	switch op := op.(type) {
	case *exec.StreamInput:
		op.Most = most
	case *stateful.Limit:
		if most == 0 || op.N < most {
			most = op.N
		}
	case *exec.Project, *exec.Union, *stateful.EventTime:
	default:
		most = 0
	}
	for _, in := range op.Inputs() {
		readNoMore(in, most)
	}
}

// findSources numbers the streaming sources as they come in the analysed plan, and notes where each is used: a use is a line of the
// offset log. A common table expression uses its sources once, however often it is referred to: defs are those met before.
func (c *compiler) findSources(n plan.Node, defs plan.IDSet, again bool) error {
	switch n := n.(type) {
	case *plan.Aliased:
		if n.Def != 0 {
			again = again || defs.Has(n.Def)
			defs[n.Def] = struct{}{}
		}
	case *plan.Scan:
		if n.Stream {
			return c.use(n, again)
		}
	}
	for _, in := range n.Children() {
		if err := c.findSources(in, defs, again); err != nil {
			return err
		}
	}
	return nil
}

func (c *compiler) use(s *plan.Scan, again bool) error {
	if i := slices.IndexFunc(c.out.sources, func(p *sourcePlan) bool { return p.id == s.ID }); i >= 0 {
		if !again {
			c.out.uses = append(c.out.uses, i)
		}
		return nil
	}
	table, ok := s.Source.(source.Streamer)
	if !ok {
		return errclass.New("UNSUPPORTED_STREAMING_OPERATION.SOURCE", "provider", s.Name)
	}
	p := &sourcePlan{id: s.ID, name: s.Name, table: table}
	c.byID[s.ID] = p
	c.out.uses = append(c.out.uses, len(c.out.sources))
	c.out.sources = append(c.out.sources, p)
	return nil
}

// project settles which columns are read: those that any use of a source needs. Filters are left to the plan when there are
// several uses, which may filter differently.
func (c *compiler) project(n plan.Node) {
	uses := map[plan.ID][]*plan.Scan{}
	plan.Walk(n, func(n plan.Node) bool {
		if s, ok := n.(*plan.Scan); ok && s.Stream {
			uses[s.ID] = append(uses[s.ID], s)
		}
		return true
	})
	for _, p := range c.out.sources {
		scans := uses[p.id]
		var cols []*plan.Attr
		seen := map[string]bool{}
		for _, s := range scans {
			for _, a := range s.Out {
				if !seen[a.Name] {
					seen[a.Name] = true
					cols = append(cols, a)
				}
			}
		}
		all := &plan.Scan{Out: cols}
		if len(scans) == 1 {
			all.Filters = scans[0].Filters
		}
		p.want, p.out = physical.Want(all), physical.Schema(cols)
	}
}

// checkWatermarks refuses a watermark above another one.
func (c *compiler) checkWatermarks(n plan.Node) error {
	if c.single {
		return nil
	}
	var err error
	plan.Walk(n, func(n plan.Node) bool {
		w, ok := n.(*plan.Watermark)
		if !ok || !w.Streaming() {
			return err == nil
		}
		plan.Walk(w.Child, func(n plan.Node) bool {
			if lower, ok := n.(*plan.Watermark); ok && lower.Streaming() && err == nil {
				name := w.Col.SQL()
				if a, ok := w.Col.(*plan.Attr); ok {
					name = a.Name
				}
				err = errclass.New("UNSUPPORTED_STREAMING_OPERATION.WATERMARK_REDEFINED", "column", name)
			}
			return err == nil
		})
		return err == nil
	})
	return err
}

// Plan implements physical.StatefulPlanner.
func (c *compiler) Plan(p *physical.Planner, n plan.Node) (exec.Op, error) {
	switch n := n.(type) {
	case *plan.Scan:
		return c.scan(n)
	case *plan.Watermark:
		return c.watermark(p, n)
	case *plan.Aside:
		return c.aside(p, n)
	case *plan.Sieve:
		return c.planSieve(p, n)
	case *plan.Aggregate:
		return c.aggregate(p, n)
	case *plan.Dedup:
		return c.dedupNode(p, n)
	case *plan.Limit:
		return c.limit(p, n)
	case *plan.Observe:
		return c.observe(p, n)
	case *plan.TransformGroups:
		return c.transform(p, n)
	case *plan.Join:
		if n.Left.Streaming() && n.Right.Streaming() {
			return c.join(p, n)
		}
	}
	return nil, nil
}

func (c *compiler) scan(n *plan.Scan) (exec.Op, error) {
	p := c.byID[n.ID]
	if p == nil {
		return nil, errclass.Internal(fmt.Errorf("stream: the source %s was not in the plan before", n.Name))
	}
	in := &exec.StreamInput{ID: uint64(n.ID), Name: n.Name}
	index := map[string]int{}
	for i, f := range p.out.Fields {
		in.Out = append(in.Out, f.Type)
		index[f.Name] = i
	}
	cols, same := make([]exec.Expr, len(n.Out)), len(n.Out) == len(p.out.Fields)
	for i, a := range n.Out {
		at := index[a.Name]
		cols[i] = exec.ColumnExpr(at, a.T)
		same = same && at == i
	}
	if same {
		return in, nil
	}
	return &exec.Project{In: in, Cols: cols}, nil
}

func (c *compiler) watermark(p *physical.Planner, n *plan.Watermark) (exec.Op, error) {
	at := -1
	for i, a := range n.Child.Output() {
		if col, ok := n.Col.(*plan.Attr); ok && a.ID == col.ID {
			at = i
			break
		}
	}
	if at < 0 {
		return nil, errclass.Internal(fmt.Errorf("stream: the event time %s is not in its input", n.Col.SQL()))
	}
	// The topmost watermark is the first in progress, hence noted before those below it.
	if !c.knows(n.ID) {
		c.out.watermarks = append(c.out.watermarks, &watermark{id: n.ID, delay: n.Millis(), sources: streamsBelow(n)})
	}
	in, err := p.Plan(n.Child)
	if err != nil {
		return nil, err
	}
	return &stateful.EventTime{In: in, ID: uint64(n.ID), Column: at, Text: fmt.Sprintf("%s, %s", n.Col.SQL(), n.DelayText)}, nil
}

// streamsBelow lists the sources of a plan.
func streamsBelow(n plan.Node) []plan.ID {
	var ids []plan.ID
	plan.Walk(n, func(n plan.Node) bool {
		if s, ok := n.(*plan.Scan); ok && s.Stream {
			ids = append(ids, s.ID)
		}
		return true
	})
	return ids
}

func (c *compiler) knows(id plan.ID) bool {
	for _, w := range c.out.watermarks {
		if w.id == id {
			return true
		}
	}
	return false
}

func (c *compiler) aggregate(p *physical.Planner, n *plan.Aggregate) (exec.Op, error) {
	if at := physical.SessionKey(n); at >= 0 {
		return c.session(p, n, at)
	}
	number := c.reserve()
	group, result, err := p.Grouped(n)
	if err != nil {
		return nil, err
	}
	if err := c.checkResults(n, result); err != nil {
		return nil, err
	}
	c.oneEventTime("a grouping", attrsOf(n.Keys))
	op := &stateful.Aggregate{Group: group, Operator: number, TimeKey: -1}
	for i, k := range n.Keys {
		if carriesEventTime(k) {
			op.TimeKey = i
			break
		}
	}
	if group.Panes != nil && op.TimeKey >= 0 && op.TimeKey != group.Panes.Key {
		return nil, errclass.Internal(fmt.Errorf("stream: the event time of a grouping by windows is another key"))
	}
	if op.TimeKey >= 0 {
		group.Look = op.CountLate
		c.late(n.Child, op.Operator, "")
	}
	c.add(number, &operator{
		op: op, name: "stateStoreSave", meaning: aggregateMeaning(c.out, n), parts: aggregateParts(c.out, n, group), single: len(n.Keys) == 0,
		keys:   keyNames(n.Keys),
		twice:  c.twice[n],
		cleans: c.mode != stateful.Complete, hitsPerBatch: 2,
	})
	result.In = op
	return result, nil
}

// keyNames are the names of grouping columns.
func keyNames(keys []plan.Expr) []string {
	names := make([]string, len(keys))
	for i, k := range keys {
		if a := plan.AttrOf(k); a != nil {
			names[i] = a.Name
		} else {
			names[i] = k.SQL()
		}
	}
	return names
}

// carriesEventTime tells whether a column is event time, marked or derived from a marked one.
func carriesEventTime(e plan.Expr) bool {
	a := plan.AttrOf(e)
	if a == nil {
		return false
	}
	_, marked := a.Field().MetadataValue(types.EventTimeKey)
	return a.EventTime || marked
}

// reserve takes the number of an operator before its inputs are planned: as in Spark operators are numbered from the top of the plan.
func (c *compiler) reserve() int {
	c.out.operators = append(c.out.operators, nil)
	return len(c.out.operators) - 1
}

func (c *compiler) add(number int, o *operator) { c.out.operators[number] = o }

func (c *compiler) dedupNode(p *physical.Planner, n *plan.Dedup) (exec.Op, error) {
	var keys []*plan.Attr
	for _, k := range n.Keys {
		a, ok := plan.Trim(k).(*plan.Attr)
		if !ok {
			return nil, physical.Unsupported(n)
		}
		keys = append(keys, a)
	}
	if n.AllColumns || len(keys) == 0 {
		keys = n.Child.Output()
	}
	return c.dedup(p, n, keys)
}

func (c *compiler) dedup(p *physical.Planner, n *plan.Dedup, keys []*plan.Attr) (exec.Op, error) {
	child, within := n.Child, n.WithinWatermark
	number := c.reserve()
	in, err := p.Plan(child)
	if err != nil {
		return nil, err
	}
	out := child.Output()
	c.oneEventTime("dropDuplicates", out)
	op := &stateful.Dedup{In: in, Operator: number, TimeKey: -1, TimeColumn: -1, Within: within}
	at := map[plan.ID]int{}
	for i, a := range out {
		if _, twice := at[a.ID]; !twice {
			at[a.ID] = i
		}
		if op.TimeColumn < 0 && carriesEventTime(a) {
			op.TimeColumn, op.Delay = i, a.Delay*1000
		}
	}
	for i, k := range keys {
		op.Keys = append(op.Keys, at[k.ID])
		if at[k.ID] == op.TimeColumn && op.TimeKey < 0 {
			op.TimeKey = i
		}
	}
	if within && op.TimeColumn < 0 {
		return nil, errclass.New("UNSUPPORTED_STREAMING_OPERATION.DEDUP_WITHOUT_WATERMARK")
	}
	if op.TimeColumn >= 0 {
		c.late(child, op.Operator, "")
	}
	name := "dedupe"
	if within {
		name = "dedupeWithinWatermark"
	}
	var names []string
	for _, k := range keys {
		names = append(names, k.Name)
	}
	c.add(number, &operator{
		op: op, name: name, meaning: dedupMeaning(c.out, child, keys), keys: names, cleans: true, hitsPerBatch: 1,
		custom: []string{"numDroppedDuplicateRows"}, twice: c.twice[n],
	})
	return op, nil
}

func (c *compiler) limit(p *physical.Planner, n *plan.Limit) (exec.Op, error) {
	count, err := p.Count(n.N)
	if err != nil {
		return nil, err
	}
	if count == 0 { // nothing below is run, as in Spark
		op := &exec.Values{}
		for _, a := range n.Output() {
			op.Out = append(op.Out, a.T)
		}
		return op, nil
	}
	if c.mode == stateful.Complete && grouped(n.Child) {
		return nil, nil // the whole result is cut in every batch
	}
	number := c.reserve()
	in, err := p.Plan(n.Child)
	if err != nil {
		return nil, err
	}
	op := &stateful.Limit{In: in, N: count, Operator: number}
	c.add(number, &operator{op: op, name: "globalLimit", single: true, hitsPerBatch: 1})
	return op, nil
}

// grouped tells whether a plan has a grouping of streaming rows, so that complete mode gives its whole result in every batch.
func grouped(n plan.Node) bool {
	found := false
	plan.Walk(n, func(n plan.Node) bool {
		switch n.(type) {
		case *plan.Aggregate, *plan.Distinct:
			found = found || n.Streaming()
		}
		return !found
	})
	return found
}

func (c *compiler) observe(p *physical.Planner, n *plan.Observe) (exec.Op, error) {
	in, err := p.Plan(n.Child)
	if err != nil {
		return nil, err
	}
	group, result, err := p.Grouping(&plan.Aggregate{Aggs: n.Aggs, Child: n.Child}, in)
	if err != nil {
		return nil, err
	}
	op := &exec.Observe{In: in, Name: n.Name, Group: group, Result: result}
	for _, e := range n.Aggs {
		if a := plan.AttrOf(e); a != nil {
			op.Schema.Fields = append(op.Schema.Fields, a.Field())
		}
	}
	c.out.observed = append(c.out.observed, op)
	return op, nil
}
