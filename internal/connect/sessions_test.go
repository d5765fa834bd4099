package connect

import "testing"

func TestLooseUUID(t *testing.T) {
	const id = "0b7c2b3e-0000-4000-8000-00000000000a"
	for text, want := range map[string]string{
		id: id, "0B7C2B3E-0000-4000-8000-00000000000A": id, "b7c2b3e-0-4000-8000-a": id,
		"1-1-1-1-1": "00000001-0001-0001-0001-000000000001",
		"":          "", "x": "", " " + id: "", "{" + id + "}": "", "0b7c2b3e00004000800000000000000a": "", "1-1-1-1-": "", "1-1-1-1-+1": "", "123456789-1-1-1-1": "",
	} {
		if got, ok := looseUUID(text); got != want || ok != (want != "") {
			t.Errorf("%q: got %q %t, want %q", text, got, ok, want)
		}
	}
}
