package stream

import (
	"strings"

	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/plan"
)

// explanation is what Explain shows.
type explanation struct {
	plan *compiled
	ran  bool
}

// explained notes that the plan has been used: before, there is none to show.
func (q *Query) explained() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.explain.ran = true
}

// Explain prints the plan of the last batch, extended with the logical plans that it came from.
func (q *Query) Explain(extended bool) string {
	q.mu.Lock()
	e := q.explain
	q.mu.Unlock()
	if !e.ran {
		return "No physical plan. Waiting for data."
	}
	var b strings.Builder
	if extended {
		logical := plan.TreeString(e.plan.analysed)
		b.WriteString("== Parsed Logical Plan ==\n" + logical + "\n== Analyzed Logical Plan ==\n" + logical)
		b.WriteString("\n== Optimized Logical Plan ==\n" + plan.TreeString(e.plan.optimised) + "\n")
	}
	b.WriteString("== Physical Plan ==\n")
	physicalTree(&b, e.plan.root, "", "")
	return b.String()
}

func physicalTree(b *strings.Builder, op exec.Op, first, rest string) {
	b.WriteString(first + op.Label() + "\n")
	ins := op.Inputs()
	for i, in := range ins {
		if i < len(ins)-1 {
			physicalTree(b, in, rest+":- ", rest+":  ")
		} else {
			physicalTree(b, in, rest+"+- ", rest+"   ")
		}
	}
}
