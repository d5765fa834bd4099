package delta

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/decimal"
	"github.com/millrace/millrace/internal/numtext"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Stats gathers the statistics of a data file: how many rows, and of each of the first columns the smallest and largest value and the
// number of nulls.
type Stats struct {
	rows int64
	cols []*columnStats
}

// NewStats returns the statistics of no rows. limit is the number of columns that have some, counting the fields of structs.
func NewStats(schema types.StructType, limit int) *Stats {
	s := &Stats{}
	for _, f := range schema.Fields {
		if limit <= 0 {
			break
		}
		s.cols = append(s.cols, newColumnStats(f, &limit))
	}
	return s
}

// columnStats are those of a column. Which of low and high is used depends on the type.
type columnStats struct {
	name  string
	typ   types.DataType
	kids  []*columnStats // of a struct
	nulls int64
	any   bool
	// low and high as whole numbers, floating-point numbers, or texts.
	lowInt, highInt     int64
	lowWide, highWide   vec.Int128
	lowFloat, highFloat float64
	lowText, highText   []byte
}

func newColumnStats(f types.Field, limit *int) *columnStats {
	c := &columnStats{name: f.Name, typ: f.Type}
	if st, ok := f.Type.(types.StructType); ok {
		for _, k := range st.Fields {
			if *limit <= 0 {
				break
			}
			c.kids = append(c.kids, newColumnStats(k, limit))
		}
		return c
	}
	*limit--
	return c
}

// Add takes in rows. The batch has no selection.
func (s *Stats) Add(b *vec.Batch) {
	s.rows += int64(b.N)
	for i, c := range s.cols {
		c.add(b.Cols[i].Flatten(), nil, b.N)
	}
}

// add takes in a flat vector. Rows are null where the struct around them is.
func (c *columnStats) add(v *vec.Vector, outer *vec.Vector, n int) {
	if c.kids != nil || isStruct(c.typ) {
		around := v
		for i, k := range c.kids {
			k.add(v.Kids()[i].Flatten(), around, n)
		}
		return
	}
	null := func(i int) bool { return v.IsNull(i) || outer != nil && outer.IsNull(i) }
	if !v.HasNulls() && (outer == nil || !outer.HasNulls()) {
		null = nil
	} else {
		for i := range n {
			if null(i) {
				c.nulls++
			}
		}
	}
	switch c.typ.(type) {
	case types.ByteType:
		ints(c, vec.Fixed[int8](v), null)
	case types.ShortType:
		ints(c, vec.Fixed[int16](v), null)
	case types.IntegerType, types.DateType:
		ints(c, vec.Fixed[int32](v), null)
	case types.LongType, types.TimestampType, types.TimestampNTZType:
		ints(c, vec.Fixed[int64](v), null)
	case types.FloatType:
		floats(c, vec.Fixed[float32](v), null)
	case types.DoubleType:
		floats(c, vec.Fixed[float64](v), null)
	case types.DecimalType:
		if v.Phys() == vec.PhysInt64 {
			ints(c, vec.Fixed[int64](v), null)
		} else {
			c.wide(vec.Fixed[vec.Int128](v), null)
		}
	case types.StringType, types.CharType, types.VarcharType:
		c.texts(v, n, null)
	}
}

func isStruct(t types.DataType) bool { _, ok := t.(types.StructType); return ok }

func ints[T int8 | int16 | int32 | int64](c *columnStats, xs []T, null func(int) bool) {
	for i, x := range xs {
		if null != nil && null(i) {
			continue
		}
		y := int64(x)
		if !c.any {
			c.any, c.lowInt, c.highInt = true, y, y
		}
		c.lowInt, c.highInt = min(c.lowInt, y), max(c.highInt, y)
	}
}

// floats orders numbers as Spark does: NaN is the largest.
func floats[T float32 | float64](c *columnStats, xs []T, null func(int) bool) {
	for i, x := range xs {
		if null != nil && null(i) {
			continue
		}
		y := float64(x)
		if !c.any {
			c.any, c.lowFloat, c.highFloat = true, y, y
		}
		if less(y, c.lowFloat) {
			c.lowFloat = y
		}
		if less(c.highFloat, y) {
			c.highFloat = y
		}
	}
}

func less(a, b float64) bool { return a < b || math.IsNaN(b) && !math.IsNaN(a) }

func (c *columnStats) wide(xs []vec.Int128, null func(int) bool) {
	for i, x := range xs {
		if null != nil && null(i) {
			continue
		}
		if !c.any {
			c.any, c.lowWide, c.highWide = true, x, x
		}
		if decimal.Cmp(x, c.lowWide) < 0 {
			c.lowWide = x
		}
		if decimal.Cmp(x, c.highWide) > 0 {
			c.highWide = x
		}
	}
}

func (c *columnStats) texts(v *vec.Vector, n int, null func(int) bool) {
	for i := range n {
		if null != nil && null(i) {
			continue
		}
		p := v.BytesAt(i)
		if !c.any {
			c.any = true
			c.lowText, c.highText = append(c.lowText[:0], p...), append(c.highText[:0], p...)
			continue
		}
		if bytes.Compare(p, c.lowText) < 0 {
			c.lowText = append(c.lowText[:0], p...)
		}
		if bytes.Compare(p, c.highText) > 0 {
			c.highText = append(c.highText[:0], p...)
		}
	}
}

// Rows is the number of rows.
func (s *Stats) Rows() int64 { return s.rows }

// JSON is the text for the action. tight tells that the bounds are those of the rows that are left.
func (s *Stats) JSON() string {
	b := append([]byte(`{"numRecords":`), strconv.AppendInt(nil, s.rows, 10)...)
	b = append(b, `,"minValues":`...)
	b, _ = appendBounds(b, s.cols, false)
	b = append(b, `,"maxValues":`...)
	b, _ = appendBounds(b, s.cols, true)
	b = append(b, `,"nullCount":`...)
	b = appendNulls(b, s.cols)
	return string(append(b, '}'))
}

// appendBounds prints the smallest or largest values; empty tells that there were none.
func appendBounds(b []byte, cols []*columnStats, high bool) (_ []byte, empty bool) {
	b = append(b, '{')
	empty = true
	for _, c := range cols {
		at := len(b)
		if !empty {
			b = append(b, ',')
		}
		b = append(appendText(b, c.name), ':')
		ok := false
		if isStruct(c.typ) {
			var none bool
			b, none = appendBounds(b, c.kids, high)
			ok = !none
		} else if c.any {
			b, ok = c.appendBound(b, high)
		}
		if !ok {
			b = b[:at]
			continue
		}
		empty = false
	}
	return append(b, '}'), empty
}

func (c *columnStats) appendBound(b []byte, high bool) ([]byte, bool) {
	x, f, text, wide := c.lowInt, c.lowFloat, c.lowText, c.lowWide
	if high {
		x, f, text, wide = c.highInt, c.highFloat, c.highText, c.highWide
	}
	switch t := c.typ.(type) {
	case types.ByteType, types.ShortType, types.IntegerType, types.LongType:
		return strconv.AppendInt(b, x, 10), true
	case types.DateType:
		return append(datetime.AppendDate(append(b, '"'), x), '"'), true
	case types.TimestampType:
		return append(append(appendMillis(append(b, '"'), x), 'Z'), '"'), true
	case types.TimestampNTZType:
		return append(appendMillis(append(b, '"'), x), '"'), true
	case types.FloatType:
		return appendFloat(b, f, 32), true
	case types.DoubleType:
		return appendFloat(b, f, 64), true
	case types.DecimalType:
		if t.Precision <= 18 {
			return decimal.Append(b, decimal.FromInt64(x), t.Scale), true
		}
		return decimal.Append(b, wide, t.Scale), true
	case types.StringType, types.CharType, types.VarcharType:
		if !utf8.Valid(text) {
			return b, false
		}
		return appendText(b, cutText(string(text), high)), true
	}
	return b, false
}

// maxText is how many characters of a text statistics keep.
const maxText = 32

// cutText keeps the beginning of a text. What is cut off a largest value is made up for by a character that is larger than whatever
// follows.
func cutText(s string, high bool) string {
	cut, n := -1, 0
	for i := range s {
		if n == maxText {
			cut = i
			break
		}
		n++
	}
	if cut < 0 {
		return s
	}
	if !high {
		return s[:cut]
	}
	for _, r := range s[cut:] {
		if r >= 0x7f {
			return s[:cut] + string(rune(utf8.MaxRune))
		}
	}
	return s[:cut] + "\x7f"
}

// appendMillis prints a time cut to milliseconds.
func appendMillis(b []byte, us int64) []byte {
	ms := datetime.FloorDiv(us, 1000)
	b = appendMicros(b, ms*1000, 'T')
	return b[:len(b)-3]
}

func appendFloat(b []byte, f float64, bits int) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(numtext.AppendFloat(append(b, '"'), f, bits), '"')
	}
	return numtext.AppendFloat(b, f, bits)
}

func appendText(b []byte, s string) []byte {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a text always encodes
	return append(b, bytes.TrimRight(buf.Bytes(), "\n")...)
}

func appendNulls(b []byte, cols []*columnStats) []byte {
	b = append(b, '{')
	for i, c := range cols {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendText(b, c.name), ':')
		if isStruct(c.typ) {
			b = appendNulls(b, c.kids)
		} else {
			b = strconv.AppendInt(b, c.nulls, 10)
		}
	}
	return append(b, '}')
}

// LooseStats marks statistics as those of more rows than are left.
func LooseStats(stats string) string {
	if rest, ok := strings.CutPrefix(stats, "{"); ok && !strings.Contains(stats, `"tightBounds"`) {
		return strings.TrimSuffix(strings.TrimSpace("{"+rest), "}") + `,"tightBounds":false}`
	}
	return strings.Replace(stats, `"tightBounds":true`, `"tightBounds":false`, 1)
}
