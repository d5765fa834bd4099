package session

import (
	"context"
	"strings"

	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/plan"
)

// ExplainMode is how much an explain text shows.
type ExplainMode uint8

// The modes.
const (
	ExplainSimple ExplainMode = iota
	ExplainExtended
	ExplainCodegen
	ExplainCost
	ExplainFormatted
)

// ExplainModeOf finds a mode by its name in any case.
func ExplainModeOf(name string) (ExplainMode, bool) {
	for i, m := range []string{"simple", "extended", "codegen", "cost", "formatted"} {
		if strings.EqualFold(name, m) {
			return ExplainMode(i), true
		}
	}
	return 0, false
}

// Explain is the text of a plan, under Spark's headings.
func (s *Session) Explain(ctx context.Context, n plan.Node, mode ExplainMode) (string, error) {
	analyzed, err := s.Analyze(ctx, n)
	if err != nil {
		return "", err
	}
	if analyzed.Streaming() {
		return explainStream(n, analyzed, mode), nil
	}
	q, err := s.PrepareResolved(analyzed, "explain")
	if err != nil {
		return "", err
	}
	physical := OpTree(q.Physical)
	var b strings.Builder
	switch mode {
	case ExplainExtended:
		logicalPlans(&b, n, q.Analyzed, q.Optimized)
		b.WriteString("== Physical Plan ==\n" + physical)
	case ExplainCost:
		b.WriteString("== Optimized Logical Plan ==\n" + plan.TreeString(q.Optimized) + "\n== Physical Plan ==\n" + physical)
	case ExplainCodegen:
		b.WriteString("Found 0 WholeStageCodegen subtrees.\n")
	default:
		b.WriteString("== Physical Plan ==\n" + physical)
	}
	return b.String(), nil
}

func logicalPlans(b *strings.Builder, parsed, analyzed, optimized plan.Node) {
	b.WriteString("== Parsed Logical Plan ==\n" + plan.TreeString(parsed))
	b.WriteString("\n== Analyzed Logical Plan ==\n")
	for i, a := range analyzed.Output() {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(a.Name + ": " + a.T.SimpleString())
	}
	b.WriteString("\n" + plan.TreeString(analyzed))
	b.WriteString("\n== Optimized Logical Plan ==\n" + plan.TreeString(optimized) + "\n")
}

// explainStream explains a plan whose operators only exist once a query runs.
func explainStream(parsed, analyzed plan.Node, mode ExplainMode) string {
	var b strings.Builder
	if mode == ExplainExtended {
		logicalPlans(&b, parsed, analyzed, analyzed)
	}
	b.WriteString("== Physical Plan ==\n" + plan.TreeString(analyzed))
	return b.String()
}

// OpTree draws an operator tree, an operator a line.
func OpTree(op exec.Op) string {
	var b strings.Builder
	writeOp(&b, op, "", "")
	return b.String()
}

func writeOp(b *strings.Builder, op exec.Op, first, rest string) {
	b.WriteString(first + op.Label() + "\n")
	ins := op.Inputs()
	for i, in := range ins {
		if i < len(ins)-1 {
			writeOp(b, in, rest+":- ", rest+":  ")
		} else {
			writeOp(b, in, rest+"+- ", rest+"   ")
		}
	}
}
