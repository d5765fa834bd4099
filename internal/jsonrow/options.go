package jsonrow

import (
	"math"
	"strconv"
	"time"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/internal/textrecord"
	"github.com/millrace/millrace/internal/vec"
)

// Options are what users may set for reading and writing JSON. DefaultOptions has Spark's defaults; the zero value has not.
type Options struct {
	Mode          textrecord.Mode
	CorruptColumn string // name of the column for the text of bad records
	// Divert, when not nil, takes records that would be an error in the mode FAILFAST. Its own error ends the reading.
	Divert func(text []byte, err error) error
	// Absent are vectors of one row, by column, with what is read where a record has no such field. Other columns are null then.
	Absent map[string]*vec.Vector
	Zone   *time.Location
	Now    func() time.Time // for times without a date, which mean today

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
	MaxNumber         int // characters of a number
	MaxText           int // characters of a string

	// OneRecord is how functions read a text: it is one record, so an array is none; numbers become texts as Java prints doubles.
	OneRecord bool

	// For inference.
	PrimitivesAsString, PrefersDecimal, InferTimestamp, DropAllNull bool
	SamplingRatio                                                   float64
	SingleVariant                                                   bool // the schema is one VARIANT
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
		SingleQuotes: true, NonNumeric: true, PartialResults: true, MaxDepth: 1000, MaxNumber: 1000, MaxText: math.MaxInt32,
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
	p := textrecord.Options{Format: "json", Get: get}
	p.Word("mode", func(s string) { o.Mode = textrecord.ParseMode(s) })
	if conf != nil {
		if name := conf(setting.CorruptRecordColumn); name != "" {
			o.CorruptColumn = name
		}
		o.IgnoreNulls = conf(setting.IgnoreNullFields) != "false"
		o.PartialResults = conf(setting.JSONPartialResults) != "false"
	}
	p.Word("columnNameOfCorruptRecord", func(s string) { o.CorruptColumn = s })
	p.Zone("timeZone", &o.Zone)
	p.Word("timestampFormat", func(s string) { o.TimestampFormat = s })
	p.Word("timestampNTZFormat", func(s string) { o.TimestampNTZFormat = s })
	p.Word("dateFormat", func(s string) { o.DateFormat = s })
	p.Word("timeFormat", func(s string) { o.TimeFormat = s })
	p.Flag("enableDateTimeParsingFallback", &o.Fallback)
	p.Flag("allowComments", &o.Comments)
	p.Flag("allowUnquotedFieldNames", &o.UnquotedNames)
	p.Flag("allowSingleQuotes", &o.SingleQuotes)
	p.Flag("allowNumericLeadingZeros", &o.LeadingZeros)
	p.Flag("allowNonNumericNumbers", &o.NonNumeric)
	p.Flag("allowBackslashEscapingAnyCharacter", &o.BackslashAnything)
	p.Flag("allowUnquotedControlChars", &o.UnquotedControls)
	p.Flag("primitivesAsString", &o.PrimitivesAsString)
	p.Flag("prefersDecimal", &o.PrefersDecimal)
	p.Flag("inferTimestamp", &o.InferTimestamp)
	p.Flag("dropFieldIfAllNull", &o.DropAllNull)
	p.Word("singleVariantColumn", func(s string) { o.SingleVariant, o.SingleVariantColumn = true, s })
	p.Number("maxNumLen", &o.MaxNumber)
	p.Number("maxStringLen", &o.MaxText)
	p.Flag("ignoreNullFields", &o.IgnoreNulls)
	p.Flag("pretty", &o.Pretty)
	p.Flag("writeNonAsciiCharacterAsCodePoint", &o.WriteNonASCIICodes)
	p.Ratio("samplingRatio", &o.SamplingRatio)
	p.Word("maxNestingDepth", func(s string) {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			p.Bad("maxNestingDepth", s, "it must be a whole number greater than 0.")
		}
		o.MaxDepth = min(n, 10_000)
	})
	return o, p.Err
}

func (o Options) formats() datetime.Formats {
	return datetime.Formats{Timestamp: o.TimestampFormat, TimestampNTZ: o.TimestampNTZFormat, Date: o.DateFormat, Fallback: o.Fallback, Now: o.Now}
}
