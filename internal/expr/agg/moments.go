package agg

import (
	"math"

	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func momentFunctions() []*Function {
	one := func(name string, order int, result func(m *moment) (float64, bool), aliases ...string) *Function {
		return &Function{Name: name, Aliases: aliases, Bind: func(b *Binding) (*Bound, error) { return bindMoments(b, order, result) }}
	}
	return []*Function{
		one("stddev_samp", 2, func(m *moment) (float64, bool) { return math.Sqrt(m.m2 / (m.n - 1)), m.n > 1 }, "stddev", "std"),
		one("stddev_pop", 2, func(m *moment) (float64, bool) { return math.Sqrt(m.m2 / m.n), true }),
		one("var_samp", 2, func(m *moment) (float64, bool) { return m.m2 / (m.n - 1), m.n > 1 }, "variance"),
		one("var_pop", 2, func(m *moment) (float64, bool) { return m.m2 / m.n, true }),
		one("skewness", 3, func(m *moment) (float64, bool) { return math.Sqrt(m.n) * m.m3 / math.Sqrt(m.m2*m.m2*m.m2), m.m2 != 0 }),
		one("kurtosis", 4, func(m *moment) (float64, bool) { return m.n*m.m4/(m.m2*m.m2) - 3, m.m2 != 0 }),
	}
}

// moment are the central moments of one group, updated so that large means do not swallow small variations.
type moment struct{ n, avg, m2, m3, m4 float64 }

func bindMoments(b *Binding, order int, result func(m *moment) (float64, bool)) (*Bound, error) {
	c := b.call()
	if err := c.Arity(1, 1); err != nil {
		return nil, err
	}
	casts, err := c.Accept(fn.Double)
	if err != nil {
		return nil, err
	}
	state := []types.Field{field("n", types.Double, false), field("avg", types.Double, false), field("m2", types.Double, false)}
	if order >= 3 {
		state = append(state, field("m3", types.Double, false))
	}
	if order >= 4 {
		state = append(state, field("m4", types.Double, false))
	}
	return &Bound{
		Args: casts, Type: types.Double, Nullable: true, State: state,
		New: func() States { return &moments{order: order, result: result} },
	}, nil
}

type moments struct {
	order  int
	result func(m *moment) (float64, bool)
	groups []moment
}

func (s *moments) Grow(n int) { s.groups = grown(s.groups, n) }

func (s *moments) Update(_ *expr.Eval, groups []uint32, args []*vec.Vector) {
	v := flatten(args[0])
	x, valid := vec.Fixed[float64](v), v.Validity()
	for i, g := range groups {
		if valid.Get(i) {
			s.groups[g].add(x[i], s.order)
		}
	}
}

func (m *moment) add(x float64, order int) {
	n := m.n + 1
	delta := x - m.avg
	deltaN := delta / n
	m.n = n
	m.avg += deltaN
	m2 := m.m2 + delta*(delta-deltaN)
	if order >= 3 {
		delta2, deltaN2 := delta*delta, deltaN*deltaN
		m3 := m.m3 - 3*deltaN*m2 + delta*(delta2-deltaN2)
		if order >= 4 {
			m.m4 = m.m4 - 4*deltaN*m3 - 6*deltaN2*m2 + delta*(delta*delta2-deltaN*deltaN2)
		}
		m.m3 = m3
	}
	m.m2 = m2
}

func (m *moment) merge(o *moment, order int) {
	if o.n == 0 {
		return
	}
	n1, n2 := m.n, o.n
	n := n1 + n2
	delta := o.avg - m.avg
	deltaN := delta / n
	if n == 0 {
		deltaN = 0
	}
	avg := m.avg + deltaN*n2
	m2 := m.m2 + o.m2 + delta*deltaN*n1*n2
	if order >= 3 {
		m3 := m.m3 + o.m3 + deltaN*deltaN*delta*n1*n2*(n1-n2) + 3*deltaN*(n1*o.m2-n2*m.m2)
		if order >= 4 {
			m.m4 = m.m4 + o.m4 + deltaN*deltaN*deltaN*delta*n1*n2*(n1*n1-n1*n2+n2*n2) +
				6*deltaN*deltaN*(n1*n1*o.m2+n2*n2*m.m2) + 4*deltaN*(n1*o.m3-n2*m.m3)
		}
		m.m3 = m3
	}
	m.n, m.avg, m.m2 = n, avg, m2
}

func (s *moments) Merge(_ *expr.Eval, groups []uint32, partial []*vec.Vector) {
	cols := floatColumns(partial)
	for i, g := range groups {
		o := moment{n: cols[0][i], avg: cols[1][i], m2: cols[2][i]}
		if s.order >= 3 {
			o.m3 = cols[3][i]
		}
		if s.order >= 4 {
			o.m4 = cols[4][i]
		}
		s.groups[g].merge(&o, s.order)
	}
}

func floatColumns(vs []*vec.Vector) [][]float64 {
	cols := make([][]float64, len(vs))
	for i, v := range vs {
		cols[i] = vec.Fixed[float64](flatten(v))
	}
	return cols
}

func (s *moments) Emit(_ *expr.Eval, groups []uint32) *vec.Vector {
	r := vec.NewFixed(types.Double, len(groups))
	dst := vec.Fixed[float64](r)
	for i, g := range groups {
		m := &s.groups[g]
		if m.n == 0 {
			setNull(r, i)
			continue
		}
		f, ok := s.result(m)
		if !ok {
			setNull(r, i)
			continue
		}
		dst[i] = f
	}
	return r
}

func (s *moments) Save(groups []uint32) []*vec.Vector {
	cols := make([]*vec.Vector, s.order+1)
	for k := range cols {
		cols[k] = vec.NewFixed(types.Double, len(groups))
		dst := vec.Fixed[float64](cols[k])
		for i, g := range groups {
			m := &s.groups[g]
			dst[i] = [...]float64{m.n, m.avg, m.m2, m.m3, m.m4}[k]
		}
	}
	return cols
}

// Spread implements Spreader.
func (s *moments) Spread(from uint32, groups []uint32) {
	for _, g := range groups {
		s.groups[g] = s.groups[from]
	}
}

func (s *moments) Clear(groups []uint32) {
	for _, g := range groups {
		s.groups[g] = moment{}
	}
}

func (s *moments) Bytes() int64 { return int64(cap(s.groups)) * 40 }
