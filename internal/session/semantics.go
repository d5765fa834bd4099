package session

import (
	"fmt"
	"hash/fnv"
	"regexp"
	"strings"

	"github.com/millrace/millrace/internal/plan"
)

var columnID = regexp.MustCompile(`#\d+L?`)

// Semantics is a text that resolved plans with the same meaning share: their tree, with columns numbered in the order of their
// appearance instead of by identity. Plans with different texts may mean the same all the same.
func Semantics(n plan.Node) string {
	seen := map[string]string{}
	return columnID.ReplaceAllStringFunc(bare(n), func(id string) string {
		id = strings.TrimSuffix(id, "L")
		if seen[id] == "" {
			seen[id] = fmt.Sprintf("#%d", len(seen))
		}
		return seen[id]
	})
}

// bare is a plan's tree without the nodes that only name it.
func bare(n plan.Node) string {
	m, err := plan.TransformUp(n, func(n plan.Node) (plan.Node, error) {
		switch n := n.(type) {
		case *plan.Tagged:
			return n.Child, nil
		case *plan.Aliased:
			if len(n.Columns) == 0 {
				return n.Child, nil
			}
		case *plan.View:
			return n.Child, nil
		}
		return n, nil
	})
	if err != nil {
		m = n
	}
	return plan.TreeString(m)
}

// SemanticHash is a number that plans with the same meaning share.
func SemanticHash(n plan.Node) int32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(Semantics(n)))
	return int32(h.Sum32())
}
