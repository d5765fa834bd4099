package sql

import (
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
)

// maxTree bounds the depth of a tree. The parser's own nesting is bounded by maxDepth, but a chain of operators grows a deep
// tree in a loop, and all that walk over the tree do so by recursion.
const maxTree = 10_000

// treeItem is a part of a tree whose depth is known.
type treeItem struct {
	node  plan.Node
	expr  plan.Expr
	depth int
}

// checkDepth refuses trees that are too deep. Texts of few tokens need no look: each level has one at least.
func (p *parser) checkDepth(roots ...treeItem) {
	if p.err != nil || len(p.toks) < maxTree {
		return
	}
	for stack := roots; len(stack) > 0; {
		it := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if it.depth > maxTree {
			p.pos = 0
			p.failTok(p.peek(), errclass.New("FAILED_TO_PARSE_TOO_COMPLEX"))
			return
		}
		if it.node != nil {
			for _, c := range it.node.Children() {
				stack = append(stack, treeItem{node: c, depth: it.depth + 1})
			}
			for _, e := range it.node.Exprs() {
				stack = append(stack, treeItem{expr: e, depth: it.depth + 1})
			}
		}
		if it.expr == nil {
			continue
		}
		if s, ok := it.expr.(*plan.Subquery); ok {
			stack = append(stack, treeItem{node: s.Plan, depth: it.depth + 1})
		}
		for _, e := range it.expr.Kids() {
			stack = append(stack, treeItem{expr: e, depth: it.depth + 1})
		}
	}
}

// queryOf is the query in a statement, or nil.
func queryOf(s plan.Statement) plan.Node {
	switch s := s.(type) {
	case *plan.Query:
		return s.Plan
	case *plan.CreateView:
		return s.Query
	case *plan.CreateTable:
		return s.Query
	case *plan.Insert:
		return s.Query
	case *plan.CacheTable:
		return s.Query
	case *plan.DescribeQuery:
		return s.Query
	case *plan.Explain:
		return queryOf(s.Statement)
	}
	return nil
}
