package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// expand reads productions written as texts by their result, "T class" for those whose type is free.
func expand(texts map[string]string) map[string][]production {
	out := map[string][]production{}
	for key, text := range texts {
		result, class, _ := strings.Cut(key, " ")
		for _, line := range lines(text) {
			p := production{result, class, line}
			if class == "" {
				out[result] = append(out[result], p)
				continue
			}
			for _, t := range classes[class] {
				out[t] = append(out[t], p)
			}
		}
	}
	for _, list := range out { // maps have no order
		slices.SortFunc(list, func(a, b production) int { return strings.Compare(a.text, b.text) })
	}
	return out
}

func lines(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// node is an expression: its text with the texts of its kids in between.
type node struct {
	kind  string
	parts []string // one more than kids
	kids  []*node
}

// String is the SQL text.
func (n *node) String() string {
	var out strings.Builder
	for i, p := range n.parts {
		out.WriteString(p)
		if i < len(n.kids) {
			if k := n.kids[i]; len(k.kids) > 0 && strings.ContainsAny(k.parts[0]+k.parts[len(k.parts)-1], " ") || strings.HasPrefix(k.String(), "-") {
				out.WriteString("(" + k.String() + ")")
			} else {
				out.WriteString(k.String())
			}
		}
	}
	return out.String()
}

// generator makes random texts over columns of a table.
type generator struct {
	r *rand.Rand
	// prefix stands before the names of columns.
	prefix string
}

func (g *generator) pick(list []string) string { return list[g.r.IntN(len(list))] }

var placeholder = regexp.MustCompile(`\{([A-Za-z0-9: ]+)\}`)

// expression makes an expression of a kind, with calls in calls as deep as depth.
func (g *generator) expression(kind string, depth int) *node {
	if list := classes[kind]; list != nil {
		kind = g.pick(list)
	}
	if list := wordings[kind]; list != nil {
		if g.r.IntN(8) == 0 {
			kind = "s"
		} else {
			return &node{kind: "s", parts: []string{g.pick(list)}}
		}
	}
	switch kind {
	case "void":
		return &node{kind: kind, parts: []string{"NULL"}}
	case "any text":
		return g.expression(g.pick(textKinds()), depth)
	case "n", "t", "num": // small numbers and texts: what they are for must not explode
		return g.leaf(kind)
	case "x":
		if depth <= 0 || g.r.IntN(3) > 0 {
			return g.leaf(kind)
		}
		kind = "f64"
	}
	if depth <= 0 || g.r.IntN(4) == 0 {
		return g.leaf(kind)
	}
	list := productions[kind]
	if len(list) == 0 {
		return g.leaf(kind)
	}
	p := list[g.r.IntN(len(list))]
	bound := ""
	if p.result == "T" {
		bound = kind
	}
	n := g.fill(p.text, bound, depth-1)
	n.kind = kind
	return n
}

// textKinds are the kinds of texts.
var textKinds = sync.OnceValue(func() []string { return slices.Sorted(maps.Keys(wordings)) })

// fill makes the expressions that a text asks for; bound is the type that T stands for, if that is settled.
func (g *generator) fill(text, bound string, depth int) *node {
	n := &node{}
	if bound != "" {
		text = strings.ReplaceAll(text, "@T", sqlTypes[bound])
	}
	for {
		at := placeholder.FindStringSubmatchIndex(text)
		if at == nil {
			n.parts = append(n.parts, text)
			return n
		}
		kind := text[at[2]:at[3]]
		if name, class, ok := strings.Cut(kind, ":"); ok && name == "T" {
			bound = g.pick(classes[class])
			kind = bound
		} else if kind == "T" {
			kind = bound
		}
		n.parts = append(n.parts, text[:at[0]])
		n.kids = append(n.kids, g.expression(kind, depth))
		text = text[at[1]:]
	}
}

// leaf is a column of a type, a value of it, or null.
func (g *generator) leaf(kind string) *node {
	var c column
	for _, x := range columns {
		if x.name == kind {
			c = x
		}
	}
	text := g.prefix + "`" + c.name + "`"
	switch g.r.IntN(12) {
	case 0:
		text = fmt.Sprintf("CAST(NULL AS %s)", c.typ)
	case 1, 2:
		text = fmt.Sprintf("CAST(%s AS %s)", g.pick(c.values), c.typ)
	case 3:
		if kind == "n" {
			text = g.pick([]string{"0", "1", "2", "3"})
		}
	}
	return &node{kind: kind, parts: []string{text}}
}
