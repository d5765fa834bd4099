package parquetfile

import (
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/types"
)

// codec is a compression with the part that it adds to a file's name.
type codec struct {
	c   compress.Compression
	ext string
}

var codecs = map[string]codec{
	"none": {compress.Codecs.Uncompressed, ""}, "uncompressed": {compress.Codecs.Uncompressed, ""},
	"snappy": {compress.Codecs.Snappy, ".snappy"}, "gzip": {compress.Codecs.Gzip, ".gz"}, "zstd": {compress.Codecs.Zstd, ".zstd"},
	"brotli": {compress.Codecs.Brotli, ".br"}, "lz4_raw": {compress.Codecs.Lz4Raw, ".lz4raw"},
}

func findCodec(name string) (codec, error) {
	c, ok := codecs[strings.ToLower(name)]
	if !ok {
		return c, errclass.New("CODEC_NOT_AVAILABLE.WITH_AVAILABLE_CODECS_SUGGESTION", "codecName", name,
			"availableCodecs", "brotli, gzip, lz4_raw, none, snappy, uncompressed, zstd")
	}
	return c, nil
}

// fileSchema is the schema of a file for rows of a schema, in the form that Spark writes. Everything but map keys may be null: a
// reader that trusts a "never null" that does not hold is worse off than one that looks.
func fileSchema(s types.StructType) (*schema.GroupNode, error) {
	fields, err := fileFields(s.Fields)
	if err != nil {
		return nil, err
	}
	return schema.NewGroupNode("spark_schema", parquet.Repetitions.Required, fields, -1)
}

func fileFields(fields []types.Field) (schema.FieldList, error) {
	var out schema.FieldList
	for _, f := range fields {
		n, err := fileNode(f.Name, f.Type, parquet.Repetitions.Optional)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

func fileNode(name string, t types.DataType, rep parquet.Repetition) (schema.Node, error) {
	leaf := func(p parquet.Type, l schema.LogicalType, size int) (schema.Node, error) {
		if l == nil {
			l = schema.NoLogicalType{}
		}
		return schema.NewPrimitiveNodeLogical(name, rep, l, p, size, -1)
	}
	switch t := t.(type) {
	case types.NullType:
		return leaf(parquet.Types.Boolean, schema.NullLogicalType{}, 0)
	case types.BooleanType:
		return leaf(parquet.Types.Boolean, nil, 0)
	case types.ByteType:
		return leaf(parquet.Types.Int32, schema.NewIntLogicalType(8, true), 0)
	case types.ShortType:
		return leaf(parquet.Types.Int32, schema.NewIntLogicalType(16, true), 0)
	case types.IntegerType, types.YearMonthIntervalType:
		return leaf(parquet.Types.Int32, nil, 0)
	case types.LongType, types.DayTimeIntervalType:
		return leaf(parquet.Types.Int64, nil, 0)
	case types.FloatType:
		return leaf(parquet.Types.Float, nil, 0)
	case types.DoubleType:
		return leaf(parquet.Types.Double, nil, 0)
	case types.StringType, types.CharType, types.VarcharType:
		return leaf(parquet.Types.ByteArray, schema.StringLogicalType{}, 0)
	case types.BinaryType:
		return leaf(parquet.Types.ByteArray, nil, 0)
	case types.DateType:
		return leaf(parquet.Types.Int32, schema.DateLogicalType{}, 0)
	case types.TimestampType:
		return leaf(parquet.Types.Int64, schema.NewTimestampLogicalType(true, schema.TimeUnitMicros), 0)
	case types.TimestampNTZType:
		return leaf(parquet.Types.Int64, schema.NewTimestampLogicalType(false, schema.TimeUnitMicros), 0)
	case types.TimeType:
		return leaf(parquet.Types.Int64, schema.NewTimeLogicalType(false, schema.TimeUnitMicros), 0)
	case types.DecimalType:
		l := schema.NewDecimalLogicalType(int32(t.Precision), int32(t.Scale))
		switch {
		case t.Precision <= 9:
			return leaf(parquet.Types.Int32, l, 0)
		case t.Precision <= 18:
			return leaf(parquet.Types.Int64, l, 0)
		}
		return leaf(parquet.Types.FixedLenByteArray, l, decimalBytes(t.Precision))
	case types.ArrayType:
		elem, err := fileNode("element", t.Element, parquet.Repetitions.Optional)
		if err != nil {
			return nil, err
		}
		list, err := schema.NewGroupNode("list", parquet.Repetitions.Repeated, schema.FieldList{elem}, -1)
		if err != nil {
			return nil, err
		}
		return schema.NewGroupNodeLogical(name, rep, schema.FieldList{list}, schema.ListLogicalType{}, -1)
	case types.MapType:
		key, err := fileNode("key", t.Key, parquet.Repetitions.Required)
		if err != nil {
			return nil, err
		}
		value, err := fileNode("value", t.Value, parquet.Repetitions.Optional)
		if err != nil {
			return nil, err
		}
		kv, err := schema.NewGroupNode("key_value", parquet.Repetitions.Repeated, schema.FieldList{key, value}, -1)
		if err != nil {
			return nil, err
		}
		return schema.NewGroupNodeLogical(name, rep, schema.FieldList{kv}, schema.MapLogicalType{}, -1)
	case types.StructType:
		if len(t.Fields) == 0 {
			return nil, errclass.New("UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE", "format", "Parquet", "columnName", errclass.Ident(name), "columnType", errclass.Expr(t.SQL()))
		}
		fields, err := fileFields(t.Fields)
		if err != nil {
			return nil, err
		}
		return schema.NewGroupNode(name, rep, fields, -1)
	case types.VariantType:
		fields, err := fileFields([]types.Field{{Name: "value", Type: types.Binary}, {Name: "metadata", Type: types.Binary}})
		if err != nil {
			return nil, err
		}
		return schema.NewGroupNode(name, rep, fields, -1)
	case types.UserDefinedType:
		return fileNode(name, t.Storage, rep)
	}
	return nil, errclass.New("UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE", "format", "Parquet", "columnName", errclass.Ident(name), "columnType", errclass.Expr(t.SQL()))
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
