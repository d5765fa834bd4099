package errclass

import (
	"iter"
	"maps"
	"slices"
	"strings"
)

// Definition is a registered condition.
type Definition struct {
	SQLState string
	Kind     Kind
	Text     string // message with <parameters>
}

// Params gives the names of the parameters in the order of their first use.
func (d Definition) Params() []string {
	var names []string
	for rest := d.Text; ; {
		_, after, ok := strings.Cut(rest, "<")
		if !ok {
			return names
		}
		if name, _, ok := strings.Cut(after, ">"); ok && isParam(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
		rest = after
	}
}

// table holds the conditions of one subject.
type table map[string]Definition

// tables are those of all subjects.
var tables = []table{
	parseTable, analysisTable, functionTable, sketchTable, catalogTable, streamingTable, checkpointTable, stateTable,
	runtimeTable, fileTable, deltaTable, kafkaTable, connectTable, apiTable, sqlQueryTable, ddlTable, scriptTable,
}

// registry is all of them. It is complete when the package is initialised and never changes.
var registry = merge(tables...)

func merge(tables ...table) table {
	all := table{}
	for _, t := range tables {
		maps.Copy(all, t)
	}
	return all
}

// Lookup finds a condition.
func Lookup(class string) (Definition, bool) {
	d, ok := registry[class]
	return d, ok
}

// All goes through the conditions in the order of their names.
func All() iter.Seq2[string, Definition] {
	return func(yield func(string, Definition) bool) {
		for _, name := range slices.Sorted(maps.Keys(registry)) {
			if !yield(name, registry[name]) {
				return
			}
		}
	}
}
