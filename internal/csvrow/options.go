package csvrow

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/errclass"
)

// Mode says what becomes of a record that does not fit its schema.
type Mode uint8

// The modes.
const (
	// Permissive gives what could be read, nulls for the rest, and the record's text in the corrupt record column.
	Permissive Mode = iota
	// DropMalformed passes over the record.
	DropMalformed
	// FailFast makes the record an error.
	FailFast
)

// ParseMode reads a mode; a word that is none of the three means Permissive, as in Spark.
func ParseMode(s string) Mode {
	switch strings.ToUpper(s) {
	case "DROPMALFORMED":
		return DropMalformed
	case "FAILFAST":
		return FailFast
	}
	return Permissive
}

// String is the mode's name.
func (m Mode) String() string {
	switch m {
	case DropMalformed:
		return "DROPMALFORMED"
	case FailFast:
		return "FAILFAST"
	}
	return "PERMISSIVE"
}

// QuoteHandling says what becomes of a quoted value with a quote inside that is not escaped.
type QuoteHandling uint8

// The ways to handle such a quote.
const (
	// StopAtDelimiter takes the text up to the next separator, quotes and all.
	StopAtDelimiter QuoteHandling = iota
	// StopAtClosingQuote goes on up to a quote with a separator behind it.
	StopAtClosingQuote
	// BackToDelimiter does as if the value had not begun with a quote.
	BackToDelimiter
	// SkipValue gives null.
	SkipValue
	// RaiseError gives up.
	RaiseError
)

var quoteHandlings = map[string]QuoteHandling{
	"STOP_AT_DELIMITER": StopAtDelimiter, "STOP_AT_CLOSING_QUOTE": StopAtClosingQuote, "BACK_TO_DELIMITER": BackToDelimiter,
	"SKIP_VALUE": SkipValue, "RAISE_ERROR": RaiseError,
}

// Options are what users may set for reading and writing CSV. DefaultOptions has Spark's defaults; the zero value has not.
type Options struct {
	Mode          Mode
	CorruptColumn string // name of the column for the text of bad records
	Zone          *time.Location
	Now           func() time.Time // for times without a date, which mean today

	Sep          string
	Quote        rune // 0 for none
	Escape       rune // 0 for none
	EscapeEscape rune // what escapes an escape; 0 stands for the escape itself, or for nothing when that is the quote
	Comment      rune // 0 for none
	LineSep      string
	MultiLine    bool // a quoted value may hold line breaks
	Unescaped    QuoteHandling
	MaxColumns   int
	MaxChars     int // of one value; -1 for no limit

	Header        bool
	EnforceSchema bool // do not look at what the header says
	TrimLeft      bool
	TrimRight     bool
	NullValue     string
	EmptyValue    string // what an empty quoted value is read as
	NaN           string
	PosInf        string
	NegInf        string
	Prune         bool // columns that are not wanted are not looked at

	// The patterns are empty unless given: then the forms that casts read are read.
	TimestampFormat, TimestampNTZFormat, DateFormat string
	// Fallback lets a text that does not fit its pattern be read as a cast would.
	Fallback bool

	// For names.
	CaseSensitive bool

	// For inference.
	InferTypes    bool
	PreferDate    bool
	SamplingRatio float64
	TimestampNTZ  bool // the session's timestamps have no zone

	// For writing.
	QuoteAll       bool
	EscapeQuotes   bool
	TrimLeftWrite  bool
	TrimRightWrite bool
	EmptyWritten   string // what an empty value is written as
}

// DefaultOptions are the options that hold when a user sets none.
func DefaultOptions() Options {
	return Options{
		CorruptColumn: "_corrupt_record", Zone: time.UTC, Now: time.Now,
		Sep: ",", Quote: '"', Escape: '\\', MaxColumns: 20480, MaxChars: -1, EnforceSchema: true,
		NaN: "NaN", PosInf: "Inf", NegInf: "-Inf", Prune: true, PreferDate: true, SamplingRatio: 1,
		EscapeQuotes: true, TrimLeftWrite: true, TrimRightWrite: true, EmptyWritten: `""`,
	}
}

// ParseOptions reads the options that a user gave; get looks one up by its name. zone is the session's, overridden by the option
// timeZone, and conf answers session settings.
func ParseOptions(get func(key string) (string, bool), conf func(key string) string, zone *time.Location) (Options, error) {
	o := DefaultOptions()
	if zone != nil {
		o.Zone = zone
	}
	p := optionParser{get: get}
	if conf != nil {
		if name := conf("spark.sql.columnNameOfCorruptRecord"); name != "" {
			o.CorruptColumn = name
		}
		o.Prune = conf("spark.sql.csv.parser.columnPruning.enabled") != "false"
		o.CaseSensitive = conf("spark.sql.caseSensitive") == "true"
		o.TimestampNTZ = conf("spark.sql.timestampType") == "TIMESTAMP_NTZ"
	}
	p.word("mode", func(s string) { o.Mode = ParseMode(s) })
	p.word("columnNameOfCorruptRecord", func(s string) { o.CorruptColumn = s })
	p.word("timeZone", func(s string) {
		loc, ok := datetime.ParseZone(s)
		if !ok {
			p.fail(errclass.New("INVALID_TIMEZONE", "timeZone", s))
			return
		}
		o.Zone = loc
	})
	sep := func(s string) { o.Sep = p.separator(s) }
	p.word("delimiter", sep)
	p.word("sep", sep)
	p.char("quote", &o.Quote)
	p.char("escape", &o.Escape)
	p.char("charToEscapeQuoteEscaping", &o.EscapeEscape)
	p.char("comment", &o.Comment)
	p.word("lineSep", func(s string) {
		if n := utf8.RuneCountInString(s); n < 1 || n > 2 {
			p.bad("lineSep", s, "it must be one character, or two.")
		}
		o.LineSep = s
	})
	p.flag("multiLine", &o.MultiLine)
	p.word("unescapedQuoteHandling", func(s string) {
		h, ok := quoteHandlings[strings.ToUpper(s)]
		if !ok {
			p.bad("unescapedQuoteHandling", s, "it must be STOP_AT_DELIMITER, STOP_AT_CLOSING_QUOTE, BACK_TO_DELIMITER, SKIP_VALUE or RAISE_ERROR.")
		}
		o.Unescaped = h
	})
	p.number("maxColumns", &o.MaxColumns)
	p.number("maxCharsPerColumn", &o.MaxChars)
	p.flag("header", &o.Header)
	p.flag("enforceSchema", &o.EnforceSchema)
	p.flag("ignoreLeadingWhiteSpace", &o.TrimLeft)
	p.flag("ignoreTrailingWhiteSpace", &o.TrimRight)
	p.flag("ignoreLeadingWhiteSpace", &o.TrimLeftWrite)
	p.flag("ignoreTrailingWhiteSpace", &o.TrimRightWrite)
	p.word("nullValue", func(s string) { o.NullValue = s })
	p.word("emptyValue", func(s string) { o.EmptyValue, o.EmptyWritten = s, s })
	p.word("nanValue", func(s string) { o.NaN = s })
	p.word("positiveInf", func(s string) { o.PosInf = s })
	p.word("negativeInf", func(s string) { o.NegInf = s })
	if o.MultiLine {
		o.Prune = false
	}
	p.flag("columnPruning", &o.Prune)
	p.word("timestampFormat", func(s string) { o.TimestampFormat = s })
	p.word("timestampNTZFormat", func(s string) { o.TimestampNTZFormat = s })
	p.word("dateFormat", func(s string) { o.DateFormat = s })
	p.flag("enableDateTimeParsingFallback", &o.Fallback)
	p.flag("inferSchema", &o.InferTypes)
	p.flag("preferDate", &o.PreferDate)
	p.word("samplingRatio", func(s string) {
		r, err := strconv.ParseFloat(s, 64)
		if err != nil || !(r > 0) {
			p.bad("samplingRatio", s, "it must be a number greater than 0 and at most 1.")
		}
		o.SamplingRatio = r
	})
	p.flag("quoteAll", &o.QuoteAll)
	p.flag("escapeQuotes", &o.EscapeQuotes)
	return o, p.err
}

type optionParser struct {
	get func(string) (string, bool)
	err error
}

func (p *optionParser) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

func (p *optionParser) bad(key, value, want string) {
	p.fail(errclass.New("INVALID_OPTION_VALUE", "option", key, "format", "csv", "value", value, "requirement", want))
}

func (p *optionParser) word(key string, set func(string)) {
	if s, ok := p.get(key); ok {
		set(s)
	}
}

func (p *optionParser) flag(key string, to *bool) {
	s, ok := p.get(key)
	if !ok {
		return
	}
	switch strings.ToLower(s) {
	case "true":
		*to = true
	case "false":
		*to = false
	default:
		p.bad(key, s, "it must be true or false.")
	}
}

func (p *optionParser) number(key string, to *int) {
	s, ok := p.get(key)
	if !ok {
		return
	}
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		p.bad(key, s, "it must be a whole number.")
		return
	}
	*to = int(n)
}

// char reads an option that is one character; an empty one stands for none.
func (p *optionParser) char(key string, to *rune) {
	s, ok := p.get(key)
	if !ok {
		return
	}
	r, n := utf8.DecodeRuneInString(s)
	if n < len(s) || utf16.RuneLen(r) > 1 {
		p.fail(errclass.New("OPTION_VALUE_EXCEEDS_ONE_CHARACTER", "paramName", key, "actualValue", s))
		return
	}
	if *to = 0; n > 0 {
		*to = r
	}
}

// escapes are the ways to write characters in a separator that are hard to type.
var escapes = map[byte]string{'t': "\t", 'r': "\r", 'b': "\b", 'f': "\f", '"': `"`, '\'': `'`, '\\': `\`}

// separator reads the option sep, in which a backslash escapes: \t, \\.
func (p *optionParser) separator(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		if i++; i == len(s) {
			p.fail(errclass.New("INVALID_DELIMITER_VALUE.SINGLE_BACKSLASH"))
			return ","
		}
		c, ok := escapes[s[i]]
		if !ok {
			p.fail(errclass.New("INVALID_DELIMITER_VALUE.UNSUPPORTED_SPECIAL_CHARACTER", "str", s[i-1:i+1]))
			return ","
		}
		b.WriteString(c)
	}
	if b.Len() == 0 {
		p.fail(errclass.New("INVALID_DELIMITER_VALUE.EMPTY_STRING"))
		return ","
	}
	return b.String()
}
