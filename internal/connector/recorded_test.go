package connector

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/connector/files/filestest"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/source/sourcetest"
	"github.com/millrace/millrace/types"
)

// A stream reads what a batch reads, under each option of the formats: the cases recorded for package session, which compares batches
// with Spark's answers. Spark's streams give the same rows, but for a VARIANT that takes whole records of CSV, which its batches refuse.
func TestStreamsReadAsBatchesDo(t *testing.T) {
	RegisterAll()
	f, err := os.Open("../session/testdata/formats.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	dir := t.TempDir()
	read := 0
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c struct {
			Key, Format, Schema, Query string
			Options, Files             map[string]string
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if c.Files == nil || c.Schema == "" || c.Query != "" {
			continue // a stream needs a schema
		}
		if testing.Short() && c.Key[0] != '0' {
			continue
		}
		read++
		path := filepath.Join(dir, c.Key)
		for name, text := range c.Files {
			if encoded, ok := strings.CutPrefix(text, "base64:"); ok {
				b, err := base64.StdEncoding.DecodeString(encoded)
				if err != nil {
					t.Fatal(err)
				}
				text = string(b)
			}
			filestest.Put(t, filepath.Join(path, filepath.FromSlash(name)), text)
		}
		schema, err := types.ParseDDL(c.Schema)
		if err != nil {
			t.Fatal(err)
		}
		req := source.Request{Format: c.Format, Schema: &schema, Options: c.Options, Paths: []string{path}, Env: sourcetest.Env()}
		batch, batchErr := recordedBatch(t.Context(), req)
		req.Stream = true
		stream, streamErr := recordedStream(t.Context(), req, filepath.Join(dir, c.Key+".log"))
		if a, b := condition(batchErr), condition(streamErr); a != b {
			t.Errorf("%s: %s %v %s: a batch ends with %q, a stream with %q (%v)", c.Key, c.Format, c.Options, c.Schema, a, b, streamErr)
		} else if d := cmp.Diff(batch, stream); d != "" && batchErr == nil {
			t.Errorf("%s: %s %v %s: (-batch +stream)\n%s", c.Key, c.Format, c.Options, c.Schema, d)
		}
	}
	if err := lines.Err(); err != nil || read == 0 {
		t.Errorf("read %d cases: %v", read, err)
	}
}

func condition(err error) string {
	if err == nil {
		return ""
	}
	return errclass.Internal(err).Class
}

// recordedBatch are the rows of a table, sorted.
func recordedBatch(ctx context.Context, req source.Request) ([]string, error) {
	table, err := source.Lookup(req.Format).Open(ctx, req)
	if err != nil {
		return nil, err
	}
	splits, err := table.(source.Batch).Scan(ctx, source.Projection{})
	if err != nil {
		return nil, err
	}
	rows, err := sourcetest.ReadRows(ctx, splits)
	slices.Sort(rows)
	return rows, err
}

// recordedStream are the rows that a stream has at its start, sorted.
func recordedStream(ctx context.Context, req source.Request, log string) ([]string, error) {
	table, err := source.Lookup(req.Format).Open(ctx, req)
	if err != nil {
		return nil, err
	}
	s, err := table.(source.Streamer).Stream(ctx, source.StreamEnv{Log: sourcetest.NewLog(log)})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	end, err := s.LatestOffset(ctx, nil, source.LimitNone)
	if err != nil || end == nil {
		return nil, err
	}
	splits, err := s.Plan(ctx, nil, end)
	if err != nil {
		return nil, err
	}
	rows, err := sourcetest.ReadRows(ctx, splits)
	slices.Sort(rows)
	return rows, err
}
