package topitems

import (
	"encoding/binary"
	"slices"

	"github.com/millrace/millrace/internal/sketch/frequent"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Items are the most frequent values of a group. Nulls are counted by themselves.
type Items struct {
	sketch *frequent.Sketch
	nulls  int64
}

// New returns items for a table of so many slots at most.
func New(slots int) *Items { return &Items{sketch: frequent.New(slots)} }

// Adder adds values of one type to items.
type Adder struct {
	t   types.DataType
	v   *vec.Vector
	key []byte
}

// NewAdder returns an adder of the values of a vector.
func NewAdder(v *vec.Vector) *Adder { return &Adder{t: v.Type(), v: v.Flatten()} }

// Add counts the value of row i.
func (a *Adder) Add(s *Items, i int) {
	if a.v.IsNull(i) {
		s.nulls++
		return
	}
	a.key = appendItem(a.key[:0], a.v, i)
	s.sketch.Add(frequent.Item{Key: string(a.key), Hash: itemHash(a.t, a.key), Count: 1})
}

// Merge adds what others have counted.
func (s *Items) Merge(o *Items) {
	s.sketch.Merge(o.sketch)
	s.nulls += o.nulls
}

// Bytes estimates the memory held.
func (s *Items) Bytes() int64 { return s.sketch.Bytes() }

// Type is the type of the k most frequent values.
func Type(item types.DataType) types.DataType {
	return types.ArrayType{Element: types.Struct(types.Field{Name: "item", Type: item, Nullable: true}, types.Field{Name: "count", Type: types.Long})}
}

// Emit appends the k most frequent values, with their counts. No items at all are an empty array.
func (s *Items) Emit(out *vec.Builder, k int) {
	out.StartList()
	if s != nil {
		s.emit(out.Child(0), k)
	}
	out.EndList()
}

func (s *Items) emit(out *vec.Builder, k int) {
	items := s.sketch.Top()
	null := -1
	if s.nulls > 0 { // behind those that are as frequent
		if null = slices.IndexFunc(items, func(it frequent.Item) bool { return it.Count < s.nulls }); null < 0 {
			null = len(items)
		}
		items = slices.Insert(items, null, frequent.Item{Count: s.nulls})
	}
	for i, it := range items[:min(k, len(items))] {
		if i == null {
			out.Child(0).AppendNull()
		} else {
			appendKey(out.Child(0), it.Key)
		}
		out.Child(1).AppendInt64(it.Count)
		out.AppendStruct(true)
	}
}

// Append adds the items to b as the states of approx_top_k keep them.
func (s *Items) Append(b []byte) []byte {
	return s.sketch.Append(binary.LittleEndian.AppendUint64(b, uint64(s.nulls)))
}

// Read reads what Append has written.
func Read(b []byte) (*Items, error) {
	sketch, err := frequent.Read(b[8:])
	return &Items{sketch: sketch, nulls: int64(binary.LittleEndian.Uint64(b))}, err
}
