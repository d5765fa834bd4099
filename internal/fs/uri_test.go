package fs

import (
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

// The right column is what Apache Spark 4.2.0 wrote into the log of a file source.
var recordedURIs = [][2]string{
	{"/data/in ü%20/plain.json", "file:///data/in%20ü%2520/plain.json"},
	{"/data/in ü%20/with blank.json", "file:///data/in%20ü%2520/with%20blank.json"},
	{"/data/in ü%20/per%cent.json", "file:///data/in%20ü%2520/per%25cent.json"},
	{"/data/in ü%20/ha#sh.json", "file:///data/in%20ü%2520/ha%23sh.json"},
	{"/data/in ü%20/ques?tion.json", "file:///data/in%20ü%2520/ques%3Ftion.json"},
	{"/data/in ü%20/plus+.json", "file:///data/in%20ü%2520/plus+.json"},
	{"/data/in ü%20/q'uo\"te.json", "file:///data/in%20ü%2520/q'uo%22te.json"},
	{"/data/in ü%20/ümläut.json", "file:///data/in%20ü%2520/ümläut.json"},
	{"/data/in ü%20/日本.json", "file:///data/in%20ü%2520/日本.json"},
	{"/data/in ü%20/nb\u00a0sp.json", "file:///data/in%20ü%2520/nb%C2%A0sp.json"},
	{"/data/in ü%20/ideo\u3000sp.json", "file:///data/in%20ü%2520/ideo%E3%80%80sp.json"},
	{"/data/in ü%20/emoji😀.json", "file:///data/in%20ü%2520/emoji😀.json"},
	{"/data/in ü%20/br[a]c{k}.json", "file:///data/in%20ü%2520/br%5Ba%5Dc%7Bk%7D.json"},
	{"/data/in ü%20/pipe|.json", "file:///data/in%20ü%2520/pipe%7C.json"},
	{"/data/in ü%20/tilde~.json", "file:///data/in%20ü%2520/tilde~.json"},
	{"/data/in ü%20/at@amp&eq=.json", "file:///data/in%20ü%2520/at@amp&eq=.json"},
	{"/data/in ü%20/semi;comma,.json", "file:///data/in%20ü%2520/semi;comma,.json"},
	{"/data/in ü%20/star*.json", "file:///data/in%20ü%2520/star*.json"},
	{"/data/in ü%20/caret^.json", "file:///data/in%20ü%2520/caret%5E.json"},
	{"/data/in ü%20/back`tick.json", "file:///data/in%20ü%2520/back%60tick.json"},
	{"/data/in ü%20/lt<gt>.json", "file:///data/in%20ü%2520/lt%3Cgt%3E.json"},
	{"/data/in ü%20/paren().json", "file:///data/in%20ü%2520/paren().json"},
	{"/data/in ü%20/back\\slash.json", "file:///data/in%20ü%2520/back%5Cslash.json"},
	{"/data/in ü%20/excl!dollar$.json", "file:///data/in%20ü%2520/excl!dollar$.json"},
	{"/data/in ü%20/ls\u2028x.json", "file:///data/in%20ü%2520/ls%E2%80%A8x.json"},
	{"/data/in ü%20/del\u007f.json", "file:///data/in%20ü%2520/del%7F.json"},
	{"/data/in ü%20/c1\u0085x.json", "file:///data/in%20ü%2520/c1%C2%85x.json"},
	{"/data/in ü%20/zw\u200bx.json", "file:///data/in%20ü%2520/zw\u200bx.json"},
}

func skipBackslashes(t *testing.T) {
	if filepath.Separator != '/' {
		t.Skip("names on this system cannot hold these characters")
	}
}

func TestRecordedURIs(t *testing.T) {
	skipBackslashes(t)
	for _, c := range recordedURIs {
		path, uri := c[0], c[1]
		if got := URI(path); got != uri {
			t.Errorf("URI(%q) = %q, want %q", path, got, uri)
		}
		if got := ShortURI(path); got != "file:"+uri[len("file://"):] {
			t.Errorf("ShortURI(%q) = %q", path, got)
		}
		for _, u := range []string{uri, ShortURI(path), uri[len("file://"):]} {
			if got, err := ParseURI(u); err != nil || got != path {
				t.Errorf("ParseURI(%q) = %q, %v", u, got, err)
			}
		}
		for _, l := range []string{path, Location(path), "file://" + path} {
			if got, err := ParseLocation(l); err != nil || got != path {
				t.Errorf("ParseLocation(%q) = %q, %v", l, got, err)
			}
		}
	}
}

func TestParse(t *testing.T) {
	skipBackslashes(t)
	for in, want := range map[string]string{
		"in":                   "in",
		"a/b:c":                "a/b:c",
		"file:relative":        "relative",
		"FILE:/x":              "/x",
		"file://localhost/x":   "/x",
		"file:":                "",
		"file:/%e2%82%ac":      "/€",
		"/100%25":              "/100%",
		"":                     "",
		"file:///":             "/",
		"./a%20b":              "./a b",
		"file:////server/x":    "//server/x",
		"file:/invalid%FFutf8": "/invalid\xffutf8",
	} {
		if got, err := ParseURI(in); err != nil || got != want {
			t.Errorf("ParseURI(%q) = %q, %v, want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"s3a://bucket/x", "hdfs:/x", "dbfs:/mnt", "file://host/x", "file:/%", "file:/%2", "file:/%zz", "/a%2Gb"} {
		if got, err := ParseURI(in); err == nil {
			t.Errorf("ParseURI(%q) = %q, want an error", in, got)
		}
	}
	for in, want := range map[string]string{
		"file:/a%20b": "/a%20b",
		"100%":        "100%",
		"c:/x":        "c:/x", // one letter is a drive, here a name
	} {
		if got, err := ParseLocation(in); err != nil || got != want {
			t.Errorf("ParseLocation(%q) = %q, %v, want %q", in, got, err, want)
		}
	}
	if _, err := ParseLocation("s3://b"); err == nil {
		t.Error("s3 is taken for a path")
	}
}

// Any sequence of bytes that can be a path comes back from its address.
func TestURILaw(t *testing.T) {
	skipBackslashes(t)
	rapid.Check(t, func(t *rapid.T) {
		path := "/x" + string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		for _, uri := range []string{URI(path), ShortURI(path)} {
			for i := range len(uri) {
				if c := uri[i]; c <= ' ' || c == 0x7f {
					t.Fatalf("%q has a control character", uri)
				}
			}
			if got, err := ParseURI(uri); err != nil || got != path {
				t.Fatalf("%q became %q (%v) through %q", path, got, err, uri)
			}
		}
		if got, err := ParseLocation(Location(path)); err != nil || got != path {
			t.Fatalf("%q became %q (%v)", path, got, err)
		}
	})
}

func FuzzParseURI(f *testing.F) {
	for _, c := range recordedURIs {
		f.Add(c[1])
	}
	f.Fuzz(func(t *testing.T, uri string) {
		path, err := ParseURI(uri)
		if err != nil || filepath.Clean(path) != path || path[0] != '/' {
			return
		}
		if got, err := ParseURI(URI(path)); err != nil || got != path {
			t.Errorf("%q: %q became %q, %v", uri, path, got, err)
		}
	})
}
