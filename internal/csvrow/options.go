package csvrow

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/internal/textrecord"
	"github.com/millrace/millrace/internal/vec"
)

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
	Mode          textrecord.Mode
	CorruptColumn string // name of the column for the text of bad records
	// Divert, when not nil, takes records that would be an error in the mode FAILFAST. Its own error ends the reading.
	Divert func(text []byte, err error) error
	// Absent are vectors of one row, by column, with what is read where a record has no value, or a wrong one. Other columns are null then.
	Absent map[string]*vec.Vector
	Zone   *time.Location
	Now    func() time.Time // for times without a date, which mean today

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
	Extension      string // of the names of files, without a dot
}

// DefaultOptions are the options that hold when a user sets none.
func DefaultOptions() Options {
	return Options{
		CorruptColumn: "_corrupt_record", Zone: time.UTC, Now: time.Now,
		Sep: ",", Quote: '"', Escape: '\\', MaxColumns: 20480, MaxChars: -1, EnforceSchema: true,
		NaN: "NaN", PosInf: "Inf", NegInf: "-Inf", Prune: true, PreferDate: true, SamplingRatio: 1,
		EscapeQuotes: true, TrimLeftWrite: true, TrimRightWrite: true, EmptyWritten: `""`, Extension: "csv",
	}
}

// ParseOptions reads the options that a user gave; get looks one up by its name. zone is the session's, overridden by the option
// timeZone, and conf answers session settings.
func ParseOptions(get func(key string) (string, bool), conf func(key string) string, zone *time.Location) (Options, error) {
	o := DefaultOptions()
	if zone != nil {
		o.Zone = zone
	}
	p := textrecord.Options{Format: "csv", Get: get}
	if conf != nil {
		if name := conf(setting.CorruptRecordColumn); name != "" {
			o.CorruptColumn = name
		}
		o.Prune = conf(setting.CSVColumnPruning) != "false"
		o.CaseSensitive = conf(setting.CaseSensitive) == "true"
		o.TimestampNTZ = conf(setting.TimestampType) == "TIMESTAMP_NTZ"
	}
	p.Word("mode", func(s string) { o.Mode = textrecord.ParseMode(s) })
	p.Word("columnNameOfCorruptRecord", func(s string) { o.CorruptColumn = s })
	p.Zone("timeZone", &o.Zone)
	sep := func(s string) { o.Sep = separator(&p, s) }
	p.Word("delimiter", sep)
	p.Word("sep", sep)
	char(&p, "quote", &o.Quote)
	char(&p, "escape", &o.Escape)
	char(&p, "charToEscapeQuoteEscaping", &o.EscapeEscape)
	char(&p, "comment", &o.Comment)
	p.Word("lineSep", func(s string) {
		if n := utf8.RuneCountInString(s); n < 1 || n > 2 {
			p.Bad("lineSep", s, "it must be one character, or two.")
		}
		o.LineSep = s
	})
	p.Flag("multiLine", &o.MultiLine)
	p.Word("unescapedQuoteHandling", func(s string) {
		h, ok := quoteHandlings[strings.ToUpper(s)]
		if !ok {
			p.Bad("unescapedQuoteHandling", s, "it must be STOP_AT_DELIMITER, STOP_AT_CLOSING_QUOTE, BACK_TO_DELIMITER, SKIP_VALUE or RAISE_ERROR.")
		}
		o.Unescaped = h
	})
	p.Number("maxColumns", &o.MaxColumns)
	p.Number("maxCharsPerColumn", &o.MaxChars)
	size := 0 // of a buffer that there is none of
	p.Number("inputBufferSize", &size)
	p.Flag("header", &o.Header)
	p.Flag("enforceSchema", &o.EnforceSchema)
	p.Flag("ignoreLeadingWhiteSpace", &o.TrimLeft)
	p.Flag("ignoreTrailingWhiteSpace", &o.TrimRight)
	p.Flag("ignoreLeadingWhiteSpace", &o.TrimLeftWrite)
	p.Flag("ignoreTrailingWhiteSpace", &o.TrimRightWrite)
	p.Word("nullValue", func(s string) { o.NullValue = s })
	p.Word("emptyValue", func(s string) { o.EmptyValue, o.EmptyWritten = s, s })
	p.Word("nanValue", func(s string) { o.NaN = s })
	p.Word("positiveInf", func(s string) { o.PosInf = s })
	p.Word("negativeInf", func(s string) { o.NegInf = s })
	if o.MultiLine {
		o.Prune = false
	}
	p.Flag("columnPruning", &o.Prune)
	p.Word("timestampFormat", func(s string) { o.TimestampFormat = s })
	p.Word("timestampNTZFormat", func(s string) { o.TimestampNTZFormat = s })
	p.Word("dateFormat", func(s string) { o.DateFormat = s })
	p.Flag("enableDateTimeParsingFallback", &o.Fallback)
	p.Flag("inferSchema", &o.InferTypes)
	p.Flag("preferDate", &o.PreferDate)
	p.Ratio("samplingRatio", &o.SamplingRatio)
	p.Word("extension", func(s string) {
		if strings.IndexFunc(s, func(r rune) bool { return r != '.' && !unicode.IsLetter(r) }) >= 0 {
			p.Fail(errclass.New("INVALID_PARAMETER_VALUE.EXTENSION", "functionName", errclass.Ident("CSVOptions"), "parameter", errclass.Ident("extension"), "invalidValue", s))
		}
		o.Extension = s
	})
	p.Flag("quoteAll", &o.QuoteAll)
	p.Flag("escapeQuotes", &o.EscapeQuotes)
	return o, p.Err
}

// char reads an option that is one character; an empty one stands for none.
func char(p *textrecord.Options, key string, to *rune) {
	s, ok := p.Get(key)
	if !ok {
		return
	}
	r, n := utf8.DecodeRuneInString(s)
	if n < len(s) || utf16.RuneLen(r) > 1 {
		p.Fail(errclass.New("OPTION_VALUE_EXCEEDS_ONE_CHARACTER", "paramName", key, "actualValue", s))
		return
	}
	if *to = 0; n > 0 {
		*to = r
	}
}

// escapes are the ways to write characters in a separator that are hard to type.
var escapes = map[byte]string{'t': "\t", 'r': "\r", 'b': "\b", 'f': "\f", '"': `"`, '\'': `'`, '\\': `\`}

// separator reads the option sep, in which a backslash escapes: \t, \\.
func separator(p *textrecord.Options, s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		if i++; i == len(s) {
			p.Fail(errclass.New("INVALID_DELIMITER_VALUE.SINGLE_BACKSLASH"))
			return ","
		}
		c, ok := escapes[s[i]]
		if !ok {
			p.Fail(errclass.New("INVALID_DELIMITER_VALUE.UNSUPPORTED_SPECIAL_CHARACTER", "str", s[i-1:i+1]))
			return ","
		}
		b.WriteString(c)
	}
	if b.Len() == 0 {
		p.Fail(errclass.New("INVALID_DELIMITER_VALUE.EMPTY_STRING"))
		return ","
	}
	return b.String()
}
