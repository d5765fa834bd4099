package fn

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Function is a scalar function as the analyser sees it.
type Function struct {
	// Name is the lower-case name; Aliases are others for the same function.
	Name    string
	Aliases []string
	// Label is how calls are shown if not by the name that they are made by.
	Label string
	// Takes is how many arguments are looked at, when any others are left out without a word; 0 for all.
	Takes int
	// ID tells functions of a program apart that have one name.
	ID string
	// Bind picks the variant for the given arguments. The error is a *errclass.Error (DATATYPE_MISMATCH and the like).
	Bind func(b *Binding) (*Bound, error)
}

// Arg is what is known of an argument before execution.
type Arg struct {
	Type     types.DataType
	Nullable bool
	// Const is the value of a foldable argument, one row, or nil.
	Const *vec.Vector
	// Elements are set for a call of array: which of its elements may be null.
	Elements []bool
	// SQL is the argument's text, for error messages.
	SQL string
	// Name is that of a column, a field or an alias, or empty.
	Name string
}

// Binding is a call to be bound.
type Binding struct {
	Name string // as written, lower case
	Args []Arg
	// shown is the call as messages show it, if not as it was written.
	shown string
	// ANSI is the session's spark.sql.ansi.enabled.
	ANSI bool
	// Zone is the session time zone.
	Zone *time.Location
	// Conf answers the session's settings; nil has none.
	Conf func(key string) string
}

// flag is a setting that is off unless it is set.
func (b *Binding) flag(key string) bool {
	return b.Conf != nil && strings.EqualFold(b.Conf(key), "true")
}

// Mode is Raise under ANSI and Null otherwise.
func (b *Binding) Mode() expr.Mode {
	if b.ANSI {
		return expr.Raise
	}
	return expr.Null
}

// Bound is a call with everything settled.
type Bound struct {
	// Args are the types that the arguments have to be cast to; a nil entry leaves that argument as it is.
	Args []types.DataType
	// First is the argument that is computed before the others, which are computed from left to right. They are looked at
	// where it is not null, and where Needs says so, if that is set: elsewhere the result is null.
	First int
	Needs func(first *vec.Vector, row int) bool
	// Reached, if set, says whether a row's next argument is computed when those before have been: for functions that look at null
	// arguments themselves.
	Reached func(before []*vec.Vector, row int) bool
	// Eager is set when all arguments are computed, also where one of them is null.
	Eager bool
	// TryArgs is set when an argument that cannot be computed is null instead of an error.
	TryArgs bool
	// Type and Nullable describe the result.
	Type     types.DataType
	Nullable bool
	// NullsAreArgs is set for functions that look at null arguments themselves. Otherwise a row with any null argument is
	// null: the evaluator sets the result's validity, and the kernel may leave anything in such a row and note errors for it,
	// which are dropped.
	NullsAreArgs bool
	// TakesConst is set when the kernel handles Const arguments; otherwise it sees Flat ones only. It never sees Dict.
	TakesConst bool
	// Nondeterministic is set when two calls with the same arguments may differ.
	Nondeterministic bool
	// CanFail is set when the kernel may note errors; the optimiser does not move such a call across a filter.
	CanFail bool
	// New makes the kernel for one worker.
	New func() Kernel
}

// Kernel computes n rows. args have n rows each. The kernel fills out, which it resets itself and whose memory is reused from
// call to call, and returns it; it may also return another vector that it owns or one of args.
type Kernel func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector

// families are the functions by subject. The registry is made of them when it is first asked and never changes.
var families = []func() []*Function{
	arithmeticFunctions,
	signFunctions,
	comparisonFunctions,
	booleanFunctions,
	greatestFunctions,
	bitFunctions,
	constructFunctions,
	itemFunctions,
	windowFunctions,
	dateFieldFunctions,
	truncFunctions,
	datetimeTextFunctions,
	unixFunctions,
	nowFunctions,
	shiftFunctions,
	makeFunctions,
	stringFunctions,
	likeListFunctions,
	collectionFunctions,
	mathFunctions,
	roundFunctions,
	randomFunctions,
	raiseFunctions,
	jsonFunctions,
	avroFunctions,
	csvFunctions,
	variantFunctions,
	xmlFunctions,
	formatFunctions,
	cryptFunctions,
	pictureFunctions,
	timeFunctions,
	vectorFunctions,
	reflectFunctions,
	sketchFunctions,
	frequentFunctions,
	bitmapFunctions,
}

var registry = sync.OnceValue(func() map[string]*Function {
	all := map[string]*Function{}
	for _, family := range families {
		for _, f := range family() {
			if container := nullsAre[f.Name]; container != nil {
				f = takingNull(f, container)
			}
			for _, name := range append([]string{f.Name}, f.Aliases...) {
				if all[name] != nil {
					panic("fn: function registered twice: " + name)
				}
				all[name] = f
			}
		}
	}
	return all
})

// Lookup finds a function by name in any case, or returns nil.
func Lookup(name string) *Function { return registry()[strings.ToLower(name)] }

// Names returns the names that calls in a query can have, sorted.
func Names() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(registry())), func(name string) bool { return strings.Contains(name, " ") })
}
