package plan

import (
	"fmt"
	"strconv"
	"strings"
)

// Canon is a text that is equal for two resolved expressions exactly when they compute the same: names, aliases and origins are
// not in it, identities and types are.
func Canon(e Expr) string {
	var b strings.Builder
	canon(&b, e)
	return b.String()
}

// Same tells whether two resolved expressions compute the same.
func Same(a, b Expr) bool { return a == b || Canon(a) == Canon(b) }

func canon(b *strings.Builder, e Expr) {
	switch e := e.(type) {
	case *Attr:
		b.WriteString("#" + strconv.FormatUint(uint64(e.ID), 10))
		return
	case *LambdaVar:
		b.WriteString("$" + strconv.FormatUint(uint64(e.ID), 10))
		return
	case *Literal:
		fmt.Fprintf(b, "%T:%s:%#v", e.T, e.T.SimpleString(), e.Value)
		return
	case *Alias:
		canon(b, e.Child)
		return
	case *Cast:
		fmt.Fprintf(b, "cast%d<%s>", e.Mode, e.To.SQL())
	case *Call:
		b.WriteString(strings.ToLower(e.Name))
		if e.Fn != nil {
			b.WriteString("/" + e.Fn.Name)
		}
	case *HigherOrder:
		b.WriteString(strings.ToLower(e.Name))
	case *WindowFunc:
		fmt.Fprintf(b, "%s %t", strings.ToLower(e.Name), e.IgnoreNulls)
	case *Cond:
		fmt.Fprintf(b, "cond%d", e.Op)
	case *Field:
		fmt.Fprintf(b, "field%d", e.Ordinal)
	case *Agg:
		fmt.Fprintf(b, "agg %s/%s %t %t %t", strings.ToLower(e.Name), e.Fn.Name, e.Distinct, e.IgnoreNulls, e.Filter != nil)
		if e.Within {
			fmt.Fprintf(b, " within %t", e.Desc)
		}
	case *SortOrder:
		fmt.Fprintf(b, "order %t %t", e.Desc, e.NullsFirst)
	case *TimeWindow:
		fmt.Fprintf(b, "window %d %d %d", e.Duration, e.Slide, e.Start)
	case *OuterRef:
		fmt.Fprintf(b, "outer%d", e.Index)
		return
	case *Subquery:
		fmt.Fprintf(b, "subquery%d %p", e.Kind, e.Plan)
	case *Over:
		fmt.Fprintf(b, "over %d %d %t %t %t %t %t %t", len(e.Partition), len(e.Order), e.Rows, e.Framed,
			e.Lo.Unbounded, e.Hi.Unbounded, e.Lo.Offset != nil, e.Hi.Offset != nil)
	default:
		fmt.Fprintf(b, "%T", e)
		if len(e.Kids()) == 0 {
			b.WriteString(e.SQL())
		}
	}
	b.WriteByte('(')
	for i, k := range e.Kids() {
		if i > 0 {
			b.WriteByte(',')
		}
		canon(b, k)
	}
	b.WriteByte(')')
}
