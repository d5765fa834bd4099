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

// decoder starts reading a text.
func decoder(text []byte) *xml.Decoder {
	dec := xml.NewDecoder(bytes.NewReader(text))
	dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // it is UTF-8 by now
	return dec
}

// read reads the first element of a text, reusing ev's memory.
func (ev *events) read(text []byte, o *Options) error {
	err := ev.find(decoder(text), o, "")
	if err == io.EOF {
		return errNoElement
	}
	return err
}

// find reads the next element of a name, or with no name the next one. The error is io.EOF when there is none.
func (ev *events) find(dec *xml.Decoder, o *Options, name string) error {
	for {
		t, err := dec.RawToken()
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.StartElement:
			if name == "" || o.name(t.Name) == name {
				return ev.element(dec, o, t)
			}
		case xml.CharData:
			if name == "" && len(bytes.TrimSpace(t)) > 0 {
				return errNoElement
			}
		}
	}
}

// element reads an element to its end.
func (ev *events) element(dec *xml.Decoder, o *Options, start xml.StartElement) error {
	ev.list, ev.at = ev.list[:0], 0
	joins := false
	var open []string
	var t xml.Token = start
	for {
		switch t := t.(type) {
		case xml.StartElement:
			e := event{kind: startElement, name: o.name(t.Name)}
			for _, a := range t.Attr {
				if !o.ExcludeAttribute {
					e.attrs = append(e.attrs, attr{o.AttributePrefix + o.name(a.Name), a.Value})
				}
			}
			ev.list = append(ev.list, e)
			if open = append(open, e.name); len(open) > maxDepth {
				return errTooDeep
			}
			joins = false
		case xml.EndElement:
			name := o.name(t.Name)
			last := len(open) - 1
			if open[last] != name {
				return &xml.SyntaxError{Msg: "an element is closed by </" + name + ">"}
			}
			ev.list = append(ev.list, event{kind: endElement, name: name})
			if open = open[:last]; last == 0 {
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
		if t, err = dec.RawToken(); err == io.EOF {
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
