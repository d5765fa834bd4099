package datetime

import (
	"strings"

	"github.com/millrace/millrace/internal/errclass"
)

// kind is what a step of a pattern stands for.
type kind uint8

const (
	literal kind = iota
	optionalStart
	optionalEnd
	eraText
	yearNumber
	yearOfEra // of a pattern with an era
	yearReduced
	dayOfYear
	month
	monthText
	day
	quarter
	quarterText
	weekdayText
	alignedDay
	ampm
	clockHour12 // 1 to 12
	hour12      // 0 to 11
	clockHour24 // 1 to 24
	hour24      // 0 to 23
	minute
	second
	fraction
	zoneID
	zoneName
	offsetGMT
	offsetISO
	julianDay // modified: from 17 November 1858
)

// step is a piece of a compiled pattern.
type step struct {
	kind  kind
	text  string // of a literal
	min   int    // digits of a number; letters of a text or offset
	max   int
	upper bool // offsetISO: zero is Z
}

// Pattern is a compiled pattern of Java's DateTimeFormatter, as far as Spark allows it.
type Pattern struct {
	steps []step
}

// Compile reads a pattern. Patterns for parsing allow less. The error says what Spark says: patterns that only releases before
// Spark 3 took have an error of their own.
func Compile(pattern string, parsing bool) (*Pattern, error) {
	p, err := compile(pattern, parsing)
	if err == nil {
		return p, nil
	}
	if simpleDateFormat(pattern) {
		return nil, errclass.New("INCONSISTENT_BEHAVIOR_CROSS_VERSION.DATETIME_PATTERN_RECOGNITION", "pattern", "'"+pattern+"'",
			"config", `"spark.sql.legacy.timeParserPolicy"`)
	}
	return nil, err
}

func compile(pattern string, parsing bool) (*Pattern, error) {
	if err := checkLetters(pattern, parsing); err != nil {
		return nil, err
	}
	p := &Pattern{}
	hasEra := strings.ContainsRune(unquoted(pattern), 'G')
	depth := 0
	for i := 0; i < len(pattern); {
		c := pattern[i]
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			n := i
			for n < len(pattern) && pattern[n] == c {
				n++
			}
			s, ok := letters(c, n-i, hasEra, parsing)
			if !ok {
				return nil, invalidPattern(pattern)
			}
			p.steps = append(p.steps, s)
			i = n
		case c == '\'':
			text, n, ok := quoted(pattern[i:])
			if !ok {
				return nil, invalidPattern(pattern)
			}
			p.literal(text)
			i += n
		case c == '[':
			p.steps = append(p.steps, step{kind: optionalStart})
			depth++
			i++
		case c == ']':
			if depth == 0 {
				return nil, invalidPattern(pattern)
			}
			p.steps = append(p.steps, step{kind: optionalEnd})
			depth--
			i++
		case c == '#' || c == '{' || c == '}':
			return nil, invalidPattern(pattern)
		default:
			p.literal(pattern[i : i+1])
			i++
		}
	}
	for ; depth > 0; depth-- {
		p.steps = append(p.steps, step{kind: optionalEnd})
	}
	return p, nil
}

// BadPattern is the error of a pattern that cannot be used, whatever is wrong with it.
func BadPattern(pattern string) error { return invalidPattern(pattern) }

func invalidPattern(pattern string) error {
	return errclass.New("INVALID_DATETIME_PATTERN.WITH_SUGGESTION", "pattern", "'"+pattern+"'").WithKind(errclass.Runtime)
}

func (p *Pattern) literal(text string) {
	if n := len(p.steps); n > 0 && p.steps[n-1].kind == literal {
		p.steps[n-1].text += text
		return
	}
	p.steps = append(p.steps, step{kind: literal, text: text})
}

// quoted reads a quoted literal at the start of s; two quotes are one.
func quoted(s string) (text string, n int, ok bool) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] != '\'' {
			b.WriteByte(s[i])
			continue
		}
		if i+1 < len(s) && s[i+1] == '\'' {
			b.WriteByte('\'')
			i++
			continue
		}
		if i == 1 {
			return "'", 2, true
		}
		return b.String(), i + 1, true
	}
	return "", 0, false
}

// unquoted leaves quoted literals out.
func unquoted(pattern string) string {
	var b strings.Builder
	for k, part := range strings.Split(pattern, "'") {
		if k%2 == 0 {
			b.WriteString(part)
		}
	}
	return b.String()
}

// checkLetters refuses the letters that Spark does not allow, in each of the parts between quotes those of weeks before others.
func checkLetters(pattern string, parsing bool) error {
	illegal := "ABnNp"
	if parsing {
		illegal += "EFqQ"
	}
	parts := strings.Split(pattern, "'")
	for k := 0; k < len(parts); k += 2 {
		part := parts[k]
		if i := strings.IndexAny(part, "YWwuec"); i >= 0 {
			return errclass.New("INCONSISTENT_BEHAVIOR_CROSS_VERSION.DATETIME_WEEK_BASED_PATTERN", "c", part[i:i+1]).WithKind(errclass.IllegalArgument)
		}
		if i := strings.IndexAny(part, illegal); i >= 0 {
			return errclass.New("INVALID_DATETIME_PATTERN.ILLEGAL_CHARACTER", "c", part[i:i+1], "pattern", pattern)
		}
	}
	text := unquoted(pattern)
	for _, long := range []string{"GGGGG", "MMMMM", "LLLLL", "EEEEE", "QQQQQ", "qqqqq", "yyyyyyy"} {
		if strings.Contains(text, long) {
			return errclass.New("INVALID_DATETIME_PATTERN.LENGTH", "pattern", pattern)
		}
	}
	return nil
}

// simpleDateFormat tells whether Java's older formatter would have taken a pattern.
func simpleDateFormat(pattern string) bool {
	if strings.Count(pattern, "'")%2 != 0 {
		return false
	}
	for _, c := range unquoted(pattern) {
		if (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z') && !strings.ContainsRune("GyMdkHmsSEDFwWahKzZYuXL", c) {
			return false
		}
	}
	return !strings.Contains(unquoted(pattern), "XXXX")
}

// letters gives the step of n times the letter c.
func letters(c byte, n int, hasEra, parsing bool) (step, bool) {
	value := func(k kind) (step, bool) {
		if n == 1 {
			return step{kind: k, min: 1, max: 19}, true
		}
		return step{kind: k, min: 2, max: 2}, n == 2
	}
	text := func(number, words kind) (step, bool) {
		if n <= 2 {
			return value(number)
		}
		return step{kind: words, min: n}, n <= 4
	}
	switch c {
	case 'G':
		return step{kind: eraText, min: n}, n <= 4
	case 'y':
		if n == 2 {
			return step{kind: yearReduced, min: 2, max: 2}, true
		}
		if hasEra {
			return step{kind: yearOfEra, min: n, max: 19}, n <= 19
		}
		return step{kind: yearNumber, min: n, max: 19}, n <= 19
	case 'D':
		if n == 1 {
			return value(dayOfYear)
		}
		return step{kind: dayOfYear, min: n, max: 3}, n <= 3
	case 'M', 'L':
		return text(month, monthText)
	case 'Q', 'q':
		return text(quarter, quarterText)
	case 'E':
		return step{kind: weekdayText, min: n}, n <= 4
	case 'd':
		return value(day)
	case 'g':
		return step{kind: julianDay, min: n, max: 19}, n <= 19
	case 'F':
		return step{kind: alignedDay, min: 1, max: 19}, n == 1
	case 'a':
		return step{kind: ampm}, n == 1
	case 'h':
		return value(clockHour12)
	case 'K':
		return value(hour12)
	case 'k':
		return value(clockHour24)
	case 'H':
		return value(hour24)
	case 'm':
		return value(minute)
	case 's':
		return value(second)
	case 'S':
		least := n
		if parsing {
			least = 1
		}
		return step{kind: fraction, min: least, max: n}, n <= 9
	case 'V':
		return step{kind: zoneID}, n == 2
	case 'z':
		return step{kind: zoneName, min: n}, n <= 4
	case 'O':
		return step{kind: offsetGMT, min: n}, n == 1 || n == 4
	case 'X':
		return step{kind: offsetISO, min: n, upper: true}, n <= 5
	case 'x':
		return step{kind: offsetISO, min: n}, n <= 5
	case 'Z':
		switch {
		case n <= 3:
			return step{kind: offsetISO, min: 2}, true
		case n == 4:
			return step{kind: offsetGMT, min: 4}, true
		}
		return step{kind: offsetISO, min: 5, upper: true}, n == 5
	}
	return step{}, false
}

var (
	monthNames   = [...]string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}
	weekdayNames = [...]string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
	quarterNames = [...]string{"1st quarter", "2nd quarter", "3rd quarter", "4th quarter"}
	eraNames     = [...]string{"Before Christ", "Anno Domini"}
	shortEras    = [...]string{"BC", "AD"}
)

// MonthName is the English name of a month from 1 to 12, WeekdayName that of a day from 0 for Monday.
func MonthName(m int) string { return monthNames[m-1] }

// WeekdayName is the English name of a day of the week, from 0 for Monday.
func WeekdayName(d int) string { return weekdayNames[d] }
