package agg

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Function is an aggregate function as the analyser sees it.
type Function struct {
	Name    string
	Aliases []string
	// Label is how calls are shown if not by the name that they are made by.
	Label string
	// ID tells functions of a program apart that have one name.
	ID   string
	Bind func(b *Binding) (*Bound, error)
}

// Binding is a call to be bound.
type Binding struct {
	Name string
	Args []fn.Arg
	ANSI bool
	Zone *time.Location
	// IgnoreNulls is set for first(x) IGNORE NULLS and the like.
	IgnoreNulls bool
	// Within is set for WITHIN GROUP (ORDER BY x), where x is the first argument; Desc is its direction.
	Within, Desc bool
	// Keys are the sort keys of WITHIN GROUP (ORDER BY ...) for a function that lists its values in another order than their own. They
	// are the last arguments.
	Keys []Key
}

// Key says how an argument sorts values.
type Key struct{ Desc, NullsFirst bool }

// Bound is an aggregate call with everything settled.
type Bound struct {
	// Args are the types that the arguments have to be cast to; nil entries stay as they are.
	Args     []types.DataType
	Type     types.DataType
	Nullable bool
	// State are the columns of a partial result and of persisted state. Their names and types are part of the checkpoint
	// format: a query is refused when they differ from the stored ones.
	State []types.Field
	// Orderless says that it makes no difference to the result in which order rows come and how partial results are merged.
	Orderless bool
	// New makes states for one worker, without any group.
	New func() States
}

// States holds the intermediate results of one aggregate for any number of groups. It belongs to one goroutine.
type States interface {
	// Grow makes room for groups 0 to n-1; new ones are empty.
	Grow(n int)
	// Update adds rows: row i of each argument goes to group groups[i]. Vectors are Flat or Const. Failing rows are noted in e
	// (a sum's overflow is noted at Emit or Update, at the row that caused it).
	Update(e *expr.Eval, groups []uint32, args []*vec.Vector)
	// Merge adds partial results, as Save gave them: row i goes to group groups[i].
	Merge(e *expr.Eval, groups []uint32, partial []*vec.Vector)
	// Emit returns the final result for each of groups, as an Owned vector. Errors are noted by position in groups.
	Emit(e *expr.Eval, groups []uint32) *vec.Vector
	// Save returns the partial results of groups, one Owned vector for each State column.
	Save(groups []uint32) []*vec.Vector
	// Clear empties groups, so that their numbers can be used again.
	Clear(groups []uint32)
	// Bytes estimates the memory held.
	Bytes() int64
}

// Spreader is implemented by States whose Merge rounds even where a group is empty. Spread makes groups equal to group from.
type Spreader interface {
	Spread(from uint32, groups []uint32)
}

// families are the functions by subject. The registry is made of them when it is first asked and never changes.
var families = []func() []*Function{
	countFunctions,
	sumFunctions,
	averageFunctions,
	extremeFunctions,
	firstFunctions,
	byFunctions,
	bitFunctions,
	collectFunctions,
	momentFunctions,
	pairFunctions,
	sketchFunctions,
	rankFunctions,
	quantileFunctions,
	productFunctions,
	variantFunctions,
	hllFunctions,
	thetaFunctions,
	tupleFunctions,
	kllFunctions,
	countMinFunctions,
	bitmapFunctions,
	histogramFunctions,
	vectorFunctions,
	frequentFunctions,
}

var registry = sync.OnceValue(func() map[string]*Function {
	all := map[string]*Function{}
	for _, family := range families {
		for _, f := range family() {
			for _, name := range append([]string{f.Name}, f.Aliases...) {
				if all[name] != nil {
					panic("agg: function registered twice: " + name)
				}
				all[name] = f
			}
		}
	}
	return all
})

// Lookup finds an aggregate function by name in any case, or returns nil.
func Lookup(name string) *Function { return registry()[strings.ToLower(name)] }

// Names returns all registered names, sorted.
func Names() []string { return slices.Sorted(maps.Keys(registry())) }

// call is the binding as the scalar functions know it, for checking arguments.
func (b *Binding) call() *fn.Binding {
	return &fn.Binding{Name: b.Name, Args: b.Args, ANSI: b.ANSI, Zone: b.Zone}
}

// arg is the type of argument i after its cast.
func (b *Binding) arg(casts []types.DataType, i int) types.DataType {
	if casts[i] != nil {
		return casts[i]
	}
	return b.Args[i].Type
}

func field(name string, t types.DataType, nullable bool) types.Field {
	return types.Field{Name: name, Type: t, Nullable: nullable}
}
