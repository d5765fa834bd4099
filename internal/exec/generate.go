package exec

import (
	"context"
	"fmt"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Generate joins each row with the rows that come out of an array or map in it. Output columns are those of In, then the position
// when Position is set, then the element (or key and value, or for Inline the fields of the element).
type Generate struct {
	In       Op
	Of       Expr // an array or a map
	Outer    bool // a row without elements comes out once, padded
	Position bool
	Inline   bool // elements are structs, spread over columns
}

// Types implements Op.
func (g *Generate) Types() []types.DataType {
	ts := append([]types.DataType(nil), g.In.Types()...)
	if g.Position {
		ts = append(ts, types.Integer)
	}
	return append(ts, g.elementTypes()...)
}

func (g *Generate) elementTypes() []types.DataType {
	switch t := g.Of.Type.(type) {
	case types.MapType:
		return []types.DataType{t.Key, t.Value}
	case types.ArrayType:
		if g.Inline {
			return fieldTypes(t.Element.(types.StructType))
		}
		return []types.DataType{t.Element}
	}
	return nil
}

// Inputs implements Op.
func (g *Generate) Inputs() []Op { return []Op{g.In} }

// Label implements Op.
func (g *Generate) Label() string { return fmt.Sprintf("Generate outer=%t", g.Outer) }

// Parts implements Op.
func (g *Generate) Parts(ctx context.Context, t *Task) (Parts, error) {
	all := Expr{Uses: make([]int, len(g.In.Types())), New: g.Of.New, Type: g.Of.Type, Column: g.Of.Column}
	for i := range all.Uses {
		all.Uses[i] = i // the other columns are gathered along
	}
	return mapParts(ctx, t, g.In, func(part int, in Stream) Stream {
		return &generateStream{g: g, in: in, ev: NewEvaluator(t, part, []Expr{all})}
	})
}

type generateStream struct {
	g   *Generate
	in  Stream
	ev  *Evaluator
	cur *vec.Batch  // dense input rows
	of  *vec.Vector // their arrays
	row int
	at  uint32 // next element of row
}

// Next implements Stream. An output batch ends when it is full or with its input batch.
func (s *generateStream) Next(ctx context.Context) (*vec.Batch, error) {
	for {
		if s.cur == nil || s.row == s.cur.N {
			if s.ev.pending != nil {
				return nil, s.ev.pending
			}
			b, err := s.in.Next(ctx)
			if err != nil {
				return nil, err
			}
			dense := s.ev.dense(b)
			cols, n, err := s.ev.Compute(dense)
			if err != nil {
				return nil, err
			}
			s.cur, s.of, s.row, s.at = dense.Slice(0, n), cols[0].Flatten(), 0, 0
		}
		if out := s.window(); out.N > 0 {
			return out, nil
		}
	}
}

func (s *generateStream) Close() error { return s.in.Close() }

func (s *generateStream) window() *vec.Batch {
	var rows, elems []uint32
	var pos []int32
	spans := s.of.Spans()
	for s.row < s.cur.N && len(rows) < vec.BatchRows {
		var sp vec.Span
		if !s.of.IsNull(s.row) {
			sp = spans[s.row]
		}
		if sp.Len == 0 && s.g.Outer {
			rows, elems, pos = append(rows, uint32(s.row)), append(elems, vec.NoRow), append(pos, -1)
		}
		for s.at < sp.Len && len(rows) < vec.BatchRows {
			rows, elems, pos = append(rows, uint32(s.row)), append(elems, sp.Off+s.at), append(pos, int32(s.at))
			s.at++
		}
		if s.at < sp.Len {
			break
		}
		s.row++
		s.at = 0
	}
	out := &vec.Batch{N: len(rows), Cols: vec.TakeAll(s.cur.Cols, rows)}
	if s.g.Position {
		out.Cols = append(out.Cols, positions(pos))
	}
	for _, k := range s.of.Kids() {
		k = vec.Take(k, elems, nil)
		if !s.g.Inline {
			out.Cols = append(out.Cols, k)
			continue
		}
		k = k.Flatten()
		for _, f := range k.Kids() {
			out.Cols = append(out.Cols, maskField(f, k))
		}
	}
	return out
}

// positions makes the position column; -1 stands for the padding of an outer generator.
func positions(pos []int32) *vec.Vector {
	v := vec.NewFixed(types.Integer, len(pos))
	copy(vec.Fixed[int32](v), pos)
	for i, p := range pos {
		if p < 0 {
			if v.Validity() == nil {
				v.SetValidity(vec.NewBitmapSet(len(pos)))
			}
			v.Validity().Clear(i)
		}
	}
	return v
}

// maskField is a struct's field as a column: null also where the struct is.
func maskField(f, parent *vec.Vector) *vec.Vector {
	if parent.Validity() == nil {
		return f
	}
	f = f.Flatten()
	out := f.WithType(f.Type())
	out.SetValidity(vec.AndInto(nil, f.Validity(), parent.Validity(), parent.Len()))
	return out
}
