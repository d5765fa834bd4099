package agg

import (
	"encoding/binary"
	"errors"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/expr/topitems"
	"github.com/millrace/millrace/internal/sketch/frequent"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func frequentFunctions() []*Function {
	return []*Function{
		{Name: "approx_top_k", Bind: bindApproxTopK},
		{Name: "approx_top_k_accumulate", Bind: bindTopAccumulate},
		{Name: "approx_top_k_combine", Bind: bindTopCombine},
	}
}

const defaultTracked = 10000

// bindApproxTopK binds approx_top_k(value[, k[, tracked]]).
func bindApproxTopK(b *Binding) (*Bound, error) {
	c := b.call()
	casts, err := countedArgs(c, 3)
	if err != nil {
		return nil, err
	}
	k, err := c.TopItems(1)
	if err != nil {
		return nil, err
	}
	tracked, err := c.TrackedItems(2, defaultTracked)
	if err == nil {
		err = fn.CheckTop(k, tracked)
	}
	if err != nil {
		return nil, err
	}
	kind := countItems(frequent.Slots(int(tracked)))
	kind.result = topitems.Type(b.Args[0].Type)
	kind.merge = func(s *topitems.Items, image []byte) (*topitems.Items, error) {
		return mergedItems(s, kind.fresh, topitems.Read, image)
	}
	kind.save = func(b []byte, s *topitems.Items) []byte { return s.Append(b) }
	kind.emit = func(out *vec.Builder, s *topitems.Items) error {
		s.Emit(out, int(k))
		return nil
	}
	return kind.bound(casts, false), nil
}

// countedArgs checks a call whose first argument is counted.
func countedArgs(c *fn.Binding, most int) ([]types.DataType, error) {
	if err := c.Arity(1, most); err != nil {
		return nil, err
	}
	casts, err := c.Accept(fn.AnyType, fn.CastTo(types.Integer))
	if err != nil {
		return nil, err
	}
	if t := c.Args[0].Type; !topitems.Countable(t) {
		return nil, c.TopMistake(strings.ToLower(t.SQL()) + " columns are not supported")
	}
	return casts, nil
}

// countItems counts items in tables of so many slots. What becomes of them is for the caller to say.
func countItems(slots int) *objectKind[topitems.Items] {
	return &objectKind[topitems.Items]{
		fresh: func() *topitems.Items { return topitems.New(slots) },
		update: func(_ *expr.Eval, get func(uint32) *topitems.Items, groups []uint32, args []*vec.Vector) {
			a := topitems.NewAdder(args[0])
			for i, g := range groups {
				a.Add(get(g), i)
			}
		},
		size: (*topitems.Items).Bytes,
	}
}

func mergedItems(s *topitems.Items, fresh func() *topitems.Items, read func([]byte) (*topitems.Items, error), image []byte) (*topitems.Items, error) {
	o, err := read(image)
	if err != nil {
		return nil, err
	}
	if s == nil {
		s = fresh()
	}
	s.Merge(o)
	return s, nil
}

// bindTopAccumulate binds approx_top_k_accumulate(value[, tracked]).
func bindTopAccumulate(b *Binding) (*Bound, error) {
	c := b.call()
	casts, err := countedArgs(c, 2)
	if err != nil {
		return nil, err
	}
	tracked, err := c.TrackedItems(1, defaultTracked)
	if err != nil {
		return nil, err
	}
	item := b.Args[0].Type
	kind := countItems(frequent.Slots(int(tracked)))
	kind.result = topitems.StructType(item)
	kind.merge = func(s *topitems.Items, image []byte) (*topitems.Items, error) {
		return mergedItems(s, kind.fresh, func(b []byte) (*topitems.Items, error) { return topitems.Parse(b, item) }, image)
	}
	kind.save = func(b []byte, s *topitems.Items) []byte { return s.Image(b, item) }
	kind.emit = func(out *vec.Builder, s *topitems.Items) error {
		if s == nil {
			s = kind.fresh()
		}
		s.EmitStruct(out, int(tracked), item)
		return nil
	}
	return kind.bound(casts, false), nil
}

// combined are sketches put together. What they hold and track is known with the first.
type combined struct {
	items   *topitems.Items
	item    types.DataType
	tracked int32
}

// add puts another sketch to those that are there. A size that the call gives makes those of the sketches meaningless.
func (s *combined) add(o *combined, sized bool) error {
	if s.item == nil {
		s.item, s.tracked = o.item, o.tracked
	}
	if !sized && s.tracked != o.tracked {
		return errclass.New("APPROX_TOP_K_SKETCH_SIZE_NOT_MATCH", "size1", strconv.Itoa(int(s.tracked)), "size2", strconv.Itoa(int(o.tracked)))
	}
	if !types.SameType(s.item, o.item) {
		return errclass.New("APPROX_TOP_K_SKETCH_TYPE_NOT_MATCH", "type1", `"`+s.item.SQL()+`"`, "type2", `"`+o.item.SQL()+`"`)
	}
	s.items.Merge(o.items)
	return nil
}

// bindTopCombine binds approx_top_k_combine(state[, tracked]).
func bindTopCombine(b *Binding) (*Bound, error) {
	c := b.call()
	if err := c.Arity(1, 2); err != nil {
		return nil, err
	}
	// The number is looked at before the call, and is not cast.
	if sized := len(b.Args) == 2; sized && b.Args[1].Const != nil && !b.Args[1].Const.IsNull(0) && !types.SameType(b.Args[1].Type, types.Integer) {
		return nil, errclass.New("FAILED_FUNCTION_CALL", "funcName", "`"+b.Name+"`")
	}
	tracked, err := c.TrackedItems(1, 0)
	if err != nil {
		return nil, err
	}
	casts, err := c.Accept(fn.SketchStruct, fn.CastTo(types.Integer))
	if err != nil {
		return nil, err
	}
	t := b.Args[0].Type
	if casts[0] != nil {
		t = casts[0]
	}
	item, err := c.TopStruct(t)
	if err != nil {
		return nil, err
	}
	return combineKind(b.Name, item, int32(tracked)).bound(casts, false), nil
}

// combineKind combines sketches of items of a type; they decide how many are tracked unless a number is given.
func combineKind(name string, item types.DataType, tracked int32) *objectKind[combined] {
	sized, slots := tracked > 0, 1<<frequent.MaxLgLength
	if sized {
		slots = frequent.Slots(int(tracked))
	}
	k := &objectKind[combined]{
		result: topitems.StructType(item),
		fresh:  func() *combined { return &combined{items: topitems.New(slots)} },
		save: func(b []byte, s *combined) []byte {
			b = binary.LittleEndian.AppendUint32(b, uint32(s.tracked))
			text := topitems.Text(s.item)
			b = append(binary.LittleEndian.AppendUint32(b, uint32(len(text))), text...)
			return s.items.Image(b, s.item)
		},
		emit: func(out *vec.Builder, s *combined) error {
			if s == nil {
				return fn.BadSketch("APPROX_TOP_K", name)
			}
			n := s.tracked
			if sized {
				n = tracked
			}
			s.items.EmitStruct(out, int(n), s.item)
			return nil
		},
		size: func(s *combined) int64 { return s.items.Bytes() + 64 },
	}
	k.update = func(e *expr.Eval, get func(uint32) *combined, groups []uint32, args []*vec.Vector) {
		var kept types.DataType // of the last sketch: they are mostly the same
		text := ""
		for i, g := range groups {
			if args[0].IsNull(i) {
				continue
			}
			v, at := args[0].Stored(i)
			if is := v.Kids()[topitems.TextField].StringAt(at); kept == nil || is != text {
				t, err := topitems.ItemOf(is)
				if errors.Is(err, topitems.ErrItems) {
					err = fn.BadSketch("APPROX_TOP_K", name)
				}
				if err != nil {
					e.Errs.Add(i, err)
					continue
				}
				kept, text = t, is
			}
			items, n, err := fn.ReadTop(name, args[0], i, kept)
			if err == nil {
				err = get(g).add(&combined{items, kept, int32(n)}, sized)
			}
			if err != nil {
				e.Errs.Add(i, err)
			}
		}
	}
	k.merge = func(s *combined, image []byte) (*combined, error) {
		length := binary.LittleEndian.Uint32(image[4:])
		o := &combined{tracked: int32(binary.LittleEndian.Uint32(image))}
		var err error
		if o.item, err = topitems.ItemOf(string(image[8:][:length])); err == nil {
			o.items, err = topitems.Parse(image[8+length:], o.item)
		}
		if err != nil {
			return nil, err
		}
		if s == nil {
			s = k.fresh()
		}
		return s, s.add(o, sized)
	}
	return k
}
