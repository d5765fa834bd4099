package xmlrow

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/decimal"
	"github.com/millrace/millrace/internal/variant"
)

// inner reads the content of an element, and its end, as the text that it is.
func (r *Reader) inner() (string, error) {
	if e := r.ev.peek(); e.kind == characters {
		if at := r.ev.at; at+1 < len(r.ev.list) && r.ev.list[at+1].kind == endElement {
			r.ev.at += 2
			return e.text, nil
		}
	}
	var b strings.Builder
	for depth := 0; ; {
		e := r.ev.next()
		switch e.kind {
		case endOfText:
			return b.String(), nil
		case failure:
			return "", e.err
		case startElement:
			depth++
			b.WriteString("<" + e.name)
			for _, a := range e.attrs {
				b.WriteString(" " + strings.TrimPrefix(a.name, r.opts.AttributePrefix) + `="` + a.value + `"`)
			}
			b.WriteString(">")
		case endElement:
			if depth == 0 {
				return b.String(), nil
			}
			depth--
			b.WriteString("</" + e.name + ">")
		case characters:
			b.WriteString(e.text)
		}
	}
}

// member is a part of an element that becomes a variant.
type part struct {
	name string
	all  []func(b *variant.Builder)
}

// variant reads an element whose start has been passed: an object of its attributes and children, or a plain value.
func (r *Reader) variant(start *event) (value, error) {
	r.build.Reset()
	put, err := r.content(start)
	if err != nil {
		return value{}, err
	}
	put(&r.build)
	return value{set: true, text: string(r.build.Value()), keys: []string{string(r.build.AppendMeta(nil))}}, nil
}

// content reads an element to its end and tells how it is built. Several children of one name make an array.
func (r *Reader) content(start *event) (func(b *variant.Builder), error) {
	var parts []part
	add := func(name string, put func(b *variant.Builder)) {
		for i := range parts {
			if parts[i].name == name || !r.opts.CaseSensitive && strings.EqualFold(parts[i].name, name) {
				parts[i].all = append(parts[i].all, put)
				return
			}
		}
		parts = append(parts, part{name, []func(b *variant.Builder){put}})
	}
	for _, a := range start.attrs {
		add(a.name, r.guess(a.value))
	}
	for {
		e := r.ev.next()
		switch {
		case e.kind == startElement:
			put, err := r.content(e)
			if err != nil {
				return nil, err
			}
			add(e.name, put)
		case e.kind == characters && !e.blank():
			add(r.opts.ValueTag, r.guess(e.text))
		case e.kind == failure:
			return nil, e.err
		case e.kind != characters:
			switch {
			case len(parts) == 0:
				return func(b *variant.Builder) { b.Null() }, nil
			case len(parts) == 1 && parts[0].name == r.opts.ValueTag && len(parts[0].all) == 1:
				return parts[0].all[0], nil
			}
			return object(parts), nil
		}
	}
}

func object(parts []part) func(b *variant.Builder) {
	slices.SortStableFunc(parts, func(x, y part) int { return strings.Compare(x.name, y.name) })
	return func(b *variant.Builder) {
		m := b.StartObject()
		for _, p := range parts {
			b.Field([]byte(p.name))
			if len(p.all) == 1 {
				p.all[0](b)
				continue
			}
			list := b.StartArray()
			for _, put := range p.all {
				b.Element()
				put(b)
			}
			b.EndArray(list)
		}
		b.EndObject(m)
	}
}

// guess tells what a text is in a variant: null, true or false, a number, or a string.
func (r *Reader) guess(text string) func(b *variant.Builder) {
	if r.opts.IgnoreSpaces {
		text = strings.TrimSpace(text)
	}
	if r.opts.HasNullValue && text == r.opts.NullValue {
		return func(b *variant.Builder) { b.Null() }
	}
	if r.opts.InferTypes {
		switch {
		case strings.EqualFold(text, "true"):
			return func(b *variant.Builder) { b.Bool(true) }
		case strings.EqualFold(text, "false"):
			return func(b *variant.Builder) { b.Bool(false) }
		}
		if n, err := strconv.ParseInt(strings.TrimPrefix(text, "+"), 10, 64); err == nil && text != "" {
			return func(b *variant.Builder) { b.Long(n) }
		}
		if x, scale, ok := plainDecimal(text); ok {
			return func(b *variant.Builder) { b.Decimal(x, scale) }
		}
		if f, ok := javaFloat(text, 64); ok && !strings.ContainsAny(text[len(text)-1:], "dDfF") && !math.IsNaN(f) {
			return func(b *variant.Builder) { b.Double(f) }
		}
	}
	return func(b *variant.Builder) { b.Text([]byte(text)) }
}

// plainDecimal reads digits with a point among them.
func plainDecimal(s string) (x decimal.Int, scale int, ok bool) {
	whole, part, point := strings.Cut(strings.TrimLeft(s, "+-"), ".")
	if len(whole)+len(part) == 0 || strings.Trim(whole+part, "0123456789") != "" || len(part) > decimal.MaxPrecision || !point {
		return x, 0, false
	}
	x, st := decimal.Parse([]byte(s), decimal.MaxPrecision, len(part))
	return x, len(part), st == decimal.OK && len(strings.TrimLeft(whole, "0"))+len(part) <= decimal.MaxPrecision
}
