package fn

import (
	"math"
	"slices"
	"time"

	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/jsonrow"
	"github.com/millrace/millrace/internal/variant"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

type castZone = *time.Location

// sortFailures puts failures into the order of their rows; those of one row keep theirs.
func (w *variantCast) sortFailures() {
	slices.SortStableFunc(w.failed, func(a, b variantFailure) int { return int(a.row) - int(b.row) })
}

// scalars casts to a type without parts.
func (w *variantCast) scalars(vals []variant.Value) *vec.Vector {
	for _, s := range w.order {
		s.in.Reset()
		s.rows = s.rows[:0]
	}
	var text []byte
	for i, v := range vals {
		if v.Bytes == nil {
			continue
		}
		kind := v.Kind()
		from := scalarType(v, kind)
		switch {
		case kind == variant.Null:
			continue
		case from == nil && isText(w.to) && kind != variant.Malformed:
			var ok bool
			if text, ok = jsonrow.AppendVariant(text[:0], v, w.zone); !ok {
				w.fail(i, variant.Value{})
				continue
			}
			s := w.sort(types.String)
			s.in.AppendBytes(text)
			s.rows = append(s.rows, int32(i))
			continue
		case from == nil || castPermission(from, w.to, true) != allowed || kind == variant.Long && w.beyondTime(v.Long()):
			w.fail(i, v)
			continue
		}
		s := w.sort(from)
		appendScalar(s.in, v, kind)
		s.rows = append(s.rows, int32(i))
	}
	return w.merge(vals)
}

// beyondTime tells whether a number of seconds is too large for a timestamp. A cast of a plain number would take the last there is.
func (w *variantCast) beyondTime(seconds int64) bool {
	const most = math.MaxInt64 / 1_000_000
	return kindOf(w.to) == kTimestamp && (seconds > most || seconds < -most)
}

// merge casts each sort and puts the results where their values stood.
func (w *variantCast) merge(vals []variant.Value) *vec.Vector {
	idx := make([]uint32, len(vals))
	for i := range idx {
		idx[i] = vec.NoRow
	}
	var results []*vec.Vector
	base := uint32(0)
	var e expr.Eval
	for _, s := range w.order {
		if len(s.rows) == 0 {
			continue
		}
		r := s.cast.cast(&e, s.in.Borrow())
		for k, row := range s.rows {
			if r.IsNull(k) {
				w.fail(int(row), vals[row])
				continue
			}
			idx[row] = base + uint32(k)
		}
		base += uint32(len(s.rows))
		results = append(results, r)
	}
	w.sortFailures()
	if len(results) == 0 {
		return vec.NewNulls(w.to, len(vals)).Flatten()
	}
	return vec.Take(vec.Concat(results), idx, nil).WithType(w.to)
}

// sort is where values of a type are gathered.
func (w *variantCast) sort(from types.DataType) *variantSort {
	if s := w.sorts[from]; s != nil {
		return s
	}
	if w.sorts == nil {
		w.sorts = map[types.DataType]*variantSort{}
	}
	s := &variantSort{from: from, in: vec.NewBuilder(from), cast: w.env.child(from, w.to)}
	w.sorts[from] = s
	w.order = append(w.order, s)
	return s
}

// scalarType is the type that a value has before it is cast, nil for one with parts.
func scalarType(v variant.Value, kind variant.Kind) types.DataType {
	switch kind {
	case variant.Bool:
		return types.Boolean
	case variant.Long:
		return types.Long
	case variant.Double:
		return types.Double
	case variant.Float:
		return types.Float
	case variant.Decimal:
		_, scale := v.Stripped()
		return types.DecimalType{Precision: 38, Scale: scale}
	case variant.Date:
		return types.Date
	case variant.Timestamp:
		return types.Timestamp
	case variant.TimestampNTZ:
		return types.TimestampNTZ
	case variant.Binary:
		return types.Binary
	case variant.String, variant.UUID:
		return types.String
	}
	return nil
}

// appendScalar appends a value to a builder of its type.
func appendScalar(b *vec.Builder, v variant.Value, kind variant.Kind) {
	switch kind {
	case variant.Bool:
		b.AppendBool(v.Bool())
	case variant.Double:
		b.AppendFloat64(v.Double())
	case variant.Float:
		b.AppendFloat32(v.Float())
	case variant.Decimal:
		x, _ := v.Stripped()
		b.AppendInt128(x)
	case variant.Date:
		b.AppendInt32(int32(v.Long()))
	case variant.Binary, variant.String:
		b.AppendBytes(v.Text())
	case variant.UUID:
		b.CommitBytes(jsonrow.AppendUUID(b.Buffer(), v.Text()))
	default:
		b.AppendInt64(v.Long())
	}
}
