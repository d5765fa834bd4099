package xmlrow

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// event is a step through a text.
type event struct {
	kind  eventKind
	name  string // of an element, as columns have it
	attrs []attr
	text  string
}

type eventKind uint8

const (
	endOfText eventKind = iota
	startElement
	endElement
	characters
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
)

// events are the steps through the first element of a text. What follows it is not looked at.
type events struct {
	list []event
	at   int
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
	if ev.at < len(ev.list) {
		return &ev.list[ev.at]
	}
	return &ended
}

// document is a text on the way through it: elements that are no records must be well-formed, too.
type document struct {
	dec  *xml.Decoder
	opts *Options
	open []string
	// begun is set behind the first thing of the text, done behind the first element that no other is around.
	begun, done bool
}

func newDocument(text []byte, o *Options) *document {
	dec := xml.NewDecoder(bytes.NewReader(text))
	dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // it is UTF-8 by now
	return &document{dec: dec, opts: o}
}

// start passes the start of an element.
func (d *document) start(t xml.StartElement) error {
	if len(d.open) == 0 && d.done {
		return errOutside
	}
	for i, a := range t.Attr {
		for _, b := range t.Attr[:i] {
			if a.Name == b.Name {
				return errTwice
			}
		}
	}
	if len(d.open) >= maxDepth {
		return errTooDeep
	}
	d.open = append(d.open, t.Name.Space+":"+t.Name.Local)
	return nil
}

// end passes the end of an element.
func (d *document) end(t xml.EndElement) error {
	last := len(d.open) - 1
	if last < 0 || d.open[last] != t.Name.Space+":"+t.Name.Local {
		return &xml.SyntaxError{Msg: "an element is closed by </" + t.Name.Local + ">"}
	}
	d.open = d.open[:last]
	d.done = d.done || last == 0
	return nil
}

// read reads the first element of a text, reusing ev's memory.
func (ev *events) read(text []byte, o *Options) error {
	err := ev.find(newDocument(text, o), "")
	if err == io.EOF {
		return errNoElement
	}
	return err
}

// find reads the next element of a name, or with no name the next one. The error is io.EOF when there is none.
func (ev *events) find(d *document, name string) error {
	for {
		t, err := d.dec.RawToken()
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.StartElement:
			if name == "" || d.opts.name(t.Name) == name {
				return ev.element(d, t)
			}
			err = d.start(t)
		case xml.EndElement:
			err = d.end(t)
		case xml.ProcInst:
			if t.Target == "xml" && d.begun {
				err = errLate
			}
		case xml.CharData:
			if len(d.open) == 0 && len(bytes.TrimSpace(t)) > 0 {
				err = errOutside
			}
		}
		if err != nil {
			return err
		}
		d.begun = true
	}
}

// element reads an element to its end.
func (ev *events) element(d *document, start xml.StartElement) error {
	ev.list, ev.at = ev.list[:0], 0
	joins := false
	o, around := d.opts, len(d.open)
	var t xml.Token = start
	for {
		switch t := t.(type) {
		case xml.StartElement:
			if err := d.start(t); err != nil {
				return err
			}
			e := event{kind: startElement, name: o.name(t.Name)}
			for _, a := range t.Attr {
				if !o.ExcludeAttribute {
					e.attrs = append(e.attrs, attr{o.AttributePrefix + o.name(a.Name), a.Value})
				}
			}
			ev.list = append(ev.list, e)
			joins = false
		case xml.EndElement:
			if err := d.end(t); err != nil {
				return err
			}
			ev.list = append(ev.list, event{kind: endElement, name: o.name(t.Name)})
			if len(d.open) == around {
				return nil
			}
			joins = false
		case xml.CharData:
			if joins {
				ev.list[len(ev.list)-1].text += string(t)
			} else {
				ev.list = append(ev.list, event{kind: characters, text: string(t)})
				joins = true
			}
		default:
			joins = false
		}
		var err error
		if t, err = d.dec.RawToken(); err == io.EOF {
			return io.ErrUnexpectedEOF
		} else if err != nil {
			return err
		}
	}
}

// name is the name of an element or attribute as columns have it.
func (o *Options) name(n xml.Name) string {
	if n.Space == "" || o.IgnoreNamespace {
		return n.Local
	}
	return n.Space + ":" + n.Local
}
