package fn

import "github.com/millrace/millrace/types"

// nullsAre are the functions that take NULL for an array of nulls, or for a map of them, and give null.
var nullsAre = map[string]types.DataType{
	"array_distinct": voids, "array_compact": voids, "array_max": voids, "array_min": voids, "array_size": voids, "slice": voids, "shuffle": voids,
	"arrays_zip": voids, "map_from_arrays": voids, "array_join": types.ArrayType{Element: types.String, ContainsNull: true},
	"map_keys": voidMap, "map_values": voidMap, "map_entries": voidMap,
}

var (
	voids   = types.ArrayType{Element: types.NullType{}, ContainsNull: true}
	voidMap = types.MapType{Key: types.NullType{}, Value: types.NullType{}, ValueContainsNull: true}
)

// takingNull lets a function take NULL for a container. Only some take one in other places than the first.
func takingNull(f *Function, container types.DataType) *Function {
	bind := f.Bind
	every := f.Name == "arrays_zip" || f.Name == "map_from_arrays"
	g := *f
	g.Bind = func(b *Binding) (*Bound, error) {
		typed, found := *b, false
		typed.Args = append([]Arg(nil), b.Args...)
		for i := range typed.Args {
			if isNull(typed.Args[i].Type) && (i == 0 || every) {
				typed.Args[i].Type, typed.Args[i].Const, found = container, nil, true
			}
		}
		if !found {
			return bind(b)
		}
		bound, err := bind(&typed)
		if err != nil {
			return nil, err
		}
		null := *bound
		null.Nullable, null.CanFail, null.NullsAreArgs, null.TakesConst = true, false, true, true
		null.Args = make([]types.DataType, len(b.Args))
		null.New = func() Kernel { return allNull(null.Type) }
		return &null, nil
	}
	return &g
}
