package sourcetest

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/millrace/millrace/source"
)

// Env is an environment for tables under test: UTC, no settings, two splits side by side.
func Env() source.Env {
	return source.Env{Now: time.Now, Zone: time.UTC, Conf: func(string) string { return "" }, Parallelism: 2}
}

// Rows reads splits one after the other and prints their rows, the columns divided by " | ".
func Rows(t testing.TB, splits []source.Split) []string {
	t.Helper()
	rows, err := ReadRows(t.Context(), splits)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// ReadRows is Rows for reads that may fail; it returns the rows before the error.
func ReadRows(ctx context.Context, splits []source.Split) ([]string, error) {
	var rows []string
	var kept []arrow.RecordBatch
	for _, s := range splits {
		r, err := s.Open(ctx)
		if err != nil {
			return printed(rows, kept), err
		}
		for {
			rec, err := r.Next(ctx)
			if err == io.EOF {
				break
			}
			if err != nil {
				return printed(rows, kept), errors.Join(err, r.Close())
			}
			kept = append(kept, rec) // records stay valid: they are looked at when all have been read
		}
		if err := r.Close(); err != nil {
			return printed(rows, kept), err
		}
	}
	return printed(rows, kept), nil
}

func printed(rows []string, recs []arrow.RecordBatch) []string {
	for _, rec := range recs {
		for i := range int(rec.NumRows()) {
			cells := make([]string, rec.NumCols())
			for c := range cells {
				cells[c] = rec.Column(c).ValueStr(i)
			}
			rows = append(rows, strings.Join(cells, " | "))
		}
	}
	return rows
}

// Log is a source log in a directory.
type Log struct{ dir string }

// NewLog returns a log in a directory that is made with the first entry.
func NewLog(dir string) *Log { return &Log{dir} }

// Add implements source.Log.
func (l *Log) Add(n int64, content []byte) error {
	if err := os.MkdirAll(l.dir, 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(l.file(n), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

// Get implements source.Log.
func (l *Log) Get(n int64) ([]byte, error) { return os.ReadFile(l.file(n)) }

// Dir implements source.Log.
func (l *Log) Dir() string { return l.dir }

func (l *Log) file(n int64) string { return filepath.Join(l.dir, strconv.FormatInt(n, 10)) }
