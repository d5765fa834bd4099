package setting

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/millrace/millrace/internal/amount"
	"github.com/millrace/millrace/internal/errclass"
)

// key is a setting with a default.
type key struct {
	name, since string
	kind        kind
	value       string
}

// Undefined is the default of a known setting that has none, and what SET shows of one that nobody knows.
const Undefined = "<undefined>"

// Values are the settings of a session: what was set, over what the server started with, over Spark's defaults. Keys that nobody
// knows are kept as they come. It is safe for use by several goroutines.
type Values struct {
	base map[string]string // never changes
	mu   sync.RWMutex
	set  map[string]string
}

// New returns settings over those of the server, which are not copied.
func New(base map[string]string) *Values {
	return &Values{base: base, set: map[string]string{}}
}

// Clone returns a copy with a life of its own.
func (c *Values) Clone() *Values {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return &Values{base: c.base, set: maps.Clone(c.set)}
}

// Set changes a setting.
func (c *Values) Set(key, value string) error {
	if err := Check(key, value); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set[key] = value
	return nil
}

// Unset returns a setting to what it was at the start.
func (c *Values) Unset(key string) error {
	if err := frozen(key); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.set, key)
	return nil
}

// Reset unsets everything.
func (c *Values) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.set)
}

// Explicit is the value that was set, in the session or when the server started.
func (c *Values) Explicit(key string) (value string, ok bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if value, ok = c.set[key]; !ok {
		value, ok = c.base[key]
	}
	return value, ok
}

// Lookup is the value in force: the one set, under an older name if need be, or the default. ok is false when there is neither.
func (c *Values) Lookup(key string) (value string, ok bool) {
	if value, ok = c.Explicit(key); ok {
		return value, true
	}
	k := known[key]
	if old := older[key]; old != "" {
		if value, ok = c.Explicit(old); ok {
			return k.show(value), true
		}
	}
	if k != nil && k.value != Undefined {
		return k.value, true
	}
	return "", false
}

// Get is Lookup for a key that must be known: one that is not is an error, and one without a value gives ok false. So is a value that
// was set under an older name, which takes any, and cannot be read.
func (c *Values) Get(key string) (value string, ok bool, err error) {
	value, ok = c.Lookup(key)
	switch {
	case !ok && known[key] == nil:
		return "", false, errclass.New("SQL_CONF_NOT_FOUND", "sqlConf", errclass.Conf(key))
	case ok && older[key] != "" && !isStatic(key):
		err = Check(key, value)
	}
	return value, ok, err
}

// Value is the value in force as it is meant, or "": a flag is true or false, a word as messages list it, and nothing has blanks around.
func (c *Values) Value(key string) string {
	v, _ := c.Lookup(key)
	if k := known[key]; k != nil {
		return k.kind.plain(v)
	}
	return v
}

// Bool is a setting that is true or false.
func (c *Values) Bool(key string) bool {
	return strings.EqualFold(strings.TrimSpace(c.Value(key)), "true")
}

// Int is a whole number; 0 when the setting has none.
func (c *Values) Int(key string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(c.Value(key)), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Duration is a length of time; a number without a unit is in milliseconds, or in seconds where Spark says so.
func (c *Values) Duration(key string) time.Duration {
	unit := time.Millisecond
	if k := known[key]; k != nil {
		if w, ok := k.kind.(whole); ok && w.unit != 0 {
			unit = w.unit
		}
	}
	d, _ := amount.Time(c.Value(key), unit)
	return d
}

// Bytes is a size.
func (c *Values) Bytes(key string) int64 {
	n, _ := amount.Bytes(c.Value(key))
	return n
}

// Pair is a setting with its value.
type Pair struct{ Key, Value string }

// All are the settings made explicitly, sorted by key.
func (c *Values) All() []Pair {
	c.mu.RLock()
	all := maps.Clone(c.base)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, c.set)
	c.mu.RUnlock()
	out := make([]Pair, 0, len(all))
	for _, k := range slices.Sorted(maps.Keys(all)) {
		out = append(out, Pair{k, all[k]})
	}
	return out
}

// Listed are the settings that SET -v shows, sorted by key: public ones, with their value in force and the version they came in.
func (c *Values) Listed() []Line {
	var out []Line
	for _, k := range keys {
		if k.since == "" {
			continue
		}
		v, ok := c.Lookup(k.name)
		if !ok {
			v = Undefined
		}
		out = append(out, Line{k.name, v, k.since})
	}
	return out
}

// Line is a line of SET -v.
type Line struct{ Key, Value, Since string }

// Modifiable tells whether a session may change a setting. Unknown ones can be set but are not called modifiable.
func Modifiable(key string) bool { return known[key] != nil && !isStatic(key) }

func isStatic(key string) bool {
	k := known[key]
	return k != nil && k.kind == kind(static)
}

// frozen tells why a session cannot have a setting of its own, or nil.
func frozen(key string) error {
	switch {
	case isStatic(key):
		return static.check(key, "")
	case core[key]:
		return errclass.New("CANNOT_MODIFY_CONFIG", "key", errclass.Conf(key))
	}
	return nil
}

// CheckDefault tells why a value cannot be the default that a client asks with, or nil. A static setting may have any.
func CheckDefault(key, value string) error {
	if k := known[key]; k != nil && !isStatic(key) && value != Undefined {
		return k.kind.check(key, value)
	}
	return nil
}

// Check tells why a setting cannot be given a value, or nil.
func Check(key, value string) error {
	if k := known[key]; k != nil {
		return k.kind.check(key, value)
	}
	if r, ok := removed[key]; ok && value != r.value {
		return errclass.New("_LEGACY_ERROR_TEMP_1226", "configName", key, "version", r.version, "comment", r.hint)
	}
	return frozen(key)
}

// Positive reads one of Spark's settings that must be positive where it is used: a session may set any number.
func Positive(conf func(key string) string, key string) (int64, error) {
	v := conf(key)
	if v == "" {
		v = known[key].value // nobody has set anything
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < 1 {
		return n, unfit(key, v, "it is at least 1")
	}
	return n, nil
}
