package xmlrow

import (
	"strings"
	"time"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/internal/textrecord"
)

// Options are what users may set for reading and writing XML. DefaultOptions has Spark's defaults; the zero value has not.
type Options struct {
	Mode          textrecord.Mode
	CorruptColumn string // name of the column for the text of bad records
	// Divert, when not nil, takes records that would be an error in the mode FAILFAST. Its own error ends the reading.
	Divert func(text []byte, err error) error
	Zone   *time.Location
	Now    func() time.Time

	RowTag              string // the element that is a row
	AttributePrefix     string
	ValueTag            string // the column for the text of an element that has attributes or children too
	NullValue           string
	HasNullValue        bool
	ExcludeAttribute    bool
	IgnoreSpaces        bool // around values
	IgnoreNamespace     bool
	WildcardColumn      string // takes the elements that no other column takes
	SingleVariant       bool   // the schema is one VARIANT
	SingleVariantColumn string
	CaseSensitive       bool

	TimestampFormat, TimestampNTZFormat, DateFormat string

	// For inference.
	InferTypes, PrefersDecimal bool
	SamplingRatio              float64

	// For writing.
	RootTag, Declaration, ArrayElement, Indent string
	ValidateName                               bool
}

// DefaultOptions are the options that hold when a user sets none.
func DefaultOptions() Options {
	return Options{
		CorruptColumn: "_corrupt_record", Zone: time.UTC, Now: time.Now,
		RowTag: "ROW", AttributePrefix: "_", ValueTag: "_VALUE", IgnoreSpaces: true, WildcardColumn: "xs_any",
		InferTypes: true, SamplingRatio: 1,
		RootTag: "ROWS", Declaration: `version="1.0" encoding="UTF-8" standalone="yes"`, ArrayElement: "item", Indent: "    ", ValidateName: true,
	}
}

// ParseOptions reads the options that a user gave; get looks one up by its name. zone is the session's, overridden by the option
// timeZone, and conf answers session settings.
func ParseOptions(get func(key string) (string, bool), conf func(key string) string, zone *time.Location) (Options, error) {
	o := DefaultOptions()
	if zone != nil {
		o.Zone = zone
	}
	p := textrecord.Options{Format: "xml", Get: get}
	if conf != nil {
		if name := conf(setting.CorruptRecordColumn); name != "" {
			o.CorruptColumn = name
		}
		o.CaseSensitive = conf(setting.CaseSensitive) == "true"
	}
	p.Word("mode", func(s string) { o.Mode = textrecord.ParseMode(s) })
	words := []struct {
		key string
		to  *string
	}{
		{"columnNameOfCorruptRecord", &o.CorruptColumn},
		{"attributePrefix", &o.AttributePrefix},
		{"valueTag", &o.ValueTag},
		{"wildcardColName", &o.WildcardColumn},
		{"timestampFormat", &o.TimestampFormat},
		{"timestampNTZFormat", &o.TimestampNTZFormat},
		{"dateFormat", &o.DateFormat},
		{"declaration", &o.Declaration},
		{"arrayElementName", &o.ArrayElement},
		{"indent", &o.Indent},
	}
	for _, w := range words {
		p.Word(w.key, func(s string) { *w.to = s })
	}
	p.Word("singleVariantColumn", func(s string) { o.SingleVariant, o.SingleVariantColumn = true, s })
	p.Word("rowTag", func(s string) { o.RowTag = s })
	p.Word("rootTag", func(s string) { o.RootTag = s })
	p.Word("nullValue", func(s string) { o.NullValue, o.HasNullValue = s, true })
	p.Flag("excludeAttribute", &o.ExcludeAttribute)
	p.Flag("ignoreSurroundingSpaces", &o.IgnoreSpaces)
	p.Flag("ignoreNamespace", &o.IgnoreNamespace)
	p.Flag("inferSchema", &o.InferTypes)
	p.Flag("prefersDecimal", &o.PrefersDecimal)
	p.Flag("validateName", &o.ValidateName)
	p.Ratio("samplingRatio", &o.SamplingRatio)
	p.Zone("timeZone", &o.Zone)
	if o.ValueTag == "" {
		p.Bad("valueTag", "", "it must not be empty.")
	}
	for key, s := range map[string]string{"rootTag": o.RootTag, "declaration": o.Declaration} {
		if strings.ContainsAny(s, "<>") {
			p.Bad(key, s, "it must not have angle brackets.")
		}
	}
	if _, ok := get("rowValidationXSDPath"); ok {
		p.Fail(errclass.New("UNSUPPORTED_FEATURE.OPERATOR", "operator", "the option rowValidationXSDPath of the format xml"))
	}
	return o, p.Err
}

// CheckRowTag refuses options without an element for rows, which files need.
func CheckRowTag(get func(key string) (string, bool)) error {
	tag, ok := get("rowTag")
	switch {
	case !ok:
		return errclass.New("XML_ROW_TAG_MISSING", "rowTag", "`rowTag`")
	case tag == "" || strings.ContainsAny(tag, "<>"):
		return errclass.New("INVALID_OPTION_VALUE", "option", "rowTag", "format", "xml", "value", tag, "requirement", "it must be the name of an element.")
	}
	return nil
}

func (o *Options) formats() datetime.Formats {
	return datetime.Formats{Timestamp: o.TimestampFormat, TimestampNTZ: o.TimestampNTZFormat, Date: o.DateFormat, Fallback: true, Now: o.Now}
}
