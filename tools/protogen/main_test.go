package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const sample = `syntax = "proto3";

package sample;

option go_package = "github.com/millrace/millrace/internal/samplepb";

// Pair is two words.
message Pair {
  string first = 1;
  string second = 2;
}

service Pairs {
  rpc Swap(Pair) returns (Pair);
}
`

// TestCheckNoticesStaleFiles makes each kind of staleness: the check must fail, and
// generating must repair it.
func TestCheckNoticesStaleFiles(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "proto/sample.proto"), sample)
	messages := filepath.Join(root, "internal/samplepb/sample.pb.go")
	service := filepath.Join(root, "internal/samplepb/sample_grpc.pb.go")
	leftover := filepath.Join(root, "internal/samplepb/gone.pb.go")
	steps := []struct {
		name string
		make func()
	}{
		{"nothing generated yet", func() {}},
		{"edited by hand", func() { write(t, messages, "package samplepb\n") }},
		{"missing", func() { remove(t, service) }},
		{"left over from a removed proto", func() { write(t, leftover, "package samplepb\n") }},
		{"proto changed", func() {
			write(t, filepath.Join(root, "proto/sample.proto"), strings.Replace(sample, "second = 2", "second = 3", 1))
		}},
	}
	for _, s := range steps {
		s.make()
		if err := run(root, true); err == nil {
			t.Errorf("%s: the check passes", s.name)
		}
		if err := run(root, false); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		if err := run(root, true); err != nil {
			t.Errorf("%s: after generating: %v", s.name, err)
		}
	}
	if _, err := os.Stat(leftover); !os.IsNotExist(err) {
		t.Errorf("%s is still there", leftover)
	}
	code, err := os.ReadFile(messages)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(code), "// Pair is two words.") {
		t.Error("the comment did not reach the Go code")
	}
}

func TestMistakesAreReported(t *testing.T) {
	root := t.TempDir()
	if err := run(root, false); err == nil {
		t.Error("a root without proto files passes")
	}
	write(t, filepath.Join(root, "proto/sample.proto"), strings.Replace(sample, "string second", "strong second", 1))
	err := run(root, false)
	if err == nil || !strings.Contains(err.Error(), "sample.proto:10:") {
		t.Errorf("got %v, want an error at line 10", err)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}
