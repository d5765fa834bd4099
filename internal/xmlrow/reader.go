package xmlrow

import (
	"errors"
	"io"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/textrecord"
	"github.com/millrace/millrace/internal/variant"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Reader reads records into column builders. It belongs to one goroutine.
type Reader struct {
	opts    Options
	times   *datetime.FormatReader
	root    *conv
	cols    []*vec.Builder
	corrupt int   // column for the text of bad records, or -1
	full    []int // columns that records fill: all but corrupt
	single  bool  // the whole record goes to the only column, as a variant
	rows    int
	bad     int // size of the texts of bad records among them
	ev      events
	text    []byte
	doc     *document // text, as far as it was read
	build   variant.Builder
}

// NewReader returns a reader of records of a schema. A nullable string column named opts.CorruptColumn takes the text of records
// that are not as they should be.
func NewReader(schema types.StructType, opts Options) (*Reader, error) {
	r := &Reader{opts: opts, corrupt: -1}
	data := types.StructType{}
	for i, f := range schema.Fields {
		if f.Name == opts.CorruptColumn && types.IsString(f.Type) {
			r.corrupt = i
			continue
		}
		data.Fields = append(data.Fields, f)
		r.full = append(r.full, i)
	}
	var err error
	if r.root, err = compile(data, &r.opts, ""); err != nil {
		return nil, err
	}
	r.single = opts.SingleVariant && len(data.Fields) == 1 && data.Fields[0].Type == types.DataType(types.Variant)
	r.cols = vec.NewBuilders(schema)
	r.times, err = opts.formats().NewReader(opts.Zone)
	return r, err
}

// Rows is the number of rows read since the last Take.
func (r *Reader) Rows() int { return r.rows }

// heavy is how much text of bad records rows may hold before they should be taken: each such record has that of its whole file.
const heavy = 8 << 20

// Full tells whether the rows should be taken before the next one is read.
func (r *Reader) Full() bool { return r.rows >= vec.BatchRows || r.bad >= heavy }

// Take hands out the rows read so far.
func (r *Reader) Take() *vec.Batch {
	b := vec.NewBatch(r.rows)
	for _, c := range r.cols {
		b.Cols = append(b.Cols, c.Finish())
	}
	r.rows, r.bad = 0, 0
	return b
}

// Record reads one record: the first element of a text.
func (r *Reader) Record(text []byte) error {
	text = textrecord.Valid(text)
	return r.take(text, r.ev.read(text, &r.opts))
}

// Open begins a text of which the elements named by the option rowTag are records.
func (r *Reader) Open(text []byte) {
	r.text = textrecord.Valid(text)
	r.doc = newDocument(r.text, &r.opts)
	r.ev = events{list: r.ev.list[:0]}
}

// Next reads the next record of the text that was opened; more is false when there is none. Where a field is no XML, reading goes on
// behind it; where something else is none, the text has no more records but a bad one. The text of a bad record is the whole text.
func (r *Reader) Next() (more bool, err error) {
	if r.doc == nil {
		return false, nil
	}
	found := r.ev.find(r.doc, r.opts.RowTag)
	if found == io.EOF {
		r.doc = nil
		return false, nil
	}
	if found != nil {
		r.doc = nil
	}
	return true, r.take(r.text, found)
}

// take makes a row of the record that was found, or of the error that it gave.
func (r *Reader) take(text []byte, err error) error {
	var row value
	if err == nil {
		if row, err = r.record(); err != nil && !row.set {
			r.doc = nil
		}
	}
	if err != nil {
		switch r.opts.Mode {
		case textrecord.DropMalformed:
			return nil
		case textrecord.FailFast:
			return r.divert(text, r.malformed(text, err))
		}
	}
	for k, i := range r.full {
		var null value
		v := &null
		if k < len(row.kids) {
			v = &row.kids[k]
		}
		store(r.cols[i], r.root.fields[k].conv, v)
	}
	if r.corrupt >= 0 {
		if err != nil {
			r.cols[r.corrupt].AppendBytes(text)
			r.bad += len(text)
		} else {
			r.cols[r.corrupt].AppendNull()
		}
	}
	r.rows++
	return nil
}

// record reads the element that was found. With an error the row holds what could be read; it is not set when nothing more can be.
func (r *Reader) record() (value, error) {
	start := r.ev.next()
	if r.single {
		v, err := r.variant(start)
		return value{set: err == nil, kids: []value{v}}, err
	}
	return r.object(r.root, start.attrs)
}

func (r *Reader) divert(text []byte, err error) error {
	if r.opts.Divert == nil {
		return err
	}
	return r.opts.Divert(text, err)
}

// malformed is the error of FAILFAST.
func (r *Reader) malformed(text []byte, cause error) error {
	e := errclass.New("MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION", "badRecord", textrecord.Clip(text), "failFastMode", textrecord.FailFast.String())
	e.Cause = cause
	return e
}

var (
	errContent = errors.New("an element has elements where its type has none")
	errEnd     = errors.New("an element does not end where its type ends")
)

// object reads what is in an element whose start has been passed, into the fields of a struct. A field that cannot be read is null;
// reading goes on behind the place where it failed. The first such error is returned with the row. A failure that is not inside of a
// field leaves no row.
func (r *Reader) object(c *conv, attrs []attr) (value, error) {
	row := value{set: true, kids: make([]value, len(c.fields))}
	bad := r.attributes(c, attrs, &row)
	note := func(err error) {
		if bad == nil {
			bad = err
		}
	}
	for {
		e := r.ev.next()
		switch e.kind {
		case endElement, endOfText:
			return row, bad
		case failure:
			return value{}, e.err
		case startElement:
			i, ok := c.find(e.name)
			var v value
			var err error
			switch {
			case ok:
				v, err = r.member(c.fields[i].conv, e, &row.kids[i])
			case c.wildcard >= 0:
				i = c.wildcard
				text := &conv{typ: types.String}
				if c.fields[i].conv.elem != nil {
					text = &conv{typ: types.ArrayOf(types.String), elem: text}
				}
				v, err = r.member(text, e, &row.kids[i])
			default:
				note(r.skip())
				continue
			}
			if err != nil {
				note(err)
				continue
			}
			row.kids[i] = v
		case characters:
			i, ok := c.find(r.opts.ValueTag)
			if !ok || e.blank() {
				continue
			}
			if err := r.addText(&row.kids[i], c.fields[i].conv, e.text, false); err != nil {
				note(err)
			}
		}
	}
}

// addText adds a stretch of an element's text to the column for it: to the elements of an array, or in the place of what it holds. One
// that comes before the others, first, leaves a later one alone.
func (r *Reader) addText(to *value, c *conv, text string, first bool) error {
	if c.elem != nil {
		v, err := r.convert(text, c.elem)
		if err != nil {
			return err
		}
		to.set = true
		if first {
			to.kids = append([]value{v}, to.kids...)
		} else {
			to.kids = append(to.kids, v)
		}
		return nil
	}
	if first && to.set {
		return nil
	}
	v, err := r.convert(text, c)
	if err == nil {
		*to = v
	}
	return err
}

// attributes reads attributes into the fields of their names.
func (r *Reader) attributes(c *conv, attrs []attr, row *value) (bad error) {
	for _, a := range attrs {
		i, ok := c.find(a.name)
		if !ok {
			continue
		}
		v, err := r.convert(a.value, c.fields[i].conv)
		if err != nil {
			if bad == nil {
				bad = err
			}
			continue
		}
		row.kids[i] = v
	}
	return bad
}

// member reads an element whose start has been passed as a field's value. An array gets one more element.
func (r *Reader) member(c *conv, e *event, had *value) (value, error) {
	switch c.typ.(type) {
	case types.StructType:
		return r.structure(c, e)
	case types.ArrayType:
		read := r.field
		if _, ok := c.elem.typ.(types.StructType); ok {
			read = r.structure
		}
		v, err := read(c.elem, e)
		if err != nil {
			return value{}, err
		}
		return value{set: true, kids: append(had.kids, v)}, nil
	}
	return r.field(c, e)
}

// structure reads an element with its attributes.
func (r *Reader) structure(c *conv, e *event) (value, error) {
	v, err := r.field(c, e)
	if err != nil {
		return value{}, err
	}
	if !v.set {
		v = value{set: true, kids: make([]value, len(c.fields))}
	}
	return v, r.attributes(c, e.attrs, &v)
}

// field reads the content of an element whose start e has been passed.
func (r *Reader) field(c *conv, e *event) (value, error) {
	if c.typ == types.DataType(types.Variant) {
		return r.variant(e)
	}
	_, isStruct := c.typ.(types.StructType)
	_, isMap := c.typ.(types.MapType)
	_, isArray := c.typ.(types.ArrayType)
	next := r.ev.peek()
	switch {
	case next.kind == failure:
		return value{}, r.ev.next().err
	case types.IsString(c.typ) && next.kind == endElement:
		r.ev.next()
		return value{set: !(r.opts.HasNullValue && r.opts.NullValue == "")}, nil
	case types.IsString(c.typ):
		text, err := r.inner()
		if err != nil {
			return value{}, err
		}
		return r.convert(text, c)
	case next.kind == endElement:
		r.ev.next()
		return value{}, nil
	case next.kind == startElement && isStruct:
		return r.object(c, nil)
	case next.kind == startElement && isMap:
		return r.mapping(c)
	case isArray:
		v, err := r.field(c.elem, e)
		return value{set: true, kids: []value{v}}, err
	case next.kind == startElement:
		return value{}, errContent
	case isStruct:
		return r.textFirst(c)
	case next.blank():
		r.ev.next()
		return r.field(c, e)
	case isMap:
		return value{}, &misfit{next.text, c.typ}
	}
	v, err := r.convert(next.text, c)
	if err != nil {
		return value{}, err
	}
	r.ev.next()
	return v, r.end()
}

// textFirst reads an element that begins with text as a struct.
func (r *Reader) textFirst(c *conv) (value, error) {
	text := r.ev.next()
	i, ok := c.find(r.opts.ValueTag)
	switch r.ev.peek().kind {
	case failure:
		return value{}, r.ev.next().err
	case endElement:
		row := value{set: true, kids: make([]value, len(c.fields))}
		if ok {
			if err := r.addText(&row.kids[i], c.fields[i].conv, text.text, false); err != nil {
				return value{}, err
			}
		}
		r.ev.next()
		return row, nil
	}
	row, err := r.object(c, nil)
	if err == nil && ok && !text.blank() {
		err = r.addText(&row.kids[i], c.fields[i].conv, text.text, true)
	}
	return row, err
}

// end passes the end of an element, and blanks before it.
func (r *Reader) end() error {
	for {
		switch e := r.ev.next(); {
		case e.kind == endElement:
			return nil
		case e.kind == failure:
			return e.err
		case e.kind == characters && e.blank():
		default:
			return errEnd
		}
	}
}

// skip passes the rest of an element whose start has been passed.
func (r *Reader) skip() error {
	for depth := 1; depth > 0; {
		switch e := r.ev.next(); e.kind {
		case startElement:
			depth++
		case endElement:
			depth--
		case failure:
			return e.err
		case endOfText:
			return nil
		}
	}
	return nil
}

// mapping reads elements as entries of a map; a later entry of a key takes the place of an earlier one.
func (r *Reader) mapping(c *conv) (value, error) {
	m := value{set: true}
	put := func(key string, v value) {
		for k := range m.keys {
			if m.keys[k] == key {
				m.kids[k] = v
				return
			}
		}
		m.keys, m.kids = append(m.keys, key), append(m.kids, v)
	}
	for {
		e := r.ev.next()
		switch {
		case e.kind == startElement:
			v, err := r.member(c.elem, e, &value{})
			if err != nil {
				return value{}, err
			}
			put(e.name, v)
		case e.kind == characters && !e.blank():
			v, err := r.convert(e.text, c.elem)
			if err != nil {
				return value{}, err
			}
			put(r.opts.ValueTag, v)
		case e.kind == failure:
			return value{}, e.err
		case e.kind != characters:
			return m, nil
		}
	}
}
