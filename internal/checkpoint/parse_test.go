package checkpoint

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/fs/errfs"
)

const (
	corrupt   = "STREAMING_CHECKPOINT_CORRUPT_FILE"
	malformed = "MALFORMED_LOG_FILE"
	tooNew    = "INVALID_LOG_VERSION.MAX_SUPPORTED_VERSION"
)

// Every broken file gives an error that names it and a way out.
func TestBrokenFiles(t *testing.T) {
	meta := `{"batchWatermarkMs":0,"batchTimestampMs":1,"conf":{}}`
	for _, c := range []struct {
		file, content, class, text string
	}{
		{"metadata", "", corrupt, "is empty"},
		{"metadata", `{"id":"x"}`, corrupt, `"x" is not a UUID`},
		{"metadata", `{"id":"` + someID, corrupt, "not a whole JSON object"},
		{"metadata", `{"id":7}`, corrupt, `field "id": "7" is not a string`},
		{"metadata", `{}`, corrupt, "not a UUID"},
		{"metadata", strings.Repeat("\x00", 45), corrupt, "not a whole JSON object"},
		{"offsets/0", "", corrupt, "If nothing of batch 0 has reached the sink"},
		{"offsets/0", "v1", corrupt, "ends after the first line"},
		{"offsets/0", "\x00\x00\x00", malformed, "offsets/0"},
		{"offsets/0", "V1\n", malformed, `"V1"`},
		{"offsets/0", "v0\n", malformed, `"v0"`},
		{"offsets/0", "v\n", malformed, `"v"`},
		{"offsets/0", "{}\n", malformed, `"{}"`},
		{"offsets/0", "v2\n" + meta + "\n0:{}", tooNew, "v1"},
		{"offsets/0", "v1\n" + meta[:20], corrupt, "line 2: not a whole JSON object"},
		{"offsets/0", "v1\n" + `{"batchWatermarkMs":1.5}`, corrupt, `line 2: field "batchWatermarkMs": "1.5" is not a whole number`},
		{"offsets/0", "v1\n" + `{"conf":{"k":{}}}`, corrupt, `field "conf": field "k"`},
		{"offsets/0", "v1\n" + meta + "\n{\"logOff", corrupt, `line 3 is no offset: "{\"logOff"`},
		{"offsets/0", "v1\n" + meta + "\n\n7", corrupt, "line 3 is no offset"},
		{"commits/0", "", corrupt, "delete it: batch 0 is then run again"},
		{"commits/0", "v3\n{}", tooNew, "v2"},
		{"commits/0", "v1\n[]", corrupt, "line 2"},
		{"commits/0", "v1\n{}\n{}", corrupt, "line 3 should not be there"},
		{"sources/0/0", "", corrupt, "is empty"},
		{"sources/0/0", "x1", malformed, "x1"},
		{"sources/0/0", "v1\n{\"path\":\"f\"", corrupt, "line 2"},
		{"sources/0/0", "v1\n{\"timestamp\":1}", corrupt, "no path"},
		{"sources/0/0", "v1\n{\"path\":\"f\"}\n\n{\"path\":\"g\"}", corrupt, "line 3"},
		{"sources/1/0", "v1\n", corrupt, "no offset"},
		{"sources/1/0", "\x00", corrupt, "no offset"},
		{"sources/1/0", "v2\n7", tooNew, "v2"},
		{"_spark_metadata/0", "v1\n{\"path\":\"f\",\"action\":\"move\"}", corrupt, `"\"move\"" is neither add nor delete`},
		{"_spark_metadata/0", "v1\n{\"path\":\"f\"}", corrupt, "no action"},
		{"_spark_metadata/0", "v1\n{\"path\":\"f\",\"isDir\":0}", corrupt, "neither true nor false"},
		{"state/0/_metadata/metadata", "v2\n{}", tooNew, "v2"},
		{"state/0/_metadata/metadata", "v1\n{}", corrupt, "which operator"},
		{"state/0/_metadata/metadata", "v1\n{\"operatorInfo\":{\"operatorId\":1,\"operatorName\":\"x\"}}", corrupt, "about operator 1"},
		{"state/0/_metadata/metadata", "v1\n{\"stateStoreInfo\":{}}", corrupt, "not a list"},
		{"state/0/_metadata/metadata", "v1\n{\"stateStoreInfo\":[7]}", corrupt, "not a whole JSON object"},
	} {
		t.Run(c.file+" "+c.content, func(t *testing.T) {
			mem := errfs.NewMem()
			ck := open(t, mem)
			must(t, ck.Offsets.Add(t.Context(), 0, batch(0)))
			must(t, ck.Close())
			name := "/q/ck/" + c.file
			must(t, mem.MkdirAll(filepath.Dir(name)))
			must(t, fs.Replace(t.Context(), mem, name, []byte(c.content)))

			err := readEverything(t, mem)
			wantClass(t, err, c.class, name, c.text)
			if c.class == corrupt || c.class == malformed {
				if !strings.Contains(err.Error(), "Restore") {
					t.Errorf("no way out: %v", err)
				}
			}
		})
	}
}

func readEverything(t *testing.T, fsys fs.FS) error {
	c, err := Open(t.Context(), fsys, "/q/ck", Options{})
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.Resume(); err != nil {
		return err
	}
	if _, err := c.Operators(); err != nil {
		return err
	}
	s, err := OpenSourceLog(fsys, c.SourceDir(0), CompactOptions{})
	if err != nil {
		return err
	}
	if _, err := s.All(); err != nil {
		return err
	}
	if _, _, err := ReadStart(fsys, c.SourceDir(1)); err != nil {
		return err
	}
	k, err := OpenSinkLog(fsys, "/q/ck", CompactOptions{})
	if err != nil {
		return err
	}
	_, err = k.Files()
	return err
}

func TestParseOldAndForeign(t *testing.T) {
	for in, want := range map[string]OffsetSeq{
		"v1\n\n7":         {Offsets: []json.RawMessage{[]byte("7")}},
		"v1\r\n{}\r\n-\n": {Offsets: []json.RawMessage{nil}},
		"v1\n{ \"conf\" : {\"b\":\"1\", \"a\":2, \"c\":true, \"b\":\"3\"} , \"new\": [{\"x\":\"}\"}], \"batchWatermarkMs\" : -5 }": {
			Metadata: OffsetMetadata{BatchWatermarkMs: -5, Conf: Conf{{"b", "3"}, {"a", "2"}, {"c", "true"}}},
		},
	} {
		got, err := parseOffsets([]byte(in))
		if err != nil {
			t.Errorf("%q: %v", in, err)
		} else if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q: %s", in, d)
		}
	}
	for in, want := range map[string]int64{"v1": 0, "v1\n": 0, "v1\n{}": 0, "v1\n{\"nextBatchWatermarkMs\":9}\n": 9} {
		got, err := parseCommit([]byte(in))
		if err != nil || got.NextBatchWatermarkMs != want {
			t.Errorf("%q: %v, %v", in, got, err)
		}
	}
	for in, want := range map[string]string{`{"t":{"0":5}}`: `{"t":{"0":5}}`, "v1\n7\n": "7", "\x00v1\n{}": "{}"} {
		got, err := parseStart([]byte(in))
		if err != nil || string(got) != want {
			t.Errorf("%q: %s, %v", in, got, err)
		}
	}

	c, err := parseCommit(mustRead(t, "commits-v2/commits/0"))
	must(t, err)
	if !strings.HasPrefix(string(c.StateUniqueIDs), `{"0":[["`) {
		t.Errorf("state ids %s", c.StateUniqueIDs)
	}
	if _, err := appendCommit(nil, c); err == nil {
		t.Error("state ids were dropped without a word")
	}
	l, err := OpenOffsets(fs.Local(), filepath.Join(recorded, "offsets-v2/offsets"))
	must(t, err)
	_, err = l.Get(0)
	wantClass(t, err, tooNew, "v2", "offsets-v2")
}

func mustRead(t testing.TB, name string) []byte {
	b, err := os.ReadFile(filepath.Join(recorded, name))
	must(t, err)
	return b
}

func TestBadOffsetsAreNotWritten(t *testing.T) {
	c := open(t, errfs.NewMem())
	defer c.Close()
	for _, bad := range []string{"", "{", "{\n}", "-"} {
		if err := c.Offsets.Add(t.Context(), 0, OffsetSeq{Offsets: []json.RawMessage{[]byte(bad)}}); err == nil {
			t.Errorf("%q was written", bad)
		}
	}
	if c.Offsets.Has(0) {
		t.Error("an entry is there")
	}
}

func TestConfOrder(t *testing.T) {
	if d := cmp.Diff(Conf{{"a", "1"}, {"b", "2"}}, NewConf(map[string]string{"b": "2", "a": "1"})); d != "" {
		t.Error(d)
	}
	// "Aa" and "BB" have the same hash in Java.
	got := NewConf(map[string]string{"BB": "", "Aa": "", "c": "", "d": "", "e": "", "AaAa": "", "BBBB": "", "AaBB": ""})
	if len(got) != 8 {
		t.Errorf("%v", got)
	}
	if v, ok := got.Get("BBBB"); !ok || v != "" {
		t.Error("BBBB is gone")
	}
	if _, ok := got.Get("x"); ok {
		t.Error("x is there")
	}
}

// A cut-off file is an error or a shorter list, never a panic or another value.
func TestTruncation(t *testing.T) {
	for name, content := range recordedFiles(t, "*/offsets/0") {
		whole, err := parseOffsets(content)
		if strings.HasPrefix(name, "offsets-v2") {
			continue
		}
		must(t, err)
		for i := range content {
			got, err := parseOffsets(content[:i])
			if err == nil && (len(got.Offsets) > len(whole.Offsets) || !cmp.Equal(got.Metadata, whole.Metadata)) {
				t.Errorf("%s cut at %d: %+v", name, i, got)
			}
		}
	}
}

func TestJSONString(t *testing.T) {
	for in, want := range map[string]string{
		"a/b<>&":             `"a/b<>&"`,
		"q\"b\\":             `"q\"b\\"`,
		"\b\f\n\r\t\x00\x1f": `"\b\f\n\r\t\u0000\u001F"`,
		"\x7f\u2028é😀":       "\"\x7f\u2028é😀\"",
		"bad\xffutf\xc3":     "\"bad\uFFFDutf\uFFFD\"",
	} {
		if got := string(appendString(nil, in)); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		var back string
		if err := json.Unmarshal(appendString(nil, s), &back); err != nil || back != s {
			t.Fatalf("%q became %q, %v", s, back, err)
		}
		if back, err := stringValue(appendString(nil, s)); err != nil || back != s {
			t.Fatalf("%q became %q, %v", s, back, err)
		}
	})
}

// fuzzFiles seeds a fuzz test with recorded files.
func fuzzFiles(f *testing.F, names ...string) {
	for _, n := range names {
		f.Add(mustRead(f, n))
	}
}

func FuzzOffsets(f *testing.F) {
	fuzzFiles(f, "files/offsets/0", "union/offsets/0", "rate/offsets/1", "offsets-v2/offsets/0")
	f.Fuzz(func(t *testing.T, b []byte) {
		checkAgain(t, b, parseOffsets, appendOffsets)
	})
}

func FuzzCommit(f *testing.F) {
	fuzzFiles(f, "rate/commits/1", "commits-v2/commits/0")
	f.Fuzz(func(t *testing.T, b []byte) {
		checkAgain(t, b, parseCommit, func(b []byte, c Commit) ([]byte, error) {
			c.StateUniqueIDs = nil
			return appendCommit(b, c)
		})
	})
}

func FuzzSourceLog(f *testing.F) {
	fuzzFiles(f, "files/sources/0/9.compact", "files/sources/0/3")
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzItems(t, b, parseSourceFile, appendSourceFile)
	})
}

func FuzzSinkLog(f *testing.F) {
	fuzzFiles(f, "sink/_spark_metadata/9.compact", "sink/_spark_metadata/3")
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzItems(t, b, parseSinkFile, appendSinkFile)
	})
}

func FuzzOperator(f *testing.F) {
	fuzzFiles(f, "join/state/0/_metadata/metadata")
	f.Fuzz(func(t *testing.T, b []byte) {
		checkAgain(t, b, parseOperator, func(b []byte, op Operator) ([]byte, error) { return appendOperator(b, op), nil })
	})
}

func FuzzStartAndMetadata(f *testing.F) {
	fuzzFiles(f, "rate/sources/0/0", "rate/metadata")
	f.Add([]byte("\x00v1\n{\"t\":{\"0\":1}}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		checkAgain(t, b, parseStart, func(b []byte, s json.RawMessage) ([]byte, error) { return appendStart(b, KafkaStart, s) })
		checkAgain(t, b, parseMetadata, func(b []byte, id string) ([]byte, error) { return appendMetadata(b, id), nil })
	})
}

func fuzzItems[T any](t *testing.T, b []byte, decode func([]byte) (T, error), encode func([]byte, T) []byte) {
	checkAgain(t, b,
		func(b []byte) ([]T, error) { return parseItems(nil, b, decode) },
		func(b []byte, items []T) ([]byte, error) {
			b = append(b, "v1"...)
			for _, item := range items {
				b = encode(append(b, '\n'), item)
			}
			return b, nil
		})
}

// checkAgain: what can be read can be written, and reads the same. Only text that is not UTF-8 changes.
func checkAgain[T any](t *testing.T, b []byte, decode func([]byte) (T, error), encode func([]byte, T) ([]byte, error)) {
	v, err := decode(b)
	if err != nil {
		if fileError("f", err, "") == nil {
			t.Error("the error was lost")
		}
		return
	}
	if !utf8.Valid(b) {
		return
	}
	out, err := encode(nil, v)
	if err != nil {
		t.Fatalf("%+v: %v", v, err)
	}
	back, err := decode(out)
	if err != nil {
		t.Fatalf("%q: %v", out, err)
	}
	again, err := encode(nil, back)
	if err != nil || !bytes.Equal(out, again) {
		t.Fatalf("%q became %q, %v", out, again, err)
	}
}

// FuzzFields compares the reader of JSON objects with the standard one.
func FuzzFields(f *testing.F) {
	f.Add([]byte(`{"a":1,"b":"x\n","c":[{"d":"}"}],"e":null , "f":true}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		got := map[string]string{}
		err := eachField(b, func(key, value []byte) error {
			got[string(key)] = string(value)
			return nil
		})
		var want map[string]json.RawMessage
		if wantErr := json.Unmarshal(b, &want); (err == nil) != (wantErr == nil && want != nil) {
			t.Fatalf("%q: %v, the standard library says %v", b, err, wantErr)
		}
		if err != nil || !utf8.Valid(b) {
			return
		}
		for k, v := range want {
			if g, ok := got[k]; string(v) == "null" {
				continue
			} else if !ok || g != string(v) {
				t.Fatalf("%q: field %q is %q, the standard library says %q", b, k, g, v)
			}
		}
	})
}

func TestErrorsKeepTheirCause(t *testing.T) {
	broken := errfs.Wrap(errfs.NewMem(), errfs.FailAt(2, errfs.Ops(errfs.Open), errfs.ErrIO).Forever())
	c := open(t, broken)
	defer c.Close()
	must(t, c.Offsets.Add(t.Context(), 0, batch(0)))
	_, err := c.Offsets.Get(0)
	if errclass.Has(err, corrupt) || err == nil || !strings.Contains(err.Error(), "offsets/0") {
		t.Errorf("an I/O error became %v", err)
	}
}
