package stream

import (
	"fmt"
	"os"
	"strings"

	"github.com/cockroachdb/datadriven"

	"github.com/millrace/millrace/types"
)

// words are the rest of a command line, cut at blanks. A word is a name, or name=value; a value, or a whole word, may stand in single
// quotes or in parentheses, which keep their blanks.
type words []word

type word struct{ name, value string }

// argsOf reads the arguments of a command. The reader of the files has cut them at every blank, so they are put together first.
func argsOf(d *datadriven.TestData) (words, error) {
	parts := make([]string, len(d.CmdArgs))
	for i, a := range d.CmdArgs {
		parts[i] = a.Key
		switch len(a.Vals) {
		case 0:
		case 1:
			parts[i] += "=" + a.Vals[0]
		default:
			parts[i] += "=(" + strings.Join(a.Vals, ", ") + ")"
		}
	}
	text := strings.Join(parts, " ")
	var out words
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		var w word
		if end := strings.IndexAny(text, "= ("); end > 0 && text[end] == '=' {
			w.name, text = text[:end], text[end+1:]
			v, rest, err := value(text)
			if err != nil {
				return nil, err
			}
			w.value, text = v, rest
		} else {
			v, rest, err := value(text)
			if err != nil {
				return nil, err
			}
			w.name, text = v, rest
		}
		out = append(out, w)
	}
	return out, nil
}

func value(text string) (v, rest string, err error) {
	switch {
	case strings.HasPrefix(text, "'"):
		end := strings.IndexByte(text[1:], '\'')
		if end < 0 {
			return "", "", fmt.Errorf("a quote is not closed: %s", text)
		}
		return text[1 : end+1], text[end+2:], nil
	case strings.HasPrefix(text, "("):
		depth := 0
		for i := range len(text) {
			switch text[i] {
			case '(':
				depth++
			case ')':
				if depth--; depth == 0 {
					return text[1:i], text[i+1:], nil
				}
			}
		}
		return "", "", fmt.Errorf("a parenthesis is not closed: %s", text)
	}
	if end := strings.IndexByte(text, ' '); end >= 0 {
		return text[:end], text[end:], nil
	}
	return text, "", nil
}

// get is the value of name=value.
func (ws words) get(name string) (string, bool) {
	for _, w := range ws {
		if w.name == name {
			return w.value, true
		}
	}
	return "", false
}

// has tells whether a bare word is there.
func (ws words) has(name string) bool {
	_, ok := ws.get(name)
	return ok
}

// spec is a query as a script writes it: SQL, then operations of the DataFrame API, each on a line that begins with a bar.
type spec struct {
	sql     string
	ops     []op
	mode    string
	trigger string
	options map[string]string
}

type op struct {
	name string
	args string
}

func specOf(d *datadriven.TestData, ws words) spec {
	var s spec
	s.mode, _ = ws.get("mode")
	s.trigger, _ = ws.get("trigger")
	var text []string
	for _, line := range strings.Split(d.Input, "\n") {
		if rest, ok := strings.CutPrefix(line, "| "); ok {
			name, args, _ := strings.Cut(strings.TrimSpace(rest), " ")
			s.ops = append(s.ops, op{name, strings.TrimSpace(args)})
		} else {
			text = append(text, line)
		}
	}
	s.sql = strings.TrimSpace(strings.Join(text, "\n"))
	return s
}

// unit is what one command brings to one stream.
type unit struct {
	stream string
	rows   []string
}

// unitsOf reads the rows of a command: those of the stream that it names, or several streams' after lines "name:".
func unitsOf(d *datadriven.TestData, stream string) ([]unit, error) {
	var out []unit
	if stream != "" {
		out = []unit{{stream: stream}}
	}
	for _, line := range strings.Split(d.Input, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if name, ok := strings.CutSuffix(line, ":"); ok && !strings.Contains(name, " ") {
			out = append(out, unit{stream: name})
			continue
		}
		if len(out) == 0 {
			return nil, fmt.Errorf("to which stream does %q go?", line)
		}
		u := &out[len(out)-1]
		u.rows = append(u.rows, line)
	}
	return out, nil
}

// limits are what a script says about itself in a command of its first lines.
type limits struct {
	noRestart bool // a restart between two batches matters
	noRemote  bool // Spark can't be asked
	noCrash   bool // a crash matters
	noSplits  bool // how the rows are cut into splits matters
}

// limitsOf looks through a file for the command "limits".
func limitsOf(path string) (limits, error) {
	var l limits
	content, err := os.ReadFile(path)
	if err != nil {
		return l, err
	}
	for _, line := range strings.Split(string(content), "\n") {
		rest, ok := strings.CutPrefix(line, "limits ")
		if !ok {
			continue
		}
		for _, w := range strings.Fields(rest) {
			switch w {
			case "no-restart":
				l.noRestart = true
			case "no-remote":
				l.noRemote = true
			case "no-crash":
				l.noCrash = true
			case "no-splits":
				l.noSplits = true
			default:
				return l, fmt.Errorf("%s: there is no limit %q", path, w)
			}
		}
	}
	return l, nil
}

func schemaOf(ws words) (types.StructType, error) {
	if len(ws) < 2 {
		return types.StructType{}, fmt.Errorf("a name and columns in parentheses are needed")
	}
	return types.ParseDDL(ws[1].name)
}
