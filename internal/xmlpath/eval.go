package xmlpath

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/antchfx/xpath"
)

// Path is a compiled expression. It belongs to one goroutine.
type Path struct{ expr *xpath.Expr }

// Compile reads an expression.
func Compile(text string) (p *Path, err error) {
	defer caught(&err)
	e, err := xpath.Compile(text)
	if err != nil {
		return nil, err
	}
	return &Path{e}, nil
}

// caught makes an error of a panic in the library, which it uses for mistakes in expressions.
func caught(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("evaluate the path: %v", r)
	}
}

// Result is what an expression gives: a string, a number, a truth, or nodes.
type Result struct {
	nodes []*cursor
	plain any // nil for nodes
}

// Eval evaluates the expression from the top of a document.
func (p *Path) Eval(d *Document) (r Result, err error) {
	defer caught(&err)
	switch v := p.expr.Evaluate(&cursor{at: d.root, attr: -1}).(type) {
	case *xpath.NodeIterator:
		for v.MoveNext() {
			r.nodes = append(r.nodes, v.Current().Copy().(*cursor))
		}
	case nil:
	default:
		r.plain = v
	}
	return r, nil
}

// ErrNotNodes says that an expression gives something else than nodes.
var ErrNotNodes = errors.New("the path gives no nodes")

// Values are the values of the nodes; only texts and attributes have one, others are nil.
func (r Result) Values() ([]*string, error) {
	if r.plain != nil {
		return nil, ErrNotNodes
	}
	out := make([]*string, len(r.nodes))
	for i, n := range r.nodes {
		if k := n.NodeType(); k == xpath.TextNode || k == xpath.AttributeNode || k == xpath.CommentNode {
			s := n.Value()
			out[i] = &s
		}
	}
	return out, nil
}

// String is the result as a string: of nodes, the text of the first.
func (r Result) String() string {
	switch v := r.plain.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return numberText(v)
	case int:
		return strconv.Itoa(v)
	}
	if len(r.nodes) == 0 {
		return ""
	}
	return r.nodes[0].Value()
}

func numberText(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case f == 0:
		return "0"
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// Number is the result as a number.
func (r Result) Number() float64 {
	switch v := r.plain.(type) {
	case bool:
		if v {
			return 1
		}
		return 0
	case float64:
		return v
	case int:
		return float64(v)
	}
	s := strings.Trim(r.String(), " \t\r\n")
	if s == "" || strings.Trim(s, "-.0123456789") != "" {
		return math.NaN()
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(f, 0) {
		return math.NaN()
	}
	return f
}

// Bool is the result as a truth: there are nodes, the string is not empty, the number is not zero.
func (r Result) Bool() bool {
	switch v := r.plain.(type) {
	case bool:
		return v
	case string:
		return v != ""
	case float64:
		return v != 0 && !math.IsNaN(v)
	case int:
		return v != 0
	}
	return len(r.nodes) > 0
}
