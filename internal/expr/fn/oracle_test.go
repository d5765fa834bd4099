package fn_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/sql"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// recorded is an expression with what Spark answered (testdata/record.py).
type recorded struct {
	Expr     string  `json:"expr"`
	Type     string  `json:"type"`
	Nullable bool    `json:"nullable"`
	Value    *string `json:"value"`
	Error    string  `json:"error"`
	State    string  `json:"state"`
	Set      string  `json:"set"`
	To       string  `json:"to"`
}

// TestSpark compares every recorded expression: type, nullability, value, error class. Each is evaluated with constants and with
// flat columns of several rows, one of them null, which must not make a difference.
func TestSpark(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var cases []recorded
			if err := json.Unmarshal(b, &cases); err != nil {
				t.Fatal(err)
			}
			env := &env{ansi: true, zone: time.UTC}
			for _, c := range cases {
				switch c.Set {
				case "ansi":
					env.ansi = c.To == "true"
				case "zone":
					env.zone, _ = datetime.ParseZone(c.To)
				default:
					env.check(t, c)
				}
			}
		})
	}
}

// env evaluates expressions without an analyser: it knows calls, casts and literals.
type env struct {
	ansi bool
	zone *time.Location
	flat bool // literals become columns of three rows
	cols []*vec.Vector
}

type typed struct {
	node     expr.Node
	typ      types.DataType
	nullable bool
	constant *vec.Vector
	elements []bool // of a call of array: which may be null
	sql      string
}

const rows = 3

func (v *env) check(t *testing.T, c recorded) {
	for _, flat := range []bool{false, true} {
		v.flat, v.cols = flat, nil
		mode := "constants"
		if flat {
			mode = "columns"
		}
		got, err := v.answer(c.Expr)
		switch e, ok := errors.AsType[*errclass.Error](err); {
		case err != nil && !ok:
			t.Errorf("%s: %s (%s): %v", c.Expr, mode, v.zone, err)
		case c.Error != "" && c.State == "" && ok: // an error without a class
		case c.Error != "" && (!ok || e.Class != c.Error || e.SQLState != c.State):
			t.Errorf("%s: %s: got %v %v, want error %s %s", c.Expr, mode, got, err, c.Error, c.State)
		case c.Error != "":
		case err != nil:
			t.Errorf("%s: %s: %v, want %s", c.Expr, mode, err, text(c.Value))
		case got.Type != c.Type:
			t.Errorf("%s: %s: type %s, want %s", c.Expr, mode, got.Type, c.Type)
		case got.Nullable != c.Nullable && !flat:
			t.Errorf("%s: nullable %v, want %v", c.Expr, got.Nullable, c.Nullable)
		case text(got.Value) != text(c.Value):
			t.Errorf("%s: %s: %s, want %s", c.Expr, mode, text(got.Value), text(c.Value))
		}
		if err != nil || c.Error != "" {
			continue
		}
	}
}

func text(s *string) string {
	if s == nil {
		return "NULL"
	}
	return fmt.Sprintf("%q", *s)
}

func (v *env) answer(src string) (r recorded, err error) {
	e, err := sql.ParseExpr(src, sql.Options{Zone: v.zone})
	if err != nil {
		return r, err
	}
	x, err := v.build(e)
	if err != nil {
		return r, err
	}
	r.Type, r.Nullable = x.typ.SimpleString(), x.nullable
	out, err := v.eval(x.node)
	if err != nil {
		return r, err
	}
	row := 0
	if out.IsNull(row) {
		return r, nil
	}
	var s string
	if _, ok := x.typ.(types.BinaryType); ok {
		s = fmt.Sprintf("%X", out.BytesAt(row))
	} else {
		s = string(fn.TextWriter(x.typ, &fn.Binding{ANSI: v.ansi, Zone: v.zone})(nil, out, row))
	}
	r.Value = &s
	if n := out.Len() - 1; n > 0 {
		again := string(fn.TextWriter(x.typ, &fn.Binding{ANSI: v.ansi, Zone: v.zone})(nil, out, n))
		if _, ok := x.typ.(types.BinaryType); !ok && (out.IsNull(n) || again != s) {
			return r, fmt.Errorf("row %d is %q, row 0 %q", n, again, s)
		}
	}
	return r, nil
}

func (v *env) eval(n expr.Node) (*vec.Vector, error) {
	e := &expr.Eval{Batch: &expr.BatchParams{Zone: v.zone, Now: 1577836800e6}}
	count := 1
	if v.flat {
		count = rows
	}
	out := n.Eval(e, vec.NewBatch(count, v.cols...))
	for _, r := range e.Errs.All() {
		if r.Row != 1 { // the row of nulls may fail where it makes a null key
			return nil, r.Err
		}
	}
	return out, nil
}

func (v *env) build(e plan.Expr) (*typed, error) {
	switch e := e.(type) {
	case *plan.Literal:
		return v.literal(e)
	case *plan.Alias:
		return v.build(e.Child)
	case *plan.Cast:
		return v.cast(e)
	case *plan.Extract:
		return v.extract(e)
	case *plan.Func:
		args := make([]*typed, len(e.Args))
		for i, a := range e.Args {
			var err error
			if args[i], err = v.build(a); err != nil {
				return nil, err
			}
		}
		name := strings.ToLower(e.Name[len(e.Name)-1])
		if name == "struct" {
			return v.named(e, args)
		}
		return v.call(name, args, e.SQL())
	}
	return nil, fmt.Errorf("no %T here", e)
}

func (v *env) extract(e *plan.Extract) (*typed, error) {
	child, err := v.build(e.Child)
	if err != nil {
		return nil, err
	}
	if st, ok := child.typ.(types.StructType); ok {
		i := st.IndexFold(e.Key.(*plan.Literal).Value.(string))
		f := st.Fields[i]
		return &typed{node: expr.NewField(child.node, i), typ: f.Type, nullable: child.nullable || f.Nullable, sql: e.SQL()}, nil
	}
	key, err := v.build(e.Key)
	if err != nil {
		return nil, err
	}
	return v.call("getitem", []*typed{child, key}, e.SQL())
}

// named builds struct(...) from named_struct, as the analyser does.
func (v *env) named(e *plan.Func, args []*typed) (*typed, error) {
	var both []*typed
	for i, a := range args {
		name := fmt.Sprintf("col%d", i+1)
		if alias, ok := e.Args[i].(*plan.Alias); ok {
			name = alias.Name
		}
		label, err := v.literal(&plan.Literal{Value: name, T: types.String})
		if err != nil {
			return nil, err
		}
		both = append(both, label, a)
	}
	return v.call("named_struct", both, e.SQL())
}

func (v *env) literal(e *plan.Literal) (*typed, error) {
	one, err := vec.FromValues(e.T, e.Value)
	if err != nil {
		return nil, err
	}
	x := &typed{typ: e.T, nullable: e.Value == nil, constant: one, sql: e.SQL()}
	if !v.flat {
		x.node = expr.NewLiteral(e.Value, e.T)
		return x, nil
	}
	col, err := vec.FromValues(e.T, e.Value, nil, e.Value)
	if err != nil {
		return nil, err
	}
	v.cols = append(v.cols, col)
	x.node = expr.NewColumn(len(v.cols)-1, e.T)
	return x, nil
}

func (v *env) cast(e *plan.Cast) (*typed, error) {
	x, err := v.build(e.Child)
	if err != nil {
		return nil, err
	}
	mode := fn.CastLegacy
	switch {
	case e.Mode == plan.CastTry:
		mode = fn.CastTry
	case v.ansi:
		mode = fn.CastANSI
	}
	return v.castTo(x, e.To, mode)
}

func (v *env) castTo(x *typed, to types.DataType, mode fn.CastMode) (*typed, error) {
	bound, err := fn.BindCast(x.typ, to, mode, v.zone)
	if err != nil {
		return nil, err
	}
	r := &typed{typ: to, nullable: fn.CastNullable(x.typ, to, mode, x.nullable), sql: "CAST(" + x.sql + " AS " + to.SQL() + ")"}
	r.node = fn.NewNode(bound, []expr.Node{x.node})
	return r, v.fold(r, x)
}

// fold computes a call of constants, as the analyser does before it binds the next call.
func (v *env) fold(r *typed, args ...*typed) error {
	for _, a := range args {
		if a.constant == nil {
			return nil
		}
	}
	out, err := v.eval(r.node)
	if err != nil {
		return nil // it fails when it is run
	}
	r.constant = out.Slice(0, 1).Flatten().Own()
	return nil
}

func (v *env) call(name string, args []*typed, text string) (*typed, error) {
	if (name == "-" || name == "+") && len(args) == 1 {
		name = map[string]string{"-": "negative", "+": "positive"}[name]
	}
	f := fn.Lookup(name)
	if f == nil {
		return nil, fmt.Errorf("no function %s", name)
	}
	b := &fn.Binding{Name: name, ANSI: v.ansi, Zone: v.zone}
	for _, a := range args {
		b.Args = append(b.Args, fn.Arg{Type: a.typ, Nullable: a.nullable, Const: a.constant, SQL: a.sql, Elements: a.elements})
	}
	bound, err := f.Bind(b)
	if err != nil {
		return nil, err
	}
	nodes := make([]expr.Node, len(args))
	mode := fn.CastLegacy
	if v.ansi {
		mode = fn.CastANSI
	}
	for i, a := range args {
		if bound.Args[i] != nil && !types.Equal(bound.Args[i], a.typ) {
			if a, err = v.castTo(a, bound.Args[i], mode); err != nil {
				return nil, err
			}
		}
		nodes[i] = a.node
	}
	r := &typed{typ: bound.Type, nullable: bound.Nullable, sql: text, node: fn.NewNode(bound, nodes)}
	if name == "array" {
		for _, a := range args {
			r.elements = append(r.elements, a.nullable)
		}
	}
	if bound.Nondeterministic {
		return r, nil
	}
	return r, v.fold(r, args...)
}
