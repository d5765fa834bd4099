package fs

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A local file has three renderings in Spark, and each has its places:
//
//	URI        file:///data/a%20b   source logs, _spark_metadata, _metadata.file_path
//	ShortURI   file:/data/a%20b     the same address as java.net.URI prints it
//	Location   file:/data/a b       descriptions of sources and sinks; nothing is encoded
//
// ParseURI reads the first two, ParseLocation what users write and the third.

// SchemeError is an address of a file system that is not there.
type SchemeError struct {
	Scheme  string
	Address string
}

// Error names the scheme and the address.
func (e *SchemeError) Error() string {
	return fmt.Sprintf("no file system for scheme %q in %q: only local paths and file: addresses are known", e.Scheme, e.Address)
}

// URI renders an absolute, cleaned path as file:///…, percent-encoded as Spark does: in UTF-8, and only
// blanks, control characters and those that have a meaning in addresses. Letters of other
// scripts stay.
func URI(path string) string { return "file://" + encodePath(path) }

// ShortURI is URI with one slash instead of three.
func ShortURI(path string) string { return "file:" + encodePath(path) }

// Location renders an absolute path as file:/…, without encoding anything.
func Location(path string) string { return "file:" + slashed(path) }

// ParseURI gives the path of an encoded address. A text without a scheme is taken for an
// encoded path.
func ParseURI(uri string) (string, error) {
	path, err := stripScheme(uri)
	if err != nil {
		return "", err
	}
	path, err = decodePath(path)
	if err != nil {
		return "", fmt.Errorf("address %q: %w", uri, err)
	}
	return unslashed(path), nil
}

// ParseLocation gives the path of what a user wrote: a plain path, file:/path or file:///path.
// A percent sign means itself. Relative paths stay relative.
func ParseLocation(s string) (string, error) {
	path, err := stripScheme(s)
	if err != nil {
		return "", err
	}
	return unslashed(path), nil
}

// stripScheme takes off file: and an empty or local authority.
func stripScheme(s string) (string, error) {
	scheme, rest, ok := cutScheme(s)
	if !ok {
		return s, nil
	}
	if !strings.EqualFold(scheme, "file") {
		return "", &SchemeError{Scheme: scheme, Address: s}
	}
	after, ok := strings.CutPrefix(rest, "//")
	if !ok {
		return rest, nil
	}
	if !strings.HasPrefix(after, "/") {
		host, path, _ := strings.Cut(after, "/")
		if host != "" && host != "localhost" {
			return "", fmt.Errorf("address %q names host %q: only local files can be reached", s, host)
		}
		after = "/" + path
	}
	return after, nil
}

// cutScheme splits at the colon of a scheme. A colon behind a slash, or behind a single letter
// that is a drive, is part of a path.
func cutScheme(s string) (scheme, rest string, ok bool) {
	for i := range len(s) {
		c := s[i]
		switch {
		case c == ':':
			if i < 2 {
				return "", s, false
			}
			return s[:i], s[i+1:], true
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		case i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'):
		default:
			return "", s, false
		}
	}
	return "", s, false
}

// slashed gives the path of an address: with forward slashes, and one in front of a drive letter.
func slashed(path string) string {
	if filepath.Separator != '/' {
		path = filepath.ToSlash(path)
		if filepath.VolumeName(path) != "" {
			path = "/" + path
		}
	}
	return path
}

func unslashed(path string) string {
	if filepath.Separator != '/' {
		if rest, ok := strings.CutPrefix(path, "/"); ok && filepath.VolumeName(rest) != "" {
			path = rest
		}
		path = filepath.FromSlash(path)
	}
	return path
}

const upperHex = "0123456789ABCDEF"

func encodePath(path string) string {
	path = slashed(path)
	i := 0
	for i < len(path) && plainInPath(path[i]) {
		i++
	}
	if i == len(path) {
		return path
	}
	b := make([]byte, 0, len(path)+8)
	b = append(b, path[:i]...)
	for i < len(path) {
		if c := path[i]; c < utf8.RuneSelf {
			if plainInPath(c) {
				b = append(b, c)
			} else {
				b = append(b, '%', upperHex[c>>4], upperHex[c&15])
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(path[i:])
		if r == utf8.RuneError && n == 1 || !plainRune(r) {
			for _, c := range []byte(path[i : i+n]) {
				b = append(b, '%', upperHex[c>>4], upperHex[c&15])
			}
		} else {
			b = append(b, path[i:i+n]...)
		}
		i += n
	}
	return string(b)
}

// plainInPath: letters, digits, and the marks that RFC 2396 lets stand in a path.
func plainInPath(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	return strings.IndexByte("/-_.!~*'():@&=+$,;", c) >= 0
}

// plainRune: beyond ASCII everything stands for itself but blanks and control characters.
func plainRune(r rune) bool { return !unicode.In(r, unicode.Z, unicode.Cc) }

type badEscape string

func (e badEscape) Error() string {
	return fmt.Sprintf("%q is not a percent sign with two hex digits", string(e))
}

func decodePath(s string) (string, error) {
	i := strings.IndexByte(s, '%')
	if i < 0 {
		return s, nil
	}
	b := make([]byte, 0, len(s))
	for {
		b = append(b, s[:i]...)
		if len(s) < i+3 {
			return "", badEscape(s[i:])
		}
		hi, lo := unhex(s[i+1]), unhex(s[i+2])
		if hi > 15 || lo > 15 {
			return "", badEscape(s[i : i+3])
		}
		b = append(b, hi<<4|lo)
		s = s[i+3:]
		if i = strings.IndexByte(s, '%'); i < 0 {
			return string(append(b, s...)), nil
		}
	}
}

func unhex(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return 255
}
