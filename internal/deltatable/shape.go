package deltatable

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	conn "github.com/millrace/millrace/internal/connector/delta"
	core "github.com/millrace/millrace/internal/delta"

	"github.com/millrace/millrace/internal/bind"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/sql"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// shape is what turns rows of a query into rows of a Delta table, compiled: projections one after the other, and conditions on what comes
// out of the last.
type shape struct {
	task   exec.Task
	stages [][]exec.Expr
	checks []shapeCheck
	to     conn.Target
}

// shapeCheck is a condition that all rows must meet.
type shapeCheck struct {
	cond exec.Expr
	fail func(values string) error
}

// Shape compiles what makes rows of a table of those of a query with some columns: the Shaper of package connector/delta, which a
// session is.
func Shape(ctx context.Context, s Session, from types.StructType, to conn.Target) (func(part int) conn.RowShaper, error) {
	env := s.SourceEnv()
	sh := &shape{to: to, task: exec.Task{Batch: &expr.BatchParams{Now: env.Now().UnixMicro(), Zone: env.Zone}}}
	n, err := s.Analyze(ctx, tableRows(s, &plan.Local{Out: plan.Attrs(from)}, to.Schema))
	if err != nil {
		return nil, err
	}
	if err := sh.compile(s, n); err != nil {
		return nil, err
	}
	if n, err = sh.generate(ctx, s, n, from, to.Schema); err != nil {
		return nil, err
	}
	for _, c := range checksOf(to) {
		if err := sh.check(ctx, s, n, c.text, c.fail); err != nil {
			return nil, err
		}
	}
	return func(part int) conn.RowShaper {
		r := &shapeRun{shape: sh}
		for _, st := range sh.stages {
			r.stages = append(r.stages, exec.NewEvaluator(&sh.task, part, st))
		}
		for _, c := range sh.checks {
			r.checks = append(r.checks, exec.NewEvaluator(&sh.task, part, []exec.Expr{c.cond}))
		}
		return r.rows
	}, nil
}

// textCheck is a condition as text with its error.
type textCheck struct {
	text string
	fail func(values string) error
}

// checksOf are the conditions of a table and of a write.
func checksOf(to conn.Target) []textCheck {
	var out []textCheck
	violated := func(name, text string) func(string) error {
		return func(values string) error {
			return errclass.New("DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", "constraintName", name, "expression", text, "values", values)
		}
	}
	for _, c := range to.Checks {
		out = append(out, textCheck{c.Text, violated(c.Name, c.Text)})
	}
	for _, f := range to.Schema.Fields {
		raw, ok := f.MetadataValue("delta.invariants")
		if !ok {
			continue
		}
		var text string
		var inv struct {
			Expression struct {
				Expression string `json:"expression"`
			} `json:"expression"`
		}
		if json.Unmarshal(raw, &text) == nil && json.Unmarshal([]byte(text), &inv) == nil && inv.Expression.Expression != "" {
			out = append(out, textCheck{inv.Expression.Expression, violated("invariant of "+f.Name, inv.Expression.Expression)})
		}
	}
	if to.Only != "" {
		out = append(out, textCheck{to.Only, func(string) error { return errclass.New("DELTA_REPLACE_WHERE_MISMATCH", "replaceWhere", to.Only) }})
	}
	return out
}

// tableRows makes the columns of a table of those of a query: by name in any case, cast, and null where the query has none.
func tableRows(s Session, n plan.Node, to types.StructType) plan.Node {
	out := n.Output()
	p := &plan.Project{Child: n}
	for _, f := range to.Fields {
		var e plan.Expr
		for _, a := range out {
			if strings.EqualFold(a.Name, f.Name) && (e == nil || a.Name == f.Name) {
				e = conform(a, a.T, f.Type)
			}
		}
		if e == nil {
			e = &plan.Cast{Child: &plan.Literal{T: types.Null}, To: f.Type}
			if d := plan.DefaultOf(f); d != "" {
				if x, err := sql.ParseExpr(d, s.SQLOptions()); err == nil {
					e = &plan.Cast{Child: x, To: f.Type}
				}
			}
		}
		p.Cols = append(p.Cols, &plan.Alias{Child: e, Name: f.Name, Metadata: plan.NoMetadata})
	}
	return p
}

// conform casts a value to a column's type. Structs are put together by the names of their fields.
func conform(e plan.Expr, from, to types.DataType) plan.Expr {
	f, ok1 := from.(types.StructType)
	t, ok2 := to.(types.StructType)
	if !ok1 || !ok2 || types.SameType(types.Nullable(from), types.Nullable(to)) {
		return &plan.Cast{Child: e, To: to}
	}
	args := []plan.Expr{}
	for _, field := range t.Fields {
		var v plan.Expr = &plan.Cast{Child: &plan.Literal{T: types.Null}, To: field.Type}
		if i := f.IndexFold(field.Name); i >= 0 {
			v = conform(&plan.Extract{Child: e, Key: &plan.Literal{Value: f.Fields[i].Name, T: types.String}}, f.Fields[i].Type, field.Type)
		}
		args = append(args, &plan.Literal{Value: field.Name, T: types.String}, v)
	}
	made := &plan.Func{Name: []string{"named_struct"}, Args: args}
	return &plan.Cast{To: to, Child: &plan.Func{Name: []string{"if"}, Args: []plan.Expr{
		&plan.Func{Name: []string{"isnull"}, Args: []plan.Expr{e}}, &plan.Cast{Child: &plan.Literal{T: types.Null}, To: to}, &plan.Cast{Child: made, To: to},
	}}}
}

// compile adds the projection that a plan is.
func (sh *shape) compile(s Session, n plan.Node) error {
	p, ok := n.(*plan.Project)
	if !ok {
		return errclass.New("INTERNAL_ERROR", "message", "rows of a table come from something else than a projection")
	}
	cols, err := bind.New(p.Child.Output(), s.SourceEnv().Zone).All(p.Cols)
	if err != nil {
		return err
	}
	sh.stages = append(sh.stages, cols)
	return nil
}

// generate computes generated columns that the query lacks, and checks those that it has.
func (sh *shape) generate(ctx context.Context, s Session, n plan.Node, from, to types.StructType) (plan.Node, error) {
	p := &plan.Project{Child: n}
	any := false
	for i, f := range to.Fields {
		text := generation(f)
		if text == "" {
			p.Cols = append(p.Cols, n.Output()[i])
			continue
		}
		e, err := sql.ParseExpr(text, s.SQLOptions())
		if err != nil {
			return nil, err
		}
		if from.IndexFold(f.Name) >= 0 {
			p.Cols = append(p.Cols, n.Output()[i])
			continue
		}
		any = true
		p.Cols = append(p.Cols, &plan.Alias{Child: &plan.Cast{Child: e, To: f.Type}, Name: f.Name, Metadata: plan.NoMetadata})
	}
	if any {
		var err error
		if n, err = s.Analyze(ctx, p); err != nil {
			return nil, err
		}
		if err := sh.compile(s, n); err != nil {
			return nil, err
		}
	}
	for _, f := range to.Fields {
		text := generation(f)
		if text == "" || from.IndexFold(f.Name) < 0 {
			continue
		}
		cond := errclass.Ident(f.Name) + " <=> (" + text + ")"
		fail := func(values string) error {
			return errclass.New("DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", "constraintName", "Generated Column", "expression", cond, "values", values)
		}
		if err := sh.check(ctx, s, n, cond, fail); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// generation is the text of a generated column's expression, or "".
func generation(f types.Field) string { return plan.MetadataText(f, core.GenerationKey) }

// check adds a condition on the rows of a plan.
func (sh *shape) check(ctx context.Context, s Session, n plan.Node, text string, fail func(string) error) error {
	e, err := sql.ParseExpr(text, s.SQLOptions())
	if err != nil {
		return err
	}
	c, err := s.Analyze(ctx, &plan.Project{Cols: []plan.Expr{&plan.Alias{Child: e, Name: "check"}}, Child: n})
	if err != nil {
		return err
	}
	p, ok := c.(*plan.Project)
	if !ok || len(p.Child.Output()) != len(n.Output()) || p.Output()[0].T != types.Boolean {
		return errclass.New("DELTA_NON_BOOLEAN_CHECK_CONSTRAINT", "name", text, "expr", text)
	}
	cols, err := bind.New(p.Child.Output(), s.SourceEnv().Zone).All(p.Cols)
	if err != nil {
		return err
	}
	sh.checks = append(sh.checks, shapeCheck{cols[0], fail})
	return nil
}

// shapeRun is a shape at work on one part.
type shapeRun struct {
	*shape
	stages, checks []*exec.Evaluator
}

// rows implements RowShaper.
func (r *shapeRun) rows(b *vec.Batch) (*vec.Batch, error) {
	for _, ev := range r.stages {
		cols, err := ev.ComputeAll(b)
		if err != nil {
			return nil, err
		}
		b = &vec.Batch{N: b.N, Cols: append([]*vec.Vector(nil), cols...)}
	}
	for i, f := range r.to.Schema.Fields {
		if !f.Nullable && b.Cols[i].HasNulls() {
			for row := range b.N {
				if b.Cols[i].IsNull(row) {
					return nil, errclass.New("DELTA_NOT_NULL_CONSTRAINT_VIOLATED", "columnName", errclass.Ident(f.Name))
				}
			}
		}
	}
	for i, ev := range r.checks {
		cols, err := ev.ComputeAll(b)
		if err != nil {
			return nil, err
		}
		for row := range b.N {
			if cols[0].IsNull(row) || vec.At[uint8](cols[0], row) == 0 {
				return nil, r.shape.checks[i].fail(r.describe(b, row))
			}
		}
	}
	return b, nil
}

// describe prints a row for an error.
func (r *shapeRun) describe(b *vec.Batch, row int) string {
	var parts []string
	for i, f := range r.to.Schema.Fields {
		text := "NULL"
		if v := vec.ValueAt(b.Cols[i], row); v != nil {
			text = fmt.Sprint(v)
		}
		parts = append(parts, f.Name+" = "+text)
	}
	return strings.Join(parts, ", ")
}
