package fn

import (
	"strconv"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/topitems"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func frequentFunctions() []*Function {
	return []*Function{{Name: "approx_top_k_estimate", Bind: bindTopEstimate}}
}

const (
	// DefaultTop is how many items approx_top_k and approx_top_k_estimate return.
	DefaultTop = 5
	maxTracked = 1_000_000
)

// SketchStruct is what takes the struct of a sketch of frequent items.
var SketchStruct = Accept{name: `"STRUCT"`, to: []types.DataType{types.Struct()}, strict: true, has: func(t types.DataType) bool {
	_, ok := t.(types.StructType)
	return ok
}}

// TopMistake is the error of arguments of a function of frequent items.
func (b *Binding) TopMistake(msg string) error {
	return errclass.New("DATATYPE_MISMATCH.TYPE_CHECK_FAILURE_WITH_HINT", "sqlExpr", b.SQL(), "msg", msg, "hint", "")
}

// TopItems reads argument i, the constant k, as how many items are wanted; they are DefaultTop when it is left out.
func (b *Binding) TopItems(i int) (int64, error) {
	return b.topNumber(i, DefaultTop, "k", "K must be a constant literal")
}

// TrackedItems reads argument i, the constant maxItemsTracked, which is the number missing when it is left out.
func (b *Binding) TrackedItems(i int, missing int64) (int64, error) {
	n, err := b.topNumber(i, missing, "maxItemsTracked", "Number of items tracked must be a constant literal")
	if err != nil || i >= len(b.Args) {
		return n, err
	}
	return n, checkTracked(n)
}

func checkTracked(n int64) error {
	if n > maxTracked {
		return errclass.New("APPROX_TOP_K_MAX_ITEMS_TRACKED_EXCEEDS_LIMIT", "maxItemsTracked", strconv.FormatInt(n, 10), "limit", strconv.Itoa(maxTracked))
	}
	return checkPositive("maxItemsTracked", n)
}

func checkPositive(name string, n int64) error {
	if n <= 0 {
		return errclass.New("APPROX_TOP_K_NON_POSITIVE_ARG", "argName", "`"+name+"`", "argValue", strconv.FormatInt(n, 10))
	}
	return nil
}

// CheckTop refuses to give more items than are tracked.
func CheckTop(k, tracked int64) error {
	if tracked < k {
		return errclass.New("APPROX_TOP_K_MAX_ITEMS_TRACKED_LESS_THAN_K", "maxItemsTracked", strconv.FormatInt(tracked, 10), "k", strconv.FormatInt(k, 10))
	}
	return nil
}

func (b *Binding) topNumber(i int, missing int64, name, constant string) (int64, error) {
	if i >= len(b.Args) {
		return missing, nil
	}
	a := b.Args[i]
	if a.Const == nil {
		return 0, b.TopMistake(constant)
	}
	n, ok := ConstLong(a)
	if !ok && (a.Const.IsNull(0) || !b.ANSI) {
		return 0, errclass.New("APPROX_TOP_K_NULL_ARG", "argName", "`"+name+"`")
	}
	if !ok {
		return 1, nil // its cast fails
	}
	return n, checkPositive(name, n)
}

// TopStruct checks that an argument is the struct of a sketch, and returns the type of its items.
func (b *Binding) TopStruct(t types.DataType) (types.DataType, error) {
	s, ok := t.(types.StructType)
	if !ok || len(s.Fields) != topitems.Fields {
		return nil, b.TopMistake("the state must be " + topitems.StructType(types.Null).SQL() + " of any item type, not " + t.SQL())
	}
	for i, want := range []types.DataType{topitems.SketchField: types.Binary, topitems.TrackedField: types.Integer, topitems.TextField: types.String} {
		if got := s.Fields[i].Type; want != nil && !types.SameType(got, want) {
			return nil, b.TopMistake("the " + ordinal(i+1) + " field of the state must be " + want.SQL() + ", not " + got.SQL())
		}
	}
	item := s.Fields[topitems.ItemField].Type
	if !topitems.Countable(item) {
		return nil, b.TopMistake("the third field of the state has the type " + item.SQL() + ", which cannot be counted")
	}
	return item, nil
}

// bindTopEstimate binds approx_top_k_estimate(state[, k]).
func bindTopEstimate(b *Binding) (*Bound, error) {
	if err := b.Arity(1, 2); err != nil {
		return nil, err
	}
	casts, err := b.Accept(SketchStruct, CastTo(types.Integer))
	if err != nil {
		return nil, err
	}
	item, err := b.TopStruct(b.result(casts, 0))
	if err != nil {
		return nil, err
	}
	k, err := b.TopItems(1)
	if err != nil {
		return nil, err
	}
	t := topitems.Type(item)
	return &Bound{Args: casts, Type: t, CanFail: true, NullsAreArgs: true, New: func() Kernel {
		out := vec.NewBuilder(t)
		return func(e *expr.Eval, n int, args []*vec.Vector, _ *vec.Vector) *vec.Vector {
			out.Reset()
			for i := range n {
				items, tracked, err := ReadTop(b.Name, args[0], i, item)
				if err == nil {
					err = checkTracked(tracked)
				}
				if err == nil {
					err = CheckTop(k, tracked)
				}
				if err != nil {
					e.Errs.Add(i, err)
				}
				items.Emit(out, int(k))
			}
			return out.Borrow()
		}
	}}, nil
}

// ReadTop reads the struct of row i: its sketch, of items of a type, and how many items it tracks.
func ReadTop(function string, v *vec.Vector, i int, item types.DataType) (items *topitems.Items, tracked int64, err error) {
	v, i = v.Stored(i)
	sketch := v.Kids()[topitems.SketchField]
	if v.IsNull(i) || sketch.IsNull(i) {
		return nil, 0, BadSketch("APPROX_TOP_K", function)
	}
	if items, err = topitems.Parse(sketch.BytesAt(i), item); err != nil {
		return nil, 0, BadSketch("APPROX_TOP_K", function)
	}
	if t := v.Kids()[topitems.TrackedField]; !t.IsNull(i) {
		tracked = int64(vec.At[int32](t, i))
	}
	return items, tracked, nil
}
