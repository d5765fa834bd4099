package xmlrow

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// event is a step through a text.
type event struct {
	kind  eventKind
	name  string // of an element, as columns have it
	attrs []attr
	text  string
	err   error // of a failure
}

type eventKind uint8

const (
	endOfText eventKind = iota
	startElement
	endElement
	characters
	failure // here the text is no XML; the events behind it are those of the rest
)

type attr struct{ name, value string }

// blank tells whether an event is text without anything in it.
func (e *event) blank() bool { return strings.TrimSpace(e.text) == "" }

// maxDepth is how deep elements may be nested.
const maxDepth = 10_000

var (
	errNoElement = errors.New("there is no element")
	errOutside   = errors.New("something is outside of the element that is the document")
	errLate      = errors.New("the XML declaration is not at the start of the text")
	errTwice     = errors.New("an element has an attribute twice")
	errTooDeep   = errors.New("elements are nested too deeply")
	errInside    = errors.New("a declaration of a document type is inside of an element")
	errCharacter = errors.New("XML does not have a character")
)

// events are the steps through an element of a text. Behind a failure they are looked for when they are asked for.
type events struct {
	list   []event
	at     int
	doc    *document
	around int  // how many elements are around it
	whole  bool // the end of the element is in list
}

// next passes an event.
func (ev *events) next() *event {
	e := ev.peek()
	if ev.at < len(ev.list) {
		ev.at++
	}
	return e
}

var ended = event{kind: endOfText}

func (ev *events) peek() *event {
	if ev.at >= len(ev.list) && !ev.whole {
		ev.fill()
	}
	if ev.at < len(ev.list) {
		return &ev.list[ev.at]
	}
	return &ended
}

// failed is why the element is not XML to its end, if it is not.
func (ev *events) failed() error {
	if n := len(ev.list); n > 0 {
		return ev.list[n-1].err
	}
	return nil
}

// document is a text on the way through it: elements that are no records must be well-formed, too.
type document struct {
	text []byte
	from int // where dec began
	dec  *xml.Decoder
	opts *Options
	open []string
	// begun is set behind the first thing of the text, done behind the first element that no other is around.
	begun, done bool
	// closed says that the last thing was the end of an element.
	closed bool
}

func newDocument(text []byte, o *Options) *document {
	d := &document{text: text, opts: o}
	d.goOn(0)
	return d
}

// goOn reads on at a place.
func (d *document) goOn(from int) {
	d.from = from
	d.dec = xml.NewDecoder(bytes.NewReader(d.text[from:]))
	d.dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // it is UTF-8 by now
}

// at is the place that has been read up to.
func (d *document) at() int { return d.from + int(d.dec.InputOffset()) }

// token reads the next token. Behind an error the next call goes on where Spark's parser does: behind what it could not take.
func (d *document) token() (xml.Token, error) {
	from := d.at()
	t, err := d.dec.RawToken()
	if err == nil || err == io.EOF {
		return t, err
	}
	read := d.text[from:d.at()]
	next := d.at()
	switch bad := bytes.IndexFunc(read, illegal); {
	case bytes.HasPrefix(read, []byte("<!--")), bytes.HasPrefix(read, []byte("<?")) && !bytes.HasPrefix(read, []byte("<?xml ")):
		next = len(d.text) // a comment with a mistake is read, and fails, again
	case bad >= 0:
		_, size := utf8.DecodeRune(read[bad:])
		next = from + bad + size
	case strings.HasSuffix(err.Error(), "(no semicolon)"):
		next = min(next+1, len(d.text)) // what stands in place of the semicolon is gone
	case len(read) > 1 && read[0] == '<' && startsName(read[1]):
		name := read[1:]
		if i := bytes.IndexAny(name, " \t\r\n/>"); i >= 0 {
			name = name[:i]
		}
		d.push(string(name))
	}
	d.goOn(next)
	d.mend()
	return nil, err
}

// mend keeps a habit of Spark's parser: an element that has ended when the mistake comes takes the one around it along.
func (d *document) mend() {
	if d.closed && len(d.open) > 0 {
		d.open = d.open[:len(d.open)-1]
	}
}

// illegal tells whether XML does not have a character.
func illegal(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF
}

func startsName(c byte) bool {
	return c == '_' || c == ':' || c >= utf8.RuneSelf || c|0x20 >= 'a' && c|0x20 <= 'z'
}

func (d *document) push(name string) { d.open = append(d.open, name) }

func fullName(n xml.Name) string {
	if n.Space == "" {
		return n.Local
	}
	return n.Space + ":" + n.Local
}

// start passes the start of an element.
func (d *document) start(t xml.StartElement) error {
	if len(d.open) == 0 && d.done {
		return errOutside
	}
	if len(d.open) >= maxDepth {
		return errTooDeep
	}
	d.push(fullName(t.Name))
	for i, a := range t.Attr {
		for _, b := range t.Attr[:i] {
			if a.Name == b.Name {
				return errTwice
			}
		}
	}
	return nil
}

// end passes the end of an element.
func (d *document) end(t xml.EndElement) error {
	last := len(d.open) - 1
	if last < 0 || d.open[last] != fullName(t.Name) {
		return &xml.SyntaxError{Msg: "an element is closed by </" + t.Name.Local + ">"}
	}
	d.open = d.open[:last]
	d.done = d.done || last == 0
	return nil
}

// pass takes in what a token means for the elements that are open, and refuses what must not be where it is.
func (d *document) pass(t xml.Token) (err error) {
	was := d.closed
	d.closed = false
	switch t := t.(type) {
	case xml.StartElement:
		err = d.start(t)
	case xml.EndElement:
		if err = d.end(t); err == nil {
			d.closed = true
		}
	case xml.ProcInst:
		switch {
		case t.Target == "xml" && d.begun:
			err = errLate
		case bytes.ContainsFunc(t.Inst, illegal):
			err = errCharacter
		}
	case xml.Comment:
		if bytes.ContainsFunc(t, illegal) {
			err = errCharacter
		}
	case xml.Directive:
		if len(d.open) > 0 {
			err = errInside
		}
	case xml.CharData:
		if len(d.open) == 0 && len(bytes.TrimSpace(t)) > 0 {
			err = errOutside
		}
	}
	d.begun = true
	if err == errCharacter {
		d.goOn(len(d.text))
	}
	if err != nil && was {
		d.closed = true
		d.mend()
	}
	return err
}

// read reads the first element of a text, reusing ev's memory.
func (ev *events) read(text []byte, o *Options) error {
	ev.list, ev.at = ev.list[:0], 0
	err := ev.find(newDocument(text, o), "")
	if err == io.EOF {
		return errNoElement
	}
	return err
}

// find looks for the next element of a name, or with no name the next one, and reads it. It begins with what is left of the element
// before: Spark leaves one early when it cannot be read. The error is io.EOF when there is none.
func (ev *events) find(d *document, name string) error {
	for ; ev.at < len(ev.list); ev.at++ {
		switch e := &ev.list[ev.at]; {
		case e.kind == failure:
			return e.err
		case e.kind == startElement && e.name == name:
			return nil
		}
	}
	for {
		t, err := d.token()
		if err != nil {
			return err
		}
		around := len(d.open)
		if err := d.pass(t); err != nil {
			return err
		}
		if start, ok := t.(xml.StartElement); ok && (name == "" || d.opts.name(start.Name) == name) {
			*ev = events{list: ev.list[:0], doc: d, around: around}
			ev.add(start)
			ev.fill()
			return nil
		}
	}
}

// fill reads on to the end of the element, or to a failure.
func (ev *events) fill() {
	d := ev.doc
	joins := false
	for {
		from := d.at()
		t, err := d.token()
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err == nil {
			err = d.pass(t)
		} else if joins && isText(d.text[from:]) {
			ev.list = ev.list[:len(ev.list)-1] // the mistake is in the same stretch of text
		}
		if err != nil {
			ev.list = append(ev.list, event{kind: failure, err: err})
			return
		}
		text, ok := t.(xml.CharData)
		switch {
		case ok && joins:
			ev.list[len(ev.list)-1].text += string(text)
		case ok:
			ev.list = append(ev.list, event{kind: characters, text: string(text)})
		default:
			ev.add(t)
		}
		joins = ok
		if d.closed && len(d.open) <= ev.around {
			ev.whole = true
			return
		}
	}
}

// isText tells whether a text begins with characters or a CDATA section.
func isText(s []byte) bool {
	return len(s) > 0 && s[0] != '<' || bytes.HasPrefix(s, []byte("<![CDATA["))
}

// add adds the start or the end of an element.
func (ev *events) add(t xml.Token) {
	o := ev.doc.opts
	switch t := t.(type) {
	case xml.StartElement:
		e := event{kind: startElement, name: o.name(t.Name)}
		for _, a := range t.Attr {
			if !o.ExcludeAttribute {
				e.attrs = append(e.attrs, attr{o.AttributePrefix + o.name(a.Name), a.Value})
			}
		}
		ev.list = append(ev.list, e)
	case xml.EndElement:
		ev.list = append(ev.list, event{kind: endElement, name: o.name(t.Name)})
	}
}

// name is the name of an element or attribute as columns have it.
func (o *Options) name(n xml.Name) string {
	if o.IgnoreNamespace {
		return n.Local
	}
	return fullName(n)
}
