package jsonrow

import (
	"slices"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/textrecord"
	"github.com/millrace/millrace/types"
)

// Inference finds the schema of records. Feed it records in any order and any number, then ask for the Schema. It belongs to one
// goroutine; the results of several are joined with Merge.
type Inference struct {
	scanner
	root    shape
	corrupt bool
	line    []byte
	seen    uint64
}

// seen is a set of kinds of values.
type seen uint8

const (
	sawNull seen = 1 << iota
	sawBool
	sawLong
	sawDecimal
	sawDouble
	sawTimestamp
	sawString
	sawNested
)

// shape is what is known of the values at one place.
type shape struct {
	saw    seen
	whole  int // digits before the point of decimals
	scale  int
	fields map[string]*shape // of objects
	elem   *shape            // of arrays
}

// NewInference starts without records.
func NewInference(opts Options) (*Inference, error) {
	if err := textrecord.CheckRatio("json", opts.SamplingRatio); err != nil {
		return nil, err
	}
	inf := &Inference{}
	return inf, inf.scanner.init(opts)
}

// Lines looks at the records of a text of lines. text has Pad zero bytes behind end.
func (inf *Inference) Lines(text []byte, end int) error {
	for i := 0; i < end; {
		stop := textrecord.LineEnd(text, i, end)
		if err := inf.Record(text[i:stop]); err != nil {
			return err
		}
		i = textrecord.AfterBreak(text, stop, end)
	}
	return nil
}

// Record looks at one record of a text without padding.
func (inf *Inference) Record(text []byte) error {
	if inf.opts.SamplingRatio < 1 {
		// A fixed sequence, so that the same files give the same schema.
		inf.seen = inf.seen*6364136223846793005 + 1442695040888963407
		if float64(inf.seen>>11)/(1<<53) >= inf.opts.SamplingRatio {
			return nil
		}
	}
	inf.line = append(append(inf.line[:0], text...), padding[:]...)
	return inf.Document(inf.line, len(text))
}

// Document looks at one record that may span lines: an object or an array of objects.
func (inf *Inference) Document(text []byte, end int) error {
	was := inf.blanks
	inf.blanks = &documentBlanks
	defer func() { inf.blanks = was }()
	i := inf.skip(text, 0)
	if i >= end {
		return nil
	}
	var got shape
	next := inf.value(text, i, &got, 1)
	rec := &got
	if next >= 0 && got.elem != nil && got.fields == nil {
		rec = got.elem
		if rec.saw == 0 {
			return nil // an empty array holds no record
		}
	}
	if next < 0 || rec.fields == nil || rec.saw&^sawNested != 0 {
		switch inf.mode {
		case textrecord.Permissive:
			inf.corrupt = true
		case textrecord.FailFast:
			return errclass.New("MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION", "badRecord", textrecord.Clip(text[:end]), "failFastMode", textrecord.FailFast.String())
		}
		return nil
	}
	inf.root.merge(rec)
	return nil
}

// Done is never set: any record may have a field of its own.
func (inf *Inference) Done() bool { return false }

// Merge adds what another inference has found.
func (inf *Inference) Merge(other *Inference) {
	inf.root.merge(&other.root)
	inf.corrupt = inf.corrupt || other.corrupt
}

// Schema is what holds all records: fields sorted by name, with the column for corrupt records when there were any.
func (inf *Inference) Schema() types.StructType {
	if inf.opts.SingleVariant {
		return types.Struct(types.NewField(inf.opts.SingleVariantColumn, types.Variant))
	}
	s := inf.root.structType(inf.opts)
	if !inf.corrupt || inf.opts.CorruptColumn == "" || s.Index(inf.opts.CorruptColumn) >= 0 {
		return s
	}
	s.Fields = append(s.Fields, types.NewField(inf.opts.CorruptColumn, types.String))
	sortFields(s.Fields)
	return s
}

func sortFields(f []types.Field) {
	slices.SortFunc(f, func(a, b types.Field) int { return strings.Compare(a.Name, b.Name) })
}

// value reads a value into a shape.
func (inf *Inference) value(text []byte, i int, to *shape, depth int) int {
	if inf.limited && inf.tooLong(text, i) {
		return -1
	}
	switch text[i] {
	case '{':
		return inf.objectShape(text, i+1, to, depth+1)
	case '[':
		return inf.arrayShape(text, i+1, to, depth+1)
	case 'n':
		to.saw |= sawNull
		return word(text, i, "null")
	case 't':
		to.saw |= sawBool
		return word(text, i, "true")
	case 'f':
		to.saw |= sawBool
		return word(text, i, "false")
	case '"', '\'':
		if text[i] == '\'' && !inf.opts.SingleQuotes {
			return -1
		}
		str, next, ok := inf.str(text, i)
		if !ok {
			return -1
		}
		to.saw |= inf.textKind(str)
		return next
	}
	next, whole := inf.number(text, i)
	if next >= 0 {
		to.number(text[i:next], whole, inf.opts.PrefersDecimal)
	}
	return next
}

// textKind is what a text is. An empty one stands for null: some programs write that.
func (inf *Inference) textKind(str []byte) seen {
	if len(str) == 0 {
		return sawNull
	}
	if !inf.opts.InferTimestamp {
		return sawString
	}
	if !inf.times.Plain() {
		if _, ok := inf.times.Timestamp(str); !ok {
			return sawString
		}
		return sawTimestamp
	}
	if t, ok := datetime.ParseText(str); !ok || !t.HasDate {
		return sawString
	}
	return sawTimestamp
}

// number notes a number. One that fits neither a BIGINT nor a decimal is a double.
func (s *shape) number(text []byte, whole, decimals bool) {
	if whole && len(text) <= 18 {
		s.saw |= sawLong
		return
	}
	digits, scale, plain := countDigits(text)
	switch {
	case !plain:
		s.saw |= sawDouble
	case whole && fitsLong(text):
		s.saw |= sawLong
	case (whole || decimals) && digits <= types.MaxPrecision && scale <= types.MaxPrecision:
		s.saw |= sawDecimal
		s.whole, s.scale = max(s.whole, digits-scale), max(s.scale, scale)
	default:
		s.saw |= sawDouble
	}
}

func (inf *Inference) arrayShape(text []byte, i int, to *shape, depth int) int {
	if depth > inf.opts.MaxDepth {
		return -1
	}
	to.saw |= sawNested
	if to.elem == nil {
		to.elem = &shape{}
	}
	if i = inf.skip(text, i); text[i] == ']' {
		return i + 1
	}
	for {
		if i = inf.value(text, i, to.elem, depth); i < 0 {
			return -1
		}
		switch i = inf.skip(text, i); text[i] {
		case ',':
			i = inf.skip(text, i+1)
		case ']':
			return i + 1
		default:
			return -1
		}
	}
}

func (inf *Inference) objectShape(text []byte, i int, to *shape, depth int) int {
	if depth > inf.opts.MaxDepth {
		return -1
	}
	to.saw |= sawNested
	if to.fields == nil {
		to.fields = map[string]*shape{}
	}
	if i = inf.skip(text, i); text[i] == '}' {
		return i + 1
	}
	for {
		name, next, ok := inf.mapKey(text, i)
		if !ok {
			return -1
		}
		field := to.fields[string(name)]
		if field == nil {
			field = &shape{}
			to.fields[string(name)] = field
		}
		if i = inf.skip(text, next); text[i] != ':' {
			return -1
		}
		if i = inf.value(text, inf.skip(text, i+1), field, depth); i < 0 {
			return -1
		}
		switch i = inf.skip(text, i); text[i] {
		case ',':
			i = inf.skip(text, i+1)
		case '}':
			return i + 1
		default:
			return -1
		}
	}
}

// merge adds what another shape knows.
func (s *shape) merge(o *shape) {
	s.saw |= o.saw
	s.whole, s.scale = max(s.whole, o.whole), max(s.scale, o.scale)
	if o.elem != nil {
		if s.elem == nil {
			s.elem = &shape{}
		}
		s.elem.merge(o.elem)
	}
	if o.fields != nil && s.fields == nil {
		s.fields = map[string]*shape{}
	}
	for name, f := range o.fields {
		if s.fields[name] == nil {
			s.fields[name] = &shape{}
		}
		s.fields[name].merge(f)
	}
}

func (s *shape) structType(opts Options) types.StructType {
	st := types.StructType{Fields: []types.Field{}}
	for name, f := range s.fields {
		if name == "" {
			continue
		}
		if t, ok := f.dataType(opts); ok {
			st.Fields = append(st.Fields, types.NewField(name, t))
		}
	}
	sortFields(st.Fields)
	return st
}

// dataType is the narrowest type that holds all values; ok is false when there is nothing to hold.
func (s *shape) dataType(opts Options) (t types.DataType, ok bool) {
	kinds := s.saw &^ sawNull
	switch {
	case kinds == 0:
		return types.String, !opts.DropAllNull
	case kinds == sawNested && s.elem == nil:
		st := s.structType(opts)
		return st, len(st.Fields) > 0
	case kinds == sawNested && s.fields == nil:
		elem, ok := s.elem.dataType(opts)
		return types.ArrayOf(elem), ok
	case kinds&sawNested != 0, opts.PrimitivesAsString, kinds&sawString != 0:
		return types.String, true
	case kinds == sawBool:
		return types.Boolean, true
	case kinds == sawTimestamp:
		return types.Timestamp, true
	case kinds&(sawBool|sawTimestamp) != 0:
		return types.String, true
	case kinds == sawLong:
		return types.Long, true
	case kinds&sawDouble != 0:
		return types.Double, true
	}
	whole := s.whole
	if kinds&sawLong != 0 {
		whole = max(whole, 20)
	}
	if whole+s.scale > types.MaxPrecision {
		return types.Double, true
	}
	return types.DecimalType{Precision: max(whole+s.scale, 1), Scale: s.scale}, true
}

// countDigits gives the digits of a number and how many of them are behind the point. plain is false for one with an exponent that
// is out of the ordinary, or none at all.
func countDigits(text []byte) (digits, scale int, plain bool) {
	point := false
	for i, c := range text {
		switch {
		case c == '-' && i == 0:
		case c == '.':
			point = true
		case c|0x20 == 'e':
			e, err := strconv.Atoi(string(text[i+1:]))
			if err != nil || e > 100 || e < -100 {
				return 0, 0, false
			}
			if scale -= e; scale < 0 {
				digits -= scale
				scale = 0
			}
			return max(digits, scale), scale, true
		case c-'0' <= 9:
			if digits > 0 || c != '0' {
				digits++
			}
			if point {
				scale++
			}
		default:
			return 0, 0, false
		}
	}
	return max(digits, scale, 1), scale, true
}

func fitsLong(text []byte) bool {
	_, err := strconv.ParseInt(string(text), 10, 64)
	return err == nil
}
