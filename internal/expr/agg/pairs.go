package agg

import (
	"math"

	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func pairFunctions() []*Function {
	one := func(name string, result func(p *pair) (float64, bool)) *Function {
		return &Function{Name: name, Bind: func(b *Binding) (*Bound, error) { return bindPairs(b, result) }}
	}
	return []*Function{
		one("covar_pop", func(p *pair) (float64, bool) { return p.ck / p.n, true }),
		one("covar_samp", func(p *pair) (float64, bool) { return p.ck / (p.n - 1), p.n > 1 }),
		one("corr", func(p *pair) (float64, bool) { return p.ck / math.Sqrt(p.xm*p.ym), p.n > 1 }),
	}
}

// pair are the moments of two columns together. Rows with a null in either do not count.
type pair struct{ n, x, y, ck, xm, ym float64 }

func bindPairs(b *Binding, result func(p *pair) (float64, bool)) (*Bound, error) {
	c := b.call()
	if err := c.Arity(2, 2); err != nil {
		return nil, err
	}
	casts, err := c.Accept(fn.Double)
	if err != nil {
		return nil, err
	}
	var state []types.Field
	for _, name := range []string{"n", "xAvg", "yAvg", "ck", "xMk", "yMk"} {
		state = append(state, field(name, types.Double, false))
	}
	return &Bound{
		Args: casts, Type: types.Double, Nullable: true, State: state,
		New: func() States { return &pairs{result: result} },
	}, nil
}

type pairs struct {
	result func(p *pair) (float64, bool)
	groups []pair
}

func (s *pairs) Grow(n int) { s.groups = grown(s.groups, n) }

func (s *pairs) Update(_ *expr.Eval, groups []uint32, args []*vec.Vector) {
	vx, vy := flatten(args[0]), flatten(args[1])
	x, y := vec.Fixed[float64](vx), vec.Fixed[float64](vy)
	validX, validY := vx.Validity(), vy.Validity()
	for i, g := range groups {
		if !validX.Get(i) || !validY.Get(i) {
			continue
		}
		p := &s.groups[g]
		p.n++
		dx, dy := x[i]-p.x, y[i]-p.y
		dxN, dyN := dx/p.n, dy/p.n
		newX, newY := p.x+dxN, p.y+dyN
		p.ck += dx * (y[i] - newY)
		p.xm += dx * (x[i] - newX)
		p.ym += dy * (y[i] - newY)
		p.x, p.y = newX, newY
	}
}

func (s *pairs) Merge(_ *expr.Eval, groups []uint32, partial []*vec.Vector) {
	cols := floatColumns(partial)
	for i, g := range groups {
		o := pair{cols[0][i], cols[1][i], cols[2][i], cols[3][i], cols[4][i], cols[5][i]}
		if o.n == 0 {
			continue
		}
		p := &s.groups[g]
		n := p.n + o.n
		dx, dy := o.x-p.x, o.y-p.y
		dxN, dyN := dx/n, dy/n
		p.ck += o.ck + dx*dyN*p.n*o.n
		p.xm += o.xm + dx*dxN*p.n*o.n
		p.ym += o.ym + dy*dyN*p.n*o.n
		p.x += dxN * o.n
		p.y += dyN * o.n
		p.n = n
	}
}

func (s *pairs) Emit(_ *expr.Eval, groups []uint32) *vec.Vector {
	r := vec.NewFixed(types.Double, len(groups))
	dst := vec.Fixed[float64](r)
	for i, g := range groups {
		p := &s.groups[g]
		if p.n == 0 {
			setNull(r, i)
			continue
		}
		f, ok := s.result(p)
		if !ok {
			setNull(r, i)
			continue
		}
		dst[i] = f
	}
	return r
}

func (s *pairs) Save(groups []uint32) []*vec.Vector {
	cols := make([]*vec.Vector, 6)
	for k := range cols {
		cols[k] = vec.NewFixed(types.Double, len(groups))
		dst := vec.Fixed[float64](cols[k])
		for i, g := range groups {
			p := &s.groups[g]
			dst[i] = [...]float64{p.n, p.x, p.y, p.ck, p.xm, p.ym}[k]
		}
	}
	return cols
}

func (s *pairs) Clear(groups []uint32) {
	for _, g := range groups {
		s.groups[g] = pair{}
	}
}

func (s *pairs) Bytes() int64 { return int64(cap(s.groups)) * 48 }
