package plan

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/millrace/millrace/types"
)

// literal is a constant's text. Strings stand without quotes, as Spark has them in column names.
func (s style) literal(e *Literal) string {
	if e.Text != "" && s == pretty {
		return e.Text
	}
	if e.Value == nil {
		if s == tree {
			return "null"
		}
		return "NULL"
	}
	return s.value(e.Value, e.T)
}

func (s style) value(v any, t types.DataType) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case float32:
		return floatText(float64(v), 32)
	case float64:
		return floatText(v, 64)
	case []byte:
		return "X'" + strings.ToUpper(hex.EncodeToString(v)) + "'"
	case types.Days:
		return s.quoted("DATE", time.Unix(int64(v)*86400, 0).UTC().Format("2006-01-02"))
	case types.Micros:
		return s.quoted("TIMESTAMP", timestampText(int64(v)))
	case types.MicrosNTZ:
		return s.quoted("TIMESTAMP_NTZ", timestampText(int64(v)))
	case types.Decimal:
		return decimalText(v)
	case types.TimeOfDay:
		return s.quoted("TIME", fmt.Sprint(v))
	case types.Interval:
		return s.quoted("INTERVAL", intervalText(v))
	case types.YearMonth:
		return yearMonthText(v, t)
	case types.DayTime:
		return dayTimeText(v, t)
	case []any:
		parts := make([]string, len(v))
		for i, x := range v {
			parts[i] = s.value(x, nil)
		}
		return "array(" + strings.Join(parts, ", ") + ")"
	}
	return fmt.Sprint(v)
}

func (s style) quoted(kind, text string) string {
	if s == tree {
		return text
	}
	return kind + " '" + text + "'"
}

// decimalText is a decimal as Java prints it: with an exponent if it begins with more than five zeros behind the point.
func decimalText(v types.Decimal) string {
	digits := strings.TrimPrefix(types.Decimal{Unscaled: v.Unscaled}.String(), "-")
	exp := len(digits) - 1 - v.Scale
	if exp >= -6 {
		return v.String()
	}
	text := digits[:1]
	if len(digits) > 1 {
		text += "." + digits[1:]
	}
	if v.Unscaled.Sign() < 0 {
		text = "-" + text
	}
	return text + "E" + strconv.Itoa(exp)
}

func timestampText(micros int64) string { return timestampIn(micros, time.UTC) }

// InZone is the literal with the text that its timestamp has in a time zone; other literals are returned as they are.
func (e *Literal) InZone(zone *time.Location) *Literal {
	v, ok := e.Value.(types.Micros)
	if !ok || e.Text != "" || zone == nil || zone == time.UTC {
		return e
	}
	l := *e
	l.Text = pretty.quoted("TIMESTAMP", timestampIn(int64(v), zone))
	return &l
}

func timestampIn(micros int64, zone *time.Location) string {
	text := time.UnixMicro(micros).In(zone).Format("2006-01-02 15:04:05.000000")
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// floatText is a number as Java prints it: always with a point, with an exponent outside 1e-3 to 1e7.
func floatText(v float64, bits int) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 0):
		return strings.Replace(strconv.FormatFloat(v, 'g', -1, 64), "Inf", "Infinity", 1)
	}
	if a := math.Abs(v); a != 0 && (a < 1e-3 || a >= 1e7) {
		text := strconv.FormatFloat(v, 'E', -1, bits)
		mantissa, exp, _ := strings.Cut(text, "E")
		if !strings.Contains(mantissa, ".") {
			mantissa += ".0"
		}
		n, err := strconv.Atoi(exp)
		if err != nil {
			return text
		}
		return mantissa + "E" + strconv.Itoa(n)
	}
	text := strconv.FormatFloat(v, 'f', -1, bits)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

func doubleText(v float64) string { return floatText(v, 64) }

// intervalText is a calendar interval as Spark prints it: "1 years 2 months 3 days 4 hours".
func intervalText(v types.Interval) string {
	var parts []string
	add := func(n int64, unit string) {
		if n != 0 {
			parts = append(parts, strconv.FormatInt(n, 10)+" "+unit)
		}
	}
	add(int64(v.Months/12), "years")
	add(int64(v.Months%12), "months")
	add(int64(v.Days), "days")
	add(v.Micros/3600e6, "hours")
	add(v.Micros/60e6%60, "minutes")
	if rest := v.Micros % 60e6; rest != 0 {
		sign := ""
		if rest < 0 {
			sign, rest = "-", -rest
		}
		text := fmt.Sprintf("%s%d.%06d", sign, rest/1e6, rest%1e6)
		parts = append(parts, strings.TrimSuffix(strings.TrimRight(text, "0"), ".")+" seconds")
	}
	if len(parts) == 0 {
		return "0 seconds"
	}
	return strings.Join(parts, " ")
}

func yearMonthText(v types.YearMonth, t types.DataType) string {
	sign, n := "", int64(v)
	if n < 0 {
		sign, n = "-", -n
	}
	yt, ok := t.(types.YearMonthIntervalType)
	switch {
	case ok && yt.Start == types.YearField && yt.End == types.YearField:
		return fmt.Sprintf("INTERVAL '%s%d' YEAR", sign, n/12)
	case ok && yt.Start == types.MonthField:
		return fmt.Sprintf("INTERVAL '%s%d' MONTH", sign, n)
	}
	return fmt.Sprintf("INTERVAL '%s%d-%d' YEAR TO MONTH", sign, n/12, n%12)
}

func dayTimeText(v types.DayTime, t types.DataType) string {
	sign, n := "", int64(v)
	if n < 0 {
		sign, n = "-", -n
	}
	dt, ok := t.(types.DayTimeIntervalType)
	if !ok {
		dt = types.DayTimeInterval
	}
	units := [...]int64{24 * 3600e6, 3600e6, 60e6, 1e6}
	names := [...]string{"DAY", "HOUR", "MINUTE", "SECOND"}
	var b strings.Builder
	for f := dt.Start; f <= dt.End && int(f) < len(units); f++ {
		q := n / units[f]
		n -= q * units[f]
		switch {
		case f == dt.Start && f == types.DayField:
			b.WriteString(strconv.FormatInt(q, 10))
		case f == dt.Start:
			fmt.Fprintf(&b, "%02d", q)
		case f == types.HourField:
			fmt.Fprintf(&b, " %02d", q)
		default:
			fmt.Fprintf(&b, ":%02d", q)
		}
		if f == types.SecondField && n != 0 {
			b.WriteString(strings.TrimRight(fmt.Sprintf(".%06d", n), "0"))
		}
	}
	text := "INTERVAL '" + sign + b.String() + "' " + names[dt.Start]
	if dt.Start != dt.End {
		text += " TO " + names[dt.End]
	}
	return text
}
