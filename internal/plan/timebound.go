package plan

import (
	"math"

	"github.com/millrace/millrace/types"
)

// TimeBound is a condition of a join that limits a time of one side from below by the clock of the other: State > Clock + Shift, or
// State >= Clock + Shift when Strict is not set. Once Clock is known to have passed W, rows whose State is at or before W + Shift
// meet no more partners.
type TimeBound struct {
	State, Clock *Attr
	Shift        int64 // microseconds
	Strict       bool
}

// TimeBounds finds the bounds in a join condition for the times of the side whose columns are state, by columns of the other side
// that carry a watermark.
func TimeBounds(cond Expr, state IDSet) []TimeBound {
	var out []TimeBound
	for _, c := range Conjuncts(cond) {
		call, ok := c.(*Call)
		inverse := false
		for ok && call.Fn != nil && call.Fn.Name == "not" && len(call.Args) == 1 {
			inverse = !inverse
			call, ok = Trim(call.Args[0]).(*Call)
		}
		if !ok || call.Fn == nil || len(call.Args) != 2 {
			continue
		}
		name := call.Fn.Name
		if inverse {
			name = opposite[name]
		}
		big, small := call.Args[0], call.Args[1]
		strict := false
		switch name {
		case ">":
			strict = true
		case ">=":
		case "<":
			strict = true
			big, small = small, big
		case "<=":
			big, small = small, big
		default:
			continue
		}
		var s timeSum
		if !s.add(big, 1) || !s.add(small, -1) || len(s.plus) != 1 || len(s.minus) != 1 {
			continue
		}
		// plus + micros > minus, so plus > minus - micros
		b := TimeBound{State: s.plus[0], Clock: s.minus[0], Shift: -s.micros, Strict: strict}
		if state.Has(b.State.ID) && !state.Has(b.Clock.ID) && b.Clock.EventTime {
			out = append(out, b)
		}
	}
	return out
}

// opposite is the comparison that is true where another one is false.
var opposite = map[string]string{">": "<=", ">=": "<", "<": ">=", "<=": ">"}

// timeSum is a sum of times and constants. Numbers are seconds: they stand beside times only where these were cast to numbers.
type timeSum struct {
	plus, minus []*Attr
	micros      int64
}

// add adds an expression with a sign; false means that it is no sum of times and fixed intervals.
func (s *timeSum) add(e Expr, sign int64) bool {
	switch e := e.(type) {
	case *Alias:
		return s.add(e.Child, sign)
	case *Attr:
		switch e.T.(type) {
		case types.TimestampType, types.TimestampNTZType:
		default:
			return false
		}
		if sign > 0 {
			s.plus = append(s.plus, e)
		} else {
			s.minus = append(s.minus, e)
		}
		return true
	case *Literal:
		switch v := e.Value.(type) {
		case types.DayTime:
			s.micros += sign * int64(v)
			return true
		case types.Interval:
			const day = 24 * 60 * 60 * 1000000
			s.micros += sign * (int64(v.Days)*day + v.Micros)
			return v.Months == 0
		case int32:
			s.micros += sign * int64(v) * 1e6
			return true
		case int64:
			s.micros += sign * v * 1e6
			return v < 1e12 && v > -1e12
		case float64:
			s.micros += sign * int64(math.Round(v*1e6))
			return math.Abs(v) < 1e12
		}
		return false
	case *Cast: // a change of the interval's, the timestamp's or the number's form only
		switch e.To.(type) {
		case types.TimestampType, types.CalendarIntervalType, types.DayTimeIntervalType, types.DoubleType:
			return s.add(e.Child, sign)
		}
		return false
	case *Call:
		if e.Fn == nil {
			return false
		}
		switch {
		case e.Fn.Name == "+" && len(e.Args) == 2:
			return s.add(e.Args[0], sign) && s.add(e.Args[1], sign)
		case e.Fn.Name == "-" && len(e.Args) == 2:
			return s.add(e.Args[0], sign) && s.add(e.Args[1], -sign)
		case e.Fn.Name == "negative" && len(e.Args) == 1:
			return s.add(e.Args[0], -sign)
		}
	}
	return false
}

// EquiKey is a pair of expressions, one over each side of a join, that must be equal. With NullSafe (<=>) nulls are equal too.
type EquiKey struct {
	Left, Right Expr
	NullSafe    bool
}

// EquiKeys splits a join condition into its equalities and the other conjuncts. A comparison with a constant is no join key.
func EquiKeys(cond Expr, left, right IDSet) (keys []EquiKey, rest []Expr) {
	for _, c := range Conjuncts(cond) {
		call, ok := c.(*Call)
		if ok && len(call.Args) == 2 && call.Fn != nil && (call.Fn.Name == "==" || call.Fn.Name == "<=>") {
			a, b := call.Args[0], call.Args[1]
			safe := call.Fn.Name == "<=>"
			uses := len(References(a)) > 0 && len(References(b)) > 0
			switch {
			case uses && left.Within(a) && right.Within(b):
				keys = append(keys, EquiKey{a, b, safe})
				continue
			case uses && right.Within(a) && left.Within(b):
				keys = append(keys, EquiKey{b, a, safe})
				continue
			}
		}
		rest = append(rest, c)
	}
	return keys, rest
}
