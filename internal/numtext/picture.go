package numtext

import (
	"bytes"
	"strings"

	"github.com/millrace/millrace/internal/decimal"
)

// Picture is a format of to_number and to_char, such as "$9,999.99PR": what a number looks like, character by character.
type Picture struct {
	items []pictureItem
	// Precision and Scale are those of the numbers that fit.
	Precision, Scale int
	hasInt           bool // there are digits in front of the point
}

// PictureError tells what is wrong with a format: Kind is the last part of the condition INVALID_FORMAT.
type PictureError struct {
	Kind, Token string
}

type pictureItem struct {
	kind   byte // one of "d.$Sm<>?": digits, point, dollar, sign, minus, brackets, anything else
	text   string
	groups []digitGroup // of digits, from left to right
}

// digitGroup are digits without a separator between them. Exact ones begin with 0: all must be there.
type digitGroup struct {
	n     int
	exact bool
}

// NewPicture compiles a format.
func NewPicture(format string) (*Picture, *PictureError) {
	if format == "" {
		return nil, &PictureError{Kind: "EMPTY"}
	}
	p := &Picture{items: scanPicture(strings.ToUpper(format))}
	if err := p.check(); err != nil {
		return nil, err
	}
	point := false
	for _, it := range p.items {
		switch it.kind {
		case '.':
			point = true
		case 'd':
			for _, g := range it.groups {
				p.Precision += g.n
				if point {
					p.Scale += g.n
				}
			}
			p.hasInt = p.hasInt || !point
		case '>':
			p.items = append([]pictureItem{{kind: '<'}}, p.items...)
		}
	}
	return p, nil
}

func scanPicture(s string) (items []pictureItem) {
	for i := 0; i < len(s); {
		start := i
		switch c := s[i]; {
		case c == '0' || c == '9' || c == ',' || c == 'G':
			for i < len(s) && strings.IndexByte("09,G", s[i]) >= 0 {
				i++
			}
			items = append(items, pictureItem{kind: 'd', text: s[start:i], groups: digitGroups(s[start:i])})
			continue
		case c == '.' || c == 'D':
			items = append(items, pictureItem{kind: '.', text: "."})
		case c == '$', c == 'S':
			items = append(items, pictureItem{kind: c, text: s[i : i+1]})
		case c == 'M' && i+1 < len(s) && s[i+1] == 'I':
			items = append(items, pictureItem{kind: 'm', text: "MI"})
			i++
		case c == 'P' && i+1 < len(s) && s[i+1] == 'R':
			items = append(items, pictureItem{kind: '>', text: "PR"})
			i++
		default:
			items = append(items, pictureItem{kind: '?', text: s[i : i+1]})
		}
		i++
	}
	return items
}

func digitGroups(s string) (groups []digitGroup) {
	g := digitGroup{}
	for i := range len(s) {
		switch s[i] {
		case ',', 'G':
			groups = append(groups, g)
			g = digitGroup{}
		default:
			if g.n == 0 {
				g.exact = s[i] == '0'
			}
			g.n++
		}
	}
	return append(groups, g)
}

// check finds what is wrong in the order in which Spark does.
func (p *Picture) check() *PictureError {
	count := map[byte]int{}
	first := map[byte]int{}
	for i, it := range p.items {
		if count[it.kind] == 0 {
			first[it.kind] = i
		}
		count[it.kind]++
	}
	if count['d'] == 0 {
		return &PictureError{Kind: "WRONG_NUM_DIGIT"}
	}
	for _, k := range []byte(".$Sm>") {
		if count[k] > 1 {
			return &PictureError{Kind: "WRONG_NUM_TOKEN", Token: p.items[first[k]].text}
		}
	}
	if count['$'] > 0 {
		if first['$'] > first['d'] {
			return &PictureError{Kind: "CUR_MUST_BEFORE_DIGIT"}
		}
		if count['.'] > 0 && first['$'] > first['.'] {
			return &PictureError{Kind: "CUR_MUST_BEFORE_DEC"}
		}
	}
	for i, it := range p.items {
		for _, g := range it.groups {
			if g.n == 0 {
				return &PictureError{Kind: "CONT_THOUSANDS_SEPS"}
			}
		}
		if it.kind == 'd' && len(it.groups) > 1 && count['.'] > 0 && i > first['.'] {
			return &PictureError{Kind: "THOUSANDS_SEPS_MUST_BEFORE_DEC"}
		}
	}
	// [MI|S] [$] digits [. digits] [PR|MI|S]
	order := []string{"Sm", "$", "d", ".", "d", "Sm>"}
	at := 0
	for _, it := range p.items {
		for at < len(order) && strings.IndexByte(order[at], it.kind) < 0 {
			at++
		}
		if at == len(order) {
			return &PictureError{Kind: "UNEXPECTED_TOKEN", Token: it.text}
		}
		at++
	}
	return nil
}

// pictureText walks through a text that is read.
type pictureText struct {
	s      []byte
	i      int
	digits []byte
	scale  int
}

func (t *pictureText) take(c byte) bool {
	if t.i < len(t.s) && t.s[t.i] == c {
		t.i++
		return true
	}
	return false
}

// Parse reads a number of Scale digits behind the point. ok is false when the text does not fit the format.
func (p *Picture) Parse(s []byte) (x decimal.Int, ok bool) {
	t := &pictureText{s: s}
	neg, point, opened, closed := false, false, false, false
	for _, it := range p.items {
		switch it.kind {
		case 'd':
			if !t.groups(it.groups, point) {
				return x, false
			}
		case '.':
			point = t.take('.')
		case '$':
			if !t.take('$') {
				return x, false
			}
		case 'S':
			if !t.take('+') && t.take('-') {
				neg = !neg
			}
		case 'm':
			if t.take('-') {
				neg = !neg
			}
		case '<':
			opened = t.take('<')
		case '>':
			if t.i < len(s) && s[t.i] == '>' && !opened {
				return x, false
			}
			if closed = t.take('>'); closed {
				neg = !neg
			}
		}
	}
	if t.i < len(s) || opened != closed || len(t.digits) == 0 {
		return x, false
	}
	for ; t.scale < p.Scale; t.scale++ {
		t.digits = append(t.digits, '0')
	}
	x, st := decimal.Parse(t.digits, 38, 0)
	if neg {
		x = decimal.Neg(x)
	}
	return x, st == decimal.OK
}

// groups reads digits with separators and compares the sizes of the groups, from the right, with those of the format. Behind a
// point that the text does not have there is nothing to read.
func (t *pictureText) groups(want []digitGroup, point bool) bool {
	var sizes [64]int
	n := 0
	before := len(t.digits)
scan:
	for ; t.i < len(t.s); t.i++ {
		switch c := t.s[t.i]; {
		case c >= '0' && c <= '9':
			t.digits = append(t.digits, c)
			sizes[n]++
		case c == ' ' || c >= '\t' && c <= '\r':
		case c == ',':
			if n++; n == len(sizes) {
				return false
			}
		default:
			break scan
		}
	}
	if n+1 > len(want) {
		return false
	}
	for k, g := range want {
		have := 0
		if i := n - (len(want) - 1 - k); i >= 0 {
			have = sizes[i]
		}
		if have > g.n || g.exact && have < g.n {
			return false
		}
	}
	if point {
		t.scale += len(t.digits) - before
	}
	return true
}

var pointText = []byte{'.'}

// Append prints a number. One that has more digits than the format is shown as # signs.
func (p *Picture) Append(b []byte, x decimal.Int, scale int) []byte {
	neg := decimal.Sign(x) < 0
	var buf [64]byte
	whole, fraction, _ := bytes.Cut(decimal.Append(buf[:0], decimal.Abs(x), scale), pointText)
	whole, fraction = bytes.TrimLeft(whole, "0"), bytes.TrimRight(fraction, "0")
	over := len(whole) > p.Precision-p.Scale || len(fraction) > p.Scale
	start, point, digits := len(b), false, -1 // where the digits before the point end
	for _, it := range p.items {
		switch it.kind {
		case 'd':
			if point {
				b = appendFraction(b, fraction, p.Scale, over)
			} else {
				b = appendWhole(b, whole, it.groups, p.Precision-p.Scale, over)
			}
		case '.':
			point = true
			if last := len(b) - 1; last >= start && b[last] == ' ' && strings.IndexByte("+-<", b[start]) < 0 {
				b[last] = '0' // a fraction alone: a sign in front takes the place of the zero
			}
			c := byte('.')
			if p.Scale == 0 {
				c = ' '
			}
			b = append(b, c)
			digits = len(b) - 1
		case '$':
			b = append(b, '$')
		case 'S':
			b = append(b, map[bool]byte{true: '-', false: '+'}[neg])
		case 'm':
			b = append(b, map[bool]byte{true: '-', false: ' '}[neg])
		case '<':
			if neg {
				b = append(b, '<')
			}
		case '>':
			if neg {
				b = append(b, '>')
			} else {
				b = append(b, ' ', ' ')
			}
		}
	}
	if len(b) > start && strings.IndexByte("+-<", b[start]) >= 0 {
		// The sign moves to the digits.
		if digits < 0 {
			digits = len(b)
		}
		for i := start; i+1 < digits && b[i+1] == ' '; i++ {
			b[i], b[i+1] = ' ', b[i]
		}
	}
	return b
}

func appendWhole(b, digits []byte, groups []digitGroup, width int, over bool) []byte {
	missing := width - len(digits)
	at := 0
	for k, g := range groups {
		if k > 0 {
			c := byte(' ')
			if last := b[len(b)-1]; last >= '0' && last <= '9' {
				c = ','
			}
			b = append(b, c)
		}
		for range g.n {
			switch {
			case over:
				b = append(b, '#')
			case at >= missing:
				b = append(b, digits[at-missing])
			case g.exact || k > 0 && b[len(b)-1] == ',':
				b = append(b, '0')
			default:
				b = append(b, ' ')
			}
			at++
		}
	}
	return b
}

func appendFraction(b, digits []byte, scale int, over bool) []byte {
	for i := range scale {
		switch {
		case over:
			b = append(b, '#')
		case i < len(digits):
			b = append(b, digits[i])
		default:
			b = append(b, '0')
		}
	}
	return b
}
