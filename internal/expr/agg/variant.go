package agg

import (
	"fmt"

	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/variant"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func variantFunctions() []*Function {
	return []*Function{{Name: "schema_of_variant_agg", Bind: bindVariantSchema}}
}

// bindVariantSchema binds the schema that all variants of a group have in common.
func bindVariantSchema(b *Binding) (*Bound, error) {
	c := b.call()
	if err := c.Arity(1, 1); err != nil {
		return nil, err
	}
	casts, err := c.Accept(fn.VariantArg)
	if err != nil {
		return nil, err
	}
	return &Bound{
		Args: casts, Type: types.String, Orderless: true, State: []types.Field{field("schema", types.String, true)},
		New: func() States { return &variantSchemas{} },
	}, nil
}

// variantSchemas merge schemas; nil is that of no value.
type variantSchemas struct{ ts []types.DataType }

func (s *variantSchemas) Grow(n int) { s.ts = grown(s.ts, n) }

func (s *variantSchemas) merge(g uint32, t types.DataType) {
	if s.ts[g] != nil {
		t = variant.MergeSchemas(s.ts[g], t)
	}
	s.ts[g] = t
}

func (s *variantSchemas) Update(e *expr.Eval, groups []uint32, args []*vec.Vector) {
	for i, g := range groups {
		if args[0].IsNull(i) {
			continue
		}
		t, err := fn.VariantSchema(args[0], i)
		if err != nil {
			e.Errs.Add(i, err)
			continue
		}
		s.merge(g, t)
	}
}

// Merge reads schemas as Save wrote them.
func (s *variantSchemas) Merge(e *expr.Eval, groups []uint32, partial []*vec.Vector) {
	for i, g := range groups {
		if partial[0].IsNull(i) {
			continue
		}
		t, err := types.ParseJSON(partial[0].BytesAt(i))
		if err != nil {
			e.Errs.Add(i, fmt.Errorf("read the state of schema_of_variant_agg: %w", err))
			continue
		}
		s.merge(g, t)
	}
}

func (s *variantSchemas) Emit(_ *expr.Eval, groups []uint32) *vec.Vector {
	b := vec.NewBuilder(types.String)
	for _, g := range groups {
		t := s.ts[g]
		if t == nil {
			t = types.Null
		}
		b.AppendString(variant.SchemaText(t))
	}
	return b.Finish()
}

func (s *variantSchemas) Save(groups []uint32) []*vec.Vector {
	b := vec.NewBuilder(types.String)
	for _, g := range groups {
		if s.ts[g] == nil {
			b.AppendNull()
			continue
		}
		b.AppendString(types.JSON(s.ts[g]))
	}
	return []*vec.Vector{b.Finish()}
}

func (s *variantSchemas) Clear(groups []uint32) {
	for _, g := range groups {
		s.ts[g] = nil
	}
}

func (s *variantSchemas) Bytes() int64 { return int64(cap(s.ts)) * 64 }
