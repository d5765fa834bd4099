package state

import "github.com/millrace/millrace/types"

// View is how people see a state, or a part of it that they take for a store of its own: keys and values by names. Views are stored
// with the state and mean nothing to the operator.
type View struct {
	Name string `json:"name,omitempty"`
	// Side keeps the view to rows whose first value, a byte, is Side; nil for all.
	Side  *int8        `json:"side,omitempty"`
	Key   []ViewColumn `json:"key"`
	Value []ViewColumn `json:"value"`
	// Hash are the columns by which rows are dealt out to partitions.
	Hash []int `json:"hash,omitempty"`
}

// ViewColumn is a column of a view: the state's keys and, after them, its values are counted from 0.
type ViewColumn struct {
	Name   string `json:"name"`
	Column int    `json:"column"` // NullColumn, or for a struct 0
	// Fields make the column a struct.
	Fields []ViewColumn `json:"fields,omitempty"`
}

// NullColumn is a column of a view of which the state has nothing: it is null, without a type.
const NullColumn = -1

// viewsOf is how a spec's state is seen.
func viewsOf(spec Spec) []View {
	if spec.Views != nil || spec.kind == bytesKind {
		return spec.Views
	}
	var v View
	for i, f := range spec.Keys {
		v.Key = append(v.Key, ViewColumn{Name: f.Name, Column: i})
		v.Hash = append(v.Hash, i)
	}
	for i, f := range spec.Values {
		v.Value = append(v.Value, ViewColumn{Name: f.Name, Column: len(spec.Keys) + i})
	}
	if len(spec.Values) == 0 {
		v.Value = []ViewColumn{{Name: "__dummy__", Column: NullColumn}}
	}
	return []View{v}
}

// Spec is the spec of a stored state, as far as its header tells.
func (h Header) Spec() (spec Spec, err error) {
	spec = Spec{Name: h.Operator, Meaning: h.Meaning, Partitions: h.Partitions, Views: h.Views, kind: h.Kind}
	if spec.Keys, err = fieldsOf(h.Keys); err == nil {
		spec.Values, err = fieldsOf(h.Values)
	}
	return spec, err
}

// Tables tells whether the state is tables, not ordered bytes.
func (h Header) Tables() bool { return h.Kind == "" }

func fieldsOf(texts []string) ([]types.Field, error) {
	out := make([]types.Field, len(texts))
	for i, text := range texts {
		t, err := types.ParseType(text)
		if err != nil {
			return nil, err
		}
		out[i].Type = t
	}
	return out, nil
}
