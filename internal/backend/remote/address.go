package remote

import (
	"net"
	"net/url"
	"sort"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/millrace/millrace/internal/errclass"
)

// Address is a parsed sc:// connection string.
type Address struct {
	Host      string // host:port
	SSL       bool
	Token     string
	UserID    string
	UserAgent string
	SessionID string
	// Headers are all other parameters; they go with every call.
	Headers map[string]string
}

const defaultPort = "15002"

func badAddress(text, why string) error {
	return errclass.New("INVALID_CONNECT_URL", "detail", text+" ("+why+")")
}

// ParseAddress reads sc://host[:port][/;key=value;...].
func ParseAddress(text string) (Address, error) {
	bad := func(why string) (Address, error) {
		return Address{}, badAddress(text, why)
	}
	u, err := url.Parse(text)
	if err != nil {
		return bad(err.Error())
	}
	if u.Scheme != "sc" {
		return bad("it does not begin with sc://")
	}
	switch {
	case u.Hostname() == "":
		return bad("it names no host")
	case u.User != nil:
		return bad("a user is named with ;user_id=")
	case u.RawQuery != "" || u.Fragment != "":
		return bad("parameters begin with a semicolon")
	}
	a := Address{Headers: map[string]string{}}
	port := u.Port()
	if port == "" {
		port = defaultPort
	}
	a.Host = net.JoinHostPort(u.Hostname(), port)
	params := strings.TrimPrefix(u.EscapedPath(), "/")
	if params != "" && !strings.HasPrefix(params, ";") {
		return bad("its path is not a list of ;key=value parameters")
	}
	for _, p := range strings.Split(params, ";") {
		if p == "" {
			continue
		}
		key, raw, ok := strings.Cut(p, "=")
		value, err := url.PathUnescape(raw)
		if !ok || err != nil {
			return bad("the parameter " + p + " is not of the form key=value")
		}
		if err := a.set(key, value); err != nil {
			return Address{}, err
		}
	}
	return a, nil
}

func (a *Address) set(key, value string) error {
	switch key {
	case "use_ssl":
		on, err := strconv.ParseBool(value)
		if err != nil {
			return badAddress(a.Host, "use_ssl is true or false, not "+value)
		}
		a.SSL = on
	case "token":
		a.Token = value
	case "user_id":
		a.UserID = value
	case "user_agent":
		a.UserAgent = value
	case "session_id":
		if _, err := uuid.Parse(value); err != nil {
			return badAddress(a.Host, "session_id is not a UUID: "+value)
		}
		a.SessionID = value
	default:
		a.Headers[key] = value
	}
	return nil
}

// local tells whether the server is on this machine.
func (a *Address) local() bool {
	host, _, err := net.SplitHostPort(a.Host)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}

// pairs are the headers in a fixed order, as gRPC metadata wants them.
func (a *Address) pairs() []string {
	keys := make([]string, 0, len(a.Headers))
	for k := range a.Headers {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	var out []string
	for _, k := range keys {
		out = append(out, k, a.Headers[k])
	}
	return out
}
