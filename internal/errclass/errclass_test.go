package errclass

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNew(t *testing.T) {
	e := New("UNRESOLVED_COLUMN.WITH_SUGGESTION", "objectName", Ident("a`b"), "proposal", "`x`, `y`")
	if e.SQLState != "42703" || e.Kind != Analysis {
		t.Errorf("got %q, kind %d", e.SQLState, e.Kind)
	}
	want := "[UNRESOLVED_COLUMN.WITH_SUGGESTION] There is no column, variable or parameter `a``b` here. " +
		"Was one of these meant: `x`, `y`? SQLSTATE: 42703"
	if d := cmp.Diff(want, e.Error()); d != "" {
		t.Error(d)
	}
	class, message, state := Split(e.Error())
	if class != e.Class || message != e.Message || state != e.SQLState {
		t.Errorf("Split gives %q, %q, %q", class, message, state)
	}
}

func TestBadCallsStayReadable(t *testing.T) {
	for _, c := range []struct {
		got  *Error
		want string
	}{
		{New("NO_SUCH_CONDITION", "b", "2", "a", "1"), "[NO_SUCH_CONDITION] a: 1, b: 2 SQLSTATE: XX000"},
		{New("NO_SUCH_CONDITION"), "[NO_SUCH_CONDITION] no further details. SQLSTATE: XX000"},
		{New("PATH_NOT_FOUND"), "[PATH_NOT_FOUND] The path <path> does not exist. SQLSTATE: 42K03"},
		{New("PATH_NOT_FOUND", "path"), "[PATH_NOT_FOUND] The path  does not exist. SQLSTATE: 42K03"},
		{&Error{Class: "X", Message: "m"}, "[X] m"},
	} {
		if got := c.got.Error(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestChain(t *testing.T) {
	inner := New("DIVIDE_BY_ZERO", "config", Conf("spark.sql.ansi.enabled")).WithCause(io.ErrUnexpectedEOF).
		WithContext(SQLPlace("SELECT 1/0", 7, 9))
	outer := fmt.Errorf("run batch: %w", New("STREAM_FAILED", "id", "1", "runId", "2", "message", inner.Error()).WithCause(inner))

	if !errors.Is(outer, io.ErrUnexpectedEOF) || !errors.Is(outer, New("DIVIDE_BY_ZERO", "config", "")) {
		t.Error("Is does not see the causes")
	}
	if errors.Is(outer, New("REMAINDER_BY_ZERO", "config", "")) {
		t.Error("Is confuses classes")
	}
	if e, ok := errors.AsType[*Error](outer); !ok || e.Class != "STREAM_FAILED" {
		t.Error("As does not find the outermost")
	}
	if !Has(outer, "DIVIDE_BY_ZERO") || Has(outer, "DIVIDE") || Has(io.EOF, "X") {
		t.Error("Has is wrong")
	}
	if Has(New("INVALID_HANDLE.FORMAT", "handle", ""), "INVALID_HANDLE") == false {
		t.Error("Has does not match subclasses")
	}
	want := inner.Error() + "\n== SQL (line 1, position 8) ==\nSELECT 1/0\n       ^^^"
	if d := cmp.Diff(want, inner.Detail()); d != "" {
		t.Error(d)
	}
}

func TestInternal(t *testing.T) {
	e := Internal(io.EOF)
	if e.Class != "INTERNAL_ERROR" || e.SQLState != "XX000" || !errors.Is(e, io.EOF) || e.Stack == "" {
		t.Errorf("got %+v", e)
	}
	known := New("PATH_NOT_FOUND", "path", "x")
	if Internal(fmt.Errorf("open: %w", known)) != known {
		t.Error("an error with a class must keep it")
	}
	if got := Recovered("boom").Message; !strings.Contains(got, "panic: boom") {
		t.Errorf("got %q", got)
	}
}

func TestSQLPlace(t *testing.T) {
	for _, c := range []struct {
		sql         string
		start, stop int
		fragment    string
		summary     string
	}{
		{"SELECT x", 7, 7, "x", "== SQL (line 1, position 8) ==\nSELECT x\n       ^\n"},
		{"SELECT\n  ä + b\nFROM t", 9, 13, "ä + b", "== SQL (line 2, position 3) ==\nSELECT\n  ä + b\n  ^^^^^\nFROM t\n"},
		{"a\nb", 0, 2, "a\nb", "== SQL (line 1, position 1) ==\na\n^\nb\n^\n"},
		{"ab", 5, 9, "", "== SQL (line 1, position 3) ==\nab\n"},
		{"", 0, 0, "", "== SQL (line 1, position 1) ==\n\n"},
	} {
		got := SQLPlace(c.sql, c.start, c.stop)
		if got.Fragment != c.fragment {
			t.Errorf("%q: fragment %q, want %q", c.sql, got.Fragment, c.fragment)
		}
		if d := cmp.Diff(c.summary, got.Summary); d != "" {
			t.Errorf("%q: %s", c.sql, d)
		}
	}
}

func TestClasses(t *testing.T) {
	for k := range kindCount {
		list := (&Error{Kind: k}).Classes()
		if len(list) < 4 || list[len(list)-1] != "java.lang.Object" {
			t.Errorf("kind %d: %v", k, list)
		}
	}
	if got := New("CAST_INVALID_INPUT", "expression", "'x'", "sourceType", "", "targetType", "").WithKind(DateTime).Classes()[1]; got != "java.time.DateTimeException" {
		t.Errorf("got %s", got)
	}
	if got := (&Error{JavaClasses: []string{"a"}}).Classes(); len(got) != 1 {
		t.Errorf("got %v", got)
	}
}

// The tables must not define a condition twice, and each entry must be well formed.
func TestTables(t *testing.T) {
	total := 0
	for _, tab := range tables {
		total += len(tab)
	}
	if total != len(registry) {
		t.Errorf("%d conditions in the tables, %d in the registry: some are defined twice", total, len(registry))
	}
	name := regexp.MustCompile(`^[A-Z][A-Z0-9_]*(\.[A-Z][A-Z0-9_]*)?$`)
	state := regexp.MustCompile(`^[0-9A-Z]{5}$`)
	legacy := regexp.MustCompile(`^_LEGACY_ERROR_TEMP_[0-9]{4}$`) // Spark has no better name, and no SQLSTATE, for these
	for class, def := range All() {
		if legacy.MatchString(class) {
			if def.SQLState != "" {
				t.Errorf("%s has the SQLSTATE %q", class, def.SQLState)
			}
			continue
		}
		if !name.MatchString(class) {
			t.Errorf("%s is no name of a condition", class)
		}
		if !state.MatchString(def.SQLState) {
			t.Errorf("%s has the SQLSTATE %q", class, def.SQLState)
		}
		if def.Text == "" || def.Kind >= kindCount {
			t.Errorf("%s is incomplete", class)
		}
		if got, ok := Lookup(class); !ok || got != def {
			t.Errorf("Lookup does not find %s", class)
		}
	}
}

// TestRefusalsNameTheWayOut: whoever is refused an operation is told, after a semicolon, what to write instead.
func TestRefusalsNameTheWayOut(t *testing.T) {
	for name, def := range streamingTable {
		if strings.HasPrefix(name, "UNSUPPORTED_STREAMING_OPERATION.") && !strings.Contains(def.Text, "; ") {
			t.Errorf("%s does not say what to do instead: %s", name, def.Text)
		}
	}
}
