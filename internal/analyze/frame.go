package analyze

import (
	"slices"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// frame settles the frame of a window function call.
func (sc *scope) frame(o *plan.Over) (plan.Expr, error) {
	w, ok := o.Fn.(*plan.WindowFunc)
	if !ok || w.Name == "nth_value" {
		if a, ok := o.Fn.(*plan.Agg); ok && a.Distinct {
			return nil, errclass.New("DISTINCT_WINDOW_FUNCTION_UNSUPPORTED", "windowExpr", errclass.Expr(o.SQL()))
		} else if ok && (wholeOnly[a.Fn.Name] || len(a.Keys) > 0) && (len(o.Order) > 0 || o.Framed && !(o.Rows && o.Lo.Unbounded && o.Hi.Unbounded)) {
			return nil, errclass.New("INVALID_WINDOW_SPEC_FOR_AGGREGATION_FUNC", "aggFunc", errclass.Expr(a.SQL()))
		}
		return o, at(sc.writtenFrame(o), o.Spec)
	}
	own := *o
	own.Rows, own.Framed = w.Name != "cume_dist", true
	switch w.Name {
	case "lag", "lead":
		at := &plan.Literal{Value: int32(w.N), T: types.Integer}
		own.Lo, own.Hi = plan.FrameBound{Offset: at}, plan.FrameBound{Offset: at}
	default:
		own.Lo, own.Hi = plan.FrameBound{Unbounded: true}, plan.FrameBound{}
	}
	switch {
	case o.Framed && (w.Name == "lag" || w.Name == "lead"):
		return nil, errclass.New("_LEGACY_ERROR_TEMP_1035", "prettyName", w.Name)
	case o.Framed && own.FrameSQL() != o.FrameSQL():
		return nil, errclass.New("_LEGACY_ERROR_TEMP_1036", "wf", o.FrameSQL(), "required", own.FrameSQL())
	case len(o.Order) == 0:
		return nil, errclass.New("WINDOW_FUNCTION_FRAME_NOT_ORDERED", "wf_name", w.Name, "wf_expr", sqlText(w))
	}
	return &own, nil
}

// wholeOnly are aggregates whose window has neither order nor frame.
var wholeOnly = map[string]bool{"median": true, "percentile_cont": true, "percentile_disc": true}

// writtenFrame checks a frame that may have been written, and works out the ends of one with distances.
func (sc *scope) writtenFrame(o *plan.Over) error {
	if !o.Framed {
		return nil
	}
	if !o.Rows {
		sc.castDistances(o)
	}
	sql := errclass.Expr(o.FrameSQL())
	want := `"INT"`
	if !o.Rows {
		want = `("NUMERIC" or "INTERVAL DAY TO SECOND" or "INTERVAL YEAR TO MONTH" or "INTERVAL")`
	}
	var distances []plan.Expr
	for i, b := range []plan.FrameBound{o.Lo, o.Hi} {
		if b.Offset == nil {
			continue
		}
		distances = append(distances, b.Offset)
		place, t := []string{"lower", "upper"}[i], plan.TypeOf(b.Offset)
		switch {
		case sc.r.constant(b.Offset) == nil && len(plan.References(b.Offset)) > 0:
			return errclass.New("DATATYPE_MISMATCH.SPECIFIED_WINDOW_FRAME_WITHOUT_FOLDABLE", "sqlExpr", sql, "location", place,
				"expression", errclass.Expr(b.Offset.SQL()))
		case o.Rows && !types.Equal(t, types.Integer) || !o.Rows && !isDistance(t):
			return errclass.New("DATATYPE_MISMATCH.SPECIFIED_WINDOW_FRAME_UNACCEPTED_TYPE", "sqlExpr", sql, "location", place,
				"expectedType", want, "exprType", errclass.Expr(t.SQL()))
		}
	}
	lo, hi := o.BoundsSQL()
	if o.Lo.Outward || o.Hi.Outward {
		return errclass.New("DATATYPE_MISMATCH.SPECIFIED_WINDOW_FRAME_INVALID_BOUND", "sqlExpr", sql, "lower", errclass.Expr(lo), "upper", errclass.Expr(hi))
	}
	if len(distances) == 2 {
		if err := sc.compareDistances(o, sql, distances); err != nil {
			return err
		}
	}
	if o.Rows {
		sc.foldDistances(o)
		return nil
	}
	return sc.rangeEnds(o, distances)
}

// isDistance tells whether a RANGE frame may be bounded by values of a type.
func isDistance(t types.DataType) bool {
	switch t.(type) {
	case types.ByteType, types.ShortType, types.IntegerType, types.LongType, types.FloatType, types.DoubleType, types.DecimalType,
		types.DayTimeIntervalType, types.YearMonthIntervalType, types.CalendarIntervalType:
		return true
	}
	return false
}

// castDistances gives the distances of a RANGE frame the type of the order key, unless that is a date or timestamp.
func (sc *scope) castDistances(o *plan.Over) {
	if len(o.Order) != 1 {
		return
	}
	t := plan.TypeOf(o.Order[0].Child)
	switch t.(type) {
	case types.DateType, types.TimestampType:
		return
	}
	lo, hi := o.BoundsSQL()
	for i, b := range []*plan.FrameBound{&o.Lo, &o.Hi} {
		if b.Offset == nil || types.Equal(plan.TypeOf(b.Offset), t) {
			continue
		}
		c := &plan.Cast{Child: b.Offset, To: t, Mode: sc.r.mode(), Implicit: true}
		if sc.castable(c) != nil {
			continue
		}
		b.Text = []string{lo, hi}[i]
		if before, ok := strings.CutSuffix(b.Text, " PRECEDING"); ok {
			b.Text = "(- " + before + ") FOLLOWING"
		}
		b.Offset, b.Preceding = c, false
	}
}

func (sc *scope) compareDistances(o *plan.Over, sql string, ds []plan.Expr) error {
	lo, hi := plan.TypeOf(ds[0]), plan.TypeOf(ds[1])
	if !types.Equal(lo, hi) {
		from, to := o.BoundsSQL()
		return errclass.New("DATATYPE_MISMATCH.SPECIFIED_WINDOW_FRAME_DIFF_TYPES", "sqlExpr", sql, "lower", distanceText(from), "upper", distanceText(to),
			"lowerType", errclass.Expr(lo.SQL()), "upperType", errclass.Expr(hi.SQL()))
	}
	if _, ok := lo.(types.CalendarIntervalType); ok {
		return nil
	}
	greater, err := sc.call(">", slices.Clone(ds), plan.Origin{})
	if err != nil {
		return nil
	}
	if l, ok := sc.r.fold(greater).(*plan.Literal); ok && l.Value == true {
		return errclass.New("DATATYPE_MISMATCH.SPECIFIED_WINDOW_FRAME_WRONG_COMPARISON", "sqlExpr", sql, "comparison", "less than or equal")
	}
	return nil
}

// distanceText is the distance of a bound from the current row, which is negative if it precedes it.
func distanceText(bound string) string {
	if before, ok := strings.CutSuffix(bound, " PRECEDING"); ok {
		return errclass.Expr("(- " + before + ")")
	}
	return errclass.Expr(strings.TrimSuffix(bound, " FOLLOWING"))
}

// foldDistances makes literals of the distances.
func (sc *scope) foldDistances(o *plan.Over) {
	lo, hi := o.BoundsSQL()
	for i, b := range []*plan.FrameBound{&o.Lo, &o.Hi} {
		if b.Offset == nil {
			continue
		}
		if l, ok := sc.r.fold(b.Offset).(*plan.Literal); ok && b.Offset != plan.Expr(l) {
			b.Text, b.Offset = []string{lo, hi}[i], l
		}
	}
}

// rangeEnds checks that the distances of a RANGE frame go with its order and works out the keys at them.
func (sc *scope) rangeEnds(o *plan.Over, distances []plan.Expr) error {
	spec := errclass.Expr(o.SpecSQL())
	switch {
	case len(o.Order) == 0 && !(o.Lo.Unbounded && o.Hi.Unbounded):
		return errclass.New("DATATYPE_MISMATCH.RANGE_FRAME_WITHOUT_ORDER", "sqlExpr", spec)
	case len(distances) == 0:
		return nil
	case len(o.Order) > 1:
		keys := make([]string, len(o.Order))
		for i, k := range o.Order {
			keys[i] = plan.TreeText(k)
		}
		return errclass.New("DATATYPE_MISMATCH.RANGE_FRAME_MULTI_ORDER", "sqlExpr", spec, "orderSpec", strings.Join(keys, ","))
	}
	key := o.Order[0]
	if kt, dt := plan.TypeOf(key.Child), plan.TypeOf(distances[0]); !goesWith(kt, dt) {
		return errclass.New("DATATYPE_MISMATCH.RANGE_FRAME_INVALID_TYPE", "sqlExpr", spec, "orderSpecType", errclass.Expr(kt.SQL()),
			"valueBoundaryType", errclass.Expr(dt.SQL()))
	}
	for _, b := range []*plan.FrameBound{&o.Lo, &o.Hi} {
		if b.Offset == nil {
			continue
		}
		by := b.Offset
		var err error
		if key.Desc {
			if by, err = sc.call("negative", []plan.Expr{by}, plan.Origin{}); err != nil {
				return err
			}
		}
		if b.Value, err = sc.call("+", []plan.Expr{key.Child, sc.r.fold(by)}, plan.Origin{}); err != nil {
			return err
		}
	}
	return nil
}

// goesWith tells whether a distance can be added to an order key.
func goesWith(key, distance types.DataType) bool {
	switch key.(type) {
	case types.DateType:
		switch d := distance.(type) {
		case types.IntegerType, types.YearMonthIntervalType:
			return true
		case types.DayTimeIntervalType: // whole days
			return d.End == types.DayField
		}
	case types.TimestampType, types.TimestampNTZType:
		switch distance.(type) {
		case types.CalendarIntervalType, types.YearMonthIntervalType, types.DayTimeIntervalType:
			return true
		}
	}
	return types.Equal(key, distance)
}
