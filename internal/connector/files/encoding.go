package files

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
	"golang.org/x/text/runes"
	"golang.org/x/text/transform"

	"github.com/millrace/millrace/internal/errclass"
)

// Whether a byte order mark is looked at, and in which order bytes come without one.
var utf16BOM, utf32BOM = unicode.UTF16(unicode.BigEndian, unicode.UseBOM), utf32.UTF32(utf32.BigEndian, utf32.UseBOM)

// charsets are the character sets of text files, by their only names. nil is UTF-8.
var charsets = map[string]encoding.Encoding{
	"ISO-8859-1": latin1(utf8.RuneSelf*2 - 1),
	"US-ASCII":   latin1(utf8.RuneSelf - 1),
	"UTF-16":     utf16BOM,
	"UTF-16BE":   unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM),
	"UTF-16LE":   unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM),
	"UTF-32":     unmarked{utf32BOM, utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)},
	"UTF-8":      nil,
}

const charsetNames = "iso-8859-1, us-ascii, utf-16, utf-16be, utf-16le, utf-32, utf-8"

// latin1 has a byte for each character up to a last one. Others are written as question marks, and read as what stands for no character.
type latin1 rune

// NewDecoder implements encoding.Encoding.
func (last latin1) NewDecoder() *encoding.Decoder {
	known := runes.Map(func(r rune) rune {
		if r > rune(last) {
			return utf8.RuneError
		}
		return r
	})
	return &encoding.Decoder{Transformer: transform.Chain(charmap.ISO8859_1.NewDecoder(), known)}
}

// NewEncoder implements encoding.Encoding.
func (last latin1) NewEncoder() *encoding.Encoder {
	known := runes.Map(func(r rune) rune {
		if r > rune(last) {
			return '?'
		}
		return r
	})
	return &encoding.Encoder{Transformer: transform.Chain(known, charmap.ISO8859_1.NewEncoder())}
}

// unmarked looks at a byte order mark and writes none.
type unmarked struct{ read, write encoding.Encoding }

// NewDecoder implements encoding.Encoding.
func (u unmarked) NewDecoder() *encoding.Decoder { return u.read.NewDecoder() }

// NewEncoder implements encoding.Encoding.
func (u unmarked) NewEncoder() *encoding.Encoder { return u.write.NewEncoder() }

// FindEncoding finds a character set by name; nil stands for UTF-8, as does the empty name.
func FindEncoding(name string) (encoding.Encoding, bool) {
	if name == "" {
		return nil, true
	}
	e, ok := charsets[strings.ToUpper(name)]
	return e, ok
}

// EncodingOption is the character set that the option encoding or charset of a format names; empty when there is none.
func EncodingOption(get func(key string) (string, bool), format string) (string, error) {
	name, ok := get("encoding")
	if !ok {
		name, ok = get("charset")
	}
	if _, known := charsets[strings.ToUpper(name)]; ok && !known {
		return "", errclass.New("INVALID_PARAMETER_VALUE.CHARSET", "functionName", errclass.Ident(strings.ToUpper(format)+"Options"), "parameter", "`charset`",
			"charset", name, "charsets", charsetNames)
	}
	return name, nil
}
