package datetime

import "strings"

// The words that stand for a day or an instant in constants.
const (
	Epoch     = "epoch"
	Now       = "now"
	Today     = "today"
	Tomorrow  = "tomorrow"
	Yesterday = "yesterday"
)

// SpecialWord is the word of a text that is one, in small letters. Letters may be of any case, blanks may be around it, and a time
// zone may follow, which changes nothing.
func SpecialWord(s string) (word string, ok bool) {
	s = strings.TrimSpace(s)
	end := strings.IndexFunc(s, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') })
	zone := ""
	if end >= 0 {
		zone = strings.TrimLeft(s[end:], " \t")
		s = s[:end]
	}
	switch word = strings.ToLower(s); word {
	case Epoch, Now, Today, Tomorrow, Yesterday:
	default:
		return "", false
	}
	if zone != "" {
		_, ok = ParseZone(zone)
		return word, ok
	}
	return word, true
}
