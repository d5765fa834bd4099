package xmlrow

import (
	"io"
	"slices"
	"strings"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/decimal"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/textrecord"
	"github.com/millrace/millrace/types"
)

// Inference finds the schema of records. Feed it records in any order and any number, then ask for the Schema. It belongs to one
// goroutine.
type Inference struct {
	opts    Options
	times   *datetime.FormatReader
	ev      events
	root    *types.StructType
	corrupt bool
	seen    uint64
}

// NewInference starts without records.
func NewInference(opts Options) (*Inference, error) {
	if err := textrecord.CheckRatio("xml", opts.SamplingRatio); err != nil {
		return nil, err
	}
	inf := &Inference{opts: opts}
	f := opts.formats()
	var err error
	inf.times, err = f.NewReader(opts.Zone)
	return inf, err
}

// Record looks at one record: the first element of a text.
func (inf *Inference) Record(text []byte) error {
	text = textrecord.Valid(text)
	err := inf.ev.read(text, &inf.opts)
	if err == nil {
		err = inf.ev.failed()
	}
	return inf.take(text, err)
}

// Document looks at the records of a text: the elements named by the option rowTag.
func (inf *Inference) Document(text []byte) error {
	text = textrecord.Valid(text)
	doc := newDocument(text, &inf.opts)
	inf.ev = events{list: inf.ev.list[:0]}
	for {
		err := inf.ev.find(doc, inf.opts.RowTag)
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = inf.ev.failed()
		}
		if failed := inf.take(text, err); failed != nil || err != nil {
			return failed
		}
	}
}

// take looks at the record that was read, or at the error that it gave.
func (inf *Inference) take(text []byte, err error) error {
	if err != nil {
		switch inf.opts.Mode {
		case textrecord.FailFast:
			return errclass.New("MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION", "badRecord", textrecord.Clip(text), "failFastMode", textrecord.FailFast.String())
		case textrecord.Permissive:
			inf.corrupt = true
		}
		return nil
	}
	if inf.opts.SamplingRatio < 1 {
		// A fixed sequence, so that the same files give the same schema.
		inf.seen = inf.seen*6364136223846793005 + 1442695040888963407
		if float64(inf.seen>>11)/(1<<53) >= inf.opts.SamplingRatio {
			return nil
		}
	}
	start := inf.ev.next()
	t := inf.object(start.attrs)
	if inf.root != nil {
		t = inf.merge(*inf.root, t).(types.StructType)
	}
	inf.root = &t
	return nil
}

// Schema is the schema of the records so far.
func (inf *Inference) Schema() types.StructType {
	if inf.opts.SingleVariant {
		return types.Struct(types.NewField(inf.opts.SingleVariantColumn, types.Variant))
	}
	var s types.StructType
	if inf.root != nil {
		s = settled(*inf.root).(types.StructType)
	}
	if inf.corrupt && s.Index(inf.opts.CorruptColumn) < 0 {
		s.Fields = append(s.Fields, types.NewField(inf.opts.CorruptColumn, types.String))
		sortFields(s.Fields)
	}
	return s
}

// settled gives the places where only nulls were seen a type.
func settled(t types.DataType) types.DataType {
	switch t := t.(type) {
	case types.NullType:
		return types.String
	case types.ArrayType:
		return types.ArrayOf(settled(t.Element))
	case types.StructType:
		s := types.StructType{Fields: slices.Clone(t.Fields)}
		for i := range s.Fields {
			s.Fields[i].Type = settled(s.Fields[i].Type)
		}
		return s
	}
	return t
}

func sortFields(f []types.Field) {
	slices.SortStableFunc(f, func(a, b types.Field) int { return strings.Compare(a.Name, b.Name) })
}

// shape are the fields of an element, as they come.
type shape struct {
	inf    *Inference
	fields []types.Field
}

// add adds a field, or one more value to a field, which is an array then.
func (s *shape) add(name string, t types.DataType) {
	for i := range s.fields {
		f := &s.fields[i]
		if f.Name != name && (s.inf.opts.CaseSensitive || !strings.EqualFold(f.Name, name)) {
			continue
		}
		old := f.Type
		if a, ok := old.(types.ArrayType); ok {
			old = a.Element
		}
		f.Type = types.ArrayOf(s.inf.merge(old, t))
		return
	}
	s.fields = append(s.fields, types.NewField(name, t))
}

func (s *shape) attributes(attrs []attr) {
	for _, a := range attrs {
		t := s.inf.typeOf(a.value)
		if s.inf.opts.HasNullValue && a.value == s.inf.opts.NullValue {
			t = types.Null
		}
		s.add(a.name, t)
	}
}

func (s *shape) structType() types.StructType {
	sortFields(s.fields)
	return types.StructType{Fields: s.fields}
}

// object is the type of an element whose start has been passed.
func (inf *Inference) object(attrs []attr) types.StructType {
	s := shape{inf: inf}
	s.attributes(attrs)
	for {
		e := inf.ev.next()
		switch {
		case e.kind == startElement:
			s.add(e.name, inf.element(e))
		case e.kind == characters && !e.blank():
			s.add(inf.opts.ValueTag, inf.typeOf(e.text))
		case e.kind != characters:
			return s.structType()
		}
	}
}

// element is the type of an element: that of its text when it has nothing else, or a struct of what it has.
func (inf *Inference) element(e *event) types.DataType {
	whole := inf.object(nil)
	content := types.DataType(whole)
	switch {
	case len(whole.Fields) == 0:
		content = types.Null
	case len(whole.Fields) == 1 && whole.Fields[0].Name == inf.opts.ValueTag:
		content = whole.Fields[0].Type
	}
	if len(e.attrs) == 0 {
		return content
	}
	s := shape{inf: inf}
	if t, ok := content.(types.StructType); ok {
		s.fields = t.Fields
	} else if content != types.DataType(types.Null) {
		s.add(inf.opts.ValueTag, content)
	}
	s.attributes(e.attrs)
	return s.structType()
}

// typeOf is the type that a text looks like.
func (inf *Inference) typeOf(text string) types.DataType {
	if inf.opts.IgnoreSpaces {
		text = strings.TrimSpace(text)
	}
	if text == "" {
		return types.Null
	}
	if !inf.opts.InferTypes {
		return types.String
	}
	if _, ok := whole(text, 64); ok {
		return types.Long
	}
	if inf.opts.PrefersDecimal {
		if x, scale, ok := plainDecimal(text); ok {
			return types.DecimalType{Precision: max(decimal.Digits(x), scale, 1), Scale: scale}
		}
	}
	if f, ok := javaFloat(text, 64); ok && f == f && !strings.ContainsAny(text[len(text)-1:], "dDfFyY") {
		return types.Double
	}
	switch {
	case strings.EqualFold(text, "true") || strings.EqualFold(text, "false"):
		return types.Boolean
	case text[0]-'0' > 9 && text[0] != '-' && text[0] != '+' && inf.opts.DateFormat == "" && inf.opts.TimestampFormat == "":
		return types.String // no time begins like this
	}
	if _, ok := inf.times.Date([]byte(text)); ok && !strings.ContainsAny(text, " T:") {
		return types.Date
	}
	if _, ok := inf.times.Timestamp([]byte(text)); ok {
		return types.Timestamp
	}
	return types.String
}

// merge is the type of values of two types.
func (inf *Inference) merge(x, y types.DataType) types.DataType {
	if types.Equal(x, y) {
		return x
	}
	if x == types.DataType(types.Null) {
		return y
	}
	if y == types.DataType(types.Null) {
		return x
	}
	a, okA := x.(types.StructType)
	b, okB := y.(types.StructType)
	switch {
	case okA && okB:
		return inf.mergeStructs(a, b)
	case okA || okB:
		s, other := a, y
		if okB {
			s, other = b, x
		}
		if i := s.Index(inf.opts.ValueTag); i >= 0 {
			s.Fields = slices.Clone(s.Fields)
			s.Fields[i].Type = inf.merge(s.Fields[i].Type, other)
			return s
		}
		if _, isArray := other.(types.ArrayType); !isArray {
			return types.String
		}
	}
	l, okL := x.(types.ArrayType)
	r, okR := y.(types.ArrayType)
	switch {
	case okL && okR:
		return types.ArrayOf(inf.merge(l.Element, r.Element))
	case okL:
		return types.ArrayOf(inf.merge(l.Element, y))
	case okR:
		return types.ArrayOf(inf.merge(x, r.Element))
	}
	return mergeScalars(x, y)
}

func (inf *Inference) mergeStructs(a, b types.StructType) types.DataType {
	s := types.StructType{Fields: slices.Clone(a.Fields)}
	for _, f := range b.Fields {
		i := slices.IndexFunc(s.Fields, func(g types.Field) bool {
			return g.Name == f.Name || !inf.opts.CaseSensitive && strings.EqualFold(g.Name, f.Name)
		})
		if i < 0 {
			s.Fields = append(s.Fields, f)
			continue
		}
		s.Fields[i].Type = inf.merge(s.Fields[i].Type, f.Type)
	}
	sortFields(s.Fields)
	return s
}

func mergeScalars(x, y types.DataType) types.DataType {
	dx, decX := x.(types.DecimalType)
	dy, decY := y.(types.DecimalType)
	long, double := types.DataType(types.Long), types.DataType(types.Double)
	if x == long {
		dx, decX = types.DecimalType{Precision: 20}, decY
	}
	if y == long {
		dy, decY = types.DecimalType{Precision: 20}, decX
	}
	switch {
	case decX && decY:
		scale := max(dx.Scale, dy.Scale)
		digits := max(dx.Precision-dx.Scale, dy.Precision-dy.Scale) + scale
		if digits > decimal.MaxPrecision {
			return types.Double
		}
		return types.DecimalType{Precision: digits, Scale: scale}
	case (x == double || y == double) && numeric(x) && numeric(y):
		return types.Double
	case timely(x) && timely(y):
		return types.Timestamp
	}
	return types.String
}

func numeric(t types.DataType) bool {
	switch t.(type) {
	case types.LongType, types.DoubleType, types.DecimalType:
		return true
	}
	return false
}

func timely(t types.DataType) bool {
	switch t.(type) {
	case types.DateType, types.TimestampType:
		return true
	}
	return false
}
