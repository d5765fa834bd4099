package fn

import (
	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// bindArraysZip makes an array of structs whose fields are the elements of the arrays at one place; short arrays are filled up with
// nulls. The fields are named by number; the analyser gives better names.
func bindArraysZip(b *Binding) (*Bound, error) {
	st := types.StructType{}
	for i, a := range b.Args {
		t, ok := a.Type.(types.ArrayType)
		if !ok {
			return nil, b.wrongType(i, `"ARRAY"`)
		}
		name := a.Name
		if name == "" {
			name = itoa(i)
		}
		st.Fields = append(st.Fields, types.Field{Name: name, Type: t.Element, Nullable: true})
	}
	t := types.ArrayType{Element: st}
	return &Bound{Args: make([]types.DataType, len(b.Args)), Type: t, Nullable: b.nullable(nil), New: func() Kernel {
		var scratch vec.Bitmap
		return func(_ *expr.Eval, n int, args []*vec.Vector, _ *vec.Vector) *vec.Vector {
			valid := live(args, n, &scratch)
			spans := make([]vec.Span, n)
			rows := make([][]uint32, len(args))
			total := uint32(0)
			for i := range spans {
				length := uint32(0)
				if valid.Get(i) {
					for _, a := range args {
						s, _ := a.SpanAt(i)
						length = max(length, s.Len)
					}
					for k, a := range args {
						s, _ := a.SpanAt(i)
						for j := range length {
							if j < s.Len {
								rows[k] = append(rows[k], s.Off+j)
							} else {
								rows[k] = append(rows[k], vec.NoRow)
							}
						}
					}
				}
				spans[i] = vec.Span{Off: total, Len: length}
				total += length
			}
			kids := make([]*vec.Vector, len(args))
			for k, a := range args {
				kids[k] = vec.Take(a.Kids()[0], rows[k], nil).Flatten()
			}
			return borrowed(vec.NewList(t, spans, vec.NewStruct(st, int(total), kids)))
		}
	}}, nil
}

// bindFlatten joins the arrays of an array. One of them being null makes the whole null.
func bindFlatten(b *Binding) (*Bound, error) {
	if err := b.Arity(1, 1); err != nil {
		return nil, err
	}
	outer, ok := b.Args[0].Type.(types.ArrayType)
	t, ok2 := types.ArrayType{}, false
	if ok {
		t, ok2 = outer.Element.(types.ArrayType)
	}
	if !ok2 {
		return nil, b.wrongType(0, `"ARRAY" of "ARRAY"`)
	}
	return &Bound{Args: make([]types.DataType, 1), Type: t, Nullable: b.Args[0].Nullable || outer.ContainsNull, New: func() Kernel {
		return func(_ *expr.Eval, n int, args []*vec.Vector, _ *vec.Vector) *vec.Vector {
			v := args[0]
			inner := v.Kids()[0].Flatten()
			var rows []uint32
			spans := make([]vec.Span, n)
			valid := vec.NewBitmapSet(n)
			for i := range spans {
				at := len(rows)
				if !v.IsNull(i) {
					s, _ := v.SpanAt(i)
					for k := s.Off; k < s.Off+s.Len; k++ {
						if inner.IsNull(int(k)) {
							rows = rows[:at]
							valid.Clear(i)
							break
						}
						r, _ := inner.SpanAt(int(k))
						for j := r.Off; j < r.Off+r.Len; j++ {
							rows = append(rows, j)
						}
					}
				}
				spans[i] = vec.Span{Off: uint32(at), Len: uint32(len(rows) - at)}
			}
			r := vec.NewList(t, spans, vec.Take(inner.Kids()[0], rows, nil).Flatten())
			r.SetValidity(valid)
			return borrowed(r)
		}
	}}, nil
}

// bindSlice binds slice(array, start, length), start from 1 or from the end.
func bindSlice(b *Binding) (*Bound, error) {
	if err := b.Arity(3, 3); err != nil {
		return nil, err
	}
	c, err := b.Accept(anyArray, integer, integer)
	if err != nil {
		return nil, err
	}
	t, ok := b.Args[0].Type.(types.ArrayType)
	if !ok {
		return nil, b.wrongType(0, `"ARRAY"`)
	}
	return &Bound{Args: c, Type: t, Nullable: b.nullable(c), CanFail: true, New: func() Kernel {
		return arrayOf(t, elements, func(e *expr.Eval, rows []uint32, args []*vec.Vector, i int) []uint32 {
			s, _ := args[0].SpanAt(i)
			start, n := int32At(args[1], i), int32At(args[2], i)
			switch {
			case start == 0:
				e.Errs.Add(i, errclass.New("INVALID_PARAMETER_VALUE.START", "functionName", "`slice`", "parameter", "`start`"))
				return rows
			case n < 0:
				e.Errs.Add(i, errclass.New("INVALID_PARAMETER_VALUE.LENGTH", "functionName", "`slice`", "parameter", "`length`", "length", itoa(n)))
				return rows
			case start < 0:
				if start += int(s.Len) + 1; start < 1 {
					return rows
				}
			}
			for k := start - 1; k < start-1+n && k < int(s.Len); k++ {
				rows = append(rows, s.Off+uint32(k))
			}
			return rows
		})
	}}, nil
}

func bindReverseArray(b *Binding) (*Bound, error) {
	return bindOneArray(b, func(t types.ArrayType) types.ArrayType { return t }, sameValues,
		func(_ *expr.Eval, rows []uint32, args []*vec.Vector, i int) []uint32 {
			s, _ := args[0].SpanAt(i)
			for k := s.Len; k > 0; k-- {
				rows = append(rows, s.Off+k-1)
			}
			return rows
		})
}

// bindShuffle binds a random order of the elements.
func bindShuffle(b *Binding) (*Bound, error) {
	if err := b.Arity(1, 2); err != nil {
		return nil, err
	}
	seed, drawn, err := b.seedOf(1)
	if err != nil {
		return nil, err
	}
	t, ok := b.Args[0].Type.(types.ArrayType)
	if !ok {
		return nil, b.wrongType(0, `"ARRAY"`)
	}
	c := make([]types.DataType, len(b.Args))
	return &Bound{Args: c, Type: t, Nullable: b.Args[0].Nullable, Nondeterministic: true, New: func() Kernel {
		rows := &rowGen[*twister]{seed: seed, drawn: drawn, make: newTwister}
		var gen *twister
		shuffle := arrayOf(t, elements, func(_ *expr.Eval, rows []uint32, args []*vec.Vector, i int) []uint32 {
			s, _ := args[0].SpanAt(i)
			at := len(rows)
			for k := range s.Len {
				j := at + int(gen.below(int32(k)+1))
				rows = append(rows, s.Off+k)
				rows[at+int(k)], rows[j] = rows[j], s.Off+k
			}
			return rows
		})
		return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			gen = rows.at(e, n, func(*twister) {}) // how much other rows would draw is unknown
			return shuffle(e, n, args[:1], out)
		}
	}}, nil
}

// bindConcatArrays joins arrays of one type.
func bindConcatArrays(b *Binding) (*Bound, error) {
	ts := make([]types.DataType, len(b.Args))
	for i, a := range b.Args {
		ts[i] = a.Type
	}
	common, ok := CommonTypes(ts, b.ANSI)
	t, isArr := common.(types.ArrayType)
	if !ok || !isArr {
		for i, t := range ts { // what is no array is taken for a text
			if !isArray(t) && !isNull(t) {
				ts[i] = types.String
			}
		}
		return nil, b.dataDiffTypes(ts, "concat")
	}
	want := make([]types.DataType, len(b.Args))
	t.ContainsNull = false
	for i, a := range b.Args {
		x, ok := a.Type.(types.ArrayType)
		if ok {
			t.ContainsNull = t.ContainsNull || x.ContainsNull || ForcesNull(x.Element, t.Element)
		}
		if !ok || !types.Equal(x.Element, t.Element) {
			want[i] = types.ArrayType{Element: t.Element, ContainsNull: !ok || x.ContainsNull || ForcesNull(x.Element, t.Element)}
		}
	}
	return &Bound{Args: want, Type: t, Nullable: b.nullable(nil), New: func() Kernel {
		bases := make([]uint32, len(want))
		return arrayOf(t, func(args []*vec.Vector) *vec.Vector {
			kids := make([]*vec.Vector, len(args))
			n := uint32(0)
			for k, a := range args {
				kids[k] = a.Kids()[0].Flatten().WithType(t.Element)
				bases[k] = n
				n += uint32(kids[k].Len())
			}
			return vec.Concat(kids)
		}, func(_ *expr.Eval, rows []uint32, args []*vec.Vector, i int) []uint32 {
			for k, a := range args {
				s, _ := a.SpanAt(i)
				for j := range s.Len {
					rows = append(rows, bases[k]+s.Off+j)
				}
			}
			return rows
		})
	}}, nil
}

// maxArray is the largest array that is made.
const maxArray = 2147483632

// bindSequence binds sequence(start, stop[, step]) over integers, dates and times, both ends included.
func bindSequence(b *Binding) (*Bound, error) {
	if err := b.Arity(2, 3); err != nil {
		return nil, err
	}
	t, ok := WiderType(b.Args[0].Type, b.Args[1].Type, b.ANSI)
	if ok && IsIntegral(t) && len(b.Args) == 3 {
		t, ok = WiderType(t, b.Args[2].Type, b.ANSI)
	}
	times := ok && isDateTime(t)
	if !ok || !IsIntegral(t) && !times || times && len(b.Args) == 3 && !isInterval(b.Args[2].Type) {
		return nil, errclass.New("DATATYPE_MISMATCH.SEQUENCE_WRONG_INPUT_TYPES", "sqlExpr", b.SQL(), "functionName", "`sequence`",
			"startType", `("TIMESTAMP" or "TIMESTAMP_NTZ" or "DATE")`, "stepType", `("INTERVAL" or "INTERVAL YEAR TO MONTH" or "INTERVAL DAY TO SECOND")`, "otherStartType", `"INTEGRAL"`)
	}
	want := []types.DataType{t, t}
	if len(b.Args) == 3 {
		want = append(want, nil)
		if !times {
			want[2] = t
		}
	}
	c := casts(b, want...)
	r := types.ArrayType{Element: t}
	zone := b.Zone
	return &Bound{Args: c, Type: r, Nullable: b.nullable(c), CanFail: true, New: func() Kernel {
		z := localZone(t, zone)
		out := vec.NewBuilder(r)
		var scratch vec.Bitmap
		return func(e *expr.Eval, n int, args []*vec.Vector, _ *vec.Vector) *vec.Vector {
			out.Reset()
			valid := live(args, n, &scratch)
			for i := range n {
				if !valid.Get(i) {
					out.AppendNull()
					continue
				}
				out.StartList()
				from, to := loadInt(args[0], i), loadInt(args[1], i)
				var bad bool
				if times {
					bad = appendTimes(out.Child(0), from, to, timeStep(args, i), kindOf(t) == kDate, z)
				} else {
					bad = appendInts64(out.Child(0), from, to, args, i)
				}
				if bad {
					e.Errs.Add(i, errclass.New("INVALID_PARAMETER_VALUE.VALUE", "functionName", "`sequence`", "parameter", "`step`",
						"value", "the step does not lead from the start to the stop").WithKind(errclass.IllegalArgument))
				}
				out.EndList()
			}
			return out.Borrow()
		}
	}}, nil
}

func appendInts64(out *vec.Builder, from, to int64, args []*vec.Vector, i int) (bad bool) {
	step := int64(1)
	if to < from {
		step = -1
	}
	if len(args) == 3 {
		step = loadInt(args[2], i)
	}
	if step == 0 && from != to || step > 0 && from > to || step < 0 && from < to {
		return true
	}
	if step == 0 || (to-from)/step >= maxArray {
		appendInteger(out, from)
		return step != 0
	}
	for k := range (to-from)/step + 1 {
		appendInteger(out, from+k*step)
	}
	return false
}

func appendInteger(out *vec.Builder, v int64) {
	switch vec.PhysOf(out.Type()) {
	case vec.PhysInt8:
		out.AppendInt8(int8(v))
	case vec.PhysInt16:
		out.AppendInt16(int16(v))
	case vec.PhysInt32:
		out.AppendInt32(int32(v))
	default:
		out.AppendInt64(v)
	}
}

// timeStep is the step between times: one day by default.
func timeStep(args []*vec.Vector, i int) vec.Interval {
	if len(args) < 3 {
		s := vec.Interval{Days: 1}
		if loadInt(args[1], i) < loadInt(args[0], i) {
			s.Days = -1
		}
		return s
	}
	switch args[2].Phys() {
	case vec.PhysInt32:
		return vec.Interval{Months: vec.At[int32](args[2], i)}
	case vec.PhysInt64:
		micros := vec.At[int64](args[2], i)
		return vec.Interval{Days: int32(micros / datetime.Day), Micros: micros % datetime.Day}
	}
	return vec.At[vec.Interval](args[2], i)
}

// appendTimes adds multiples of the step to the start, so that the end of a short month does not shorten the months behind it.
func appendTimes(out *vec.Builder, from, to int64, step vec.Interval, dates bool, z *datetime.Zone) (bad bool) {
	if dates {
		from, to = from*datetime.Day, to*datetime.Day
		z = datetime.NewZone(nil)
	}
	length := int64(step.Months)*31*datetime.Day + int64(step.Days)*datetime.Day + step.Micros
	if length == 0 && from != to || length > 0 && from > to || length < 0 && from < to {
		return true
	}
	local := z.Local(from)
	day := datetime.FloorDiv(local, datetime.Day)
	for k := int64(0); ; k++ {
		moved := datetime.AddMonths(day, k*int64(step.Months)) + k*int64(step.Days)
		t := from + k*step.Micros
		if step.Months != 0 || step.Days != 0 {
			t = z.Instant(moved*datetime.Day+local-day*datetime.Day) + k*step.Micros
		}
		if length > 0 && t > to || length < 0 && t < to || k >= maxArray {
			return false
		}
		if dates {
			out.AppendInt32(int32(datetime.FloorDiv(t, datetime.Day)))
		} else {
			out.AppendInt64(t)
		}
		if length == 0 {
			return false
		}
	}
}
