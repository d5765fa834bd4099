package datetime

import "time"

// Append prints the local time that an instant has in a zone. A timestamp without a zone is printed with a zone of UTC.
func (p *Pattern) Append(b []byte, instant int64, z *Zone) []byte {
	offset := z.Offset(instant)
	local := instant + offset
	days := FloorDiv(local, Day)
	micros := local - days*Day
	y, m, d := Civil(days)
	h := int(micros / Hour)
	for i := range p.steps {
		s := &p.steps[i]
		switch s.kind {
		case literal:
			b = append(b, s.text...)
		case optionalStart, optionalEnd:
		case eraText:
			era := 0
			if y > 0 {
				era = 1
			}
			if s.min == 4 {
				b = append(b, eraNames[era]...)
			} else {
				b = append(b, shortEras[era]...)
			}
		case yearNumber:
			b = s.appendYear(b, y)
		case yearOfEra:
			b = s.appendYear(b, eraYear(y))
		case yearReduced:
			b = appendPadded(b, int(FloorMod(int64(y), 100)), 2)
		case dayOfYear:
			b = appendPadded(b, DayOfYear(days), s.min)
		case month:
			b = appendPadded(b, m, s.min)
		case monthText:
			b = s.appendName(b, monthNames[m-1])
		case day:
			b = appendPadded(b, d, s.min)
		case quarter:
			b = appendPadded(b, (m+2)/3, s.min)
		case quarterText:
			if s.min == 4 {
				b = append(b, quarterNames[(m-1)/3]...)
			} else {
				b = append(b, 'Q', byte('0'+(m+2)/3))
			}
		case weekdayText:
			b = s.appendName(b, weekdayNames[Weekday(days)])
		case julianDay:
			b = appendPadded(b, int(days)+40587, s.min)
		case alignedDay:
			b = appendPadded(b, (d-1)%7+1, s.min)
		case ampm:
			b = append(b, "AP"[h/12], 'M')
		case clockHour12:
			b = appendPadded(b, (h+11)%12+1, s.min)
		case hour12:
			b = appendPadded(b, h%12, s.min)
		case clockHour24:
			b = appendPadded(b, (h+23)%24+1, s.min)
		case hour24:
			b = appendPadded(b, h, s.min)
		case minute:
			b = appendPadded(b, int(micros/Minute%60), s.min)
		case second:
			b = appendPadded(b, int(micros/Second%60), s.min)
		case fraction:
			b = appendPadded(b, int(micros%Second)*1000/int(pow10(9-s.min)), s.min)
		case zoneID:
			b = append(b, z.loc.String()...)
		case zoneName:
			b = s.appendZone(b, instant, z)
		case offsetGMT:
			b = appendOffsetGMT(b, offset, s.min == 4)
		case offsetISO:
			b = appendOffset(b, offset, s)
		}
	}
	return b
}

func pow10(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}

func eraYear(y int) int {
	if y > 0 {
		return y
	}
	return 1 - y
}

// appendYear prints a year: with a plus sign when it is longer than a pattern of four letters or more.
func (s *step) appendYear(b []byte, y int) []byte {
	if y < 0 {
		b = append(b, '-')
		y = -y
	} else if s.min >= 4 && int64(y) >= pow10(min(s.min, 18)) {
		b = append(b, '+')
	}
	return appendPadded(b, y, s.min)
}

func (s *step) appendName(b []byte, name string) []byte {
	if s.min == 4 {
		return append(b, name...)
	}
	return append(b, name[:3]...)
}

func (s *step) appendZone(b []byte, instant int64, z *Zone) []byte {
	name, _ := time.UnixMicro(instant).In(z.loc).Zone()
	if s.min == 4 {
		if long, ok := longZones[name]; ok {
			return append(b, long...)
		}
		return append(b, z.loc.String()...)
	}
	return append(b, name...)
}

// longZones are the full names of zones that are often printed.
var longZones = map[string]string{
	"UTC": "Coordinated Universal Time", "GMT": "Greenwich Mean Time",
	"PST": "Pacific Standard Time", "PDT": "Pacific Daylight Time", "MST": "Mountain Standard Time", "MDT": "Mountain Daylight Time",
	"CST": "Central Standard Time", "CDT": "Central Daylight Time", "EST": "Eastern Standard Time", "EDT": "Eastern Daylight Time",
	"CET": "Central European Standard Time", "CEST": "Central European Summer Time", "BST": "British Summer Time",
	"EET": "Eastern European Standard Time", "EEST": "Eastern European Summer Time", "WET": "Western European Standard Time",
	"WEST": "Western European Summer Time", "JST": "Japan Standard Time", "KST": "Korean Standard Time", "IST": "India Standard Time",
}

func splitOffset(micros int64) (sign byte, h, m, s int) {
	sign = '+'
	if micros < 0 {
		sign, micros = '-', -micros
	}
	sec := int(micros / Second)
	return sign, sec / 3600, sec / 60 % 60, sec % 60
}

func appendOffsetGMT(b []byte, offset int64, full bool) []byte {
	b = append(b, "GMT"...)
	if offset == 0 {
		return b
	}
	sign, h, m, s := splitOffset(offset)
	b = append(b, sign)
	if full {
		b = appendPadded(b, h, 2)
		b = append(b, ':')
		b = appendPadded(b, m, 2)
	} else {
		b = appendPadded(b, h, 1)
		if m != 0 || s != 0 {
			b = append(b, ':')
			b = appendPadded(b, m, 2)
		}
	}
	if s != 0 {
		b = append(b, ':')
		b = appendPadded(b, s, 2)
	}
	return b
}

// appendOffset prints +HH[MM], +HHMM, +HH:MM, +HHMM[ss] or +HH:MM[:ss], by the number of letters.
func appendOffset(b []byte, offset int64, st *step) []byte {
	if offset == 0 && st.upper {
		return append(b, 'Z')
	}
	sign, h, m, s := splitOffset(offset)
	b = append(b, sign)
	b = appendPadded(b, h, 2)
	if st.min == 1 && m == 0 {
		return b
	}
	colon := st.min == 3 || st.min == 5
	if colon {
		b = append(b, ':')
	}
	b = appendPadded(b, m, 2)
	if st.min >= 4 && s != 0 {
		if colon {
			b = append(b, ':')
		}
		b = appendPadded(b, s, 2)
	}
	return b
}
