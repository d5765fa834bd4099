package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/millrace/millrace"
)

// place is the folder of one run of a program: its input, checkpoint and output.
type place struct {
	dir   string
	fed   []int64 // the ids of the rows that went in
	files int
}

func (p *place) in() string         { return filepath.Join(p.dir, "in") }
func (p *place) out() string        { return filepath.Join(p.dir, "out") }
func (p *place) checkpoint() string { return filepath.Join(p.dir, "checkpoint") }

// epoch is when the first input file was written; each is a second older than the next, so that both engines take them in one order.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

const (
	filesPerRun = 3
	rowsPerFile = 2
)

// feed adds files to every input.
func (p *place) feed(prog *program) error {
	for range filesPerRun {
		for _, input := range prog.inputs {
			dir := filepath.Join(p.in(), input)
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
			var b strings.Builder
			for range rowsPerFile {
				id := int64(len(p.fed))
				p.fed = append(p.fed, id)
				fmt.Fprintf(&b, "{\"id\":%d,\"k\":\"k%d\"}\n", id, id%2)
			}
			name := filepath.Join(dir, fmt.Sprintf("f %03d.json", p.files))
			if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
				return err
			}
			at := epoch.Add(time.Duration(p.files) * time.Second)
			if err := os.Chtimes(name, at, at); err != nil {
				return err
			}
			p.files++
		}
	}
	return nil
}

// found counts what is in the inputs of a place that was filled before.
func (p *place) found(prog *program) error {
	for _, input := range prog.inputs {
		entries, err := os.ReadDir(filepath.Join(p.in(), input))
		if err != nil {
			return err
		}
		p.files += len(entries)
	}
	for id := range p.files * rowsPerFile {
		p.fed = append(p.fed, int64(id))
	}
	return nil
}

// drain runs the query until it has read what there is.
func (p *place) drain(ctx context.Context, s *millrace.Session, prog *program) error {
	q, err := prog.query(s, p.in()).WriteStream().Format(prog.format).PartitionBy(prog.partitions...).
		Option("checkpointLocation", p.checkpoint()).Trigger(millrace.AvailableNow()).Start(ctx, p.out())
	if err != nil {
		return err
	}
	return q.AwaitTermination(ctx)
}

// ids reads the output through the log of the sink.
func (p *place) ids(ctx context.Context, s *millrace.Session, prog *program) ([]int64, error) {
	df := s.Read().Format(prog.format).SchemaDDL(schema).Load(p.out()).SelectExpr("id")
	var ids []int64
	for row, err := range df.Rows(ctx) {
		if err != nil {
			return nil, err
		}
		id, ok := row.At(0).(int64)
		if !ok {
			return nil, fmt.Errorf("a row of the output has no id")
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// crash makes what is on disk what a crash leaves at a point of the last batch.
func (p *place) crash(point byte) error {
	last, err := newest(filepath.Join(p.checkpoint(), "offsets"))
	if err != nil {
		return err
	}
	gone := []string{entry(p.checkpoint(), "commits", last)}
	switch point {
	case 'c': // the sink has the batch, the commit log does not
	case 's': // the data files are there, the sink's log does not know them
		gone = append(gone, entry(p.out(), "_spark_metadata", last))
	case 'o': // the source has logged its files, the batch was not planned
		gone = append(gone, entry(p.out(), "_spark_metadata", last), entry(p.checkpoint(), "offsets", last))
	default:
		return fmt.Errorf("no crash point %q", point)
	}
	for _, name := range gone {
		for _, suffix := range []string{"", ".compact"} {
			name := name + suffix
			sum := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+".crc")
			for _, f := range []string{name, sum} {
				if err := os.Remove(f); err != nil && !errors.Is(err, os.ErrNotExist) {
					return err
				}
			}
		}
	}
	return nil
}

func entry(dir, log string, n int64) string { return filepath.Join(dir, log, strconv.FormatInt(n, 10)) }

// newest is the highest number of a log.
func newest(dir string) (int64, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	last := int64(-1)
	for _, e := range entries {
		if n, err := strconv.ParseInt(strings.TrimSuffix(e.Name(), ".compact"), 10, 64); err == nil {
			last = max(last, n)
		}
	}
	if last < 0 {
		return 0, fmt.Errorf("%s has no entries", dir)
	}
	return last, nil
}

// engines are the sessions by the letters of turns.
type engines map[byte]*millrace.Session

// play runs a program by turns: a letter is a run on that engine over new input, or a crash at a point of the last batch.
func (e engines) play(ctx context.Context, prog *program, p *place, turns string) error {
	for i := range len(turns) {
		s := e[turns[i]]
		if s == nil {
			if err := p.crash(turns[i]); err != nil {
				return err
			}
			continue
		}
		if err := p.feed(prog); err != nil {
			return err
		}
		if prog.untimed {
			time.Sleep(1100 * time.Millisecond) // its source has nothing new within a second
		}
		if err := p.drain(ctx, s, prog); err != nil {
			return fmt.Errorf("turn %d of %s: %w", i+1, turns, err)
		}
	}
	return nil
}

// verify reads the output with every engine.
func (e engines) verify(ctx context.Context, prog *program, p *place) error {
	for letter, s := range e {
		got, err := p.ids(ctx, s, prog)
		if err == nil {
			err = prog.check(p.fed, got)
		}
		if err != nil {
			return fmt.Errorf("output as %c reads it: %w", letter, err)
		}
	}
	return nil
}

// settings make both engines write the same constants.
func settings(ctx context.Context, s *millrace.Session) error {
	return s.Conf().Set(ctx, "spark.sql.shuffle.partitions", "2")
}

// written is everything beside the data, masked, as one text.
func (p *place) written(prog *program) (string, error) {
	var names []string
	err := filepath.WalkDir(p.dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(name, ".crc") {
			return err
		}
		rel, err := filepath.Rel(p.dir, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if strings.HasPrefix(rel, "checkpoint/") || strings.HasPrefix(rel, "out/_spark_metadata/") {
			names = append(names, rel)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	slices.SortFunc(names, byNumber)
	var b strings.Builder
	for _, rel := range names {
		content, err := os.ReadFile(filepath.Join(p.dir, rel))
		if err != nil {
			return "", err
		}
		text, err := mask(rel, string(content), p.dir, prog)
		if err != nil {
			return "", fmt.Errorf("%s: %w", rel, err)
		}
		fmt.Fprintf(&b, "-- %s --\n%s\n", rel, text)
	}
	return b.String(), nil
}
