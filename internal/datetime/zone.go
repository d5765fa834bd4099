package datetime

import (
	"math"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // zones must not depend on the machine
)

// Zone converts between instants and local times. It remembers the stretch of constant offset that it last looked at and
// belongs to one goroutine.
type Zone struct {
	loc    *time.Location
	lo, hi int64 // instants of the remembered stretch
	off    int64 // its offset, microseconds east of UTC
}

// NewZone returns a converter for loc; nil is UTC.
func NewZone(loc *time.Location) *Zone {
	z := &Zone{loc: loc}
	if loc == nil || loc == time.UTC {
		z.loc, z.lo, z.hi = time.UTC, math.MinInt64, math.MaxInt64
	}
	return z
}

// IsUTC tells that local times equal instants.
func (z *Zone) IsUTC() bool { return z.loc == time.UTC }

// Location is the zone.
func (z *Zone) Location() *time.Location { return z.loc }

// Offset is the offset from UTC at an instant, in microseconds.
func (z *Zone) Offset(micros int64) int64 {
	if micros >= z.lo && micros < z.hi {
		return z.off
	}
	t := time.UnixMicro(micros).In(z.loc)
	start, end := t.ZoneBounds()
	z.lo, z.hi = math.MinInt64, math.MaxInt64
	if !start.IsZero() {
		z.lo = start.UnixMicro()
	}
	if !end.IsZero() {
		z.hi = end.UnixMicro()
	}
	_, sec := t.Zone()
	z.off = int64(sec) * Second
	return z.off
}

// Local gives the local time of an instant.
func (z *Zone) Local(micros int64) int64 { return micros + z.Offset(micros) }

// Instant gives the instant of a local time. Where clocks were put back the earlier of the two is meant; a time that was skipped
// is moved on by the length of the gap.
func (z *Zone) Instant(local int64) int64 {
	if z.loc == time.UTC {
		return local
	}
	if t := local - z.off; t >= z.lo+Day && t < z.hi-Day && z.lo < z.hi {
		return t
	}
	before := z.Offset(local - Day)
	t := local - before
	if z.Offset(t) == before {
		return t
	}
	if after := z.Offset(local + Day); z.Offset(local-after) == after {
		return local - after
	}
	return t
}

var zones sync.Map // name → *time.Location

// ParseZone finds a time zone by one of the names that Spark takes: a region, UTC, GMT or UT with or without an offset, or an
// offset such as +01:00, +1:30 or -8.
func ParseZone(name string) (*time.Location, bool) {
	if loc, ok := zones.Load(name); ok {
		return loc.(*time.Location), true
	}
	loc, ok := parseZone(name)
	if ok {
		zones.Store(name, loc)
	}
	return loc, ok
}

func parseZone(name string) (*time.Location, bool) {
	switch name {
	case "":
		return nil, false
	case "Z", "UTC", "GMT", "UT":
		return time.UTC, true
	case "Local":
		return nil, false
	}
	if region, ok := shortZones[name]; ok {
		name = region
	}
	rest := name
	for _, p := range []string{"UTC", "GMT", "UT"} {
		if r, ok := strings.CutPrefix(name, p); ok {
			rest = r
			break
		}
	}
	if rest != "" && (rest[0] == '+' || rest[0] == '-') {
		sec, ok := parseOffset(rest)
		if !ok {
			return nil, false
		}
		if sec == 0 {
			return time.UTC, true
		}
		return time.FixedZone(name, sec), true
	}
	loc, err := time.LoadLocation(name)
	return loc, err == nil
}

// shortZones are old names that Java still maps to regions or offsets.
var shortZones = map[string]string{
	"ACT": "Australia/Darwin", "AET": "Australia/Sydney", "AGT": "America/Argentina/Buenos_Aires", "ART": "Africa/Cairo",
	"AST": "America/Anchorage", "BET": "America/Sao_Paulo", "BST": "Asia/Dhaka", "CAT": "Africa/Harare",
	"CNT": "America/St_Johns", "CST": "America/Chicago", "CTT": "Asia/Shanghai", "EAT": "Africa/Addis_Ababa",
	"ECT": "Europe/Paris", "IET": "America/Indiana/Indianapolis", "IST": "Asia/Kolkata", "JST": "Asia/Tokyo",
	"MIT": "Pacific/Apia", "NET": "Asia/Yerevan", "NST": "Pacific/Auckland", "PLT": "Asia/Karachi",
	"PNT": "America/Phoenix", "PRT": "America/Puerto_Rico", "PST": "America/Los_Angeles", "SST": "Pacific/Guadalcanal",
	"VST": "Asia/Ho_Chi_Minh", "EST": "-05:00", "MST": "-07:00", "HST": "-10:00",
}

// parseOffset reads +h, +hh, +hmm?, +h:mm, +hh:mm, +hh:mm:ss, +hhmm and +hhmmss.
func parseOffset(s string) (seconds int, ok bool) {
	neg := s[0] == '-'
	s = s[1:]
	var parts [3]string
	n := 0
	if strings.Contains(s, ":") {
		fields := strings.Split(s, ":")
		if len(fields) > 3 {
			return 0, false
		}
		n = copy(parts[:], fields)
	} else {
		switch len(s) {
		case 1, 2:
			parts[0], n = s, 1
		case 4, 6:
			for i := 0; i < len(s); i += 2 {
				parts[n] = s[i : i+2]
				n++
			}
		default:
			return 0, false
		}
	}
	limits := [...]int{18, 59, 59}
	for i, p := range parts[:n] {
		if len(p) == 0 || len(p) > 2 {
			return 0, false
		}
		v, err := strconv.ParseUint(p, 10, 8)
		if err != nil || int(v) > limits[i] {
			return 0, false
		}
		seconds = seconds*60 + int(v)
	}
	for ; n < 3; n++ {
		seconds *= 60
	}
	if seconds > 18*3600 {
		return 0, false
	}
	if neg {
		seconds = -seconds
	}
	return seconds, true
}
