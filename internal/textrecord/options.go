package textrecord

import (
	"strconv"
	"strings"
	"time"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/errclass"
)

// Options reads the options that a user gave for a format and keeps the first mistake. What isn't given leaves its default alone.
type Options struct {
	Format string                          // the format's name, for messages
	Get    func(key string) (string, bool) // looks an option up by its name
	Err    error
}

// Fail keeps a mistake.
func (p *Options) Fail(err error) {
	if p.Err == nil {
		p.Err = err
	}
}

// Bad notes that an option's value is not what it has to be.
func (p *Options) Bad(key, value, want string) {
	p.Fail(errclass.New("INVALID_OPTION_VALUE", "option", key, "format", p.Format, "value", value, "requirement", want))
}

// Word hands over an option's text.
func (p *Options) Word(key string, set func(string)) {
	if s, ok := p.Get(key); ok {
		set(s)
	}
}

// Flag reads true or false.
func (p *Options) Flag(key string, to *bool) {
	s, ok := p.Get(key)
	if !ok {
		return
	}
	switch strings.ToLower(s) {
	case "true":
		*to = true
	case "false":
		*to = false
	default:
		p.Bad(key, s, "it must be true or false.")
	}
}

// Number reads a whole number of 32 bits.
func (p *Options) Number(key string, to *int) {
	s, ok := p.Get(key)
	if !ok {
		return
	}
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		p.Bad(key, s, "it must be a whole number.")
		return
	}
	*to = int(n)
}

const ratioWanted = "it must be a number greater than 0 and at most 1."

// Ratio reads the share of records that are looked at to find the schema.
func (p *Options) Ratio(key string, to *float64) {
	s, ok := p.Get(key)
	if !ok {
		return
	}
	r, err := strconv.ParseFloat(s, 64)
	if err != nil {
		p.Bad(key, s, ratioWanted)
	}
	*to = r
}

// CheckRatio refuses a share of which nothing is known, or none. It matters only where a schema is looked for.
func CheckRatio(format string, r float64) error {
	if r > 0 {
		return nil
	}
	return errclass.New("INVALID_OPTION_VALUE", "option", "samplingRatio", "format", format, "value", strconv.FormatFloat(r, 'g', -1, 64), "requirement", ratioWanted)
}

// Zone reads a time zone.
func (p *Options) Zone(key string, to **time.Location) {
	s, ok := p.Get(key)
	if !ok {
		return
	}
	loc, ok := datetime.ParseZone(s)
	if !ok {
		p.Fail(errclass.New("INVALID_TIMEZONE", "timeZone", s))
		return
	}
	*to = loc
}
