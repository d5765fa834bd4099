package parquetfile

import (
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/types"
)

// codec is a compression with its number in footers and the part that it adds to a file's name.
type codec struct {
	c   compress.Compression
	ext string
}

var codecs = map[string]codec{
	"none": {compress.Codecs.Uncompressed, ""}, "uncompressed": {compress.Codecs.Uncompressed, ""},
	"snappy": {compress.Codecs.Snappy, ".snappy"}, "gzip": {compress.Codecs.Gzip, ".gz"}, "zstd": {compress.Codecs.Zstd, ".zstd"},
	"brotli": {compress.Codecs.Brotli, ".br"}, "lz4_raw": {compress.Codecs.Lz4Raw, ".lz4raw"},
	"lz4": {compress.Codecs.Lz4, ".lz4hadoop"},
}

func findCodec(name string) (codec, error) {
	c, ok := codecs[strings.ToLower(name)]
	if !ok {
		return c, errclass.New("CODEC_NOT_AVAILABLE.WITH_AVAILABLE_CODECS_SUGGESTION", "codecName", name,
			"availableCodecs", "brotli, gzip, lz4, lz4_raw, none, snappy, uncompressed, zstd")
	}
	return c, nil
}

// physical is how values are stored.
type physical int32

// The physical types, with their numbers in footers.
const (
	physBoolean physical = 0
	physInt32   physical = 1
	physInt64   physical = 2
	physFloat   physical = 4
	physDouble  physical = 5
	physBytes   physical = 6
	physFixed   physical = 7
	physGroup   physical = -1
)

// The repetitions, with their numbers in footers.
const (
	required int32 = 0
	optional int32 = 1
	repeated int32 = 2
)

// element is a node of a file's schema, in the form that Spark writes.
type element struct {
	name       string
	phys       physical
	length     int // of physFixed
	repetition int32
	kids       []*element
	converted  int32 // the older annotation, or noConverted
	logical    func(t *thrift)
	precision  int // of decimals
	scale      int
}

const noConverted = -1

// The older annotations, with their numbers in footers.
const (
	convUTF8            = 0
	convMap             = 1
	convList            = 3
	convDecimal         = 5
	convDate            = 6
	convTimeMicros      = 8
	convTimestampMicros = 10
	convInt8            = 15
	convInt16           = 16
)

// marker is a logical type without parameters.
func marker(id int16) func(*thrift) { return func(t *thrift) { t.empty(id) } }

// clock is a logical type of times in microseconds.
func clock(id int16, utc bool) func(*thrift) {
	return func(t *thrift) {
		t.structure(id)
		t.bool(1, utc)
		t.structure(2)
		t.empty(2)
		t.end()
		t.end()
	}
}

func integer(width byte) func(*thrift) {
	return func(t *thrift) {
		t.structure(10)
		t.byte(1, width)
		t.bool(2, true)
		t.end()
	}
}

// fileSchema gives the schema of a file for rows of a schema. Everything but map keys may be null: a reader that trusts a "never
// null" that does not hold is worse off than one that looks.
func fileSchema(s types.StructType) (*element, error) {
	root := &element{name: "spark_schema", phys: physGroup, repetition: required, converted: noConverted}
	return root, root.fields(s.Fields)
}

func (e *element) fields(fields []types.Field) error {
	for _, f := range fields {
		k, err := newElement(f.Name, f.Type, optional)
		if err != nil {
			return err
		}
		e.kids = append(e.kids, k)
	}
	return nil
}

func newElement(name string, t types.DataType, repetition int32) (*element, error) {
	e := &element{name: name, repetition: repetition, converted: noConverted}
	switch t := t.(type) {
	case types.NullType:
		e.phys, e.logical = physBoolean, marker(11)
	case types.BooleanType:
		e.phys = physBoolean
	case types.ByteType:
		e.phys, e.converted, e.logical = physInt32, convInt8, integer(8)
	case types.ShortType:
		e.phys, e.converted, e.logical = physInt32, convInt16, integer(16)
	case types.IntegerType, types.YearMonthIntervalType:
		e.phys = physInt32
	case types.LongType, types.DayTimeIntervalType:
		e.phys = physInt64
	case types.FloatType:
		e.phys = physFloat
	case types.DoubleType:
		e.phys = physDouble
	case types.StringType, types.CharType, types.VarcharType:
		e.phys, e.converted, e.logical = physBytes, convUTF8, marker(1)
	case types.BinaryType:
		e.phys = physBytes
	case types.DateType:
		e.phys, e.converted, e.logical = physInt32, convDate, marker(6)
	case types.TimestampType:
		e.phys, e.converted, e.logical = physInt64, convTimestampMicros, clock(8, true)
	case types.TimestampNTZType:
		e.phys, e.logical = physInt64, clock(8, false)
	case types.TimeType:
		e.phys, e.logical = physInt64, clock(7, false)
	case types.DecimalType:
		e.decimal(t)
	case types.ArrayType:
		elem, err := newElement("element", t.Element, optional)
		if err != nil {
			return nil, err
		}
		e.phys, e.converted, e.logical = physGroup, convList, marker(3)
		e.kids = []*element{{name: "list", phys: physGroup, repetition: repeated, converted: noConverted, kids: []*element{elem}}}
	case types.MapType:
		key, err := newElement("key", t.Key, required)
		if err != nil {
			return nil, err
		}
		value, err := newElement("value", t.Value, optional)
		if err != nil {
			return nil, err
		}
		e.phys, e.converted, e.logical = physGroup, convMap, marker(2)
		e.kids = []*element{{name: "key_value", phys: physGroup, repetition: repeated, converted: noConverted, kids: []*element{key, value}}}
	case types.StructType:
		if len(t.Fields) == 0 {
			return nil, cannotHold(name, t)
		}
		e.phys = physGroup
		return e, e.fields(t.Fields)
	case types.VariantType:
		e.phys = physGroup
		return e, e.fields([]types.Field{{Name: "value", Type: types.Binary}, {Name: "metadata", Type: types.Binary}})
	case types.UserDefinedType:
		return newElement(name, t.Storage, repetition)
	default:
		return nil, cannotHold(name, t)
	}
	return e, nil
}

func cannotHold(name string, t types.DataType) error {
	return errclass.New("UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE", "format", "Parquet", "columnName", errclass.Ident(name), "columnType", errclass.Expr(t.SQL()))
}

func (e *element) decimal(t types.DecimalType) {
	switch {
	case t.Precision <= 9:
		e.phys = physInt32
	case t.Precision <= 18:
		e.phys = physInt64
	default:
		e.phys, e.length = physFixed, decimalBytes(t.Precision)
	}
	e.converted, e.precision, e.scale = convDecimal, t.Precision, t.Scale
	e.logical = func(w *thrift) {
		w.structure(5)
		w.i32(1, int32(t.Scale))
		w.i32(2, int32(t.Precision))
		w.end()
	}
}

// leaves appends the leaves below an element with their paths.
func (e *element) leaves(path []string, out []leafInfo) []leafInfo {
	if e.phys != physGroup {
		return append(out, leafInfo{e, path})
	}
	for _, k := range e.kids {
		out = k.leaves(append(path[:len(path):len(path)], k.name), out)
	}
	return out
}

// leafInfo is a leaf of the schema with its path.
type leafInfo struct {
	*element
	path []string
}

// count is the number of nodes from an element on.
func (e *element) count() int {
	n := 1
	for _, k := range e.kids {
		n += k.count()
	}
	return n
}

// write writes the nodes from an element on, as elements of the footer's list.
func (e *element) write(t *thrift, root bool) {
	t.begin()
	if e.phys != physGroup {
		t.i32(1, int32(e.phys))
	}
	if e.length > 0 {
		t.i32(2, int32(e.length))
	}
	if !root {
		t.i32(3, e.repetition)
	}
	t.text(4, e.name)
	if len(e.kids) > 0 || root {
		t.i32(5, int32(len(e.kids)))
	}
	if e.converted != noConverted {
		t.i32(6, e.converted)
	}
	if e.converted == convDecimal {
		t.i32(7, int32(e.scale))
		t.i32(8, int32(e.precision))
	}
	if e.logical != nil {
		t.structure(10)
		e.logical(t)
		t.end()
	}
	t.end()
	for _, k := range e.kids {
		k.write(t, false)
	}
}

// decimalBytes is the number of bytes that hold a number of so many digits.
func decimalBytes(precision int) int {
	for n := 1; ; n++ {
		// 8n-1 bits hold floor((8n-1) * log10(2)) digits for sure.
		if (8*n-1)*30103/100000 >= precision {
			return n
		}
	}
}

// parseSize reads a size option such as parquet.block.size.
func parseSize(get func(string) (string, bool), key string, def int64) int64 {
	if s, ok := get(key); ok {
		if n, err := strconv.ParseInt(s, 10, 64); err == nil && n > 0 {
			return n
		}
	}
	return def
}
