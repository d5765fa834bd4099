package xmlpath

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"

	"github.com/antchfx/xpath"
)

// node is a document, an element or a stretch of text.
type node struct {
	kind   xpath.NodeType
	name   xml.Name // Space is the prefix
	attrs  []xml.Attr
	text   string
	parent *node
	kids   []*node
	place  int // among the parent's kids
}

// maxDepth is how deep elements may be nested.
const maxDepth = 2000

var errForm = errors.New("the text is no XML document")

// Document is a text that has been read.
type Document struct{ root *node }

// Parse reads a document.
func Parse(text []byte) (*Document, error) {
	dec := xml.NewDecoder(bytes.NewReader(text))
	dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // it is UTF-8 by now
	root := &node{kind: xpath.RootNode}
	at, depth, elements := root, 0, 0
	for {
		t, err := dec.RawToken()
		if err == io.EOF {
			if at != root || elements != 1 {
				return nil, errForm
			}
			return &Document{root}, nil
		}
		if err != nil {
			return nil, err
		}
		switch t := t.(type) {
		case xml.StartElement:
			if at == root {
				elements++
			}
			n := &node{kind: xpath.ElementNode, name: t.Name}
			for _, a := range t.Attr {
				if a.Name.Space != "xmlns" && (a.Name.Space != "" || a.Name.Local != "xmlns") {
					n.attrs = append(n.attrs, a)
				}
			}
			at.add(n)
			at = n
			if depth++; depth > maxDepth {
				return nil, errForm
			}
		case xml.EndElement:
			if at == root || at.name != t.Name {
				return nil, errForm
			}
			at = at.parent
			depth--
		case xml.CharData:
			if at == root {
				if len(bytes.TrimSpace(t)) > 0 {
					return nil, errForm
				}
				continue
			}
			if k := len(at.kids); k > 0 && at.kids[k-1].kind == xpath.TextNode {
				at.kids[k-1].text += string(t)
				continue
			}
			at.add(&node{kind: xpath.TextNode, text: string(t)})
		case xml.Directive:
			dec.Entity = entities(t)
		case xml.Comment:
			at.add(&node{kind: xpath.CommentNode, text: string(t)})
		}
	}
}

var entity = regexp.MustCompile(`<!ENTITY\s+([\w.:-]+)\s+(?:"([^"]*)"|'([^']*)')\s*>`)

// entities are those that a document type declares with their texts.
func entities(directive []byte) map[string]string {
	m := map[string]string{}
	for _, e := range entity.FindAllSubmatch(directive, -1) {
		m[string(e[1])] = string(e[2]) + string(e[3])
	}
	return m
}

func (n *node) add(k *node) {
	k.parent, k.place = n, len(n.kids)
	n.kids = append(n.kids, k)
}

// value is the text of a node and of all below it.
func (n *node) value() string {
	if n.kind == xpath.TextNode || n.kind == xpath.CommentNode {
		return n.text
	}
	var b strings.Builder
	n.write(&b)
	return b.String()
}

func (n *node) write(b *strings.Builder) {
	for _, k := range n.kids {
		if k.kind == xpath.TextNode {
			b.WriteString(k.text)
		}
		k.write(b)
	}
}

// cursor walks a document for the library.
type cursor struct {
	at   *node
	attr int // of the node's attributes, or -1
}

func (c *cursor) NodeType() xpath.NodeType {
	if c.attr >= 0 {
		return xpath.AttributeNode
	}
	return c.at.kind
}

func (c *cursor) LocalName() string {
	if c.attr >= 0 {
		return c.at.attrs[c.attr].Name.Local
	}
	return c.at.name.Local
}

// Prefix is that of no name: prefixes in paths stand for nothing, as in Spark.
func (c *cursor) Prefix() string { return "" }

func (c *cursor) Value() string {
	if c.attr >= 0 {
		return c.at.attrs[c.attr].Value
	}
	return c.at.value()
}

func (c *cursor) Copy() xpath.NodeNavigator {
	n := *c
	return &n
}

func (c *cursor) MoveToRoot() {
	for c.at.parent != nil {
		c.at = c.at.parent
	}
	c.attr = -1
}

func (c *cursor) MoveToParent() bool {
	if c.attr >= 0 {
		c.attr = -1
		return true
	}
	if c.at.parent == nil {
		return false
	}
	c.at = c.at.parent
	return true
}

func (c *cursor) MoveToNextAttribute() bool {
	if c.attr+1 >= len(c.at.attrs) {
		return false
	}
	c.attr++
	return true
}

func (c *cursor) MoveToChild() bool {
	if c.attr >= 0 || len(c.at.kids) == 0 {
		return false
	}
	c.at = c.at.kids[0]
	return true
}

func (c *cursor) MoveToFirst() bool {
	if c.attr >= 0 || c.at.parent == nil || c.at.place == 0 {
		return false
	}
	c.at = c.at.parent.kids[0]
	return true
}

func (c *cursor) MoveToNext() bool { return c.sibling(1) }

func (c *cursor) MoveToPrevious() bool { return c.sibling(-1) }

func (c *cursor) sibling(by int) bool {
	if c.attr >= 0 || c.at.parent == nil {
		return false
	}
	at := c.at.place + by
	if at < 0 || at >= len(c.at.parent.kids) {
		return false
	}
	c.at = c.at.parent.kids[at]
	return true
}

func (c *cursor) MoveTo(other xpath.NodeNavigator) bool {
	o, ok := other.(*cursor)
	if !ok {
		return false
	}
	*c = *o
	return true
}
