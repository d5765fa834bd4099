package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Canon is a text that is equal for two resolved expressions exactly when they compute the same: names, aliases and origins are
// not in it, identities and types are. Parameters of lambdas are told by their place.
func Canon(e Expr) string {
	var c canonText
	c.write(e)
	return c.b.String()
}

// Same tells whether two resolved expressions compute the same.
func Same(a, b Expr) bool { return a == b || Canon(a) == Canon(b) }

type canonText struct {
	b strings.Builder
	// params are the parameters of the lambdas around what is written, the outermost first.
	params []*LambdaVar
}

func (c *canonText) write(e Expr) {
	b := &c.b
	switch e := e.(type) {
	case *Attr:
		b.WriteString("#" + strconv.FormatUint(uint64(e.ID), 10))
		return
	case *LambdaVar:
		for i, p := range slices.Backward(c.params) {
			if p.ID == e.ID {
				b.WriteString("$" + strconv.Itoa(i))
				return
			}
		}
		b.WriteString("$#" + strconv.FormatUint(uint64(e.ID), 10))
		return
	case *Lambda:
		outer := len(c.params)
		c.params = append(c.params, e.Params...)
		b.WriteString("lambda")
		for _, p := range e.Params {
			b.WriteString(" " + p.T.SQL())
		}
		b.WriteByte('(')
		c.write(e.Body)
		b.WriteByte(')')
		c.params = c.params[:outer]
		return
	case *Literal:
		fmt.Fprintf(b, "%T:%s:%#v", e.T, e.T.SimpleString(), e.Value)
		return
	case *Alias:
		c.write(e.Child)
		return
	case *Cast:
		fmt.Fprintf(b, "cast%d<%s>", e.Mode, e.To.SQL())
	case *Call:
		name := strings.ToLower(e.Name)
		if name == "-" && len(e.Args) == 1 {
			name = "negative"
		}
		b.WriteString(name)
		if e.Fn != nil {
			b.WriteString("/" + e.Fn.Name + e.Fn.ID)
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
		fmt.Fprintf(b, "agg %s/%s %t %t %t", strings.ToLower(e.Name), e.Fn.Name+e.Fn.ID, e.Distinct, e.IgnoreNulls, e.Filter != nil)
		if e.Within {
			fmt.Fprintf(b, " within %t %v", e.Desc, e.Keys)
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
		c.write(k)
	}
	b.WriteByte(')')
}
