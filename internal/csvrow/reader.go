package csvrow

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/textrecord"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Pad is how many bytes must follow a text that is handed to a Reader, within its slice's length: the scanner looks at eight bytes
// at a time.
const Pad = 16

// Reader reads records into column builders. It belongs to one goroutine.
type Reader struct {
	opts    Options
	m       *machine
	times   *datetime.FormatReader
	zone    *datetime.Zone
	columns []column // of the text, by position
	out     []*vec.Builder
	corrupt int  // column for the text of bad records, or -1
	pruned  bool // records may have more or fewer values than there are columns
	last    int  // position behind the last column that is wanted
	rows    int

	// How lines are scanned.
	fast     bool
	sep      byte
	quote    byte
	escape   byte
	escape2  byte // what takes the meaning from an escape
	nullText bool // nullValue is not empty
	nullNum  bool // and may look like a number or a time
	isoTimes bool

	header  bool // the next record is the header
	line    []byte
	scratch []byte
	doc     []byte // a text of records that may span lines
	bad     bool   // the current record does not fit
	why     cause
}

// cause is the first value of a record that does not fit; without a column the number of values is wrong.
type cause struct {
	column *column
	text   []byte
}

// NewReader returns a reader of records. Data are the columns that the text has, by position, want those of them that are wanted. A
// string column named opts.CorruptColumn is not in the text but takes the text of records that are not as they should be.
func NewReader(data, want types.StructType, opts Options) (*Reader, error) {
	r := &Reader{opts: opts, m: newMachine(&opts), out: vec.NewBuilders(want), corrupt: -1}
	for _, f := range data.Fields {
		if !isCorrupt(f, opts) {
			r.columns = append(r.columns, column{name: f.Name})
		}
	}
	found := 0
	for i, f := range want.Fields {
		if isCorrupt(f, opts) {
			r.corrupt = i
			continue
		}
		c, err := compile(f, "CSV")
		if err != nil {
			return nil, err
		}
		c.out, c.absent = r.out[i], opts.Absent[f.Name]
		for at := range r.columns {
			if r.columns[at].name == f.Name && r.columns[at].out == nil {
				r.columns[at] = c
				r.last = max(r.last, at+1)
				found++
				break
			}
		}
	}
	r.pruned = opts.Prune && found < len(r.columns)
	var err error
	r.times, err = timesOf(&opts, func(k kind) bool {
		for i := range r.columns {
			if r.columns[i].kind == k {
				return true
			}
		}
		return false
	})
	if err != nil {
		return nil, err
	}
	r.zone = r.times.Zone()
	r.initScan()
	return r, nil
}

func isCorrupt(f types.Field, opts Options) bool {
	return f.Name == opts.CorruptColumn && types.IsString(f.Type)
}

// Rows is the number of rows read since the last Take.
func (r *Reader) Rows() int { return r.rows }

// Take hands out the rows read so far.
func (r *Reader) Take() *vec.Batch {
	b := vec.NewBatch(r.rows)
	for _, c := range r.out {
		b.Cols = append(b.Cols, c.Finish())
	}
	r.rows = 0
	return b
}

// Lines reads records, one a line, from text[from:end], until max rows are there. text has Pad bytes behind end. It returns where it
// stopped: at end, or where to go on.
func (r *Reader) Lines(text []byte, from, end, max int) (int, error) {
	i := from
	// The scanner needs a line break at the end of every line.
	safe := end
	if end > from && text[end-1] != '\n' && text[end-1] != '\r' {
		safe = from + bytes.LastIndexAny(text[from:end], "\r\n") + 1
	}
	for i < end && r.rows < max {
		if i >= safe {
			return end, r.Record(text[i:end])
		}
		if text[i] <= ' ' {
			p := i
			for text[p] <= ' ' && text[p] != '\n' && text[p] != '\r' {
				p++
			}
			if text[p] == '\n' || text[p] == '\r' {
				i = p + 1
				continue
			}
		}
		if r.opts.Comment != 0 && isComment(text[i:end], r.opts.Comment) {
			i = textrecord.NextLine(text, i, end)
			continue
		}
		if r.header {
			stop := textrecord.LineEnd(text, i, end)
			if err := r.readHeader(text[i:stop]); err != nil {
				return i, err
			}
			i = textrecord.AfterBreak(text, stop, end)
			continue
		}
		if r.fast {
			if next := r.scanLine(text, i); next >= 0 {
				i = next
				continue
			}
		}
		stop := textrecord.LineEnd(text, i, end)
		if err := r.slow(text, i, stop); err != nil {
			return i, err
		}
		i = textrecord.AfterBreak(text, stop, end)
	}
	return min(i, end), nil
}

// Record reads one record from a text without padding. A text of blanks, or a comment, is none.
func (r *Reader) Record(text []byte) error {
	if len(trim(text)) == 0 || r.opts.Comment != 0 && isComment(text, r.opts.Comment) {
		return nil
	}
	if r.header {
		return r.readHeader(text)
	}
	if r.fast && bytes.IndexByte(text, '\n') < 0 && bytes.IndexByte(text, '\r') < 0 {
		r.line = append(append(r.line[:0], text...), '\n')
		r.line = append(r.line, padding[:]...)
		if r.scanLine(r.line, 0) >= 0 {
			return nil
		}
	}
	return r.slow(text, 0, len(text))
}

var padding [Pad]byte

// Document begins a text whose records may span lines. Records reads them.
func (r *Reader) Document(text []byte) error {
	if r.opts.LineSep == "" {
		r.m.detectBreak(text)
	}
	r.doc = text
	r.m.begin(text, 0, len(text))
	if !r.header {
		return nil
	}
	r.header = false
	if r.m.record() {
		return r.checkHeader()
	}
	if r.m.fault != noFault {
		return r.m.error(text)
	}
	return nil
}

// Records reads records of a document until max rows are there; more is false at its end.
func (r *Reader) Records(max int) (more bool, err error) {
	for r.rows < max {
		if !r.m.record() {
			if r.m.fault != noFault {
				return false, r.m.error(r.doc[r.m.from:r.m.pos])
			}
			return false, nil
		}
		text := r.doc[r.m.from:r.m.pos]
		if err := r.take(withoutBreak(text)); err != nil {
			return true, err
		}
	}
	return true, nil
}

func isComment(line []byte, mark rune) bool {
	c, _ := utf8.DecodeRune(line)
	return c == mark
}

// slow reads a line by the machine.
func (r *Reader) slow(text []byte, from, end int) error {
	if r.last == 0 && r.pruned {
		r.rows++
		return nil
	}
	r.m.begin(text, from, end)
	if !r.m.record() && r.m.fault != noFault {
		return r.m.error(text[from:end])
	}
	return r.take(text[from:end])
}

// error says what is wrong with a record.
func (m *machine) error(text []byte) error {
	err := errclass.New("MALFORMED_CSV_RECORD", "badRecord", textrecord.Clip(text))
	why := ""
	switch m.fault {
	case tooManyColumns:
		why = "it has more values than maxColumns allows"
	case tooManyChars:
		why = "it has a value with more characters than maxCharsPerColumn allows"
	case strayQuote:
		why = "there is a quote inside a quoted value that is not escaped; set unescapedQuoteHandling to something else than RAISE_ERROR"
	case strayText:
		why = "there is text behind a closing quote"
	case tooDeep:
		why = "it has too many quotes that are not escaped"
	default:
		return err
	}
	return err.WithCause(faultError(why))
}

type faultError string

func (e faultError) Error() string { return string(e) }

// take makes a row of the machine's tokens. text is that of the record.
func (r *Reader) take(text []byte) error {
	r.bad = false
	toks := r.m.toks
	for i := range r.columns[:r.last] {
		c := &r.columns[i]
		if c.kind == kSkip {
			continue
		}
		if i >= len(toks) {
			c.appendAbsent()
			continue
		}
		if toks[i].kind == tokNull {
			c.out.AppendNull()
			continue
		}
		s := r.m.buf[toks[i].from:toks[i].to]
		if toks[i].kind == tokEmpty {
			s = append(r.m.buf[len(r.m.buf):], r.opts.EmptyValue...)
		}
		if string(s) == r.opts.NullValue {
			c.out.AppendNull()
		} else if !r.convert(c, s) {
			c.appendAbsent()
			r.note(c, s)
		}
	}
	if !r.pruned && len(toks) != len(r.columns) {
		r.note(nil, nil)
	}
	return r.finish(text)
}

func (c *column) appendAbsent() {
	if c.absent == nil {
		c.out.AppendNull()
		return
	}
	c.out.AppendAll(c.absent)
}

// note remembers that the current record does not fit.
func (r *Reader) note(c *column, s []byte) {
	if !r.bad || c == nil {
		r.why = cause{c, s}
	}
	r.bad = true
}

// finish ends a row whose columns have been appended to.
func (r *Reader) finish(text []byte) error {
	if !r.bad {
		if r.corrupt >= 0 {
			r.out[r.corrupt].AppendNull()
		}
		r.rows++
		return nil
	}
	switch r.opts.Mode {
	case textrecord.DropMalformed:
		r.truncate()
		return nil
	case textrecord.FailFast:
		r.truncate()
		return r.divert(text, r.malformed(text))
	}
	if r.corrupt >= 0 {
		r.out[r.corrupt].AppendBytes(textrecord.Valid(text))
	}
	r.rows++
	return nil
}

// truncate takes back what was appended for the current record.
func (r *Reader) truncate() {
	for _, c := range r.out {
		if c.Len() > r.rows {
			c.Truncate(r.rows)
		}
	}
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
	if c := r.why.column; c != nil {
		return e.WithCause(errclass.New("CAST_INVALID_INPUT", "expression", strconv.Quote(textrecord.Clip(r.why.text)),
			"sourceType", `"STRING"`, "targetType", errclass.Expr(c.typ.SQL())))
	}
	return e.WithCause(errclass.New("MALFORMED_CSV_RECORD", "badRecord", textrecord.Clip(text)))
}

// withoutBreak takes the line break off a record.
func withoutBreak(text []byte) []byte {
	if rest, ok := bytes.CutSuffix(text, []byte("\r\n")); ok {
		return rest
	}
	if n := len(text); n > 0 && (text[n-1] == '\n' || text[n-1] == '\r') {
		return text[:n-1]
	}
	return text
}
