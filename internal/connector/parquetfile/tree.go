package parquetfile

import (
	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// node is a column, or a part of one, as it is read: the type that is wanted with what the file has for it.
type node struct {
	typ  types.DataType
	kind nodeKind
	// def is the definition level from which on the value is not null.
	def int16
	// slot is the definition level from which on there is a place for the value: above it, a list around it is null or empty. rep
	// is the repetition level of that list.
	slot, rep int16
	// elem is the definition level from which on a list has an element; its elements have the repetition level rep+1.
	elem int16
	kids []*node // of a struct: its fields; of a list: the element; of a map: key and value
	open opener
	leaf leafReader
	// levels is a leaf that a struct without any field in the file is read for, to know where it is null.
	levels *node
}

type nodeKind uint8

const (
	leafNode nodeKind = iota
	structNode
	listNode
	mapNode
	missingNode
)

// openAll opens the columns of a row group.
func (n *node) openAll(rg *file.RowGroupReader) (err error) {
	if n.kind == leafNode {
		n.leaf, err = n.open(rg)
		return err
	}
	for _, k := range n.kids {
		if err := k.openAll(rg); err != nil {
			return err
		}
	}
	if n.levels != nil {
		return n.levels.openAll(rg)
	}
	return nil
}

// read reads the next records. The result has a row for each place that there is for the value: for a column, for each record. The
// levels are those of the first leaf in it; ok is false when there is none in the file.
func (n *node) read(records int) (v *vec.Vector, lv batchLevels, ok bool, err error) {
	switch n.kind {
	case missingNode:
		return nil, lv, false, nil
	case leafNode:
		v, lv, err = n.leaf.records(records)
		if err != nil {
			return nil, lv, true, err
		}
		return n.spread(v, lv), lv, true, nil
	case structNode:
		v, lv, err = n.readStruct(records)
	default:
		v, lv, err = n.readList(records)
	}
	return v, lv, true, err
}

// spread puts the values of a leaf at their places, with nulls between them.
func (n *node) spread(dense *vec.Vector, lv batchLevels) *vec.Vector {
	if lv.full {
		return dense
	}
	idx := make([]uint32, 0, lv.n)
	next, nulls := uint32(0), false
	for _, d := range lv.defs {
		switch {
		case d >= n.def:
			idx = append(idx, next)
			next++
		case d >= n.slot:
			idx = append(idx, vec.NoRow)
			nulls = true
		}
	}
	if !nulls {
		return dense
	}
	return vec.Take(dense, idx, nil)
}

// defOf is the definition level of entry i.
func (lv *batchLevels) defOf(i int, full int16) int16 {
	if lv.full {
		return full
	}
	return lv.defs[i]
}

const everywhere = 1<<15 - 1 // a definition level above all

func (n *node) readStruct(records int) (*vec.Vector, batchLevels, error) {
	var lv batchLevels
	var first bool
	fields := make([]*vec.Vector, len(n.kids))
	for i, k := range n.kids {
		v, l, ok, err := k.read(records)
		if err != nil {
			return nil, lv, err
		}
		if ok && !first {
			// The levels belong to the leaf, which reuses them only in the next call.
			lv, first = l, true
		}
		fields[i] = v
	}
	if !first {
		_, l, _, err := n.levels.read(records)
		if err != nil {
			return nil, lv, err
		}
		lv = l
	}
	rows := 0
	var valid vec.Bitmap
	if lv.full && lv.reps == nil {
		rows = lv.n
	} else {
		valid = vec.NewBitmapSet(lv.n)
		nulls := false
		for i := range lv.n {
			if lv.reps != nil && lv.reps[i] > n.rep {
				continue
			}
			d := lv.defOf(i, everywhere)
			if d < n.slot {
				continue
			}
			if d < n.def {
				valid.Clear(rows)
				nulls = true
			}
			rows++
		}
		if !nulls {
			valid = nil
		}
	}
	for i, k := range n.kids {
		switch {
		case fields[i] == nil:
			fields[i] = vec.NewNulls(k.typ, rows)
		case fields[i].Len() != rows:
			return nil, lv, errDamaged
		}
	}
	v := vec.NewStruct(n.typ, rows, fields)
	v.SetValidity(valid)
	return v, lv, nil
}

func (n *node) readList(records int) (*vec.Vector, batchLevels, error) {
	elems, lv, ok, err := n.kids[0].read(records)
	if err != nil {
		return nil, lv, err
	}
	if !ok {
		return nil, lv, errDamaged
	}
	var values *vec.Vector
	if n.kind == mapNode {
		var ok bool
		if values, _, ok, err = n.kids[1].read(records); err != nil {
			return nil, lv, err
		}
		if !ok {
			values = vec.NewNulls(n.kids[1].typ, elems.Len())
		}
	}
	var spans []vec.Span
	valid := vec.NewBitmapSet(lv.n)
	nulls := false
	at := uint32(0)
	for i := range lv.n {
		d, r := lv.defOf(i, everywhere), int16(0)
		if lv.reps != nil {
			r = lv.reps[i]
		}
		switch {
		case r <= n.rep:
			if d < n.slot {
				continue
			}
			if d < n.def {
				valid.Clear(len(spans))
				nulls = true
			}
			s := vec.Span{Off: at}
			if d >= n.elem {
				s.Len = 1
				at++
			}
			spans = append(spans, s)
		case r == n.rep+1 && len(spans) > 0:
			spans[len(spans)-1].Len++
			at++
		}
	}
	if int(at) != elems.Len() || values != nil && values.Len() != elems.Len() {
		return nil, lv, errDamaged
	}
	var v *vec.Vector
	if n.kind == mapNode {
		v = vec.NewMap(n.typ, spans, elems, values)
	} else {
		v = vec.NewList(n.typ, spans, elems)
	}
	if nulls {
		v.SetValidity(valid)
	}
	return v, lv, nil
}
