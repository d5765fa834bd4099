package plan

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// Label implements Node.
func (n *Named) Label() string {
	return fmt.Sprintf("UnresolvedRelation [%s], [%s], %t", strings.Join(n.Parts, ", "), optionText(n.Options), n.Stream)
}

func optionText(options map[string]string) string {
	parts := make([]string, 0, len(options))
	for k, v := range options {
		parts = append(parts, k+"="+v)
	}
	sort.Strings(parts)
	return strings.Join(parts, ", ")
}

// Label implements Node.
func (n *TableFunc) Label() string {
	return fmt.Sprintf("UnresolvedTableValuedFunction [%s], %s", strings.Join(n.Name, ", "), treeList(n.Args))
}

// Label implements Node.
func (n *Read) Label() string {
	kind := "UnresolvedDataSource"
	return fmt.Sprintf("%s format: %s, isStreaming: %t, paths: %d provided", kind, n.Format, n.Stream, len(n.Paths))
}

// Label implements Node.
func (n *Local) Label() string { return "LocalRelation " + attrList(n.Out) }

// Label implements Node.
func (n *Range) Label() string {
	splits := "None"
	if n.Parts > 0 {
		splits = "Some(" + strconv.Itoa(n.Parts) + ")"
	}
	return fmt.Sprintf("Range (%d, %d, step=%d, splits=%s)", n.Start, n.End, n.Step, splits)
}

// Label implements Node.
func (n *OneRow) Label() string { return "OneRowRelation" }

// Label implements Node.
func (n *Scan) Label() string {
	kind := "Relation"
	if n.Stream {
		kind = "StreamingRelationV2"
		return kind + " " + n.Name + ", " + attrList(n.Out)
	}
	return kind + " " + attrList(n.Out) + " " + n.Name
}

// Label implements Node.
func (n *CachedRemote) Label() string { return "CachedRemoteRelation " + n.RelationID }

// Label implements Node.
func (n *Kept) Label() string { return "InMemoryRelation " + attrList(n.Out) }

// Label implements Node.
func (n *Tagged) Label() string { return n.Child.Label() }

// Label implements Node.
func (n *View) Label() string {
	parts := make([]string, len(n.Name))
	for i, p := range n.Name {
		parts[i] = "`" + p + "`"
	}
	return fmt.Sprintf("View (%s, %s)", strings.Join(parts, "."), attrList(n.Child.Output()))
}

// Label implements Node.
func (n *Project) Label() string { return "Project " + treeList(n.Cols) }

// Label implements Node.
func (n *WithColumns) Label() string { return "WithColumns " + treeList(n.Exprs()) }

// Label implements Node.
func (n *Rename) Label() string {
	parts := make([]string, len(n.From))
	for i := range n.From {
		parts[i] = n.From[i] + " AS " + n.To[i]
	}
	return "WithColumnsRenamed [" + strings.Join(parts, ", ") + "]"
}

// Label implements Node.
func (n *Drop) Label() string { return "DataFrameDropColumns " + treeList(n.Cols) }

// Label implements Node.
func (n *ToNames) Label() string { return "ToDF [" + strings.Join(n.Names, ", ") + "]" }

// Label implements Node.
func (n *ToSchema) Label() string { return "ToSchema " + n.Schema.SimpleString() }

// Label implements Node.
func (n *Filter) Label() string { return "Filter " + tree.text(n.Cond) }

// Label implements Node.
func (n *Aggregate) Label() string {
	keys := treeList(n.Keys)
	switch n.Kind {
	case GroupRollup:
		keys = "[rollup(" + tree.list(n.Keys) + ")]"
	case GroupCube:
		keys = "[cube(" + tree.list(n.Keys) + ")]"
	case GroupSets:
		parts := make([]string, len(n.Sets))
		for i, s := range n.Sets {
			parts[i] = "(" + tree.list(s) + ")"
		}
		keys = "[groupingsets(" + strings.Join(parts, ", ") + ")]"
	case GroupPivot:
		return fmt.Sprintf("Pivot %s, %s, %s, %s", treeList(n.Keys), tree.text(n.PivotCol), treeList(n.PivotValues), treeList(n.Aggs))
	}
	return "Aggregate " + keys + ", " + treeList(n.Aggs)
}

// Label implements Node.
func (n *Having) Label() string { return "UnresolvedHaving " + tree.text(n.Cond) }

// Label implements Node.
func (n *Qualify) Label() string { return "UnresolvedQualify " + tree.text(n.Cond) }

// Label implements Node.
func (n *Sort) Label() string {
	return fmt.Sprintf("Sort %s, %t", treeList(orders(n.Orders)), n.Global)
}

// Label implements Node.
func (n *Limit) Label() string { return "GlobalLimit " + tree.text(n.N) }

// Label implements Node.
func (n *Offset) Label() string { return "Offset " + tree.text(n.N) }

// Label implements Node.
func (n *Tail) Label() string { return "Tail " + strconv.FormatInt(n.N, 10) }

// Label implements Node.
func (n *Distinct) Label() string { return "Distinct" }

// Label implements Node.
func (n *Dedup) Label() string {
	if n.WithinWatermark {
		return "DeduplicateWithinWatermark " + treeList(n.Keys)
	}
	return "Deduplicate " + treeList(n.Keys)
}

// Label implements Node.
func (n *Aliased) Label() string {
	if len(n.Columns) > 0 {
		return "UnresolvedSubqueryColumnAliases [" + strings.Join(n.Columns, ", ") + "], " + n.Name
	}
	return "SubqueryAlias " + strings.Join(n.Qualifier(), ".")
}

// Label implements Node.
func (n *With) Label() string {
	parts := make([]string, len(n.Names))
	copy(parts, n.Names)
	return "UnresolvedWith [" + strings.Join(parts, ", ") + "]"
}

// Label implements Node.
func (n *Watermark) Label() string {
	col := tree.text(n.Col)
	if a, ok := n.Col.(*Attr); ok {
		col = attrText(a.Unmarked()) + ": " + a.T.SimpleString()
	}
	return "EventTimeWatermark " + col + ", " + n.DelayText
}

// Label implements Node.
func (n *Expand) Label() string {
	parts := make([]string, len(n.Lists))
	for i, l := range n.Lists {
		parts[i] = treeList(l)
	}
	return "Expand [" + strings.Join(parts, ", ") + "], " + attrList(n.Out)
}

// Label implements Node.
func (n *Generate) Label() string {
	text := "Generate " + tree.text(n.Gen) + ", " + strconv.FormatBool(n.Outer)
	if n.Qualifier != "" {
		text += ", " + n.Qualifier
	}
	if n.Out == nil {
		return text + ", [" + strings.Join(n.Names, ", ") + "]"
	}
	return text + ", " + attrList(n.Out)
}

// Label implements Node.
func (n *Sample) Label() string {
	return fmt.Sprintf("Sample %s, %s, %t, %d", doubleText(n.Lo), doubleText(n.Hi), n.WithReplacement, n.Seed)
}

// Label implements Node.
func (n *Repartition) Label() string {
	if len(n.Keys) == 0 {
		return fmt.Sprintf("Repartition %d, %t", n.N, n.Shuffle)
	}
	if n.N > 0 {
		return fmt.Sprintf("RepartitionByExpression %s, %d", treeList(n.Keys), n.N)
	}
	return "RepartitionByExpression " + treeList(n.Keys)
}

// Label implements Node.
func (n *Sieve) Label() string { return "DeadLetters " + treeList(n.Tests) }

// Label implements Node.
func (n *Aside) Label() string { return "LateRows " + n.Time.SQL() }

// Label implements Node.
func (n *Hint) Label() string { return "UnresolvedHint " + n.Name + ", " + treeList(n.Args) }

// Label implements Node.
func (n *Observe) Label() string { return "CollectMetrics " + n.Name + ", " + treeList(n.Aggs) }

// Label implements Node.
func (n *WindowFuncs) Label() string {
	var part []Expr
	var order []*SortOrder
	for _, c := range n.Cols {
		if o, ok := Trim(c).(*Over); ok {
			part, order = o.Partition, o.Order
		}
	}
	return "Window " + treeList(n.Cols) + ", " + treeList(part) + ", " + treeList(orders(order))
}

// String is the kind's name as trees and messages show it.
func (k JoinKind) String() string {
	return [...]string{"Inner", "Cross", "LeftOuter", "RightOuter", "FullOuter", "LeftSemi", "LeftAnti", "ExistenceJoin"}[k]
}

// Label implements Node.
func (n *Join) Label() string {
	kind := n.Kind.String()
	switch {
	case n.Natural:
		kind = "NaturalJoin(" + kind + ")"
	case len(n.Using) > 0:
		kind = "UsingJoin(" + kind + ", [" + strings.Join(n.Using, ", ") + "])"
	}
	name := "Join "
	if n.Lateral {
		name = "LateralJoin "
	}
	if n.Cond == nil {
		return name + kind
	}
	return name + kind + ", " + tree.text(n.Cond)
}

// Label implements Node.
func (n *SetOp) Label() string {
	name := "Intersect"
	if n.Kind == Except {
		name = "Except"
	}
	if n.All {
		name += " All"
	}
	return fmt.Sprintf("%s %t", name, n.All)
}

// Label implements Node.
func (n *Union) Label() string { return fmt.Sprintf("Union %t, %t", n.ByName, n.AllowMissing) }

// Resolved tells whether nothing in the tree waits for the analyser.
func Resolved(n Node) bool {
	switch n := n.(type) {
	case *Named, *TableFunc, *Read, *CachedRemote, *With, *WithColumns, *Rename, *Drop, *ToNames, *ToSchema, *Having, *Qualify, *Values, *Unpivot:
		return false
	case *Union:
		if n.Out == nil {
			return false
		}
	case *Aliased:
		if len(n.Columns) > 0 {
			return false
		}
	case *Join:
		if n.Natural || len(n.Using) > 0 {
			return false
		}
	case *Aggregate:
		if n.Kind != GroupBy || n.KeysInOutput {
			return false
		}
	}
	for _, e := range n.Exprs() {
		if !isResolved(e) {
			return false
		}
	}
	for _, c := range n.Children() {
		if !Resolved(c) {
			return false
		}
	}
	return true
}

// TreeString draws a plan as Spark does: a node a line, an apostrophe before unresolved ones and a tilde before streaming ones.
func TreeString(n Node) string {
	var b strings.Builder
	writeTree(&b, n, "", "")
	return b.String()
}

func writeTree(b *strings.Builder, n Node, first, rest string) {
	for {
		t, ok := n.(*Tagged)
		if !ok {
			break
		}
		n = t.Child
	}
	mark := ""
	switch {
	case !Resolved(n):
		mark = "'"
	case n.Streaming():
		mark = "~"
	}
	b.WriteString(first + mark + n.Label() + "\n")
	if l, ok := n.(*Limit); ok { // Spark's two nodes for one limit
		first, rest = rest+"+- ", rest+"   "
		b.WriteString(first + mark + "LocalLimit " + tree.text(l.N) + "\n")
	}
	children := n.Children()
	for i, c := range children {
		if i < len(children)-1 {
			writeTree(b, c, rest+":- ", rest+":  ")
		} else {
			writeTree(b, c, rest+"+- ", rest+"   ")
		}
	}
}
