package fn

import (
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// The functions that LIKE with a list of literal patterns stands for. Nobody can call them by name.
const (
	LikeAll    = "like all"
	LikeAny    = "like any"
	NotLikeAll = "not like all"
	NotLikeAny = "not like any"
)

func likeListFunctions() []*Function {
	list := func(name string, all, not bool) *Function {
		return &Function{Name: name, Bind: func(b *Binding) (*Bound, error) { return bindLikeList(b, all, not) }}
	}
	return []*Function{list(LikeAll, true, false), list(LikeAny, false, false), list(NotLikeAll, true, true), list(NotLikeAny, false, true)}
}

// bindLikeList binds a comparison with literal patterns. Spark takes its result for nullable.
func bindLikeList(b *Binding, all, not bool) (*Bound, error) {
	if err := b.Arity(2, -1); err != nil {
		return nil, err
	}
	c, err := b.Accept(text)
	if err != nil {
		return nil, err
	}
	patterns := make([]*likePattern, len(b.Args)-1)
	for i := range patterns {
		if a := b.Args[i+1]; a.Const == nil || !isText(a.Type) || a.Const.IsNull(0) {
			return nil, b.NotFoldable(i+1, "`pattern`", text.name)
		}
		p, err := compileLike(string(b.Args[i+1].Const.BytesAt(0)), '\\')
		if err != nil {
			return nil, err
		}
		patterns[i] = p
	}
	return &Bound{Args: c, Type: types.Boolean, Nullable: true, TakesConst: true, New: func() Kernel {
		return fixedKernel(func(_ *expr.Eval, args []*vec.Vector, i int) (uint8, bool) {
			s := args[0].BytesAt(i)
			for _, p := range patterns {
				if (p.match(s) != not) != all { // it is settled
					return b2u(!all), true
				}
			}
			return b2u(all), true
		})
	}}, nil
}
