package types

import (
	"strings"

	"github.com/millrace/millrace/internal/errclass"
)

// The collations that the engine has. Of the others it knows the names.
const (
	BinaryCollation = "UTF8_BINARY"
	LcaseCollation  = "UTF8_LCASE"
)

// Explicit collations of ICU are named by locale, with or without script and country, and suffixes.
var collationSuffixes = map[string]bool{"CI": true, "CS": true, "AI": true, "AS": true, "RTRIM": true}

// CollationOf gives a collation's name as Spark writes it; empty for an empty name.
func CollationOf(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	up := strings.ToUpper(name)
	up = strings.TrimPrefix(up, "SYSTEM.BUILTIN.")
	switch up {
	case BinaryCollation, LcaseCollation:
		return up, nil
	case "UTF8_BINARY_RTRIM", "UTF8_LCASE_RTRIM":
		return up, nil
	}
	base, rest, _ := strings.Cut(up, "_")
	if base != "UNICODE" && !collationLanguages[base] {
		return "", invalidCollation(name)
	}
	for rest != "" {
		var part string
		if part, rest, _ = strings.Cut(rest, "_"); !collationSuffixes[part] && (base == "UNICODE" || len(part) < 3) {
			return "", invalidCollation(name)
		}
	}
	return up, nil
}

func invalidCollation(name string) error {
	return errclass.New("COLLATION_INVALID_NAME", "collationName", name, "proposals", nearCollation(name))
}

func nearCollation(name string) string {
	up := strings.ToUpper(name)
	best, distance := "", 4
	for _, c := range []string{BinaryCollation, LcaseCollation, "UNICODE", "UNICODE_CI", "UNICODE_AI", "UNICODE_CI_AI"} {
		if d := editDistance(up, c); d < distance {
			best, distance = c, d
		}
	}
	if best == "" {
		return BinaryCollation
	}
	return best
}

func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// collationLanguages are the languages that collations are named by.
var collationLanguages = func() map[string]bool {
	m := map[string]bool{}
	for _, l := range strings.Fields(`AF AM AR AS AZ BE BG BN BO BR BS CA CEB CHR CS CY DA DE DSB EE EL EN EO ES ET FA FF FI FIL FO FR
		GA GL GU HA HAW HE HI HR HSB HU HY ID IG IS IT JA KA KK KL KM KN KO KOK KU KY LB LKT LN LO LT LV MK ML MN MR MS MT MY NB NE NL NN
		NO OM OR PA PL PS PT RM RO RU SE SI SK SL SMN SQ SR SV SW TA TE TH TK TO TR UG UK UR UZ VI WAE WO XH YI YO ZH ZU`) {
		m[l] = true
	}
	return m
}()

// Collated is a type in which texts without a collation of their own have one; empty leaves them as they are.
func Collated(t DataType, collation string) DataType {
	if collation == "" || collation == BinaryCollation {
		return t
	}
	switch t := t.(type) {
	case StringType:
		if t.Collation == "" {
			return StringType{collation}
		}
	case ArrayType:
		t.Element = Collated(t.Element, collation)
		return t
	case MapType:
		t.Key, t.Value = Collated(t.Key, collation), Collated(t.Value, collation)
		return t
	case StructType:
		fields := make([]Field, len(t.Fields))
		for i, f := range t.Fields {
			fields[i] = f
			fields[i].Type = Collated(f.Type, collation)
		}
		return StructType{fields}
	}
	return t
}
