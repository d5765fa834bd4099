package plantest

import (
	"fmt"

	"pgregory.net/rapid"
)

// Kind is a family of types that random expressions keep apart.
type Kind byte

// The kinds.
const (
	Int  Kind = 'i' // INT or BIGINT
	Str  Kind = 's'
	Bool Kind = 'b'
	Time Kind = 't' // TIMESTAMP
)

// Column is a column that an expression may name.
type Column struct {
	Name string
	Kind Kind
}

// Gen draws SQL texts. All names that it makes are different, so that none is ambiguous.
type Gen struct {
	T     *rapid.T
	names int
}

// Name is a name not used before.
func (g *Gen) Name(prefix string) string {
	g.names++
	return fmt.Sprintf("%s%d", prefix, g.names)
}

// Pick is a number from 0 to n-1.
func (g *Gen) Pick(n int, label string) int { return rapid.IntRange(0, n-1).Draw(g.T, label) }

// Cond draws a condition.
func (g *Gen) Cond(cols []Column, depth int) string { return g.Expr(cols, Bool, depth) }

// Expr draws an expression of a kind, with up to depth levels. It is deterministic, and fails only where ANSI mode makes it.
func (g *Gen) Expr(cols []Column, kind Kind, depth int) string {
	var fit []string
	for _, c := range cols {
		if c.Kind == kind {
			fit = append(fit, c.Name)
		}
	}
	if depth == 0 || g.Pick(3, "leaf") == 0 {
		if len(fit) > 0 && g.Pick(5, "constant") > 0 {
			return fit[g.Pick(len(fit), "column")]
		}
		return g.constant(kind)
	}
	sub := func(k Kind) string { return g.Expr(cols, k, depth-1) }
	switch kind {
	case Int:
		switch g.Pick(7, "int") {
		case 0:
			return "(" + sub(Int) + " + " + sub(Int) + ")"
		case 1:
			return "(" + sub(Int) + " div " + sub(Int) + ")"
		case 2:
			return "(" + sub(Int) + " % " + sub(Int) + ")"
		case 3:
			return "coalesce(" + sub(Int) + ", " + sub(Int) + ")"
		case 4:
			return "CASE WHEN " + sub(Bool) + " THEN " + sub(Int) + " ELSE " + sub(Int) + " END"
		case 5:
			return "CAST(" + sub(Int) + " AS BIGINT)"
		}
		return "if(" + sub(Bool) + ", " + sub(Int) + ", " + sub(Int) + ")"
	case Str:
		if g.Pick(2, "text") == 0 {
			return "CAST(" + sub(Int) + " AS STRING)"
		}
		return "coalesce(" + sub(Str) + ", " + sub(Str) + ")"
	case Time:
		return "coalesce(" + sub(Time) + ", " + sub(Time) + ")"
	}
	switch g.Pick(9, "bool") {
	case 0:
		return "(" + sub(Bool) + " AND " + sub(Bool) + ")"
	case 1:
		return "(" + sub(Bool) + " OR " + sub(Bool) + ")"
	case 2:
		return "(NOT " + sub(Bool) + ")"
	case 3:
		return "(" + sub(Str) + " IS NULL)"
	case 4:
		return "(" + sub(Str) + " <= " + sub(Str) + ")"
	case 5:
		return "(" + sub(Time) + " < " + sub(Time) + ")"
	case 6:
		return "(" + sub(Int) + " IN (" + sub(Int) + ", 1))"
	}
	return "(" + sub(Int) + []string{" = ", " <=> ", " < ", " >= ", " <> "}[g.Pick(5, "comparison")] + sub(Int) + ")"
}

func (g *Gen) constant(kind Kind) string {
	if g.Pick(6, "null") == 0 {
		return "CAST(NULL AS " + map[Kind]string{Int: "INT", Str: "STRING", Bool: "BOOLEAN", Time: "TIMESTAMP"}[kind] + ")"
	}
	switch kind {
	case Int:
		return []string{"0", "1", "2", "-1", "3"}[g.Pick(5, "int")]
	case Str:
		return []string{"'a'", "'b'", "''"}[g.Pick(3, "text")]
	case Time:
		return []string{"TIMESTAMP'2026-01-01 12:00:00'", "TIMESTAMP'2026-01-01 12:07:00'"}[g.Pick(2, "time")]
	}
	return []string{"true", "false"}[g.Pick(2, "bool")]
}
