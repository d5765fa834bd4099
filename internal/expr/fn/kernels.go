package fn

import (
	"github.com/millrace/millrace/internal/decimal"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/internal/vec"
)

type signed interface {
	~int8 | ~int16 | ~int32 | ~int64
}

type floating interface {
	~float32 | ~float64
}

type number interface {
	signed | floating
}

// flat returns n values of a Flat or Const vector, a constant's value repeated in scratch.
func flat[T vec.FixedWidth](v *vec.Vector, n int, scratch *[]T) []T {
	x := vec.Fixed[T](v)
	if v.Encoding() != vec.Const {
		return x[:n]
	}
	s := *scratch
	if cap(s) < n {
		s = make([]T, n)
	}
	s = s[:n]
	for i := range s {
		s[i] = x[0]
	}
	*scratch = s
	return s
}

// wide returns n decimals of a Flat or Const vector as 128-bit numbers.
func wide(v *vec.Vector, n int, scratch *[]decimal.Int) []decimal.Int {
	if v.Phys() == vec.PhysInt128 {
		return flat(v, n, scratch)
	}
	s := *scratch
	if cap(s) < n {
		s = make([]decimal.Int, n)
	}
	s = s[:n]
	*scratch = s
	x := vec.Fixed[int64](v)
	if v.Encoding() == vec.Const {
		c := decimal.FromInt64(x[0])
		for i := range s {
			s[i] = c
		}
		return s
	}
	for i, u := range x[:n] {
		s[i] = decimal.FromInt64(u)
	}
	return s
}

// narrow stores decimals in a vector of either layout. Values that do not fit belong to null or failed rows.
func narrow(out *vec.Vector, s []decimal.Int) {
	if out.Phys() == vec.PhysInt128 {
		copy(vec.Fixed[decimal.Int](out), s)
		return
	}
	dst := vec.Fixed[int64](out)
	for i, u := range s {
		dst[i] = int64(u.Lo)
	}
}

// setNull makes row i of a Flat vector null.
func setNull(out *vec.Vector, i int) {
	b := out.Validity()
	if b == nil {
		b = vec.NewBitmapSet(out.Len())
		out.SetValidity(b)
	}
	b.Clear(i)
}

// anyNull tells whether row i of any argument is null.
func anyNull(args []*vec.Vector, i int) bool {
	for _, a := range args {
		if a.IsNull(i) {
			return true
		}
	}
	return false
}

// live combines the validity of Flat and Const arguments over n rows; nil means that no row has a null argument.
func live(args []*vec.Vector, n int, scratch *vec.Bitmap) vec.Bitmap {
	var b vec.Bitmap
	for _, a := range args {
		v := a.Validity()
		if a.Phys() == vec.PhysNull || a.Encoding() == vec.Const && !v.Get(0) {
			*scratch = vec.GrowBitmap(*scratch, n)
			clear(*scratch)
			return *scratch
		}
		if v == nil || a.Encoding() == vec.Const {
			continue
		}
		if b == nil {
			b = v
			continue
		}
		*scratch = vec.AndInto(*scratch, b, v, n)
		b = *scratch
	}
	return b
}

// fails deals with a row that cannot be computed: it is noted in Raise mode and null otherwise.
func fails(e *expr.Eval, out *vec.Vector, mode expr.Mode, i int, err func() error) {
	if mode == expr.Raise {
		e.Errs.Add(i, err())
		return
	}
	setNull(out, i)
}

const ansiConfig = `"` + setting.ANSI + `"`

func overflowError(message, try string) error {
	alternative := ""
	if try != "" {
		alternative = " Use '" + try + "' to tolerate overflow and return NULL instead."
	}
	return errclass.New("ARITHMETIC_OVERFLOW", "message", message, "alternative", alternative, "config", ansiConfig)
}

func divideByZero() error { return errclass.New("DIVIDE_BY_ZERO", "config", ansiConfig) }

func remainderByZero() error { return errclass.New("REMAINDER_BY_ZERO", "config", ansiConfig) }

func b2u(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}
