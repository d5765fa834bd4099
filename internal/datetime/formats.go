package datetime

import "time"

// Formats are the patterns with which a text format such as JSON or CSV writes times. Empty ones stand for the forms that casts read
// and for ISO 8601 when printing.
type Formats struct {
	Timestamp, TimestampNTZ, Date string
	// Fallback lets a text that does not fit its pattern be read as a cast would.
	Fallback bool
	// Now tells the day that a time without a date belongs to; time.Now by default.
	Now func() time.Time
}

// FormatReader reads times of Formats. It belongs to one goroutine.
type FormatReader struct {
	timestamp, ntz, date *Pattern
	fallback             bool
	now                  func() time.Time
	zone                 *Zone
	zones                map[string]*Zone
}

// NewReader compiles the patterns for reading. loc is the zone of timestamps that have none.
func (f Formats) NewReader(loc *time.Location) (*FormatReader, error) {
	r := &FormatReader{fallback: f.Fallback, now: f.Now, zone: NewZone(loc)}
	if r.now == nil {
		r.now = time.Now
	}
	var err error
	if r.timestamp, err = optional(f.Timestamp, true); err != nil {
		return nil, err
	}
	if r.ntz, err = optional(f.TimestampNTZ, true); err != nil {
		return nil, err
	}
	r.date, err = optional(f.Date, true)
	return r, err
}

func optional(pattern string, parsing bool) (*Pattern, error) {
	if pattern == "" {
		return nil, nil
	}
	return Compile(pattern, parsing)
}

// Zone is the zone of timestamps that have none.
func (r *FormatReader) Zone() *Zone { return r.zone }

// Plain tells that timestamps have no pattern.
func (r *FormatReader) Plain() bool { return r.timestamp == nil }

// Timestamp reads an instant.
func (r *FormatReader) Timestamp(s []byte) (int64, bool) {
	if r.timestamp != nil {
		if t, ok := r.timestamp.Parse(s, r.zone); ok || !r.fallback {
			return t, ok
		}
	}
	t, ok := ParseText(s)
	if !ok {
		return 0, false
	}
	zone := r.zone
	if t.HasZone {
		if zone, ok = r.zones[t.Zone]; !ok {
			loc, known := ParseZone(t.Zone)
			if !known {
				return 0, false
			}
			if r.zones == nil {
				r.zones = map[string]*Zone{}
			}
			zone = NewZone(loc)
			r.zones[t.Zone] = zone
		}
	}
	if !t.HasDate {
		t.Local += FloorDiv(zone.Local(r.now().UnixMicro()), Day) * Day
	}
	return zone.Instant(t.Local), true
}

// TimestampNTZ reads a time on the clock. A text with a zone is none.
func (r *FormatReader) TimestampNTZ(s []byte) (int64, bool) {
	if r.ntz != nil {
		local, loc, offset, ok := r.ntz.parse(s)
		return local, ok && loc == nil && offset == noOffset
	}
	t, ok := ParseText(s)
	return t.Local, ok && t.HasDate && !t.HasZone
}

// Date reads a day.
func (r *FormatReader) Date(s []byte) (int32, bool) {
	if r.date != nil {
		if t, ok := r.date.ParseLocal(s); ok || !r.fallback {
			return int32(FloorDiv(t, Day)), ok
		}
	}
	return ParseDate(s)
}

// FallsBack tells that a date that does not fit is given another try: there is no pattern, or it is not the last word.
func (r *FormatReader) FallsBack() bool { return r.date == nil || r.fallback }

// FormatPrinter prints times of Formats. It belongs to one goroutine.
type FormatPrinter struct {
	timestamp, ntz, date *Pattern
	zone                 *Zone
	utc                  *Zone
}

// NewPrinter compiles the patterns for printing. loc is the zone in which timestamps are shown.
func (f Formats) NewPrinter(loc *time.Location) (*FormatPrinter, error) {
	p := &FormatPrinter{zone: NewZone(loc), utc: NewZone(nil)}
	var err error
	if p.timestamp, err = optional(f.Timestamp, false); err != nil {
		return nil, err
	}
	if p.ntz, err = optional(f.TimestampNTZ, false); err != nil {
		return nil, err
	}
	p.date, err = optional(f.Date, false)
	return p, err
}

// AppendTimestamp prints an instant, by default like 2026-01-31T01:02:03.456+01:00.
func (p *FormatPrinter) AppendTimestamp(b []byte, micros int64) []byte {
	if p.timestamp != nil {
		return p.timestamp.Append(b, micros, p.zone)
	}
	offset := p.zone.Offset(micros)
	b = appendISOMillis(b, micros+offset)
	if offset == 0 {
		return append(b, 'Z')
	}
	return AppendOffset(b, offset)
}

// AppendOffset prints a zone's offset of some microseconds like +01:00.
func AppendOffset(b []byte, offset int64) []byte {
	sign, h, m, s := splitOffset(offset)
	b = append(b, sign)
	b = appendPadded(b, h, 2)
	b = append(b, ':')
	b = appendPadded(b, m, 2)
	if s != 0 {
		b = append(b, ':')
		b = appendPadded(b, s, 2)
	}
	return b
}

// AppendTimestampNTZ prints a time on the clock, by default like 2026-01-31T01:02:03.456.
func (p *FormatPrinter) AppendTimestampNTZ(b []byte, local int64) []byte {
	if p.ntz != nil {
		return p.ntz.Append(b, local, p.utc)
	}
	return appendISOMillis(b, local)
}

// AppendDate prints a day, by default like 2026-01-31.
func (p *FormatPrinter) AppendDate(b []byte, days int64) []byte {
	if p.date != nil {
		return p.date.Append(b, days*Day, p.utc)
	}
	return AppendDate(b, days)
}

// appendISOMillis prints yyyy-MM-ddTHH:mm:ss.SSS.
func appendISOMillis(b []byte, local int64) []byte {
	days := FloorDiv(local, Day)
	b = AppendDate(b, days)
	t := local - days*Day
	b = append(b, 'T')
	b = appendPadded(b, int(t/Hour), 2)
	b = append(b, ':')
	b = appendPadded(b, int(t/Minute%60), 2)
	b = append(b, ':')
	b = appendPadded(b, int(t/Second%60), 2)
	b = append(b, '.')
	return appendPadded(b, int(t/Millisecond%1000), 3)
}
