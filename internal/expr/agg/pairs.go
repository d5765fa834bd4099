package agg

import (
	"math"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func pairFunctions() []*Function {
	one := func(name string, result pairResult) *Function {
		return &Function{Name: name, Bind: func(b *Binding) (*Bound, error) { return bindPairs(b, false, together, result) }}
	}
	// Most regressions take the dependent variable first, where it is y.
	regr := func(name string, by pairMethod, result pairResult) *Function {
		return &Function{Name: name, Bind: func(b *Binding) (*Bound, error) { return bindPairs(b, true, by, result) }}
	}
	return []*Function{
		one("covar_pop", func(p *pair, _ bool) (float64, bool, error) { return p.ck / p.n, true, nil }),
		one("covar_samp", func(p *pair, _ bool) (float64, bool, error) { return p.ck / (p.n - 1), p.n > 1, nil }),
		one("corr", correlation),
		regr("regr_avgx", sums, func(p *pair, _ bool) (float64, bool, error) { return p.x / p.n, true, nil }),
		regr("regr_avgy", sums, func(p *pair, _ bool) (float64, bool, error) { return p.y / p.n, true, nil }),
		regr("regr_sxx", apart, func(p *pair, _ bool) (float64, bool, error) { return p.xm, true, nil }),
		regr("regr_syy", apart, func(p *pair, _ bool) (float64, bool, error) { return p.ym, true, nil }),
		one("regr_sxy", func(p *pair, _ bool) (float64, bool, error) { return p.ck, true, nil }),
		regr("regr_slope", apart, func(p *pair, _ bool) (float64, bool, error) { return p.ck / p.xm, p.xm != 0, nil }),
		regr("regr_intercept", apart, func(p *pair, _ bool) (float64, bool, error) { return p.y - p.ck/p.xm*p.x, p.xm != 0, nil }),
		one("regr_r2", func(p *pair, _ bool) (float64, bool, error) {
			if p.xm == 0 {
				return 1, p.ym != 0, nil
			}
			r := p.ck / math.Sqrt(p.xm*p.ym)
			return r * r, p.ym != 0, nil
		}),
	}
}

// correlation divides by zero, which fails under ANSI, when a column does not vary.
func correlation(p *pair, ansi bool) (float64, bool, error) {
	d := math.Sqrt(p.xm * p.ym)
	switch {
	case p.n <= 1:
		return 0, false, nil
	case d == 0 && ansi:
		return 0, false, errclass.New("DIVIDE_BY_ZERO", "config", errclass.Conf(setting.ANSI))
	}
	return p.ck / d, d != 0, nil
}

// pairResult computes the result of a group that is not empty; ok false is null.
type pairResult func(p *pair, ansi bool) (v float64, ok bool, err error)

// pairMethod says how moments are added up: Spark's functions differ in it, which shows in their last digits.
type pairMethod uint8

const (
	together pairMethod = iota // as correlations do
	apart                      // the second moments as variances do
	sums                       // x and y are sums instead of averages
)

// pair are the moments of two columns together. Rows with a null in either do not count.
type pair struct{ n, x, y, ck, xm, ym float64 }

func bindPairs(b *Binding, swap bool, by pairMethod, result pairResult) (*Bound, error) {
	c := b.call()
	if err := c.Arity(2, 2); err != nil {
		return nil, err
	}
	casts, err := c.Accept(fn.Double)
	if err != nil {
		return nil, err
	}
	var state []types.Field
	names := []string{"n", "xAvg", "yAvg", "ck", "xMk", "yMk"}
	if by == sums {
		names[1], names[2] = "xSum", "ySum"
	}
	for _, name := range names {
		state = append(state, field(name, types.Double, false))
	}
	return &Bound{
		Args: casts, Type: types.Double, Nullable: true, State: state,
		New: func() States { return &pairs{result: result, by: by, swap: swap, ansi: b.ANSI} },
	}, nil
}

type pairs struct {
	result pairResult
	by     pairMethod
	swap   bool // the first argument is y
	ansi   bool
	groups []pair
}

func (s *pairs) Grow(n int) { s.groups = grown(s.groups, n) }

func (s *pairs) Update(_ *expr.Eval, groups []uint32, args []*vec.Vector) {
	vx, vy := flatten(args[0]), flatten(args[1])
	if s.swap {
		vx, vy = vy, vx
	}
	x, y := vec.Fixed[float64](vx), vec.Fixed[float64](vy)
	validX, validY := vx.Validity(), vy.Validity()
	for i, g := range groups {
		if !validX.Get(i) || !validY.Get(i) {
			continue
		}
		p := &s.groups[g]
		p.n++
		if s.by == sums {
			p.x += x[i]
			p.y += y[i]
			continue
		}
		dx, dy := x[i]-p.x, y[i]-p.y
		dxN, dyN := dx/p.n, dy/p.n
		newX, newY := p.x+dxN, p.y+dyN
		p.ck += dx * (y[i] - newY)
		if s.by == apart {
			p.xm += dx * (dx - dxN)
			p.ym += dy * (dy - dyN)
		} else {
			p.xm += dx * (x[i] - newX)
			p.ym += dy * (y[i] - newY)
		}
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
		if s.by == sums {
			p.n, p.x, p.y = n, p.x+o.x, p.y+o.y
			continue
		}
		dx, dy := o.x-p.x, o.y-p.y
		dxN, dyN := dx/n, dy/n
		p.ck = p.ck + o.ck + dx*dyN*p.n*o.n
		p.xm = p.xm + o.xm + dx*dxN*p.n*o.n
		p.ym = p.ym + o.ym + dy*dyN*p.n*o.n
		p.x += dxN * o.n
		p.y += dyN * o.n
		p.n = n
	}
}

func (s *pairs) Emit(e *expr.Eval, groups []uint32) *vec.Vector {
	r := vec.NewFixed(types.Double, len(groups))
	dst := vec.Fixed[float64](r)
	for i, g := range groups {
		p := &s.groups[g]
		if p.n == 0 {
			setNull(r, i)
			continue
		}
		f, ok, err := s.result(p, s.ansi)
		if err != nil {
			e.Errs.Add(i, err)
		}
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

// Spread implements Spreader.
func (s *pairs) Spread(from uint32, groups []uint32) {
	for _, g := range groups {
		s.groups[g] = s.groups[from]
	}
}

func (s *pairs) Clear(groups []uint32) {
	for _, g := range groups {
		s.groups[g] = pair{}
	}
}

func (s *pairs) Bytes() int64 { return int64(cap(s.groups)) * 48 }
