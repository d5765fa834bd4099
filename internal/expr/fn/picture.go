package fn

import (
	"encoding/base64"
	"encoding/hex"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/numtext"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func pictureFunctions() []*Function {
	number := func(name string, try bool) *Function {
		return &Function{Name: name, Bind: func(b *Binding) (*Bound, error) { return bindToNumber(b, try) }}
	}
	return []*Function{
		number("to_number", false), number("try_to_number", true),
		{Name: "to_char", Aliases: []string{"to_varchar"}, Bind: bindToChar},
	}
}

func pictureOf(format string) (*numtext.Picture, error) {
	p, err := numtext.NewPicture(format)
	if err != nil {
		token := quoteText(err.Token)
		if err.Kind == "UNEXPECTED_TOKEN" {
			token = "character '" + err.Token + "''"
		}
		return nil, errclass.New("INVALID_FORMAT."+err.Kind, "format", quoteText(strings.ToUpper(format)), "token", token)
	}
	return p, nil
}

// pictureArg is the constant format that is argument 1; p is nil when it is null.
func pictureArg(b *Binding) (p *numtext.Picture, err error) {
	a := b.Args[1]
	if a.Const == nil {
		return nil, errclass.New("DATATYPE_MISMATCH.NON_FOLDABLE_INPUT", "sqlExpr", b.SQL(), "inputName", "`format`", "inputType", `"STRING"`,
			"inputExpr", `"`+a.SQL+`"`)
	}
	if a.Const.IsNull(0) {
		return nil, nil
	}
	text, ok := constString(a, b)
	if !ok {
		return nil, b.wrongType(1, `"STRING"`)
	}
	return pictureOf(text)
}

// constString is the text of a constant, which need not be one yet.
func constString(a Arg, b *Binding) (string, bool) {
	if !isAtomic(a.Type) {
		return "", false
	}
	return string(TextWriter(a.Type, b)(nil, a.Const, 0)), true
}

// bindToNumber binds to_number(text, format), whose result has the digits of the format.
func bindToNumber(b *Binding, try bool) (*Bound, error) {
	if err := b.Arity(2, 2); err != nil {
		return nil, err
	}
	c, err := b.Accept(text)
	if err != nil {
		return nil, err
	}
	p, err := pictureArg(b)
	if err != nil {
		return nil, err
	}
	t := types.DecimalType{Precision: 10}
	if p != nil {
		if t = (types.DecimalType{Precision: p.Precision, Scale: p.Scale}); p.Precision > 38 {
			return nil, errclass.New("DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION", "precision", itoa(p.Precision), "maxPrecision", "38")
		}
	}
	return &Bound{Args: c, Type: t, Nullable: try || b.nullable(c), TakesConst: true, CanFail: !try, New: func() Kernel {
		return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			for i := range n {
				if anyNull(args, i) {
					continue
				}
				x, ok := p.Parse(args[0].BytesAt(i))
				switch {
				case ok:
					storeDecimal(out, i, x)
				case try:
					setNull(out, i)
				default:
					e.Errs.Add(i, errclass.New("INVALID_FORMAT.MISMATCH_INPUT", "inputType", `"STRING"`, "input", string(args[0].BytesAt(i)),
						"format", args[1].StringAt(i)))
				}
			}
			return out
		}
	}}, nil
}

// bindToChar binds to_char(value, format): of a number, of a time by date_format, or of a binary.
func bindToChar(b *Binding) (*Bound, error) {
	if err := b.Arity(2, 2); err != nil {
		return nil, err
	}
	t := b.Args[0].Type
	switch {
	case isDateTime(t), isTime(t):
		return bindDateFormat(b)
	case isBinary(t):
		return bindBinaryText(b)
	case !IsNumeric(t) && !isText(t) && !isNull(t):
		return nil, b.wrongType(0, `"DECIMAL"`)
	}
	to := types.DecimalType{Precision: 38, Scale: 18}
	if IsNumeric(t) {
		to = DecimalFor(t)
	}
	c, err := b.Accept(anyType, text)
	if err != nil {
		return nil, err
	}
	if !types.Equal(t, to) {
		c[0] = to
	}
	p, err := pictureArg(b)
	if err != nil {
		return nil, err
	}
	return &Bound{Args: c, Type: types.String, Nullable: b.nullable(c), TakesConst: true, New: func() Kernel {
		return textKernel(func(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
			return p.Append(b, loadDecimal(args[0], i), to.Scale), true
		})
	}}, nil
}

// bindBinaryText binds to_char of binaries, in one of three formats.
func bindBinaryText(b *Binding) (*Bound, error) {
	a := b.Args[1]
	if a.Const == nil || a.Const.IsNull(0) {
		return nil, errclass.New("NON_FOLDABLE_ARGUMENT", "funcName", "`"+b.Name+"`", "paramName", "`format`", "paramType", quoteType(a.Type))
	}
	c, err := b.Accept(binaryArg, text)
	if err != nil {
		return nil, err
	}
	format, _ := constString(a, b)
	var write func(b, s []byte) []byte
	switch strings.ToLower(format) {
	case "base64":
		write = base64.StdEncoding.AppendEncode
	case "hex":
		write = appendUpperHex
	case "utf-8":
		write = appendValidUTF8
	default:
		return nil, errclass.New("INVALID_PARAMETER_VALUE.BINARY_FORMAT", "functionName", "`"+b.Name+"`", "parameter", "`format`",
			"invalidFormat", quoteText(strings.ToLower(format)))
	}
	return &Bound{Args: c, Type: types.String, Nullable: strings.EqualFold(format, "utf-8") || b.nullable(c), TakesConst: true, New: func() Kernel {
		return textKernel(func(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
			return write(b, args[0].BytesAt(i)), true
		})
	}}, nil
}

func appendUpperHex(b, s []byte) []byte {
	at := len(b)
	b = hex.AppendEncode(b, s)
	for i, c := range b[at:] {
		if c >= 'a' {
			b[at+i] = c - ('a' - 'A')
		}
	}
	return b
}
