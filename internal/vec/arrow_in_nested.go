package vec

import (
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/millrace/millrace/types"
)

// fromBytes reads strings and binary values.
func fromBytes(v *Vector, a arrow.Array) (bool, error) {
	d := a.Data()
	switch a := a.(type) {
	case *array.String, *array.Binary:
		offsets, err := offsetsAt[int32](d, 1)
		if err != nil {
			return false, err
		}
		v.buf = valueBytes(d, 2)
		v.spans, err = spansOf(offsets, 0, len(v.buf))
		return true, err
	case *array.LargeString, *array.LargeBinary:
		offsets, err := offsetsAt[int64](d, 1)
		if err != nil || len(offsets) == 0 {
			v.spans = []Span{}
			return true, err
		}
		buf := valueBytes(d, 2)
		first, last := offsets[0], offsets[len(offsets)-1]
		if first < 0 || last < first || last > int64(len(buf)) {
			return false, errOffsets(d)
		}
		v.buf = buf[first:last]
		v.spans, err = spansOf(offsets, first, len(v.buf))
		return true, err
	case *array.FixedSizeBinary:
		w := a.DataType().(*arrow.FixedSizeBinaryType).ByteWidth
		v.buf = valueBytes(d, 1)
		if len(v.buf) < (d.Offset()+d.Len())*w {
			return false, errOffsets(d)
		}
		v.buf = v.buf[d.Offset()*w:]
		v.spans = make([]Span, d.Len())
		for i := range v.spans {
			v.spans[i] = Span{uint32(i * w), uint32(w)}
		}
		return true, nil
	case array.ViewLike:
		return true, fromViews(v, a)
	}
	return false, nil
}

// fromViews copies the values of a view array behind one another.
func fromViews(v *Vector, a array.ViewLike) error {
	n := a.Len()
	total := 0
	headers := make([]*arrow.ViewHeader, n)
	for i := range n {
		if v.valid.Get(i) {
			headers[i] = a.ValueHeader(i)
			total += headers[i].Len()
		}
	}
	if total > math.MaxUint32 {
		return fmt.Errorf("vec: an Arrow array of %d bytes: more than 4 GiB in one batch", total)
	}
	v.spans = make([]Span, n)
	v.buf = make([]byte, 0, total)
	for i, h := range headers {
		at := len(v.buf)
		if h != nil {
			if h.IsInline() {
				v.buf = append(v.buf, h.InlineBytes()...)
			} else {
				b := valueBytes(a.Data(), 2+int(h.BufferIndex()))
				from := int(h.BufferOffset())
				if from < 0 || from+h.Len() > len(b) {
					return errOffsets(a.Data())
				}
				v.buf = append(v.buf, b[from:from+h.Len()]...)
			}
		}
		v.spans[i] = Span{uint32(at), uint32(len(v.buf) - at)}
	}
	return nil
}

func valueBytes(d arrow.ArrayData, i int) []byte {
	if i >= len(d.Buffers()) || d.Buffers()[i] == nil {
		return nil
	}
	return d.Buffers()[i].Bytes()
}

// offsetsAt returns the n+1 offsets of an array of n rows, or none when it is empty.
func offsetsAt[T int32 | int64](d arrow.ArrayData, i int) ([]T, error) {
	if d.Len() == 0 {
		return nil, nil
	}
	// bufferAt counts one value for each row; the one after the last row is there as well.
	return bufferAt[T](oneMore{d}, i)
}

// oneMore is array data seen with one more row.
type oneMore struct{ arrow.ArrayData }

func (d oneMore) Len() int { return d.ArrayData.Len() + 1 }

func errOffsets(d arrow.ArrayData) error {
	return fmt.Errorf("vec: an offset of an Arrow array of %s is out of range", d.DataType())
}

// spansOf turns offsets into spans relative to base, which must lie in [0, size].
func spansOf[T int32 | int64](offsets []T, base T, size int) ([]Span, error) {
	if len(offsets) == 0 {
		return []Span{}, nil
	}
	if int64(size) > math.MaxUint32 {
		return nil, fmt.Errorf("vec: an Arrow array of %d bytes or elements: more than %d in one batch", size, uint32(math.MaxUint32))
	}
	spans := make([]Span, len(offsets)-1)
	from := offsets[0] - base
	bad := from < 0
	for i := range spans {
		to := offsets[i+1] - base
		bad = bad || to < from
		spans[i] = Span{uint32(from), uint32(to - from)}
		from = to
	}
	if bad || int64(from) > int64(size) {
		return nil, fmt.Errorf("vec: the offsets of an Arrow array are out of range")
	}
	return spans, nil
}

func fromList(v *Vector, a arrow.Array, element types.DataType) (bool, error) {
	d := a.Data()
	l, ok := a.(array.ListLike)
	if !ok {
		return false, nil
	}
	kid, err := FromArrowArray(l.ListValues(), element)
	if err != nil {
		return false, err
	}
	kid = kid.Flatten()
	v.kids = []*Vector{kid}
	switch a.(type) {
	case *array.List:
		offsets, err := offsetsAt[int32](d, 1)
		if err != nil {
			return false, err
		}
		v.spans, err = spansOf(offsets, 0, kid.n)
		return true, err
	case *array.LargeList:
		offsets, err := offsetsAt[int64](d, 1)
		if err != nil {
			return false, err
		}
		v.spans, err = spansOf(offsets, 0, kid.n)
		return true, err
	}
	// Fixed-size lists and list views answer row by row.
	v.spans = make([]Span, a.Len())
	for i := range v.spans {
		if !v.valid.Get(i) {
			continue
		}
		from, to := l.ValueOffsets(i)
		if from < 0 || to < from || to > int64(kid.n) {
			return false, errOffsets(d)
		}
		v.spans[i] = Span{uint32(from), uint32(to - from)}
	}
	return true, nil
}

func fromMap(v *Vector, a arrow.Array, kids []types.DataType) (bool, error) {
	m, ok := a.(*array.Map)
	if !ok {
		return false, nil
	}
	keys, err := FromArrowArray(m.Keys(), kids[0])
	if err != nil {
		return false, fmt.Errorf("map key: %w", err)
	}
	values, err := FromArrowArray(m.Items(), kids[1])
	if err != nil {
		return false, fmt.Errorf("map value: %w", err)
	}
	v.kids = []*Vector{keys.Flatten(), values.Flatten()}
	offsets, err := offsetsAt[int32](a.Data(), 1)
	if err != nil {
		return false, err
	}
	v.spans, err = spansOf(offsets, 0, keys.n)
	return true, err
}

func fromStruct(v *Vector, a arrow.Array, fields []types.Field) (bool, error) {
	s, ok := a.(*array.Struct)
	if !ok {
		return false, nil
	}
	at := s.DataType().(*arrow.StructType)
	for i, f := range fields {
		from := i
		if i >= at.NumFields() || at.Field(i).Name != f.Name {
			if j, ok := at.FieldIdx(f.Name); ok {
				from = j
			} else if at.NumFields() != len(fields) {
				return false, nil
			}
		}
		kid, err := FromArrowArray(s.Field(from), f.Type)
		if err != nil {
			return false, fmt.Errorf("field %s: %w", f.Name, err)
		}
		v.kids = append(v.kids, kid.Flatten())
	}
	return true, nil
}

// fromDictionary keeps the encoding: the dictionary is converted once, the index is widened.
func fromDictionary(a *array.Dictionary, t types.DataType) (*Vector, error) {
	base, err := FromArrowArray(a.Dictionary(), t)
	if err != nil {
		return nil, err
	}
	valid := fromValidity(a)
	idx := make([]uint32, a.Len())
	for i := range idx {
		if !valid.Get(i) {
			continue
		}
		j := a.GetValueIndex(i)
		if j < 0 || j >= base.n {
			return nil, errOffsets(a.Data())
		}
		idx[i] = uint32(j)
	}
	return NewDict(base, idx, valid), nil
}

// fromRuns makes a dictionary whose base are the values of the runs.
func fromRuns(a *array.RunEndEncoded, t types.DataType) (*Vector, error) {
	base, err := FromArrowArray(a.Values(), t)
	if err != nil {
		return nil, err
	}
	idx := make([]uint32, a.Len())
	run := a.GetPhysicalOffset()
	ends := a.RunEndsArr()
	end := func(run int) int {
		switch e := ends.(type) {
		case *array.Int16:
			return int(e.Value(run))
		case *array.Int32:
			return int(e.Value(run))
		case *array.Int64:
			return int(e.Value(run))
		}
		return math.MaxInt
	}
	for i := range idx {
		for run < ends.Len() && end(run) <= a.Offset()+i {
			run++
		}
		if run >= base.n {
			return nil, errOffsets(a.Data())
		}
		idx[i] = uint32(run)
	}
	return NewDict(base, idx, nil), nil
}
