package physical

import (
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// broadcast is the size up to which Spark sends a side of a join to every task.
const broadcast = 10 << 20

// smaller tells whether Spark would build a join's table of the left side: both are small, and the left one is the smaller.
func smaller(left, right plan.Node) bool {
	l, ok := bytes(left)
	r, known := bytes(right)
	return ok && known && l < r && r <= broadcast
}

// bytes estimates the size of a relation as Spark does, if it is made of rows that came with the plan and ranges. Nobody counts what passes a
// filter.
func bytes(n plan.Node) (float64, bool) {
	switch n := n.(type) {
	case *plan.Local:
		rows := 0
		for _, b := range n.Rows {
			rows += b.Rows()
		}
		return float64(rows) * width(n.Out), true
	case *plan.Range:
		return 8 * max(0, float64(n.End-n.Start)/float64(n.Step)), true
	case *plan.OneRow:
		return 1, true
	case *plan.Limit:
		l, ok := n.N.(*plan.Literal)
		if !ok {
			return 0, false
		}
		if k, ok := l.Value.(int32); ok {
			size, known := bytes(n.Child)
			return min(size, float64(k)*width(n.Output())), known
		}
		return 0, false
	case *plan.Union:
		sum := 0.0
		for _, in := range n.Inputs {
			size, ok := bytes(in)
			if !ok {
				return 0, false
			}
			sum += size
		}
		return sum, true
	case *plan.Join:
		left, ok := bytes(n.Left)
		if !ok || n.Kind == plan.LeftSemi || n.Kind == plan.LeftAnti {
			return left, ok
		}
		right, ok := bytes(n.Right)
		return left * right, ok
	case *plan.Aggregate:
		if len(n.Keys) == 0 {
			return width(n.Output()), true
		}
	case *plan.Expand:
		size, ok := bytes(n.Child)
		return size * float64(len(n.Lists)) * width(n.Output()) / width(n.Child.Output()), ok
	}
	if c := n.Children(); len(c) == 1 {
		if local(n) { // it is computed before it is measured
			return bytes(c[0])
		}
		size, ok := bytes(c[0])
		return max(1, size*width(n.Output())/width(c[0].Output())), ok
	}
	return 0, false
}

// width is what a row counts for.
func width(attrs []*plan.Attr) float64 {
	w := 8.0
	for _, a := range attrs {
		w += defaultSize(a.T)
	}
	return w
}

func defaultSize(t types.DataType) float64 {
	switch t := t.(type) {
	case types.StringType:
		return 20
	case types.ArrayType:
		return defaultSize(t.Element)
	case types.MapType:
		return defaultSize(t.Key) + defaultSize(t.Value)
	case types.StructType:
		sum := 0.0
		for _, f := range t.Fields {
			sum += defaultSize(f.Type)
		}
		return sum
	case types.DecimalType:
		if t.Precision > 18 {
			return 16
		}
		return 8
	}
	switch t.SimpleString() {
	case "boolean", "tinyint", "void":
		return 1
	case "smallint":
		return 2
	case "int", "float", "date":
		return 4
	case "binary":
		return 100
	case "interval":
		return 16
	}
	return 8
}
