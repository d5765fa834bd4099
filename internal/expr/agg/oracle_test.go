package agg

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// column is one of testdata/table.json.
type tableColumn struct {
	Name   string    `json:"name"`
	Type   string    `json:"type"`
	Values []*string `json:"values"`
}

// recorded is an aggregate with what Spark answered for each group of the table (testdata/record.py).
type recorded struct {
	Expr     string    `json:"expr"`
	Type     string    `json:"type"`
	Nullable bool      `json:"nullable"`
	Values   []*string `json:"values"`
	Error    string    `json:"error"`
	Set      string    `json:"set"`
	To       string    `json:"to"`
}

func load[T any](t testing.TB, name string) T {
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var v T
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// table is the input by column name.
type table map[string]*vec.Vector

func loadTable(t testing.TB) table {
	tab := table{}
	for _, c := range load[[]tableColumn](t, "table.json") {
		typ, err := types.ParseType(c.Type)
		if err != nil {
			t.Fatal(err)
		}
		b := vec.NewBuilder(types.String)
		for _, v := range c.Values {
			if v == nil {
				b.AppendNull()
			} else {
				b.AppendString(*v)
			}
		}
		tab[c.Name] = castTo(t, b.Finish(), typ)
	}
	return tab
}

func castTo(t testing.TB, v *vec.Vector, to types.DataType) *vec.Vector {
	out, err := cast(v, to, fn.CastANSI)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func cast(v *vec.Vector, to types.DataType, mode fn.CastMode) (*vec.Vector, error) {
	bound, err := fn.BindCast(v.Type(), to, mode, time.UTC)
	if err != nil {
		return nil, err
	}
	e := &expr.Eval{}
	out := fn.NewNode(bound, []expr.Node{expr.NewColumn(0, v.Type())}).Eval(e, vec.NewBatch(v.Len(), v))
	if _, err, ok := e.Errs.First(); ok {
		return nil, err
	}
	return out.Flatten().Own(), nil
}

// TestSpark compares every recorded aggregate in several ways of computing it: all rows at once, in parts that are saved and merged,
// and with groups that were used before.
func TestSpark(t *testing.T) {
	tab := loadTable(t)
	ansi := true
	for _, c := range load[[]recorded](t, "agg.json") {
		if c.Set != "" {
			ansi = c.To == "true"
			continue
		}
		for _, parts := range []int{1, 2, 10} {
			got, bound, err := tab.run(t, c.Expr, ansi, parts)
			switch e, ok := errors.AsType[*errclass.Error](err); {
			case c.Error != "" && (!ok || e.Class != c.Error):
				t.Errorf("%s in %d parts: got %v %v, want error %s", c.Expr, parts, got, err, c.Error)
			case c.Error != "":
			case err != nil:
				t.Errorf("%s in %d parts: %v", c.Expr, parts, err)
			case bound.Type.SimpleString() != c.Type:
				t.Errorf("%s: type %s, want %s", c.Expr, bound.Type.SimpleString(), c.Type)
			case bound.Nullable != c.Nullable:
				t.Errorf("%s: nullable %v, want %v", c.Expr, bound.Nullable, c.Nullable)
			case !same(got, c.Values, bound.Type):
				t.Errorf("%s in %d parts: %s, want %s", c.Expr, parts, show(got), show(c.Values))
			}
		}
	}
}

// same compares texts; doubles may differ in the last digits, because partial results are added in another order.
func same(got, want []*string, t types.DataType) bool {
	return slices.EqualFunc(got, want, func(a, b *string) bool {
		if a == nil || b == nil {
			return a == b
		}
		if *a == *b {
			return true
		}
		x, err1 := strconv.ParseFloat(*a, 64)
		y, err2 := strconv.ParseFloat(*b, 64)
		if err1 == nil && err2 == nil {
			d := x - y
			return d < 1e-12 && d > -1e-12 || d/y < 1e-12 && d/y > -1e-12
		}
		return strings.HasPrefix(t.SimpleString(), "array<decimal") // Spark prints these without the zeros of the scale
	})
}

func show(vs []*string) string {
	texts := make([]string, len(vs))
	for i, v := range vs {
		texts[i] = "NULL"
		if v != nil {
			texts[i] = *v
		}
	}
	return strings.Join(texts, " | ")
}

// parse takes name(column or constant, ...) apart.
func (tab table) parse(t *testing.T, text string) (name string, args []fn.Arg, vs []*vec.Vector) {
	name, rest, _ := strings.Cut(text, "(")
	rest = strings.TrimSuffix(rest, ")")
	for rest != "" {
		var a string
		if strings.HasPrefix(rest, "array(") {
			end := strings.IndexByte(rest, ')') + 1
			a, rest = rest[:end], strings.TrimPrefix(rest[end:], ", ")
		} else {
			a, rest, _ = strings.Cut(rest, ", ")
		}
		if v, ok := tab[a]; ok {
			args = append(args, fn.Arg{Type: v.Type(), Nullable: true, SQL: a})
			vs = append(vs, v)
			continue
		}
		v := constant(t, a)
		args = append(args, fn.Arg{Type: v.Type(), Const: v, SQL: a})
		vs = append(vs, vec.NewConst(v, tab["g"].Len()))
	}
	return name, args, vs
}

func constant(t *testing.T, text string) *vec.Vector {
	var value any
	var typ types.DataType
	if list, ok := strings.CutPrefix(text, "array("); ok {
		var fs []any
		for _, s := range strings.Split(strings.TrimSuffix(list, ")"), ", ") {
			f, err := strconv.ParseFloat(s, 64)
			if err != nil {
				t.Fatal(err)
			}
			fs = append(fs, f)
		}
		value, typ = fs, types.ArrayOf(types.Double)
	} else if n, err := strconv.Atoi(text); err == nil {
		value, typ = int32(n), types.Integer
	} else if f, err := strconv.ParseFloat(strings.TrimSuffix(text, "D"), 64); err == nil {
		value, typ = f, types.Double
	} else {
		value, typ = text == "true", types.Boolean
	}
	v, err := vec.FromValues(typ, value)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// run computes an aggregate, the rows cut into parts.
func (tab table) run(t *testing.T, text string, ansi bool, parts int) ([]*string, *Bound, error) {
	name, args, vs := tab.parse(t, text)
	f := Lookup(name)
	if f == nil {
		return nil, nil, fmt.Errorf("no aggregate %s", name)
	}
	bound, err := f.Bind(&Binding{Name: name, Args: args, ANSI: ansi, Zone: time.UTC})
	if err != nil {
		return nil, nil, err
	}
	mode := fn.CastLegacy
	if ansi {
		mode = fn.CastANSI
	}
	for i, to := range bound.Args {
		if to != nil && !types.Equal(to, vs[i].Type()) {
			if vs[i], err = cast(vs[i], to, mode); err != nil {
				return nil, nil, err
			}
		}
	}
	groups := make([]uint32, 0, tab["g"].Len())
	for _, g := range vec.Fixed[int32](tab["g"]) {
		groups = append(groups, uint32(g)+1) // group 0 is used and cleared
	}
	all := []uint32{1, 2, 3, 4}
	e := &expr.Eval{}
	total := bound.New()
	total.Grow(5)
	total.Update(&expr.Eval{}, make([]uint32, len(groups)), vs)
	total.Clear([]uint32{0})
	if len(vs) == 0 || parts == 1 {
		total.Update(e, groups, vs)
	} else {
		for p := range parts {
			from, to := p*len(groups)/parts, (p+1)*len(groups)/parts
			part := bound.New()
			part.Grow(5)
			cut := make([]*vec.Vector, len(vs))
			for i, v := range vs {
				cut[i] = v.Slice(from, to-from)
			}
			part.Update(e, groups[from:to], cut)
			saved := part.Save(all)
			if len(saved) != len(bound.State) {
				t.Errorf("%s: %d state columns, not %d", text, len(saved), len(bound.State))
			}
			for i, v := range saved {
				if !types.Equal(v.Type(), bound.State[i].Type) {
					t.Errorf("%s: state %d is %s, not %s", text, i, v.Type().SimpleString(), bound.State[i].Type.SimpleString())
				}
			}
			total.Merge(e, all, saved)
		}
	}
	if total.Bytes() <= 0 {
		t.Errorf("%s: %d bytes", text, total.Bytes())
	}
	again := bound.New() // a saved state must give the same result
	again.Grow(5)
	again.Merge(e, all, total.Save(all))
	out := total.Emit(e, all)
	if !types.Equal(out.Type(), bound.Type) {
		t.Errorf("%s: result is %s, not %s", text, out.Type().SimpleString(), bound.Type.SimpleString())
	}
	if _, err, ok := e.Errs.First(); ok {
		return nil, bound, err
	}
	got := texts(out)
	if other := texts(again.Emit(e, all)); !same(got, other, bound.Type) {
		t.Errorf("%s: %s after saving %s", text, show(got), show(other))
	}
	return got, bound, nil
}

func texts(v *vec.Vector) []*string {
	write := fn.TextWriter(v.Type(), &fn.Binding{ANSI: true, Zone: time.UTC})
	out := make([]*string, v.Len())
	for i := range out {
		if v.IsNull(i) {
			continue
		}
		s := string(write(nil, v, i))
		if _, ok := v.Type().(types.BinaryType); ok {
			s = fmt.Sprintf("%X", v.BytesAt(i))
		}
		out[i] = &s
	}
	return out
}
