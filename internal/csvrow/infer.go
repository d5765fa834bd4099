package csvrow

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/textrecord"
	"github.com/millrace/millrace/types"
)

// shape is what the values of a column look like so far.
type shape uint8

const (
	nothing shape = iota
	anInt
	aLong
	aDecimal // whole numbers with more digits
	aDouble
	aDate
	aTimestamp
	aTimestampNTZ
	aBool
	aString
)

// Inference finds the columns of texts and their types. Feed it the texts of files one after the other, then ask for the Schema. It
// belongs to one goroutine.
type Inference struct {
	opts   Options
	m      *machine
	times  *datetime.FormatReader
	dates  *datetime.Pattern
	lax    bool   // a date in the format of dates is a timestamp, too
	first  []byte // the first line of all
	names  []string
	shapes []shape
	digits []int // of decimals
	seen   uint64
}

// NewInference starts without records.
func NewInference(opts Options) (*Inference, error) {
	if err := textrecord.CheckRatio("csv", opts.SamplingRatio); err != nil {
		return nil, err
	}
	inf := &Inference{opts: opts, m: newMachine(&opts)}
	if !opts.InferTypes {
		return inf, nil
	}
	var err error
	if inf.times, err = opts.formats().NewReader(opts.Zone); err != nil {
		return nil, err
	}
	pattern := opts.DateFormat
	if pattern == "" {
		pattern = "yyyy-MM-dd"
	}
	if opts.PreferDate || opts.DateFormat != "" {
		if inf.dates, err = datetime.Compile(pattern, true); err != nil {
			return nil, err
		}
	}
	switch pattern {
	case "yyyy-MM-dd", "yyyy-M-d", "yyyy-M-dd", "yyyy-MM-d", "yyyy-MM", "yyyy-M", "yyyy":
		inf.lax = opts.TimestampFormat == "" && !opts.TimestampNTZ || opts.TimestampNTZFormat == "" && opts.TimestampNTZ
	}
	return inf, nil
}

func (o *Options) formats() datetime.Formats {
	return datetime.Formats{Timestamp: o.TimestampFormat, TimestampNTZ: o.TimestampNTZFormat, Date: o.DateFormat, Fallback: o.Fallback, Now: o.Now}
}

// Done tells that no more records need to be looked at.
func (inf *Inference) Done() bool { return inf.names != nil && !inf.opts.InferTypes }

// First is the first record that was looked at, nil when there was none.
func (inf *Inference) First() []byte { return inf.first }

// Lines looks at the records, one a line, of text[:end].
func (inf *Inference) Lines(text []byte, end int) error {
	for i := 0; i < end && !inf.Done(); {
		stop := textrecord.LineEnd(text, i, end)
		if err := inf.Record(text[i:stop]); err != nil {
			return err
		}
		i = textrecord.AfterBreak(text, stop, end)
	}
	return nil
}

// Record looks at one record.
func (inf *Inference) Record(line []byte) error {
	if len(trim(line)) == 0 || inf.opts.Comment != 0 && isComment(line, inf.opts.Comment) {
		return nil
	}
	first := inf.names == nil
	if first {
		inf.first = append(inf.first, line...)
	}
	if inf.opts.Header && !first && bytes.Equal(line, inf.first) {
		return nil // the header of another file
	}
	if !first && !inf.sampled() {
		return nil
	}
	if !inf.m.line(line, len(line)) {
		return inf.m.error(line)
	}
	if first {
		inf.start()
		if inf.opts.Header || !inf.sampled() {
			return nil
		}
	}
	inf.row()
	return nil
}

// Document looks at a text whose records may span lines.
func (inf *Inference) Document(text []byte) error {
	if inf.opts.LineSep == "" {
		inf.m.detectBreak(text)
	}
	inf.m.begin(text, 0, len(text))
	for header := inf.opts.Header; !inf.Done() && inf.m.record(); {
		if inf.names == nil {
			inf.start()
		}
		if !header && inf.sampled() {
			inf.row()
		}
		header = false
	}
	if inf.m.fault != noFault {
		return inf.m.error(text[inf.m.from:inf.m.pos])
	}
	return nil
}

// sampled tells whether the next record is one of the sample.
func (inf *Inference) sampled() bool {
	if inf.opts.SamplingRatio >= 1 {
		return true
	}
	// A fixed sequence, so that the same files give the same schema.
	inf.seen = inf.seen*6364136223846793005 + 1442695040888963407
	return float64(inf.seen>>11)/(1<<53) < inf.opts.SamplingRatio
}

// start takes the names of the columns from the first record.
func (inf *Inference) start() {
	inf.names = make([]string, len(inf.m.toks))
	count := map[string]int{}
	fold := func(s string) string {
		if inf.opts.CaseSensitive {
			return s
		}
		return strings.ToLower(s)
	}
	for i, t := range inf.m.toks {
		inf.names[i] = inf.m.name(t, &inf.opts)
		count[fold(inf.names[i])]++
	}
	for i, name := range inf.names {
		switch {
		case !inf.opts.Header || name == "" || name == inf.opts.NullValue:
			inf.names[i] = "_c" + strconv.Itoa(i)
		case count[fold(name)] > 1:
			inf.names[i] += strconv.Itoa(i)
		}
	}
	inf.shapes, inf.digits = make([]shape, len(inf.names)), make([]int, len(inf.names))
}

// row looks at the values of the record that the machine has read.
func (inf *Inference) row() {
	if !inf.opts.InferTypes {
		return
	}
	for i, t := range inf.m.toks[:min(len(inf.m.toks), len(inf.names))] {
		var s []byte
		switch t.kind {
		case tokNull:
			continue
		case tokEmpty:
			s = []byte(inf.opts.EmptyValue)
		default:
			s = inf.m.buf[t.from:t.to]
		}
		if len(s) > 0 && string(s) != inf.opts.NullValue && inf.shapes[i] != aString {
			inf.look(i, s)
		}
	}
}

// look adds a value to what is known of a column. It tries the kinds that come behind the column's so far.
func (inf *Inference) look(i int, s []byte) {
	was := inf.shapes[i]
	now, digits := inf.shapeOf(was, s)
	switch {
	case was == nothing || was == now:
	case was <= aDouble && now <= aDouble:
		if was == aDecimal || now == aDecimal {
			digits = max(digits, map[shape]int{anInt: 10, aLong: 20}[was])
		}
		now = max(was, now)
	case inf.lax && (was == aDate && (now == aTimestamp || now == aTimestampNTZ) || now == aDate && (was == aTimestamp || was == aTimestampNTZ)):
		now = max(was, now)
	case was == aTimestampNTZ && now == aTimestamp || was == aTimestamp && now == aTimestampNTZ:
		now = aTimestamp
	default:
		now = aString
	}
	inf.shapes[i], inf.digits[i] = now, max(inf.digits[i], digits)
}

func (inf *Inference) shapeOf(from shape, s []byte) (found shape, digits int) {
	switch {
	case from <= anInt:
		if v, ok := javaInt(s); ok && v == int64(int32(v)) {
			return anInt, 0
		}
		fallthrough
	case from <= aLong:
		if _, ok := javaInt(s); ok {
			return aLong, 0
		}
		fallthrough
	case from <= aDecimal:
		if n, ok := wholeDigits(s); ok && n <= types.MaxPrecision {
			return aDecimal, n
		}
		fallthrough
	case from <= aDouble:
		if _, ok := javaFloat(s, 64); ok || string(s) == inf.opts.NaN || string(s) == inf.opts.PosInf || string(s) == inf.opts.NegInf {
			return aDouble, 0
		}
		fallthrough
	case from == aDate:
		if inf.dates != nil && (from == aDate || inf.opts.PreferDate) {
			if _, ok := inf.dates.ParseLocal(s); ok {
				return aDate, 0
			}
		}
		fallthrough
	case from == aTimestamp || from == aTimestampNTZ:
		if inf.opts.TimestampNTZ && from != aTimestamp {
			if _, ok := inf.times.TimestampNTZ(s); ok {
				return aTimestampNTZ, 0
			}
		}
		if _, ok := inf.times.Timestamp(s); ok {
			return aTimestamp, 0
		}
	}
	if _, ok := parseBool(s); ok {
		return aBool, 0
	}
	return aString, 0
}

// wholeDigits counts the digits of a whole number.
func wholeDigits(s []byte) (n int, ok bool) {
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		s = s[1:]
	}
	for i, c := range s {
		if c-'0' > 9 {
			return 0, false
		}
		if n > 0 || c != '0' || i == len(s)-1 {
			n++
		}
	}
	return n, n > 0
}

// Schema has the columns of the first record.
func (inf *Inference) Schema() types.StructType {
	st := types.StructType{Fields: []types.Field{}}
	for i, name := range inf.names {
		var t types.DataType = types.String
		switch inf.shapes[i] {
		case anInt:
			t = types.Integer
		case aLong:
			t = types.Long
		case aDecimal:
			t = types.DecimalType{Precision: inf.digits[i]}
		case aDouble:
			t = types.Double
		case aDate:
			t = types.Date
		case aTimestamp:
			t = types.Timestamp
		case aTimestampNTZ:
			t = types.TimestampNTZ
		case aBool:
			t = types.Boolean
		}
		st.Fields = append(st.Fields, types.NewField(name, t))
	}
	return st
}
