package window

import (
	"math"

	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
)

// shift is the argument some rows before or after.
type shift struct {
	r       *rows
	f       Func
	arg     *vec.Vector
	counted counted
	def     *exec.Evaluator // nil: null
	idx     []uint32
	missing []uint32
}

func newShift(t *exec.Task, part int, r *rows, f Func) *shift {
	s := &shift{r: r, f: f, arg: r.cols[f.Args[0]]}
	if f.IgnoreNulls {
		s.counted = countRows(r.n, nil, s.arg)
	}
	if f.Default != nil {
		s.def = exec.NewEvaluator(t, part, []exec.Expr{*f.Default})
	}
	return s
}

func (s *shift) compute(from, to int, errs *expr.RowErrs) *vec.Vector {
	s.idx, s.missing = s.idx[:0], s.missing[:0]
	for i := from; i < to; i++ {
		row := s.target(i)
		if row == vec.NoRow && s.def != nil {
			s.missing = append(s.missing, uint32(i))
			row = uint32(s.r.n + len(s.missing) - 1)
		}
		s.idx = append(s.idx, row)
	}
	from32 := uint32(from)
	if len(s.missing) == 0 {
		return vec.Take(s.arg, s.idx, nil).Flatten().Own().WithType(s.f.Type)
	}
	cols, n, err := s.def.Compute(&vec.Batch{Cols: s.r.cols, N: s.r.n, Sel: s.missing})
	if err == nil && n < len(s.missing) {
		_, _, err = s.def.Compute(&vec.Batch{Cols: s.r.cols, N: s.r.n, Sel: s.missing[n:]})
	}
	if err != nil {
		errs.Add(int(s.missing[n]-from32), err)
	}
	return s.filled(cols, n)
}

// filled gathers the argument and, from row n of it on, defaults.
func (s *shift) filled(cols []*vec.Vector, n int) *vec.Vector {
	at := make([]uint32, len(s.idx))
	lo, hi := uint32(math.MaxUint32), uint32(0) // of the argument, only the rows that are used
	for _, row := range s.idx {
		if row < uint32(s.r.n) {
			lo, hi = min(lo, row), max(hi, row+1)
		}
	}
	if hi == 0 {
		lo = 0
	}
	parts := []*vec.Vector{s.arg.Slice(int(lo), int(hi-lo)).WithType(s.f.Type)}
	if n > 0 {
		parts = append(parts, cols[0].Slice(0, n).WithType(s.f.Type))
	}
	for i, row := range s.idx {
		switch {
		case row == vec.NoRow:
			at[i] = vec.NoRow
		case row < uint32(s.r.n):
			at[i] = row - lo
		case row-uint32(s.r.n) < uint32(n):
			at[i] = row - uint32(s.r.n) + hi - lo
		default: // it failed
			at[i] = vec.NoRow
		}
	}
	return vec.Take(vec.Concat(parts), at, nil).Flatten().Own()
}

// target is the row whose value row i gets, or NoRow.
func (s *shift) target(i int) uint32 {
	lo, hi := s.r.partLo[i], s.r.partHi[i]
	n := s.f.N
	if s.counted.before == nil || n == 0 {
		row := int64(i) + n
		if row < int64(lo) || row >= int64(hi) {
			return vec.NoRow
		}
		return uint32(row)
	}
	at := int64(s.counted.rank(uint32(i))) + n
	if n > 0 {
		at = int64(s.counted.rank(uint32(i+1))) + n - 1
	}
	if at < 0 || at > math.MaxUint32 {
		return vec.NoRow
	}
	if row := s.counted.row(uint32(at)); row >= lo && row < hi {
		return row
	}
	return vec.NoRow
}

// nth is the argument in one row of the frame.
type nth struct {
	r       *rows
	f       Func
	arg     *vec.Vector
	counted counted
	bounds  *bounds
	lo, hi  []uint32
}

func newNth(r *rows, f Func) *nth {
	c := &nth{r: r, f: f, arg: r.cols[f.Args[0]], bounds: newBounds(r, f.Frame)}
	var filter, value *vec.Vector
	if f.Filter >= 0 {
		filter = r.cols[f.Filter]
	}
	if f.IgnoreNulls {
		value = c.arg
	}
	c.counted = countRows(r.n, filter, value)
	return c
}

func (c *nth) compute(from, to int, _ *expr.RowErrs) *vec.Vector {
	c.lo, c.hi = sized(c.lo, to-from), sized(c.hi, to-from)
	c.bounds.find(from, to, c.lo, c.hi)
	idx := c.lo
	for i, lo := range c.lo {
		first, behind := c.counted.rank(lo), c.counted.rank(c.hi[i])
		at := int64(first) + c.f.N - 1
		if c.f.Kind == Last {
			at = int64(behind) - 1
		}
		if at < int64(first) || at >= int64(behind) {
			idx[i] = vec.NoRow
			continue
		}
		idx[i] = c.counted.row(uint32(at))
	}
	return vec.Take(c.arg, idx, nil).Flatten().Own().WithType(c.f.Type)
}

// sized returns s with length n; what is in it is unspecified.
func sized(s []uint32, n int) []uint32 {
	if cap(s) < n {
		return make([]uint32, n, max(n, vec.BatchRows))
	}
	return s[:n]
}
