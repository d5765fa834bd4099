package files

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/millrace/millrace/internal/amount"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/interval"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/internal/textrecord"
	"github.com/millrace/millrace/source"
)

// readOptions are the options that all formats have in common.
type readOptions struct {
	nameGlob      *pattern // pathGlobFilter
	recursive     bool
	before, after time.Time
	ignoreMissing bool
	ignoreCorrupt bool
	basePath      string
	caseSensitive bool
	inferParts    bool
	validateParts bool
	ignoreSinkLog bool
	maybeMissing  bool // a path that does not exist has no files
	leaveOut      []string
}

// OptionMaybeMissing is an option for the engine itself: the directory of a table in the catalog may be gone, and the table is empty then.
const OptionMaybeMissing = "__maybeMissing__"

// OptionLeaveOut is an option for the engine itself: directories below the path of a table, one a line, whose files are not its own.
const OptionLeaveOut = "__leaveOut__"

func parseReadOptions(req source.Request) (o readOptions, err error) {
	p := optionReader{req: req}
	if s, ok := req.Options.Get("pathGlobFilter"); ok {
		if o.nameGlob, err = compilePattern(s); err != nil {
			return o, p.value("pathGlobFilter", s, "it must be a glob pattern: "+err.Error()+".")
		}
	}
	o.recursive = p.flag("recursiveFileLookup", false)
	o.ignoreMissing = p.flag("ignoreMissingFiles", p.conf(setting.IgnoreMissingFiles) == "true")
	o.ignoreCorrupt = p.flag("ignoreCorruptFiles", p.conf(setting.IgnoreCorruptFiles) == "true")
	zone := p.req.Env.Zone
	text := textrecord.Options{Get: req.Options.Get}
	text.Zone("timeZone", &zone)
	if text.Err != nil {
		return o, text.Err
	}
	o.before, o.after = p.when("modifiedBefore", zone), p.when("modifiedAfter", zone)
	o.basePath, _ = req.Options.Get("basePath")
	o.caseSensitive = p.conf(setting.CaseSensitive) == "true"
	o.inferParts = p.conf(setting.PartitionInference) != "false"
	o.validateParts = p.conf(setting.ValidatePartitions) != "false"
	o.ignoreSinkLog = p.conf(setting.IgnoreSinkLog) == "true"
	o.maybeMissing = p.flag(OptionMaybeMissing, false)
	if s, ok := req.Options.Get(OptionLeaveOut); ok {
		o.leaveOut = strings.Split(s, "\n")
	}
	return o, p.err
}

// streamOptions are those of a file stream. They are looked at when the query runs, as in Spark.
type streamOptions struct {
	maxFiles    int64 // 0: no limit
	maxBytes    int64
	maxFileAge  time.Duration
	latestFirst bool
	byName      bool // fileNameOnly
	clean       cleanMode
	archiveDir  string
}

type cleanMode uint8

const (
	cleanOff cleanMode = iota
	cleanDelete
	cleanArchive
)

func parseStreamOptions(req source.Request) (o streamOptions, err error) {
	p := optionReader{req: req}
	o.maxFiles = p.positive("maxFilesPerTrigger")
	o.maxBytes = p.positive("maxBytesPerTrigger")
	if o.maxFiles > 0 && o.maxBytes > 0 && p.err == nil {
		p.err = errclass.New("INVALID_STREAMING_OPTION.CONFLICT", "first", "maxFilesPerTrigger", "second", "maxBytesPerTrigger")
	}
	o.maxFileAge = p.duration("maxFileAge", 7*24*time.Hour)
	o.latestFirst = p.flag("latestFirst", false)
	o.byName = p.flag("fileNameOnly", false)
	p.within("maxCachedFiles", 0, math.MaxInt32, "it must be a whole number that is not negative.")
	p.within("discardCachedInputRatio", 0, 1, "it must be a number from 0 to 1.")
	if o.latestFirst && (o.maxFiles > 0 || o.maxBytes > 0) {
		o.maxFileAge = 1<<63 - 1 // the oldest files come last, however long that takes
	}
	if s, ok := req.Options.Get("cleanSource"); ok {
		switch strings.ToLower(s) {
		case "off":
		case "delete":
			o.clean = cleanDelete
		case "archive":
			o.clean = cleanArchive
			if o.archiveDir, ok = req.Options.Get("sourceArchiveDir"); !ok || o.archiveDir == "" {
				return o, errclass.New("INVALID_STREAMING_OPTION.MISSING", "option", "sourceArchiveDir", "provider", req.Format)
			}
		default:
			return o, p.value("cleanSource", s, "it must be archive, delete or off.")
		}
	}
	return o, p.err
}

// optionReader reads options of a request and keeps the first error.
type optionReader struct {
	req source.Request
	err error
}

func (p *optionReader) conf(key string) string {
	if p.req.Env.Conf == nil {
		return ""
	}
	return p.req.Env.Conf(key)
}

func (p *optionReader) value(option, value, want string) error {
	err := errclass.New("INVALID_STREAMING_OPTION.VALUE", "option", option, "value", "'"+value+"'", "requirement", want)
	if p.err == nil {
		p.err = err
	}
	return err
}

func (p *optionReader) flag(key string, def bool) bool {
	s, ok := p.req.Options.Get(key)
	if !ok {
		return def
	}
	switch strings.ToLower(s) {
	case "true":
		return true
	case "false":
		return false
	}
	p.value(key, s, "it must be true or false.")
	return def
}

func (p *optionReader) positive(key string) int64 {
	s, ok := p.req.Options.Get(key)
	if !ok {
		return 0
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n <= 0 {
		p.value(key, s, "it must be a whole number greater than 0.")
		return 0
	}
	return n
}

// within checks a number that nothing else depends on: listed files are kept in any number.
func (p *optionReader) within(key string, least, most float64, want string) {
	if s, ok := p.req.Options.Get(key); ok {
		if n, err := strconv.ParseFloat(s, 64); err != nil || n < least || n > most {
			p.value(key, s, want)
		}
	}
}

func (p *optionReader) duration(key string, def time.Duration) time.Duration {
	s, ok := p.req.Options.Get(key)
	if !ok {
		return def
	}
	d, err := parseDuration(s)
	if err != nil {
		p.value(key, s, "it must be a time such as 7d, 12h or 30 minutes.")
		return def
	}
	return d
}

// parseDuration reads 7d, 500ms or an interval such as "2 hours"; a bare number counts milliseconds.
func parseDuration(s string) (time.Duration, error) {
	if d, ok := amount.Time(s, time.Millisecond); ok && d >= 0 {
		return d, nil
	}
	ms, err := interval.ParseTrigger(s)
	return time.Duration(ms) * time.Millisecond, err
}

// when reads a time of the options modifiedBefore and modifiedAfter, in the session's zone.
func (p *optionReader) when(key string, zone *time.Location) time.Time {
	s, ok := p.req.Options.Get(key)
	if !ok {
		return time.Time{}
	}
	t, ok := parseInstant(s, zone)
	if !ok {
		p.value(key, s, "it must be a time like 2026-01-31T12:00:00.")
	}
	return t
}

// IgnoresCorrupt tells whether files that cannot be read are passed over.
func IgnoresCorrupt(req source.Request) (bool, error) {
	p := optionReader{req: req}
	ignore := p.flag("ignoreCorruptFiles", p.conf(setting.IgnoreCorruptFiles) == "true")
	return ignore, p.err
}

// Flag reads a boolean option of a format.
func Flag(req source.Request, key string, def bool) (bool, error) {
	p := optionReader{req: req}
	v := p.flag(key, def)
	return v, p.err
}
