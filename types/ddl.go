package types

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/millrace/millrace/internal/errclass"
)

// maxDepth limits the nesting of types in texts, so that a hostile text cannot exhaust the stack.
const maxDepth = 200

// ParseDDL reads a schema: "ts TIMESTAMP, user STRING NOT NULL COMMENT 'x'". It also takes the
// form "ts: timestamp, user: string" and a whole "struct<...>". Errors carry their place.
func ParseDDL(text string) (StructType, error) {
	p := newParser(text)
	s, err := p.columns()
	if err == nil {
		return s, nil
	}
	// A text that is a type by itself is read as one; otherwise the first error is the better one.
	t, typeErr := ParseType(text)
	if typeErr != nil {
		return StructType{}, err
	}
	if s, ok := t.(StructType); ok {
		return s, nil
	}
	return StructType{}, errclass.New("INVALID_SCHEMA.NON_STRUCT_TYPE",
		"inputSchema", errclass.Expr(text), "dataType", errclass.Expr(t.SQL()))
}

// ParseType reads one type: "int", "DECIMAL(10, 2)", "array<struct<a: int>>".
func ParseType(text string) (DataType, error) {
	p := newParser(text)
	t, err := p.dataType(0)
	if err != nil {
		return nil, err
	}
	if p.tok.kind != tokEnd {
		return nil, p.unexpected("")
	}
	return t, nil
}

// ParseDDLType reads what clients send as the type of a function or as a schema: a type, or
// the columns of a struct.
func ParseDDLType(text string) (DataType, error) {
	t, err := ParseType(text)
	if err == nil {
		return t, nil
	}
	if s, ddlErr := newParser(text).columns(); ddlErr == nil {
		return s, nil
	}
	return nil, err
}

// ParseSchema reads a schema in its JSON form or as DDL.
func ParseSchema(text string) (StructType, error) {
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		t, err := ParseJSON([]byte(text))
		if err != nil {
			return StructType{}, err
		}
		if s, ok := t.(StructType); ok {
			return s, nil
		}
		return StructType{}, errclass.New("INVALID_SCHEMA.NON_STRUCT_TYPE",
			"inputSchema", errclass.Expr(text), "dataType", errclass.Expr(t.SQL()))
	}
	return ParseDDL(text)
}

// NamedType gives the type of a name that is one word, with its numbers: ("decimal", 10, 2),
// ("varchar", 20), ("bigint"). Case does not matter. The SQL parser uses it, too.
func NamedType(name string, args ...int) (DataType, error) {
	lower := strings.ToLower(name)
	if t, ok := plainTypes[lower]; ok && len(args) == 0 {
		return t, nil
	}
	switch lower {
	case "decimal", "dec", "numeric":
		t := DecimalDefault
		switch len(args) {
		case 0:
		case 1:
			t = DecimalType{args[0], 0}
		case 2:
			t = DecimalType{args[0], args[1]}
		default:
			return nil, unsupportedType(name, args)
		}
		if t.Precision > MaxPrecision {
			return nil, errclass.New("DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION",
				"precision", strconv.Itoa(t.Precision), "maxPrecision", strconv.Itoa(MaxPrecision)).WithKind(errclass.Parse)
		}
		if t.Scale > t.Precision {
			return nil, errclass.New("DECIMAL_SCALE_EXCEEDS_PRECISION",
				"scale", strconv.Itoa(t.Scale), "precision", strconv.Itoa(t.Precision))
		}
		return t, nil
	case "char", "character", "varchar":
		if len(args) == 0 {
			return nil, errclass.New("DATATYPE_MISSING_SIZE", "type", errclass.Expr(strings.ToUpper(name)))
		}
		if len(args) == 1 && args[0] > 0 {
			if lower == "varchar" {
				return VarcharType{args[0]}, nil
			}
			return CharType{args[0]}, nil
		}
	case "time":
		switch {
		case len(args) == 0:
			return Time, nil
		case len(args) == 1 && args[0] <= 6:
			return TimeType{args[0]}, nil
		}
	case "array":
		return nil, errclass.New("INCOMPLETE_TYPE_DEFINITION.ARRAY")
	case "map":
		return nil, errclass.New("INCOMPLETE_TYPE_DEFINITION.MAP")
	case "struct":
		return nil, errclass.New("INCOMPLETE_TYPE_DEFINITION.STRUCT")
	}
	return nil, unsupportedType(name, args)
}

func unsupportedType(name string, args []int) *errclass.Error {
	text := strings.ToUpper(name)
	for i, a := range args {
		if i == 0 {
			text += "("
		} else {
			text += ", "
		}
		text += strconv.Itoa(a)
	}
	if len(args) > 0 {
		text += ")"
	}
	return errclass.New("UNSUPPORTED_DATATYPE", "typeName", errclass.Expr(text))
}

var plainTypes = map[string]DataType{
	"void": Null, "null": Null,
	"boolean": Boolean,
	"tinyint": Byte, "byte": Byte,
	"smallint": Short, "short": Short,
	"int": Integer, "integer": Integer,
	"bigint": Long, "long": Long,
	"float": Float, "real": Float,
	"double":    Double,
	"string":    String,
	"binary":    Binary,
	"date":      Date,
	"timestamp": Timestamp, "timestamp_ltz": Timestamp,
	"timestamp_ntz": TimestampNTZ,
	"interval":      CalendarInterval,
	"variant":       Variant,
}

type tokenKind uint8

const (
	tokEnd    tokenKind = iota
	tokWord             // identifier or keyword
	tokQuoted           // `identifier`
	tokString           // 'text' or "text"
	tokNumber
	tokSymbol
	tokBad // a quote that is not closed, or a character that means nothing
)

type token struct {
	kind       tokenKind
	text       string // the content: without quotes and escapes
	start, end int    // byte positions in the text
}

type ddlParser struct {
	src string
	tok token
}

func newParser(src string) *ddlParser {
	p := &ddlParser{src: src}
	p.next()
	return p
}

// next reads the token behind the current one. Of ">>" each > is a token of its own, so
// nested types close without blanks.
func (p *ddlParser) next() {
	i := p.skipBlanks(p.tok.end)
	p.tok = token{kind: tokEnd, start: i, end: i}
	if i >= len(p.src) {
		return
	}
	switch c := p.src[i]; {
	case c == '`':
		p.quoted(tokQuoted, c)
	case c == '\'' || c == '"':
		p.quoted(tokString, c)
	default:
		j, digits := i, true
		for j < len(p.src) {
			r, n := utf8.DecodeRuneInString(p.src[j:])
			if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
				break
			}
			digits = digits && r >= '0' && r <= '9'
			j += n
		}
		switch {
		case j == i:
			_, n := utf8.DecodeRuneInString(p.src[i:])
			p.tok.kind, p.tok.end = tokSymbol, i+n
		case digits:
			p.tok.kind, p.tok.end = tokNumber, j
		default:
			p.tok.kind, p.tok.end = tokWord, j
		}
		p.tok.text = p.src[i:p.tok.end]
	}
}

func (p *ddlParser) skipBlanks(i int) int {
	for i < len(p.src) {
		rest := p.src[i:]
		r, n := utf8.DecodeRuneInString(rest)
		switch {
		case unicode.IsSpace(r):
			i += n
		case strings.HasPrefix(rest, "--"):
			if j := strings.IndexByte(rest, '\n'); j >= 0 {
				i += j + 1
			} else {
				i = len(p.src)
			}
		case strings.HasPrefix(rest, "/*"):
			j := strings.Index(rest[2:], "*/")
			if j < 0 {
				return i // the slash is then refused as a symbol
			}
			i += 2 + j + 2
		default:
			return i
		}
	}
	return i
}

// quoted reads up to the closing quote; a doubled quote stands for one, and in strings a
// backslash takes the special meaning of the next character away or gives it one.
func (p *ddlParser) quoted(kind tokenKind, quote byte) {
	var b strings.Builder
	for i := p.tok.start + 1; i < len(p.src); i++ {
		switch c := p.src[i]; {
		case c == quote && i+1 < len(p.src) && p.src[i+1] == quote:
			b.WriteByte(c)
			i++
		case c == quote:
			p.tok.kind, p.tok.text, p.tok.end = kind, b.String(), i+1
			return
		case c == '\\' && kind == tokString && i+1 < len(p.src):
			i++
			b.WriteByte(unescape(p.src[i]))
		default:
			b.WriteByte(c)
		}
	}
	p.tok.kind, p.tok.text, p.tok.end = tokBad, p.src[p.tok.start:], len(p.src)
}

func unescape(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'r':
		return '\r'
	case 'b':
		return '\b'
	case '0':
		return 0
	case 'Z':
		return 26
	}
	return c
}

func (p *ddlParser) isSymbol(s string) bool { return p.tok.kind == tokSymbol && p.tok.text == s }

func (p *ddlParser) isWord(w string) bool {
	return p.tok.kind == tokWord && strings.EqualFold(p.tok.text, w)
}

func (p *ddlParser) acceptSymbol(s string) bool {
	if p.isSymbol(s) {
		p.next()
		return true
	}
	return false
}

func (p *ddlParser) acceptWord(w string) bool {
	if p.isWord(w) {
		p.next()
		return true
	}
	return false
}

// unexpected is the syntax error at the current token.
func (p *ddlParser) unexpected(hint string) error {
	what := "end of input"
	if p.tok.kind != tokEnd {
		what = "'" + p.src[p.tok.start:p.tok.end] + "'"
	}
	if hint != "" {
		hint = ": " + hint
	}
	e := errclass.New("PARSE_SYNTAX_ERROR", "error", what, "hint", hint)
	return e.WithContext(p.place(p.tok.start, p.tok.end))
}

// place makes a context of a range of bytes.
func (p *ddlParser) place(start, end int) errclass.QueryContext {
	from := utf8.RuneCountInString(p.src[:start])
	return errclass.SQLPlace(p.src, from, from+utf8.RuneCountInString(p.src[start:end])-1)
}

// columns reads the whole text as the fields of a struct.
func (p *ddlParser) columns() (StructType, error) {
	s := StructType{}
	if p.tok.kind == tokEnd {
		return s, nil
	}
	for {
		f, err := p.field(0)
		if err != nil {
			return s, err
		}
		s.Fields = append(s.Fields, f)
		if p.tok.kind == tokEnd {
			return s, nil
		}
		if !p.acceptSymbol(",") {
			return s, p.unexpected("a comma or the end is wanted here")
		}
	}
}

// field reads: name [:] type [NOT NULL] [COMMENT 'text'].
func (p *ddlParser) field(depth int) (Field, error) {
	f := Field{Nullable: true}
	switch p.tok.kind {
	case tokWord, tokQuoted, tokNumber:
		if p.tok.kind == tokNumber || p.tok.text == "" {
			return f, p.unexpected("a column name is wanted here")
		}
		f.Name = p.tok.text
	default:
		return f, p.unexpected("a column name is wanted here")
	}
	p.next()
	p.acceptSymbol(":")
	t, err := p.dataType(depth)
	if err != nil {
		return f, err
	}
	f.Type = t
	if p.acceptWord("not") {
		if !p.acceptWord("null") {
			return f, p.unexpected("NULL is wanted here")
		}
		f.Nullable = false
	}
	if p.acceptWord("comment") {
		if p.tok.kind != tokString {
			return f, p.unexpected("a text in quotes is wanted here")
		}
		f = f.WithMetadata(CommentKey, strings.ToValidUTF8(p.tok.text, "\uFFFD"))
		p.next()
	}
	return f, nil
}

func (p *ddlParser) dataType(depth int) (DataType, error) {
	if depth > maxDepth {
		return nil, errclass.New("FAILED_TO_PARSE_TOO_COMPLEX").WithContext(p.place(p.tok.start, p.tok.end))
	}
	if p.tok.kind != tokWord {
		return nil, p.unexpected("a data type is wanted here")
	}
	name, start := p.tok.text, p.tok.start
	end := p.tok.end
	p.next()
	switch lower := strings.ToLower(name); lower {
	case "array":
		if p.acceptSymbol("<") {
			element, err := p.dataType(depth + 1)
			if err != nil {
				return nil, err
			}
			return ArrayType{element, true}, p.close()
		}
	case "map":
		if p.acceptSymbol("<") {
			key, err := p.dataType(depth + 1)
			if err != nil {
				return nil, err
			}
			if !p.acceptSymbol(",") {
				return nil, p.unexpected("a comma and the type of the values are wanted here")
			}
			value, err := p.dataType(depth + 1)
			if err != nil {
				return nil, err
			}
			return MapType{key, value, true}, p.close()
		}
	case "struct":
		if p.acceptSymbol("<") {
			return p.structType(depth)
		}
	case "interval":
		return p.intervalType()
	case "string":
		if p.acceptWord("collate") {
			if p.tok.kind != tokWord && p.tok.kind != tokQuoted {
				return nil, p.unexpected("the name of a collation is wanted here")
			}
			c := strings.ToUpper(p.tok.text)
			if c == "UTF8_BINARY" {
				c = ""
			}
			p.next()
			return StringType{c}, nil
		}
	case "timestamp", "time":
		if p.isWord("without") || p.isWord("with") {
			return p.timeZone(lower)
		}
	}
	args, err := p.numbers()
	if err != nil {
		return nil, err
	}
	if lower := strings.ToLower(name); lower == "time" && (p.isWord("without") || p.isWord("with")) {
		if _, err := p.timeZone(lower); err != nil {
			return nil, err
		}
	}
	t, err := NamedType(name, args...)
	if e, ok := err.(*errclass.Error); ok {
		return nil, e.WithContext(p.place(start, end))
	}
	return t, err
}

// timeZone reads [WITHOUT TIME ZONE | WITH LOCAL TIME ZONE] behind TIMESTAMP and TIME.
func (p *ddlParser) timeZone(name string) (DataType, error) {
	local := p.isWord("with")
	p.next()
	if local && (name == "time" || !p.acceptWord("local")) {
		return nil, p.unexpected("")
	}
	if !p.acceptWord("time") || !p.acceptWord("zone") {
		return nil, p.unexpected("TIME ZONE is wanted here")
	}
	switch {
	case name == "time":
		return Time, nil
	case local:
		return Timestamp, nil
	}
	return TimestampNTZ, nil
}

func (p *ddlParser) close() error {
	if p.acceptSymbol(">") {
		return nil
	}
	return p.unexpected("> is wanted here")
}

func (p *ddlParser) structType(depth int) (DataType, error) {
	s := StructType{}
	if p.acceptSymbol(">") {
		return s, nil
	}
	for {
		f, err := p.field(depth + 1)
		if err != nil {
			return nil, err
		}
		s.Fields = append(s.Fields, f)
		if !p.acceptSymbol(",") {
			return s, p.close()
		}
	}
}

// numbers reads the parameters of a type: (10, 2).
func (p *ddlParser) numbers() ([]int, error) {
	if !p.acceptSymbol("(") {
		return nil, nil
	}
	var args []int
	for {
		if p.tok.kind != tokNumber {
			return nil, p.unexpected("a number is wanted here")
		}
		n, err := strconv.ParseInt(p.tok.text, 10, 32)
		if err != nil {
			return nil, p.unexpected("the number is too large")
		}
		args = append(args, int(n))
		p.next()
		if p.acceptSymbol(")") {
			return args, nil
		}
		if !p.acceptSymbol(",") {
			return nil, p.unexpected("a comma or ) is wanted here")
		}
	}
}

// intervalType reads what follows INTERVAL: nothing, or units such as DAY TO SECOND.
func (p *ddlParser) intervalType() (DataType, error) {
	start, ok := p.unit()
	if !ok {
		return CalendarInterval, nil
	}
	at := p.tok
	p.next()
	end := start
	if p.acceptWord("to") {
		if end, ok = p.unit(); !ok {
			return nil, p.unexpected("a unit of time is wanted here")
		}
		at = p.tok
		p.next()
	}
	t, ok := IntervalOf(start, end)
	if !ok {
		return nil, errclass.New("INVALID_INTERVAL_TYPE", "type", "INTERVAL "+strings.ToUpper(start)+" TO "+strings.ToUpper(end)).
			WithContext(p.place(at.start, at.end))
	}
	return t, nil
}

func (p *ddlParser) unit() (string, bool) {
	if p.tok.kind != tokWord {
		return "", false
	}
	u := strings.ToLower(p.tok.text)
	return u, indexOf(yearMonthNames, u) >= 0 || indexOf(dayTimeNames, u) >= 0
}

// IntervalOf is the ANSI interval type from one unit to another ("day", "second"); ok is false
// if there is none.
func IntervalOf(start, end string) (t DataType, ok bool) {
	for _, names := range [][]string{yearMonthNames, dayTimeNames} {
		from, to := indexOf(names, strings.ToLower(start)), indexOf(names, strings.ToLower(end))
		if from < 0 || to < from {
			continue
		}
		if len(names) == len(yearMonthNames) {
			return YearMonthIntervalType{uint8(from), uint8(to)}, true
		}
		return DayTimeIntervalType{uint8(from), uint8(to)}, true
	}
	return nil, false
}

func indexOf(names []string, name string) int {
	for i, n := range names {
		if n == name {
			return i
		}
	}
	return -1
}
