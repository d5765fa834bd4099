package milltest

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/millrace/millrace"
	"github.com/millrace/millrace/types"
)

// Day is the day of times that are written without a date.
var Day = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// ParseRow reads a row from text: its values in the order of the columns, with at least two blanks or a tab between them. null is
// null; a value that has blanks in it at its ends, or is the text null, stands in quotes. Timestamps may be written without a date
// (10:01, 10:01:30.5), which means Day; they are in UTC. A struct, array or map column can't be written so.
func ParseRow(text string, schema types.StructType) (types.Row, error) {
	cells := splitCells(text)
	if len(cells) != len(schema.Fields) {
		return nil, fmt.Errorf("row %q has %d values, the columns are %s", text, len(cells), schema.SimpleString())
	}
	row := make(types.Row, len(cells))
	for i, c := range cells {
		v, err := ParseCell(c, schema.Fields[i].Type)
		if err != nil {
			return nil, fmt.Errorf("row %q: column %s: %w", text, schema.Fields[i].Name, err)
		}
		row[i] = v
	}
	return row, nil
}

func splitCells(text string) []string {
	text = strings.ReplaceAll(strings.TrimSpace(text), "\t", "  ")
	var out []string
	for text != "" {
		end := strings.Index(text, "  ")
		if text[0] == '"' {
			if close := strings.Index(text[1:], `"`); close >= 0 {
				end = close + 2
				if end == len(text) {
					end = -1
				}
			}
		}
		if end < 0 {
			return append(out, text)
		}
		out, text = append(out, text[:end]), strings.TrimLeft(text[end:], " ")
	}
	return out
}

// ParseCell reads a value of a simple type, as ParseRow does.
func ParseCell(text string, t types.DataType) (any, error) {
	if text == "null" {
		return nil, nil
	}
	if len(text) >= 2 && text[0] == '"' && text[len(text)-1] == '"' {
		text = text[1 : len(text)-1]
	}
	switch t := t.(type) {
	case types.StringType:
		return text, nil
	case types.BinaryType:
		return []byte(text), nil
	case types.BooleanType:
		return strconv.ParseBool(text)
	case types.ByteType:
		n, err := strconv.ParseInt(text, 10, 8)
		return int8(n), err
	case types.ShortType:
		n, err := strconv.ParseInt(text, 10, 16)
		return int16(n), err
	case types.IntegerType:
		n, err := strconv.ParseInt(text, 10, 32)
		return int32(n), err
	case types.LongType:
		return strconv.ParseInt(text, 10, 64)
	case types.FloatType:
		f, err := strconv.ParseFloat(text, 32)
		return float32(f), err
	case types.DoubleType:
		return strconv.ParseFloat(text, 64)
	case types.DecimalType:
		d, ok := types.ParseDecimal(text)
		if !ok {
			return nil, fmt.Errorf("%q is not a decimal number", text)
		}
		return types.ToValue(d, t)
	case types.DateType:
		d, err := time.Parse(time.DateOnly, text)
		return types.DaysOf(d), err
	case types.TimestampType:
		at, err := parseTime(text)
		return types.MicrosOf(at), err
	case types.TimestampNTZType:
		at, err := parseTime(text)
		return types.MicrosNTZOf(at), err
	}
	return nil, fmt.Errorf("a value of type %s cannot be written as text", t.SimpleString())
}

var timeLayouts = []string{"15:04", "15:04:05.999999", "2006-01-02", "2006-01-02 15:04", "2006-01-02 15:04:05.999999"}

func parseTime(text string) (time.Time, error) {
	for i, layout := range timeLayouts {
		at, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		if i < 2 {
			at = Day.Add(at.Sub(at.Truncate(24 * time.Hour)))
		}
		return at, nil
	}
	return time.Time{}, fmt.Errorf("%q is not a time like 10:01 or 2026-01-01 10:01:30", text)
}

// FormatTime writes a time in UTC: without its date on Day, without its clock at midnight of another day, without seconds that are
// zero.
func FormatTime(t time.Time) string {
	t = t.UTC()
	clock := t.Format("15:04:05.999999")
	clock = strings.TrimSuffix(clock, ":00")
	switch {
	case !t.Before(Day) && t.Before(Day.Add(24*time.Hour)):
		return clock
	case clock == "00:00":
		return t.Format(time.DateOnly)
	}
	return t.Format(time.DateOnly) + " " + clock
}

// PlainRow is a row of a result as FormatRow takes it.
func PlainRow(r millrace.Row) types.Row { return plain(r).(types.Row) }

func plain(v any) any {
	switch v := v.(type) {
	case millrace.Row:
		out := make(types.Row, v.Len())
		for i := range out {
			out[i] = plain(v.At(i))
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = plain(e)
		}
		return out
	}
	return v
}

// FormatRow writes a row as test results show it: (10:00, null, 30).
func FormatRow(r types.Row) string { return "(" + formatList(r) + ")" }

// FormatRows writes rows, sorted: the rows of a batch have no order.
func FormatRows(rows []types.Row) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = FormatRow(r)
	}
	slices.Sort(out)
	return out
}

func formatList(values []any) string {
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = FormatCell(v)
	}
	return strings.Join(parts, ", ")
}

// FormatCell writes a value.
func FormatCell(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case types.Micros:
		return FormatTime(v.Time())
	case types.MicrosNTZ:
		return FormatTime(v.Time())
	case time.Time:
		return FormatTime(v)
	case float32:
		return formatFloat(float64(v), 32)
	case float64:
		return formatFloat(v, 64)
	case []byte:
		return fmt.Sprintf("%X", v)
	case types.Row:
		return "{" + formatList(v) + "}"
	case []any:
		return "[" + formatList(v) + "]"
	case types.MapValue:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = FormatCell(e.Key) + ": " + FormatCell(e.Value)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return fmt.Sprint(v)
}

func formatFloat(v float64, bits int) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatFloat(v, 'f', 1, bits)
	}
	return strconv.FormatFloat(v, 'g', -1, bits)
}
