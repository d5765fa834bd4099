package fn

import (
	"net/url"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
)

func urlFunctions() []*Function {
	decode := func(name string, try bool) simple {
		return nullable(textTo(name, 1, 1, func(e *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
			s, err := url.QueryUnescape(args[0].StringAt(i))
			switch {
			case err == nil:
				return append(b, javaText([]byte(s))...), true
			case !try:
				e.Errs.Add(i, errclass.New("CANNOT_DECODE_URL", "url", string(args[0].BytesAt(i))))
			}
			return b, !try
		}))
	}
	parse := func(name string, try bool) simple {
		s := nullable(textTo(name, 2, 3, nil, strict(text)))
		s.kernel = func(call *Binding) Kernel {
			fails := call.ANSI && !try
			return textKernel(func(e *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
				if len(args) == 3 && args[1].StringAt(i) != "QUERY" {
					return b, false // nothing else has a key, whatever the URL
				}
				u, ok := parseURI(args[0].StringAt(i))
				if ok {
					return appendURLPart(b, u, args, i)
				}
				if fails {
					e.Errs.Add(i, errclass.New("INVALID_URL", "url", string(args[0].BytesAt(i))))
				}
				return b, fails
			})
		}
		return s
	}
	return simples(
		nullable(textTo("url_encode", 1, 1, func(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
			return appendFormEncoded(b, javaText(args[0].BytesAt(i))), true
		})),
		failing(decode("url_decode", false)), decode("try_url_decode", true),
		failing(parse("parse_url", false)), parse("try_parse_url", true),
	)
}

// appendFormEncoded encodes as HTML forms do: letters, digits and -_.* stay, a blank is a plus sign.
func appendFormEncoded(b, s []byte) []byte {
	const digits = "0123456789ABCDEF"
	for _, c := range s {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-_.*", c) >= 0:
			b = append(b, c)
		case c == ' ':
			b = append(b, '+')
		default:
			b = append(b, '%', digits[c>>4], digits[c&15])
		}
	}
	return b
}

// parseURI takes what RFC 2396 does, and characters outside of ASCII.
func parseURI(s string) (*url.URL, bool) {
	for i := range len(s) {
		switch c := s[i]; {
		case c <= ' ' || c == 0x7f || strings.IndexByte("\"<>\\^`{|}", c) >= 0:
			return nil, false
		case c == '%' && (i+2 >= len(s) || !isHexDigit(s[i+1]) || !isHexDigit(s[i+2])):
			return nil, false
		}
	}
	u, err := url.Parse(s)
	if err != nil || u.Opaque == "" && strings.ContainsAny(pathOf(s), "[]") {
		return nil, false
	}
	return u, true
}

// pathOf is the path of a URL that is not opaque, as it is written there.
func pathOf(s string) string {
	if end := strings.IndexAny(s, "?#"); end >= 0 {
		s = s[:end]
	}
	if colon := strings.IndexByte(s, ':'); colon >= 0 && !strings.Contains(s[:colon], "/") {
		s = s[colon+1:]
	}
	if rest, ok := strings.CutPrefix(s, "//"); ok {
		_, s, _ = strings.Cut(rest, "/")
	}
	return s
}

func isHexDigit(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// appendURLPart gives a part of a URL, as it is written there, or the value of a parameter of its query.
func appendURLPart(b []byte, u *url.URL, args []*vec.Vector, i int) ([]byte, bool) {
	part := args[1].StringAt(i)
	if len(args) == 3 {
		for _, pair := range strings.Split(u.RawQuery, "&") {
			if k, v, ok := strings.Cut(pair, "="); ok && k == args[2].StringAt(i) {
				return append(b, v...), true
			}
		}
		return b, false
	}
	var s string
	switch part {
	case "HOST":
		if s = u.Hostname(); strings.HasPrefix(u.Host, "[") {
			s = "[" + s + "]"
		}
	case "PATH":
		return append(b, u.EscapedPath()...), true
	case "QUERY":
		s = u.RawQuery
	case "REF":
		s = u.EscapedFragment()
	case "PROTOCOL":
		s = u.Scheme
	case "FILE":
		s = u.EscapedPath()
		if u.RawQuery != "" || u.ForceQuery {
			s += "?" + u.RawQuery
		}
		return append(b, s...), true
	case "AUTHORITY":
		s = u.Host
		if u.User != nil {
			s = u.User.String() + "@" + s
		}
	case "USERINFO":
		if u.User != nil {
			s = u.User.String()
		}
	}
	return append(b, s...), s != ""
}
