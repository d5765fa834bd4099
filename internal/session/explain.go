package session

import (
	"context"
	"fmt"
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
		b.WriteString("== Optimized Logical Plan ==\n" + withStatistics(plan.TreeString(q.Optimized)) + "\n== Physical Plan ==\n" + physical)
	case ExplainFormatted:
		b.WriteString("== Physical Plan ==\n" + formatted(q.Physical))
	case ExplainCodegen:
		b.WriteString("Found 0 WholeStageCodegen subtrees.\n")
	default:
		b.WriteString("== Physical Plan ==\n" + physical)
	}
	return b.String(), nil
}

// withStatistics adds what is known of sizes, which is nothing.
func withStatistics(tree string) string {
	return strings.ReplaceAll(tree, "\n", ", Statistics(sizeInBytes=8.0 EiB)\n")
}

// formatted draws an operator tree with numbers, and explains them below.
func formatted(op exec.Op) string {
	numbers := map[exec.Op]int{}
	var details strings.Builder
	var number func(op exec.Op)
	number = func(op exec.Op) {
		for _, in := range op.Inputs() {
			number(in)
		}
		if numbers[op] == 0 {
			n := len(numbers) + 1
			numbers[op] = n
			fmt.Fprintf(&details, "\n(%d) %s\n", n, op.Label())
		}
	}
	number(op)
	var b strings.Builder
	writeOp(&b, op, "", "", func(op exec.Op) string {
		name, _, _ := strings.Cut(op.Label(), " ")
		return fmt.Sprintf("%s (%d)", name, numbers[op])
	})
	return b.String() + "\n" + details.String()
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
	switch mode {
	case ExplainExtended:
		logicalPlans(&b, parsed, analyzed, analyzed)
	case ExplainCost:
		b.WriteString("== Optimized Logical Plan ==\n" + withStatistics(plan.TreeString(analyzed)) + "\n")
	}
	b.WriteString("== Physical Plan ==\n" + plan.TreeString(analyzed))
	return b.String()
}

// OpTree draws an operator tree, an operator a line.
func OpTree(op exec.Op) string {
	var b strings.Builder
	writeOp(&b, op, "", "", exec.Op.Label)
	return b.String()
}

func writeOp(b *strings.Builder, op exec.Op, first, rest string, label func(exec.Op) string) {
	b.WriteString(first + label(op) + "\n")
	ins := op.Inputs()
	for i, in := range ins {
		if i < len(ins)-1 {
			writeOp(b, in, rest+":- ", rest+":  ", label)
		} else {
			writeOp(b, in, rest+"+- ", rest+"   ", label)
		}
	}
}
