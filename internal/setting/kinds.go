package setting

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/millrace/millrace/internal/amount"
	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/javare"
)

// kind says which values a setting takes.
type kind interface {
	// check tells why a setting cannot have a value, or nil.
	check(key, value string) error
	// plain is a value as it is meant: without blanks around, words as the list has them.
	plain(value string) string
}

// fixed is the kind of what cannot be changed when the server runs.
type fixed struct{}

func (fixed) check(key, _ string) error {
	return errclass.New("CANNOT_MODIFY_STATIC_CONFIG", "key", errclass.Conf(key))
}

func (fixed) plain(value string) string { return value }

// texts are any texts, or those that ok admits.
type texts struct {
	ok   func(string) bool
	need string
}

func (t texts) check(key, value string) error {
	if t.ok == nil || t.ok(value) {
		return nil
	}
	return unfit(key, value, t.need)
}

func (texts) plain(value string) string { return value }

// flags are true or false.
type flags struct{}

func (flags) check(key, value string) error {
	if v := (flags{}).plain(value); v == "true" || v == "false" {
		return nil
	}
	return wrongType(key, value, "boolean")
}

func (flags) plain(value string) string { return strings.ToLower(trim(value)) }

// typed are texts that can be read as something else.
type typed struct {
	name string
	ok   func(string) bool
}

func (t typed) check(key, value string) error {
	if t.ok(value) {
		return nil
	}
	return wrongType(key, value, t.name)
}

func (typed) plain(value string) string { return value }

// zones are names of time zones.
type zones struct{}

func (zones) check(key, value string) error {
	if _, ok := datetime.ParseZone(value); ok && value == trim(value) {
		return nil
	}
	return errclass.New("INVALID_CONF_VALUE.TIME_ZONE", "confName", key, "confValue", value)
}

func (zones) plain(value string) string { return value }

// words are those of a list.
type words struct {
	list []string
	fold bool // in any case
	trim bool // with blanks around
	need bool // what is not in the list does not meet a requirement, as if there was no list
}

func (w words) check(key, value string) error {
	if w.find(value) >= 0 {
		return nil
	}
	list := strings.Join(w.list, ", ")
	if w.need {
		return unfit(key, value, "it is one of "+list)
	}
	return unlisted(key, value, list)
}

// find is the place of a word in the list, or -1.
func (w words) find(value string) int {
	if w.trim {
		value = trim(value)
	}
	return slices.IndexFunc(w.list, func(s string) bool { return s == value || w.fold && strings.EqualFold(s, value) })
}

func (w words) plain(value string) string {
	if i := w.find(value); i >= 0 {
		return w.list[i]
	}
	return value
}

// enum are words in any case with blanks around, option words in any case, exactly words as they stand. choice are words in any case
// that Spark does not call a list.
func enum(list ...string) kind    { return words{list: list, fold: true, trim: true} }
func option(list ...string) kind  { return words{list: list, fold: true} }
func exactly(list ...string) kind { return words{list: list} }
func choice(list ...string) kind  { return words{list: list, fold: true, need: true} }

// whole are whole numbers, times and sizes.
type whole struct {
	name string
	read func(string) (int64, bool)
	// unit is what a time without a unit counts.
	unit  time.Duration
	list  []int64 // the only numbers, if there are any
	ok    func(int64) bool
	need  string
	shown string // the unit that Spark adds when it shows a number that it has read
}

func (w whole) check(key, value string) error {
	n, ok := w.read(value)
	switch {
	case !ok:
		return wrongType(key, value, w.name)
	case w.list != nil && !slices.Contains(w.list, n):
		list := make([]string, len(w.list))
		for i, x := range w.list {
			list[i] = strconv.FormatInt(x, 10)
		}
		return unlisted(key, value, strings.Join(list, ", "))
	case w.ok != nil && !w.ok(n):
		return unfit(key, value, w.need)
	}
	return nil
}

func (whole) plain(value string) string { return strings.TrimPrefix(trim(value), "+") }

func (w whole) where(ok func(int64) bool, need string) whole {
	w.ok, w.need = ok, need
	return w
}

func (w whole) within(low, high int64) whole {
	return w.where(func(n int64) bool { return n >= low && n <= high },
		"it is from "+strconv.FormatInt(low, 10)+" to "+strconv.FormatInt(high, 10))
}

func (w whole) atLeast(low int64) whole {
	return w.where(func(n int64) bool { return n >= low }, "it is at least "+strconv.FormatInt(low, 10))
}

func (w whole) atMost(high int64) whole {
	return w.where(func(n int64) bool { return n <= high }, "it is at most "+strconv.FormatInt(high, 10))
}

// orNone admits -1, too, by which a setting is turned off.
func (w whole) orNone() whole {
	ok := w.ok
	return w.where(func(n int64) bool { return n == -1 || ok(n) }, w.need+", or -1")
}

func (w whole) among(list ...int64) whole {
	w.list = list
	return w
}

// real are numbers with a fraction.
type real struct {
	ok   func(float64) bool
	need string
}

func (r real) check(key, value string) error {
	x, ok := parseDouble(value)
	if !ok {
		return wrongType(key, value, "double")
	}
	if r.ok != nil && !r.ok(x) {
		return unfit(key, value, r.need)
	}
	return nil
}

func (real) plain(value string) string { return trim(value) }

func (real) within(low, high float64) real {
	return real{func(x float64) bool { return x >= low && x <= high }, "it is from " + shortest(low) + " to " + shortest(high)}
}

func (real) between(low, high float64) real {
	return real{func(x float64) bool { return x > low && x < high }, "it is more than " + shortest(low) + " and less than " + shortest(high)}
}

func (real) atLeast(low float64) real {
	return real{func(x float64) bool { return x >= low }, "it is at least " + shortest(low)}
}

func (real) atMost(high float64) real {
	return real{func(x float64) bool { return x <= high }, "it is at most " + shortest(high)}
}

func (real) above(low float64) real {
	return real{func(x float64) bool { return x > low }, "it is more than " + shortest(low)}
}

func shortest(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// The kinds of settings.
var (
	static      = fixed{}
	text        = texts{}
	timeZone    = zones{}
	boolean     = flags{}
	pattern     = typed{"regex", func(s string) bool { _, err := javare.Compile(s); return err == nil }}
	integer     = whole{name: "int", read: parseInt(32)}
	long        = whole{name: "long", read: parseInt(64)}
	double      = real{}
	sizeBytes   = whole{name: "bytes in BYTE", read: amount.Bytes, shown: "b"}
	sizeMiB     = whole{name: "bytes in MiB", read: sizeIn(1 << 20)}
	timeMillis  = whole{name: "time in MILLISECONDS", read: timeIn(time.Millisecond), unit: time.Millisecond}
	timeSeconds = whole{name: "time in SECONDS", read: timeIn(time.Second), unit: time.Second}
	timeMinutes = whole{name: "time in MINUTES", read: timeIn(time.Minute), unit: time.Minute}

	calendar      = enum("EXCEPTION", "LEGACY", "CORRECTED")
	logLevel      = enum("ERROR", "WARN", "INFO", "DEBUG", "TRACE")
	storageLevels = []string{
		"NONE", "DISK_ONLY", "DISK_ONLY_2", "DISK_ONLY_3", "MEMORY_ONLY", "MEMORY_ONLY_2", "MEMORY_ONLY_SER", "MEMORY_ONLY_SER_2",
		"MEMORY_AND_DISK", "MEMORY_AND_DISK_2", "MEMORY_AND_DISK_SER", "MEMORY_AND_DISK_SER_2", "OFF_HEAP",
	}
	storageLevel      = enum(storageLevels...)
	storageLevelExact = words{list: storageLevels, need: true}

	// className is the name of a class. Spark wants to find the class, too, and there is no JVM to look for it.
	className = texts{regexp.MustCompile(`^[\pL_$][\pL\pN_$]*(\.[\pL_$][\pL\pN_$]*)+$`).MatchString, "it is the name of a class with its package"}
	// searchPath is a list of schemas and of words that stand for some.
	searchPath = texts{searchPathPattern.MatchString, "it is empty or a list of schemas, DEFAULT_PATH, SYSTEM_PATH, CURRENT_SCHEMA and CURRENT_DATABASE, with commas"}
)

var searchPathPattern = func() *regexp.Regexp {
	const part = "(?:[A-Za-z0-9_]*[A-Za-z_][A-Za-z0-9_]*|`(?:[^`]|``)+`)"
	const item = `\s*(?:(?:DEFAULT_PATH|SYSTEM_PATH|CURRENT_SCHEMA|CURRENT_DATABASE)|` + part + `(?:\.` + part + `)+)\s*`
	return regexp.MustCompile(`(?i)^(?:\s*|` + item + `(?:,` + item + `)*)$`)
}()

// trim cuts off what Java calls blank.
func trim(s string) string { return strings.TrimFunc(s, func(r rune) bool { return r <= ' ' }) }

func parseInt(bits int) func(string) (int64, bool) {
	return func(s string) (int64, bool) {
		n, err := strconv.ParseInt(trim(s), 10, bits)
		return n, err == nil
	}
}

func timeIn(unit time.Duration) func(string) (int64, bool) {
	return func(s string) (int64, bool) { return amount.TimeIn(s, unit) }
}

func sizeIn(unit int64) func(string) (int64, bool) {
	return func(s string) (int64, bool) { return amount.BytesIn(s, unit) }
}

// parseDouble reads a number as Java does: with a letter for its type at the end, and with no other names for what is not finite.
func parseDouble(s string) (float64, bool) {
	s = trim(s)
	switch s {
	case "NaN", "+NaN", "-NaN":
		return math.NaN(), true
	case "Infinity", "+Infinity":
		return math.Inf(1), true
	case "-Infinity":
		return math.Inf(-1), true
	}
	if n := len(s); n > 0 && strings.ContainsRune("fFdD", rune(s[n-1])) {
		s = s[:n-1]
	}
	if strings.ContainsAny(s, "_iInN") {
		return 0, false
	}
	x, err := strconv.ParseFloat(s, 64)
	return x, err == nil || math.IsInf(x, 0)
}

func wrongType(key, value, typ string) error {
	return errclass.New("INVALID_CONF_VALUE.TYPE_MISMATCH", "confName", key, "confValue", value, "confType", typ)
}

func unfit(key, value, need string) error {
	return errclass.New("INVALID_CONF_VALUE.REQUIREMENT", "confName", key, "confValue", value, "confRequirement", need)
}

func unlisted(key, value, list string) error {
	return errclass.New("INVALID_CONF_VALUE.OUT_OF_RANGE_OF_OPTIONS", "confName", key, "confValue", value, "confOptions", list)
}
