package millrace

import (
	"reflect"
	"time"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/userfunc"
	"github.com/millrace/millrace/types"
)

// UDF0 makes a function without arguments. See UDF1.
func UDF0[R any](f func() (R, error)) *UDF {
	return rowUDF(f == nil, func(*argSet) func(int) (R, error) {
		return func(int) (R, error) { return f() }
	})
}

// UDF1 makes a function that expressions can call of a Go function. Arguments become Go values, and the result a column, as rows do in
// CollectAs and CreateDataFrame: the SQL types are those of types.TypeOf, arguments of other types are cast if the engine does
// so implicitly, and arrays, maps and structs are taken as they are if their parts fit.
//
// A parameter that is a pointer, a slice, a map or any takes nulls as nil. For any other type a row with a null argument gives null
// without the function being called. The result is null if it is nil. An error, or a panic, fails the row with FAILED_EXECUTE_UDF,
// which ends the query unless nobody wants the row.
//
// The function is called row by row, by several goroutines at once, and possibly for rows that are dropped later.
func UDF1[A, R any](f func(A) (R, error)) *UDF {
	return rowUDF(f == nil, func(s *argSet) func(int) (R, error) {
		a := addArg[A](s)
		return func(i int) (R, error) { return f(a.block[i]) }
	})
}

// UDF2 is UDF1 for two arguments.
func UDF2[A, B, R any](f func(A, B) (R, error)) *UDF {
	return rowUDF(f == nil, func(s *argSet) func(int) (R, error) {
		a, b := addArg[A](s), addArg[B](s)
		return func(i int) (R, error) { return f(a.block[i], b.block[i]) }
	})
}

// UDF3 is UDF1 for three arguments.
func UDF3[A, B, C, R any](f func(A, B, C) (R, error)) *UDF {
	return rowUDF(f == nil, func(s *argSet) func(int) (R, error) {
		a, b, c := addArg[A](s), addArg[B](s), addArg[C](s)
		return func(i int) (R, error) { return f(a.block[i], b.block[i], c.block[i]) }
	})
}

// UDF4 is UDF1 for four arguments.
func UDF4[A, B, C, D, R any](f func(A, B, C, D) (R, error)) *UDF {
	return rowUDF(f == nil, func(s *argSet) func(int) (R, error) {
		a, b, c, d := addArg[A](s), addArg[B](s), addArg[C](s), addArg[D](s)
		return func(i int) (R, error) { return f(a.block[i], b.block[i], c.block[i], d.block[i]) }
	})
}

// UDF5 is UDF1 for five arguments. A function of more takes a struct: f.Struct makes one of columns.
func UDF5[A, B, C, D, E, R any](f func(A, B, C, D, E) (R, error)) *UDF {
	return rowUDF(f == nil, func(s *argSet) func(int) (R, error) {
		a, b, c, d, e := addArg[A](s), addArg[B](s), addArg[C](s), addArg[D](s), addArg[E](s)
		return func(i int) (R, error) { return f(a.block[i], b.block[i], c.block[i], d.block[i], e.block[i]) }
	})
}

// rowUDF makes a UDF of a function over rows. prepare adds its arguments to a set and gives the call for row i of their blocks.
func rowUDF[R any](none bool, prepare func(s *argSet) func(i int) (R, error)) *UDF {
	return newUDF(func(u *UDF) (any, error) {
		if none {
			return nil, errclass.New("CANNOT_BE_EMPTY", "item", "function")
		}
		f := &rowFunc[R]{prepare: prepare, sig: u.signature()}
		var s argSet
		prepare(&s)
		var err error
		if f.sig.Params, err = s.params(); err != nil {
			return nil, err
		}
		takeNulls := 0
		for _, a := range s.args {
			if nullableType(a.goType()) {
				takeNulls++
			}
		}
		f.sig.SkipsNulls = takeNulls == 0 && len(s.args) > 0
		if f.sig.Result, f.sig.Nullable, err = resultOf[R](u.result); err != nil {
			return nil, err
		}
		f.sig.Nullable = f.sig.Nullable || takeNulls > 0 && takeNulls < len(s.args)
		return f, nil
	})
}

// rowFunc implements userfunc.Scalar.
type rowFunc[R any] struct {
	prepare func(s *argSet) func(i int) (R, error)
	sig     userfunc.Signature
}

// Signature implements userfunc.Scalar.
func (f *rowFunc[R]) Signature() userfunc.Signature { return f.sig }

// New implements userfunc.Scalar.
func (f *rowFunc[R]) New(args []types.DataType) (userfunc.Worker, error) {
	w := &rowWorker[R]{out: newResults[R](f.sig.Result)}
	w.args.types = args
	w.call = f.prepare(&w.args)
	return w, nil
}

// rowWorker calls a function for rows, a block of them at a time.
type rowWorker[R any] struct {
	args argSet
	call func(i int) (R, error)
	out  *results[R]
}

// Call implements userfunc.Worker.
func (w *rowWorker[R]) Call(args []arrow.Array, n int, fail userfunc.Fail) (arrow.Array, error) {
	if err := w.args.bind(args); err != nil {
		return nil, err
	}
	w.out.reset(n)
	for from := 0; from < n; {
		m, err := w.args.fill(from, n)
		switch {
		case m == 0: // a row with a null, or one that no Go value can be made of
			if err != nil {
				fail(from, err)
			}
			w.out.null()
			from++
			continue
		}
		for i := 0; i < m; {
			i = w.some(i, m, from, fail)
		}
		w.out.flush(m, from, fail)
		from += m
	}
	return w.out.array(), nil
}

// some calls the function for rows i to m-1 of the block, or up to one for which it panics, and returns where to go on.
func (w *rowWorker[R]) some(i, m, from int, fail userfunc.Fail) (next int) {
	defer func() {
		var err error
		recoveredValue(recover(), &err)
		if err != nil {
			fail(from+i, err)
			next = i + 1
		}
	}()
	for ; i < m; i++ {
		v, err := w.call(i)
		if err != nil {
			fail(from+i, err)
		}
		w.out.block[i] = v
	}
	return m
}

// argSet are the arguments of a function: blocks of Go values that are filled from Arrow arrays.
type argSet struct {
	args  []argument
	types []types.DataType
	skip  []arrow.Array // arrays with nulls that the function cannot take
}

// argument is one of them, of whatever Go type.
type argument interface {
	goType() reflect.Type
	bind(a arrow.Array, t types.DataType) error
	fill(from, n int) error
}

type argOf[A any] struct {
	block []A
	fills filler
}

func addArg[A any](s *argSet) *argOf[A] {
	a := &argOf[A]{block: make([]A, blockRows)}
	s.args = append(s.args, a)
	return a
}

func (x *argOf[A]) goType() reflect.Type { return reflect.TypeFor[A]() }

func (x *argOf[A]) bind(a arrow.Array, t types.DataType) (err error) {
	x.fills, err = columnFiller(reflect.TypeFor[A](), a, t, "argument")
	return err
}

func (x *argOf[A]) fill(from, n int) error {
	clear(x.block[:n])
	return x.fills(unsafe.Pointer(unsafe.SliceData(x.block)), unsafe.Sizeof(x.block[0]), from, n)
}

func (s *argSet) params() ([]userfunc.Param, error) {
	out := make([]userfunc.Param, len(s.args))
	for i, a := range s.args {
		p, err := paramOf(a.goType())
		if err != nil {
			return nil, err
		}
		out[i] = p
	}
	return out, nil
}

func (s *argSet) bind(arrays []arrow.Array) error {
	s.skip = s.skip[:0]
	for i, a := range s.args {
		if err := a.bind(arrays[i], s.types[i]); err != nil {
			return err
		}
		if arrays[i].NullN() > 0 && !nullableType(a.goType()) {
			s.skip = append(s.skip, arrays[i])
		}
	}
	return nil
}

func (s *argSet) live(row int) bool {
	for _, a := range s.skip {
		if a.IsNull(row) {
			return false
		}
	}
	return true
}

// fill fills the blocks with as many rows from from on as can be called one after the other, at most blockRows. It is 0 for a row that
// cannot: one with a null, or one for which err tells why.
func (s *argSet) fill(from, n int) (m int, err error) {
	m = min(blockRows, n-from)
	if len(s.skip) > 0 {
		live := 0
		for live < m && s.live(from+live) {
			live++
		}
		m = live
	}
	if m == 0 {
		return 0, nil
	}
	if err = s.fillAll(from, m); err == nil {
		return m, nil
	}
	if m > 1 { // the good rows in front of a bad one come first
		if err = s.fillAll(from, 1); err == nil {
			return 1, nil
		}
	}
	return 0, err
}

func (s *argSet) fillAll(from, m int) error {
	for _, a := range s.args {
		if err := a.fill(from, m); err != nil {
			return err
		}
	}
	return nil
}

// results gather what a function gives and turn it into an array.
type results[R any] struct {
	block []R
	write columnWriter
	b     array.Builder
}

func newResults[R any](t types.DataType) *results[R] {
	var s types.StructType
	at := types.ArrowSchema(s.Add("value", t, true), types.ArrowOptions{}).Field(0).Type
	return &results[R]{
		block: make([]R, blockRows), write: newColumnWriter(reflect.TypeFor[R](), t), b: array.NewBuilder(allocator, at),
	}
}

func (r *results[R]) reset(n int) { r.b.Reserve(n) }

func (r *results[R]) null() { r.b.AppendNull() }

// flush writes the first m values of the block, which are those of the rows from from on.
func (r *results[R]) flush(m, from int, fail userfunc.Fail) {
	start := r.b.Len()
	for done := 0; done < m; {
		err := r.write(r.b, unsafe.Pointer(&r.block[done]), unsafe.Sizeof(r.block[0]), m-done)
		if err == nil {
			break
		}
		done = r.b.Len() - start // values are written one after the other: this one cannot be
		fail(from+done, err)
		r.b.AppendNull()
		done++
	}
	clear(r.block[:m])
}

func (r *results[R]) array() arrow.Array { return r.b.NewArray() }

// resultOf is the type of a column of Go values.
func resultOf[R any](given types.DataType) (t types.DataType, nullable bool, err error) {
	g := reflect.TypeFor[R]()
	nullable = nullableType(g)
	if given != nil {
		return given, nullable, nil
	}
	t, err = columnType(g)
	return t, nullable, err
}

// columnType is the SQL type of a Go type.
func columnType(g reflect.Type) (types.DataType, error) {
	if g.Kind() == reflect.Pointer && g != reflect.TypeFor[types.Decimal]() {
		if isDecimal := g.Elem() == reflect.TypeFor[types.Decimal](); isDecimal {
			g = g.Elem()
		}
	}
	if g == reflect.TypeFor[types.Decimal]() {
		return types.DecimalSystem, nil
	}
	if g == reflect.TypeFor[Row]() || g.Kind() == reflect.Interface {
		return nil, errclass.New("INVALID_VALUE.NO_TYPE", "goType", g.String(), "path", "result; name its type with Returns")
	}
	if g.Kind() == reflect.Struct && !isValue(g) || g.Kind() == reflect.Pointer && g.Elem().Kind() == reflect.Struct && !isValue(g.Elem()) {
		return types.SchemaOf(reflect.Zero(g).Interface())
	}
	return types.TypeOf(reflect.Zero(g).Interface())
}

// paramOf describes a parameter of a Go type.
func paramOf(g reflect.Type) (userfunc.Param, error) {
	p := userfunc.Param{Takes: func(t types.DataType) bool { return takes(g, t) }}
	if g == reflect.TypeFor[Row]() || g.Kind() == reflect.Interface {
		return p, nil
	}
	t, err := columnType(g)
	if err != nil {
		return p, err
	}
	switch t.(type) {
	case types.ArrayType, types.MapType, types.StructType:
		return p, nil // their parts are looked at, not cast
	}
	p.Type = t
	return p, nil
}

// takes tells whether values of a SQL type become values of a Go type as they are.
func takes(g reflect.Type, t types.DataType) bool {
	switch g {
	case reflect.TypeFor[Row]():
		_, ok := t.(types.StructType)
		return ok
	case reflect.TypeFor[time.Time]():
		switch t.(type) {
		case types.TimestampType, types.TimestampNTZType, types.DateType:
			return true
		}
		return false
	case reflect.TypeFor[types.Decimal]():
		_, ok := t.(types.DecimalType)
		return ok
	}
	if isValue(g) || g.PkgPath() == reflect.TypeFor[types.Days]().PkgPath() || g == reflect.TypeFor[time.Duration]() {
		own, err := columnType(g)
		return err == nil && types.SameType(own, t)
	}
	switch g.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer:
		return takes(g.Elem(), t)
	case reflect.String:
		return types.SameType(t, types.String)
	case reflect.Int, reflect.Int64, reflect.Uint64, reflect.Uint:
		return isInteger(t, 8)
	case reflect.Int32, reflect.Uint32:
		return isInteger(t, 4)
	case reflect.Int16, reflect.Uint16:
		return isInteger(t, 2)
	case reflect.Float64:
		return types.SameType(t, types.Double) || types.SameType(t, types.Float)
	case reflect.Struct:
		st, ok := t.(types.StructType)
		return ok && structTakes(g, st)
	case reflect.Map:
		m, ok := t.(types.MapType)
		return ok && takes(g.Key(), m.Key) && takes(g.Elem(), m.Value)
	case reflect.Slice, reflect.Array:
		if g.Elem().Kind() == reflect.Uint8 {
			return types.SameType(t, types.Binary)
		}
		a, ok := t.(types.ArrayType)
		return ok && takes(g.Elem(), a.Element)
	}
	own, err := columnType(g)
	return err == nil && types.SameType(own, t)
}

func structTakes(g reflect.Type, st types.StructType) bool {
	for i := range g.NumField() {
		name, ok := types.ColumnName(g.Field(i))
		if !ok {
			continue
		}
		c := st.Index(name)
		if c < 0 {
			c = st.IndexFold(name)
		}
		if c < 0 || !takes(g.Field(i).Type, st.Fields[c].Type) {
			return false
		}
	}
	return true
}

func isInteger(t types.DataType, most int) bool {
	for i, o := range []types.DataType{types.Byte, types.Short, types.Integer, types.Long} {
		if 1<<i <= most && types.SameType(t, o) {
			return true
		}
	}
	return false
}
