package main

import (
	"regexp"
	"strings"
	"sync"
	"unicode"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/types"
)

// unasked are functions whose answers cannot be compared: they depend on the moment, on chance, on the server or on packages of its
// own, or they are no names that can be called.
var unasked = regexp.MustCompile(`^(rand|random|randn|randstr|uniform|uuid|shuffle|now|curdate|current_.*|localtimestamp|version|monotonically_increasing_id|` +
	`spark_partition_id|reflect|java_method|try_reflect|sentences|.* .*|getitem|time_window|window_time|from_avro|to_avro|raise_error|aes_encrypt|` +
	`kll_.*|theta_.*|tuple_.*|hll_.*|create_map|and|or|not|in|like|ilike|extract|timestampadd|timestampdiff|dateadd|datepart|date_part|cast)$`)

var callable = sync.OnceValue(func() []string {
	var out []string
	for _, name := range fn.Names() {
		if !unasked.MatchString(name) {
			out = append(out, name)
		}
	}
	return out
})

// dataTypes are the types of the kinds.
var dataTypes = sync.OnceValue(func() map[string]types.DataType {
	out := map[string]types.DataType{"void": types.NullType{}}
	for _, c := range columns {
		t, err := types.ParseType(c.typ)
		if err != nil {
			panic(err)
		}
		out[c.name] = t
	}
	return out
})

// long are the functions whose results are as long as a number says.
var long = regexp.MustCompile(`^(space|repeat|lpad|rpad|array_repeat|sequence|array_insert|randstr)$`)

// call makes a call of some function. Mostly its arguments have types that the engine takes, or all but one; Spark may think otherwise.
func (g *generator) call(depth int) *node {
	name := g.pick(callable())
	kinds := g.arguments(name)
	if g.r.IntN(6) == 0 && len(kinds) > 0 {
		kinds[g.r.IntN(len(kinds))] = g.pick(classes["all"])
	}
	for i, k := range kinds {
		if hint := hints[name]; k == "s" && i < len(hint) && hint[i] != "" && g.r.IntN(4) > 0 {
			kinds[i] = hint[i]
		} else if k == "s" && g.r.IntN(2) == 0 {
			kinds[i] = "any text"
		} else if k == "i32" && g.r.IntN(2) == 0 {
			kinds[i] = "n"
		} else if k == "f64" && g.r.IntN(2) == 0 {
			kinds[i] = "x"
		}
	}
	if long.MatchString(name) { // a large number makes a text or an array that no server can hold
		for i, k := range kinds {
			if t := dataTypes()[k]; t != nil && fn.IsNumeric(t) || k == "s" || k == "any text" {
				kinds[i] = "n"
			}
		}
	}
	for i := range kinds {
		kinds[i] = "{" + kinds[i] + "}"
	}
	if !unicode.IsLetter(rune(name[0])) {
		switch len(kinds) {
		case 1:
			return g.fill(name+kinds[0], "", depth)
		case 2:
			return g.fill(kinds[0]+" "+name+" "+kinds[1], "", depth)
		}
		return g.fill("concat("+strings.Join(kinds, ", ")+")", "", depth)
	}
	return g.fill(name+"("+strings.Join(kinds, ", ")+")", "", depth)
}

// arguments are kinds for the arguments of a function: some that it takes, if they are found.
func (g *generator) arguments(name string) []string {
	f := fn.Lookup(name)
	var kinds []string
	for range 40 {
		kinds = kinds[:0]
		for range g.r.IntN(5) {
			if g.r.IntN(3) == 0 {
				kinds = append(kinds, "s") // what functions take most
			} else {
				kinds = append(kinds, g.pick(classes["all"]))
			}
		}
		if takes(f, name, kinds) {
			break
		}
	}
	return kinds
}

func takes(f *fn.Function, name string, kinds []string) bool {
	args := make([]fn.Arg, len(kinds))
	for i, k := range kinds {
		args[i] = fn.Arg{Type: dataTypes()[k], Nullable: true}
	}
	_, err := f.Bind(&fn.Binding{Name: name, Args: args, ANSI: true})
	e, ok := err.(*errclass.Error)
	return err == nil || ok && (strings.Contains(e.Class, "FOLDABLE") || !strings.HasPrefix(e.Class, "DATATYPE_MISMATCH") && !strings.HasPrefix(e.Class, "WRONG_NUM_ARGS"))
}
