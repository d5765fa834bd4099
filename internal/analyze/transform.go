package analyze

import (
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// transform resolves a stateful processor over groups: its keys, its event time, and whether it fits the columns.
func (r *resolver) transform(n *plan.TransformGroups) (plan.Node, error) {
	t := *n
	var err error
	if t.Keys, t.Child, err = r.transformKeys(n.Keys, n.Child); err != nil {
		return nil, err
	}
	if n.Initial != nil {
		if n.Initial.Streaming() {
			return nil, errclass.New("UNSUPPORTED_FEATURE.RELATION", "relation", "a streaming initial state of transformWithState")
		}
		if t.InitialKeys, t.Initial, err = r.transformKeys(n.InitialKeys, n.Initial); err != nil {
			return nil, err
		}
		if err := sameKeys(t.Keys, t.InitialKeys); err != nil {
			return nil, err
		}
	}
	if n.EventTime != "" {
		if t.Out, err = r.outputTime(&t); err != nil {
			return nil, err
		}
	}
	var initial *types.StructType
	if t.Initial != nil {
		s := plan.Schema(n.Initial)
		initial = &s
	}
	t.Program, err = n.Processor.Fit(keySchema(t.Keys), plan.Schema(n.Child), initial)
	return &t, err
}

// transformKeys resolves grouping keys. Computed ones become columns.
func (r *resolver) transformKeys(keys []plan.Expr, child plan.Node) ([]plan.Expr, plan.Node, error) {
	sc := r.over(child)
	out, err := sc.exprs(keys)
	if err != nil {
		return nil, nil, err
	}
	for i, k := range out {
		if _, isMap := plan.TypeOf(k).(types.MapType); isMap {
			return nil, nil, errclass.New("GROUP_EXPRESSION_TYPE_IS_NOT_ORDERABLE", "sqlExpr", errclass.Expr(k.SQL()), "dataType", errclass.Expr(plan.TypeOf(k).SQL()))
		}
		if plan.AttrOf(k) == nil {
			out[i] = plan.NewAlias(k, k.SQL())
		}
	}
	return out, child, nil
}

func keySchema(keys []plan.Expr) types.StructType {
	var s types.StructType
	for _, k := range keys {
		f := plan.AttrOf(k).Field()
		f.Nullable = true
		s.Fields = append(s.Fields, f)
	}
	return s
}

// sameKeys checks that the initial state is grouped as the rows are.
func sameKeys(keys, initial []plan.Expr) error {
	same := len(keys) == len(initial)
	for i := 0; same && i < len(keys); i++ {
		same = types.SameType(plan.TypeOf(keys[i]), plan.TypeOf(initial[i]))
	}
	if same {
		return nil
	}
	return errclass.New("TRANSFORM_WITH_STATE_INITIAL_STATE_KEYS", "keys", keySchema(keys).SimpleString(), "initialKeys", keySchema(initial).SimpleString())
}

// outputTime marks the column of the output that is event time, with the delay that the input has.
func (r *resolver) outputTime(t *plan.TransformGroups) ([]*plan.Attr, error) {
	out := make([]*plan.Attr, len(t.Out))
	copy(out, t.Out)
	at := -1
	for i, a := range out {
		if a.Name == t.EventTime {
			at = i
		}
	}
	if at < 0 {
		_, err := r.over(&plan.Local{Out: out}).expr(&plan.Column{Parts: []string{t.EventTime}})
		return nil, err
	}
	if !types.SameType(out[at].T, types.Timestamp) {
		return nil, errclass.New("EVENT_TIME_IS_NOT_ON_TIMESTAMP_TYPE", "eventName", errclass.Ident(t.EventTime), "eventType", errclass.Expr(out[at].T.SQL()))
	}
	for _, a := range t.Child.Output() {
		if a.EventTime {
			out[at] = out[at].Marked(a.Delay)
			return out, nil
		}
	}
	return nil, errclass.New("CANNOT_ASSIGN_EVENT_TIME_COLUMN_WITHOUT_WATERMARK")
}
