package jsonrow

import (
	"unsafe"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/textrecord"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Pad is how many zero bytes must follow a text that is handed to a Reader, within its slice's length: the scanner looks at eight
// bytes at a time and takes a zero for the end.
const Pad = 16

// Reader reads records into column builders. It belongs to one goroutine.
type Reader struct {
	scanner
	root    *conv
	cols    []*vec.Builder
	corrupt int // column for the text of bad records, or -1
	rows    int
	line    []byte
	full    []int         // columns that records fill: all but corrupt
	absent  []*vec.Vector // by column; nil is null
	single  bool          // the whole record goes to the only column, as a variant
}

// NewReader returns a reader of records of a schema. A nullable string column named opts.CorruptColumn takes the text of records
// that are not as they should be.
func NewReader(schema types.StructType, opts Options) (*Reader, error) {
	r := &Reader{corrupt: -1}
	data := types.StructType{}
	for i, f := range schema.Fields {
		if f.Name == opts.CorruptColumn && types.IsString(f.Type) {
			r.corrupt = i
			continue
		}
		data.Fields = append(data.Fields, f)
		r.full = append(r.full, i)
	}
	root, err := compile(data, "JSON", "")
	if err != nil {
		return nil, err
	}
	r.root, r.cols = root, vec.NewBuilders(schema)
	r.absent = make([]*vec.Vector, len(schema.Fields))
	for i, f := range schema.Fields {
		r.absent[i] = opts.Absent[f.Name]
	}
	r.single = opts.SingleVariant && len(data.Fields) == 1 && data.Fields[0].Type == types.DataType(types.Variant)
	return r, r.scanner.init(opts)
}

// Rows is the number of rows read since the last Take.
func (r *Reader) Rows() int { return r.rows }

// Take hands out the rows read so far.
func (r *Reader) Take() *vec.Batch {
	b := vec.NewBatch(r.rows)
	for _, c := range r.cols {
		b.Cols = append(b.Cols, c.Finish())
	}
	r.rows = 0
	return b
}

// Lines reads records, one a line, from text[from:end], until max rows are there. text has Pad zero bytes behind end. It returns
// where it stopped: at end, or where to go on.
func (r *Reader) Lines(text []byte, from, end, max int) (int, error) {
	if r.comments || r.opts.UnquotedControls || r.single {
		return r.carefulLines(text, from, end, max)
	}
	i := from
	for i < end && r.rows < max {
		start := i
		c := text[i]
		if c <= ' ' {
			i = skipBlanks(text, i)
			if text[i] == '\n' || text[i] == '\r' || i >= end {
				i++ // a line of blanks is none
				continue
			}
			c = text[i]
		}
		if c == '{' {
			r.bad = false
			next := r.record(text, i+1)
			if next >= 0 && !r.bad {
				r.rows++
				if i = next; text[i] == '\n' {
					i++
				} else {
					i = textrecord.NextLine(text, i, end)
				}
				continue
			}
			if next >= 0 {
				i = textrecord.NextLine(text, next, end)
			} else {
				i = textrecord.NextLine(text, i, end)
			}
			if err := r.finishBad(lineOf(text, start, i), r.rows, next >= 0); err != nil {
				return i, err
			}
			continue
		}
		stop := textrecord.LineEnd(text, i, end)
		if err := r.odd(text, i, stop, text[start:stop]); err != nil {
			return i, err
		}
		i = textrecord.AfterBreak(text, stop, end)
	}
	return min(i, end), nil
}

// carefulLines is Lines for options under which a value may hold a line break: each line is looked at by itself.
func (r *Reader) carefulLines(text []byte, from, end, max int) (int, error) {
	i := from
	for i < end && r.rows < max {
		stop := textrecord.LineEnd(text, i, end)
		if err := r.Record(text[i:stop]); err != nil {
			return i, err
		}
		i = textrecord.AfterBreak(text, stop, end)
	}
	return min(i, end), nil
}

// Record reads one record from a text without padding.
func (r *Reader) Record(text []byte) error {
	r.line = append(r.line[:0], text...)
	r.line = append(r.line, padding[:]...)
	return r.Document(r.line, len(text))
}

var padding [Pad]byte

// Document reads one record that may span lines: an object, or an array whose elements are the rows. text has Pad zero bytes
// behind end. Text behind the record is not looked at.
func (r *Reader) Document(text []byte, end int) error {
	was := r.blanks
	r.blanks = &documentBlanks
	defer func() { r.blanks = was }()
	i := r.skip(text, 0)
	if i >= end {
		return nil
	}
	if r.single {
		if _, ok := r.variantColumn(text, i, r.cols[r.full[0]], 0); !ok {
			return r.finishBad(text[:end], r.rows, false)
		}
		r.fill(false)
		r.rows++
		return nil
	}
	if text[i] == '{' {
		r.bad = false
		next := r.record(text, i+1)
		if next >= 0 && !r.bad {
			r.rows++
			return nil
		}
		return r.finishBad(text[:end], r.rows, next >= 0)
	}
	return r.odd(text, i, end, text[:end])
}

// odd reads a record that does not begin with a brace: an array of records, or nothing good.
func (r *Reader) odd(text []byte, i, end int, whole []byte) error {
	first := r.rows
	if text[i] == '[' && r.opts.OneRecord && r.mode == textrecord.FailFast {
		return r.divert(whole, errclass.New("MALFORMED_RECORD_IN_PARSING.CANNOT_PARSE_JSON_ARRAYS_AS_STRUCTS", "badRecord", textrecord.Clip(whole),
			"failFastMode", textrecord.FailFast.String()))
	}
	if text[i] != '[' || r.opts.OneRecord {
		return r.finishBad(whole, first, false)
	}
	anyBad := false
	for i = r.skip(text, i+1); text[i] != ']'; i = r.skip(text, i+1) {
		if text[i] != '{' {
			return r.finishBad(whole, first, false)
		}
		r.bad = false
		if i = r.record(text, i+1); i < 0 {
			return r.finishBad(whole, first, false)
		}
		anyBad = anyBad || r.bad
		r.fill(!r.bad)
		r.rows++
		i = r.skip(text, i)
		if text[i] == ']' {
			break
		}
		if text[i] != ',' {
			return r.finishBad(whole, first, false)
		}
	}
	if !anyBad {
		return nil
	}
	if r.mode != textrecord.Permissive {
		return r.finishBad(whole, first, true)
	}
	for row := first; row < r.rows && r.corrupt >= 0; row++ {
		if row == first {
			r.cols[r.corrupt].Truncate(first)
		}
		r.cols[r.corrupt].AppendBytes(textrecord.Valid(whole))
	}
	return nil
}

// record reads the fields of an object whose brace has been passed, into row r.rows of the columns. It returns the position behind
// the object, or -1 for text that is not JSON. Fields that are missing get nulls only when all is well.
func (r *Reader) record(text []byte, i int) int {
	row, got := r.rows, 0
	root := r.root
	if text[i] <= ' ' {
		i = r.skip(text, i)
	}
	if text[i] == '}' {
		r.fill(true)
		return i + 1
	}
	for k := 0; ; k++ {
		f := -1
		if k < len(root.guess) {
			if g := &root.guess[k]; hasPrefix(text, i, g.text) {
				f = g.field
				i += len(g.text)
				goto value
			}
		}
		if f, i = r.key(text, i, root, k); i < 0 {
			return -1
		}
	value:
		if text[i] <= ' ' {
			i = r.skip(text, i)
		}
		if f < 0 {
			if i = r.skipValue(text, i, 1); i < 0 {
				return -1
			}
		} else {
			col := r.cols[r.full[f]]
			if col.Len() > row {
				i = r.again(text, i, root.fields[f].conv, col, row, 1)
			} else {
				var ok bool
				if i, ok = r.value(text, i, root.fields[f].conv, col, 1); ok {
					got++
				}
			}
			if i < 0 {
				return -1
			}
		}
		c := text[i]
		if c <= ' ' {
			i = r.skip(text, i)
			c = text[i]
		}
		if c == ',' {
			if i++; text[i] <= ' ' {
				i = r.skip(text, i)
			}
			continue
		}
		if c != '}' {
			return -1
		}
		if got < len(r.full) || r.corrupt >= 0 {
			r.fill(!r.bad)
		}
		return i + 1
	}
}

// fill gives the columns that have nothing for the current row what they have in a good record, or a null.
func (r *Reader) fill(good bool) {
	for i, c := range r.cols {
		switch {
		case c.Len() != r.rows:
		case good && r.absent[i] != nil:
			c.AppendAll(r.absent[i])
		default:
			c.AppendNull()
		}
	}
}

// truncate drops all rows from row n on.
func (r *Reader) truncate(n int) {
	for _, c := range r.cols {
		c.Truncate(n)
	}
	r.rows = n
}

// finishBad ends a record that is not as it should be. Partial says that the rows from first on hold what could be read.
func (r *Reader) finishBad(text []byte, first int, partial bool) error {
	switch r.mode {
	case textrecord.DropMalformed:
		r.truncate(first)
		return nil
	case textrecord.FailFast:
		r.truncate(first)
		return r.divert(text, r.malformed(text))
	}
	if !partial {
		r.truncate(first)
	}
	if r.corrupt >= 0 {
		c := r.cols[r.corrupt]
		c.Truncate(first)
		c.AppendBytes(textrecord.Valid(text))
	}
	r.fill(false)
	r.rows = first + 1
	return nil
}

// divert gives a bad record to whoever takes them, or else makes it the reader's error.
func (r *Reader) divert(text []byte, err error) error {
	if r.opts.Divert == nil {
		return err
	}
	return r.opts.Divert(textrecord.Valid(text), err)
}

// malformed is the error of FAILFAST.
func (r *Reader) malformed(text []byte) error {
	e := errclass.New("MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION", "badRecord", textrecord.Clip(text), "failFastMode", textrecord.FailFast.String())
	if r.why.conv != nil {
		e.Cause = errclass.New("CANNOT_PARSE_JSON_FIELD", "fieldName", r.why.name, "fieldValue", textrecord.Clip(r.why.text),
			"jsonType", tokenName(r.why.text), "dataType", `"`+r.why.conv.typ.SQL()+`"`)
		r.why = failure{}
	}
	return e
}

// hasPrefix tells whether prefix stands at text[i:]. The padding makes the slice long enough for all but hostile keys.
func hasPrefix(text []byte, i int, prefix string) bool {
	return len(text)-i >= len(prefix) && string(text[i:i+len(prefix)]) == prefix
}

// skipBlanks passes blanks and tabs.
func skipBlanks(text []byte, i int) int {
	for text[i] == ' ' || text[i] == '\t' {
		i++
	}
	return i
}

// lineOf is the line that starts at start and is followed by next, without its break.
func lineOf(text []byte, start, next int) []byte {
	line := text[start : next-1]
	if n := len(line); n > 0 && line[n-1] == '\r' && text[next-1] == '\n' {
		line = line[:n-1]
	}
	return line
}

func unsafeString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
