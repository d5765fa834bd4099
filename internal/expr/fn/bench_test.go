package fn_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// benchColumn makes vec.BatchRows values of a type.
func benchColumn(b *testing.B, t types.DataType) *vec.Vector {
	values := make([]any, vec.BatchRows)
	for i := range values {
		n := int64(i*7919%10007) + 1
		switch t := t.(type) {
		case types.IntegerType:
			values[i] = int32(n)
		case types.LongType:
			values[i] = n
		case types.DoubleType:
			values[i] = float64(n) / 7
		case types.DecimalType:
			values[i] = types.DecimalFromInt64(n, t.Scale)
		case types.DateType:
			values[i] = types.Days(n)
		case types.TimestampType:
			values[i] = types.Micros(1577836800e6 + n*1e6)
		case types.BooleanType:
			values[i] = n%3 == 0
		case types.StringType:
			values[i] = "text number " + strconv.FormatInt(n, 10)
		case types.TimeType:
			values[i] = types.TimeOfDay(n * 1e9)
		case types.ArrayType:
			values[i] = []any{int32(n), int32(n + 1), int32(n - 1)}
			if types.SameType(t.Element, types.Float) {
				values[i] = []any{float32(n), float32(n + 1), float32(n - 1)}
			}
		}
	}
	v, err := vec.FromValues(t, values...)
	if err != nil {
		b.Fatal(err)
	}
	return v
}

// BenchmarkFunctions computes one batch with each of some functions of every family.
func BenchmarkFunctions(b *testing.B) {
	dec := types.DecimalType{Precision: 10, Scale: 2}
	wide := types.DecimalType{Precision: 30, Scale: 2}
	i, l, d, s, ts, dt := types.Integer, types.Long, types.Double, types.String, types.Timestamp, types.Date
	for _, c := range []struct {
		name string
		args []types.DataType
		lit  []any // constants behind the columns
	}{
		{"+", []types.DataType{l, l}, nil},
		{"+", []types.DataType{l}, []any{int64(5)}},
		{"*", []types.DataType{l, l}, nil},
		{"/", []types.DataType{d, d}, nil},
		{"%", []types.DataType{l}, []any{int64(10)}},
		{"+", []types.DataType{dec, dec}, nil},
		{"*", []types.DataType{wide, dec}, nil},
		{"/", []types.DataType{dec, dec}, nil},
		{"<", []types.DataType{l, l}, nil},
		{">", []types.DataType{l}, []any{int64(500)}},
		{"==", []types.DataType{s}, []any{"text number 5"}},
		{"<", []types.DataType{d, d}, nil},
		{"in", []types.DataType{l}, []any{int64(1), int64(2), int64(3)}},
		{"in", []types.DataType{s}, []any{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m"}},
		{"not", []types.DataType{types.Boolean}, nil},
		{"greatest", []types.DataType{l, l, l}, nil},
		{"&", []types.DataType{i, i}, nil},
		{"year", []types.DataType{dt}, nil},
		{"hour", []types.DataType{ts}, nil},
		{"date_trunc", nil, []any{"hour"}},
		{"date_format", []types.DataType{ts}, []any{"yyyy-MM-dd HH:mm"}},
		{"date_add", []types.DataType{dt, i}, nil},
		{"upper", []types.DataType{s}, nil},
		{"substring", []types.DataType{s}, []any{int32(3), int32(5)}},
		{"length", []types.DataType{s}, nil},
		{"concat", []types.DataType{s, s}, nil},
		{"like", []types.DataType{s}, []any{"%5%"}},
		{"like", []types.DataType{s}, []any{"text%1_"}},
		{"rlike", []types.DataType{s}, []any{"number [0-9]+5"}},
		{"regexp_extract", []types.DataType{s}, []any{"number ([0-9]+)", int32(1)}},
		{"split", []types.DataType{s}, []any{" "}},
		{"md5", []types.DataType{s}, nil},
		{"hash", []types.DataType{l, s}, nil},
		{"xxhash64", []types.DataType{l, s}, nil},
		{"sqrt", []types.DataType{d}, nil},
		{"power", []types.DataType{d}, []any{3.0}},
		{"like any", []types.DataType{s}, []any{"%a%", "b_c%"}},
		{"round", []types.DataType{d}, []any{int32(2)}},
		{"round", []types.DataType{dec}, []any{int32(1)}},
		{"rand", nil, []any{int64(1)}},
		{"size", []types.DataType{types.ArrayOf(i)}, nil},
		{"array_contains", []types.DataType{types.ArrayOf(i), i}, nil},
		{"sort_array", []types.DataType{types.ArrayOf(i)}, nil},
		{"array", []types.DataType{l, l}, nil},
		{"tan", []types.DataType{d}, nil},
		{"aes_encrypt", []types.DataType{s}, []any{"0000111122223333", "ECB"}},
		{"make_valid_utf8", []types.DataType{s}, nil},
		{"url_encode", []types.DataType{s}, nil},
		{"sentences", []types.DataType{s}, nil},
		{"mask", []types.DataType{s}, nil},
		{"to_char", []types.DataType{dec}, []any{"999,999.99"}},
		{"format_number", []types.DataType{d}, []any{int32(2)}},
		{"format_string", nil, []any{"%08d", int64(5)}},
		{"to_time", nil, []any{"12:34:56"}},
		{"time_from_seconds", []types.DataType{l}, nil},
		{"time_to_micros", []types.DataType{types.Time}, nil},
		{"-", []types.DataType{types.Time, types.Time}, nil},
		{"randstr", nil, []any{int32(8), int64(1)}},
		{"uniform", nil, []any{int32(1), int32(100), int64(1)}},
		{"shuffle", []types.DataType{types.ArrayOf(i)}, []any{int64(1)}},
		{"uuid", nil, []any{int64(1)}},
		{"vector_norm", []types.DataType{types.ArrayOf(types.Float)}, nil},
	} {
		cols := make([]*vec.Vector, 0, len(c.args))
		nodes := make([]expr.Node, 0, len(c.args)+len(c.lit))
		binding := &fn.Binding{Name: c.name, ANSI: true, Zone: time.UTC}
		name := c.name
		for _, t := range c.args {
			name += " " + t.SimpleString()
			nodes = append(nodes, expr.NewColumn(len(cols), t))
			cols = append(cols, benchColumn(b, t))
			binding.Args = append(binding.Args, fn.Arg{Type: t, Nullable: true, SQL: "x"})
		}
		for _, x := range c.lit {
			t := map[string]types.DataType{"int32": i, "int64": l, "string": s}[fmt.Sprintf("%T", x)]
			v, err := vec.FromValues(t, x)
			if err != nil {
				b.Fatal(err)
			}
			name += fmt.Sprintf(" %v", x)
			nodes = append(nodes, expr.NewLiteral(x, t))
			binding.Args = append(binding.Args, fn.Arg{Type: t, Const: v, SQL: fmt.Sprint(x)})
		}
		if c.name == "date_trunc" { // the only one whose column comes last
			nodes = append(nodes, expr.NewColumn(0, ts))
			cols = append(cols, benchColumn(b, ts))
			binding.Args = append(binding.Args, fn.Arg{Type: ts, SQL: "x"})
		}
		bound, err := fn.Lookup(c.name).Bind(binding)
		if err != nil {
			b.Fatal(name, err)
		}
		benchNode(b, name, fn.NewNode(bound, nodes), cols)
	}
}

// BenchmarkCasts casts one batch.
func BenchmarkCasts(b *testing.B) {
	dec := types.DecimalType{Precision: 12, Scale: 2}
	for _, c := range [][2]types.DataType{
		{types.Integer, types.Long},
		{types.Long, types.Integer},
		{types.Long, types.Double},
		{types.Double, types.Long},
		{types.Long, dec},
		{types.Long, types.String},
		{types.Double, types.String},
		{dec, types.String},
		{types.Timestamp, types.String},
		{types.Timestamp, types.Date},
		{types.Date, types.Timestamp},
	} {
		v := benchColumn(b, c[0])
		name := c[0].SimpleString() + " to " + c[1].SimpleString()
		back := castNode(b, c[0], c[1])
		benchNode(b, name, back, []*vec.Vector{v})
		if _, ok := c[1].(types.StringType); ok { // and back again
			texts := back.Eval(&expr.Eval{}, vec.NewBatch(v.Len(), v)).Flatten().Own()
			benchNode(b, "string to "+c[0].SimpleString(), castNode(b, types.String, c[0]), []*vec.Vector{texts})
		}
	}
}

func castNode(b *testing.B, from, to types.DataType) expr.Node {
	bound, err := fn.BindCast(from, to, fn.CastANSI, time.UTC)
	if err != nil {
		b.Fatal(err)
	}
	return fn.NewNode(bound, []expr.Node{expr.NewColumn(0, from)})
}

// BenchmarkWindow finds the windows of one batch of times.
func BenchmarkWindow(b *testing.B) {
	v := benchColumn(b, types.Timestamp)
	bound := fn.BindWindow(types.Timestamp, 600e6, 600e6, 0, 0)
	benchNode(b, "tumbling", fn.NewNode(bound, []expr.Node{expr.NewColumn(0, types.Timestamp)}), []*vec.Vector{v})
}

func benchNode(b *testing.B, name string, n expr.Node, cols []*vec.Vector) {
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		in := vec.NewBatch(vec.BatchRows, cols...)
		e := &expr.Eval{Batch: &expr.BatchParams{Zone: time.UTC}}
		for b.Loop() {
			n.Eval(e, in)
			e.Row += int64(in.N)
			e.Errs.Reset()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/vec.BatchRows, "ns/row")
	})
}
