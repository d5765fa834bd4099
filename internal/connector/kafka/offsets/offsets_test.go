package offsets

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The order of topics and partitions is Spark's: the texts were taken from offset logs of Apache Spark 4.2.0.
func TestOrderOfSpark(t *testing.T) {
	for _, text := range []string{
		`{"alpha-f095114c":{"0":1},"Mid-f095114c":{"0":1},"zeta-f095114c":{"0":1},"x-f095114c":{"0":1},"events-f095114c":{"0":1},"wide-f095114c":{"0":1,"1":0,"2":0,"3":0,"4":0,"5":0,"6":0,"7":0,"8":0,"9":0,"10":0,"11":0,"12":0,"13":0,"14":0,"15":0,"16":0,"17":0,"18":0,"19":0,"20":0,"21":0,"22":0,"23":0,"24":0,"25":0,"26":0,"27":0,"28":0,"29":0,"30":0,"31":0,"32":0,"33":0,"34":0,"35":0,"36":0,"37":0,"38":0,"39":0},"orders-f095114c":{"0":1},"yy-f095114c":{"0":1},"b.2-f095114c":{"0":1},"b-1-f095114c":{"0":1}}`,
		`{"big-f095114c":{"0":1,"16":1,"64":1,"1":1,"33":1,"69":1}}`,
		`{}`,
	} {
		m, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(text, string(m.JSON())); d != "" {
			t.Errorf("-spark +ours:\n%s", d)
		}
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text, want string // want is the JSON, or a part of the error behind !
	}{
		{`{"t":{"0":5,"1":-2}}`, `{"t":{"0":5,"1":-2}}`},
		{` {"t":{"0":1.9}} behind`, `{"t":{"0":1}}`},
		{`{"t":{"0":"1"}}`, "!no number"},
		{`{"t":{"0":1e30}}`, "!no number"},
		{`{"t":{"zero":1}}`, "!no number of a partition"},
		{`{"t":{"-1":1}}`, "!no number of a partition"},
		{`{"t":1}`, "!JSON"},
		{`first`, "!JSON"},
		{`{"q\"t":{"0":1}}`, `{"q\"t":{"0":1}}`},
	} {
		m, err := Parse([]byte(c.text))
		if want, bad := strings.CutPrefix(c.want, "!"); bad {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", c.text, err)
			}
			continue
		}
		if err != nil || string(m.JSON()) != c.want {
			t.Errorf("%s: %s, %v", c.text, m.JSON(), err)
		}
	}
}

func TestParseAssigned(t *testing.T) {
	ps, err := ParseAssigned([]byte(`{"b":[1,0,1],"a":[2]}`))
	if err != nil || Names(ps) != "{a-2, b-0, b-1}" {
		t.Errorf("%s, %v", Names(ps), err)
	}
	for _, text := range []string{`{"t":0}`, `{"t":[-1]}`, `{"t":["0"]}`, `t:0`} {
		if _, err := ParseAssigned([]byte(text)); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}

// What is written is read again, and written the same.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"t":{"0":5,"1":7}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := Parse(text)
		if err != nil {
			return
		}
		written := m.JSON()
		again, err := Parse(written)
		if err != nil || string(again.JSON()) != string(written) {
			t.Errorf("%s is read as %s, %v", written, again.JSON(), err)
		}
	})
}
