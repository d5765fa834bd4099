package csvrow

import (
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/textrecord"
)

// SkipHeader makes the next record that is read the header, which is no row.
func (r *Reader) SkipHeader() { r.header = true }

func (r *Reader) readHeader(line []byte) error {
	r.header = false
	if r.opts.EnforceSchema {
		return nil
	}
	if !r.m.line(line, len(line)) {
		return r.m.error(line)
	}
	return r.checkHeader()
}

// checkHeader compares the names of the header, which the machine has just read, with those of the columns.
func (r *Reader) checkHeader() error {
	if r.opts.EnforceSchema {
		return nil
	}
	var names, wanted []string
	for i, t := range r.m.toks {
		if r.pruned && (i >= len(r.columns) || r.columns[i].out == nil) {
			continue
		}
		names = append(names, r.m.name(t, &r.opts))
	}
	for i := range r.columns {
		if c := &r.columns[i]; !r.pruned || c.out != nil {
			wanted = append(wanted, c.name)
		}
	}
	same := len(names) == len(wanted)
	for i := 0; same && i < len(names); i++ {
		same = names[i] == wanted[i] || !r.opts.CaseSensitive && strings.EqualFold(names[i], wanted[i])
	}
	if same {
		return nil
	}
	return errclass.New("CSV_HEADER_MISMATCH", "header", textrecord.Clip([]byte(strings.Join(names, ", "))), "schema", textrecord.Clip([]byte(strings.Join(wanted, ", "))))
}

// name is a token as text.
func (m *machine) name(t token, o *Options) string {
	switch t.kind {
	case tokNull:
		return o.NullValue
	case tokEmpty:
		return o.EmptyValue
	}
	return string(textrecord.Valid(m.buf[t.from:t.to]))
}
