package jsonrow

import (
	"strconv"
	"strings"
	"time"

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

// Options are what users may set for reading and writing JSON. DefaultOptions has Spark's defaults; the zero value has not.
type Options struct {
	Mode          Mode
	CorruptColumn string // name of the column for the text of bad records
	Zone          *time.Location
	Now           func() time.Time // for times without a date, which mean today

	// The patterns are empty unless given: then the forms that casts read are read.
	TimestampFormat, TimestampNTZFormat, DateFormat, TimeFormat string
	// Fallback lets a text that does not fit its pattern be read as a cast would.
	Fallback bool

	Comments          bool // /* */ and // and #
	UnquotedNames     bool
	SingleQuotes      bool
	LeadingZeros      bool
	NonNumeric        bool // NaN, Infinity
	BackslashAnything bool
	UnquotedControls  bool
	PartialResults    bool // a bad field spoils only itself
	MaxDepth          int

	// For inference.
	PrimitivesAsString, PrefersDecimal, InferTimestamp, DropAllNull bool
	SamplingRatio                                                   float64
	SingleVariantColumn                                             string

	// For writing.
	IgnoreNulls        bool
	Pretty             bool
	WriteNonASCIICodes bool
}

// DefaultOptions are the options that hold when a user sets none.
func DefaultOptions() Options {
	return Options{
		CorruptColumn: "_corrupt_record", Zone: time.UTC, Now: time.Now,
		SingleQuotes: true, NonNumeric: true, PartialResults: true, MaxDepth: 1000,
		SamplingRatio: 1, IgnoreNulls: true,
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
	p.word("mode", func(s string) { o.Mode = ParseMode(s) })
	if conf != nil {
		if name := conf("spark.sql.columnNameOfCorruptRecord"); name != "" {
			o.CorruptColumn = name
		}
		o.IgnoreNulls = conf("spark.sql.jsonGenerator.ignoreNullFields") != "false"
		o.PartialResults = conf("spark.sql.json.enablePartialResults") != "false"
	}
	p.word("columnNameOfCorruptRecord", func(s string) { o.CorruptColumn = s })
	p.zone("timeZone", &o.Zone)
	p.word("timestampFormat", func(s string) { o.TimestampFormat = s })
	p.word("timestampNTZFormat", func(s string) { o.TimestampNTZFormat = s })
	p.word("dateFormat", func(s string) { o.DateFormat = s })
	p.word("timeFormat", func(s string) { o.TimeFormat = s })
	p.flag("enableDateTimeParsingFallback", &o.Fallback)
	p.flag("allowComments", &o.Comments)
	p.flag("allowUnquotedFieldNames", &o.UnquotedNames)
	p.flag("allowSingleQuotes", &o.SingleQuotes)
	p.flag("allowNumericLeadingZeros", &o.LeadingZeros)
	p.flag("allowNonNumericNumbers", &o.NonNumeric)
	p.flag("allowBackslashEscapingAnyCharacter", &o.BackslashAnything)
	p.flag("allowUnquotedControlChars", &o.UnquotedControls)
	p.flag("primitivesAsString", &o.PrimitivesAsString)
	p.flag("prefersDecimal", &o.PrefersDecimal)
	p.flag("inferTimestamp", &o.InferTimestamp)
	p.flag("dropFieldIfAllNull", &o.DropAllNull)
	p.word("singleVariantColumn", func(s string) { o.SingleVariantColumn = s })
	p.flag("ignoreNullFields", &o.IgnoreNulls)
	p.flag("pretty", &o.Pretty)
	p.flag("writeNonAsciiCharacterAsCodePoint", &o.WriteNonASCIICodes)
	p.word("samplingRatio", func(s string) {
		r, err := strconv.ParseFloat(s, 64)
		if err != nil || r <= 0 {
			p.bad("samplingRatio", s, "it must be a number greater than 0 and at most 1.")
		}
		o.SamplingRatio = r
	})
	p.word("maxNestingDepth", func(s string) {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			p.bad("maxNestingDepth", s, "it must be a whole number greater than 0.")
		}
		o.MaxDepth = min(n, 10_000)
	})
	return o, p.err
}

func (o Options) formats() datetime.Formats {
	return datetime.Formats{Timestamp: o.TimestampFormat, TimestampNTZ: o.TimestampNTZFormat, Date: o.DateFormat, Fallback: o.Fallback, Now: o.Now}
}

type optionParser struct {
	get func(string) (string, bool)
	err error
}

func (p *optionParser) bad(key, value, want string) {
	if p.err == nil {
		p.err = errclass.New("INVALID_OPTION_VALUE", "option", key, "format", "json", "value", value, "requirement", want)
	}
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

func (p *optionParser) zone(key string, to **time.Location) {
	s, ok := p.get(key)
	if !ok {
		return
	}
	loc, ok := datetime.ParseZone(s)
	if !ok {
		p.bad(key, s, "it must be a region such as Europe/Berlin or an offset such as +01:00.")
		return
	}
	*to = loc
}
