package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/fs/errfs"
)

// change is a statement that changes a warehouse.
type change struct {
	setup []string
	text  string // a query after saveOver has its rows saved over the table t, partitioned by p
	// steps is set when it is done one thing after the other, and may be cut off between them.
	steps bool
}

const saveOver = "saveAsTable t: "

var statements = map[string]change{
	"save over": {
		[]string{"CREATE TABLE t USING $ PARTITIONED BY (p) AS SELECT id AS a, id % 3 AS p FROM range(5)"},
		saveOver + "SELECT concat('x', a) AS b, p FROM t WHERE a > 2", false,
	},
	"create":             {nil, "CREATE TABLE t (a BIGINT, b STRING) USING $ COMMENT 'x'", false},
	"create as":          {nil, "CREATE TABLE t USING $ AS SELECT id AS a FROM range(5)", false},
	"create partitioned": {nil, "CREATE TABLE t USING $ PARTITIONED BY (p) AS SELECT id AS a, id % 2 AS p FROM range(5)", false},
	"drop":               {[]string{"CREATE TABLE t USING $ AS SELECT id AS a FROM range(5)"}, "DROP TABLE t", false},
	"drop external":      {[]string{"CREATE TABLE t USING $ LOCATION '/elsewhere' AS SELECT id AS a FROM range(5)"}, "DROP TABLE t", false},
	"rename":             {[]string{"CREATE TABLE t USING $ AS SELECT id AS a FROM range(5)"}, "ALTER TABLE t RENAME TO u", false},
	"rename external":    {[]string{"CREATE TABLE t USING $ LOCATION '/elsewhere' AS SELECT id AS a FROM range(5)"}, "ALTER TABLE t RENAME TO u", false},
	"add column":         {[]string{"CREATE TABLE t USING $ AS SELECT id AS a FROM range(5)"}, "ALTER TABLE t ADD COLUMNS (b STRING)", false},
	"database":           {nil, "CREATE DATABASE d", false},
	"drop database": {
		[]string{"CREATE DATABASE d", "CREATE TABLE d.t USING $ AS SELECT id AS a FROM range(5)", "CREATE TABLE d.u (a INT) USING $"},
		"DROP DATABASE d CASCADE", true,
	},
	"view":      {[]string{"CREATE TABLE t USING $ AS SELECT id AS a FROM range(5)"}, "CREATE VIEW v AS SELECT sum(a) AS s FROM t", false},
	"drop view": {[]string{"CREATE VIEW v AS SELECT 1 AS one"}, "DROP VIEW v", false},
}

// warehouse is what somebody sees of the machine's tables.
func warehouse(ctx context.Context, s *millrace.Session) (out []string, err error) {
	cells := func(text string, column int) (list []string) {
		if err != nil {
			return nil
		}
		df, qerr := s.SQL(ctx, text)
		if qerr != nil {
			err = fmt.Errorf("%s: %w", text, qerr)
			return nil
		}
		rows, qerr := df.Collect(ctx)
		if qerr != nil {
			err = fmt.Errorf("%s: %w", text, qerr)
		}
		for _, r := range rows {
			text := fmt.Sprint(r)
			if column >= 0 {
				text = fmt.Sprint(r.At(column))
			}
			list = append(list, text)
		}
		slices.Sort(list)
		return list
	}
	for _, db := range cells("SHOW DATABASES", 0) {
		out = append(out, db)
		for _, t := range cells("SHOW TABLES IN "+db, 1) {
			out = append(out, db+"."+t+" "+strings.Join(cells("SELECT * FROM "+db+"."+t, -1), " "))
		}
	}
	return out, err
}

// in runs f with a session over a file system, as a new process does.
func (m *machine) in(fsys fs.FS, f func(context.Context, *millrace.Session) error) (err error) {
	ctx, s, err := m.session(fsys)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return f(ctx, s)
}

// TestTables: a statement about tables that is cut off, at any call of the file system, was run or was not: by the process's end, by a power
// cut, or by an error after which the same process goes on. Then it can be run again.
func TestTables(t *testing.T) {
	for name, c := range statements {
		for _, format := range []string{"parquet", "delta"} {
			if !strings.Contains(strings.Join(append(c.setup, c.text), " "), "$") && format != "parquet" {
				continue
			}
			t.Run(name+" "+format, func(t *testing.T) { c.in(format).run(t, format) })
		}
	}
}

func (c change) in(format string) change {
	as := func(text string) string { return strings.ReplaceAll(text, "$", format) }
	c.text, c.setup = as(c.text), slices.Clone(c.setup)
	for i := range c.setup {
		c.setup[i] = as(c.setup[i])
	}
	return c
}

func (c change) run(t *testing.T, format string) {
	statement := func(text string) func(context.Context, *millrace.Session) error {
		return func(ctx context.Context, s *millrace.Session) error {
			df, err := s.SQL(ctx, strings.TrimPrefix(text, saveOver))
			if err == nil && strings.HasPrefix(text, saveOver) {
				w := df.Write().Format(format).Mode(millrace.SaveOverwrite).PartitionBy("p").Option("overwriteSchema", "true")
				return w.SaveAsTable(ctx, "t")
			}
			return err
		}
	}
	see := func(m *machine, fsys fs.FS) (out []string) {
		t.Helper()
		if err := m.in(fsys, func(ctx context.Context, s *millrace.Session) (err error) {
			out, err = warehouse(ctx, s)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return out
	}
	ready := func() *machine {
		m := newMachine(scenario{}, variant{provider: "millrace.mem"})
		for _, text := range c.setup {
			if err := m.in(m.mem, statement(text)); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
		return m
	}
	m := ready()
	before := see(m, m.mem)
	if err := m.in(m.mem, statement(c.text)); err != nil {
		t.Fatal(err)
	}
	after := see(m, m.mem)
	if d := cmp.Diff(after, see(m, m.mem.Crash(nil))); d != "" {
		t.Errorf("what was done is not there after a power cut:\n%s", d)
	}
	step := 1
	if !*all {
		step = 3
	}
	for _, way := range []string{"end", "power", "error"} {
		for k := 1; ; k += step {
			m, rule := ready(), errfs.CrashAt(k)
			if way == "error" {
				rule = errfs.FailAt(k, func(errfs.Op) bool { return true }, errfs.ErrIO)
			}
			where := func() string { return fmt.Sprintf("%s at call %d (%v)", way, k, rule.First()) }
			check := func(got []string, err error) {
				t.Helper()
				if err != nil {
					t.Fatalf("%s: %v", where(), err)
				}
				if !c.steps && !slices.Equal(got, before) && !slices.Equal(got, after) {
					t.Fatalf("%s: between before and after:\n%s", where(), strings.Join(got, "\n"))
				}
			}
			again := func(ctx context.Context, s *millrace.Session) error {
				got, err := warehouse(ctx, s)
				check(got, err)
				if !slices.Equal(got, after) {
					if err := statement(c.text)(ctx, s); err != nil {
						t.Fatalf("%s: again: %v", where(), err)
					}
				}
				return nil
			}
			disk := m.mem
			err := m.in(errfs.Wrap(m.mem, rule), func(ctx context.Context, s *millrace.Session) error {
				err := statement(c.text)(ctx, s)
				if way == "error" && rule.Hit() {
					return again(ctx, s)
				}
				return err
			})
			switch {
			case way == "power":
				disk = m.mem.Crash(nil)
				fallthrough
			case way == "end":
				if rule.Hit() {
					err = m.in(disk, again)
				}
			}
			if err != nil {
				t.Fatalf("%s: %v", where(), err)
			}
			if d := cmp.Diff(after, see(m, disk)); d != "" {
				t.Fatalf("%s: in the end (-want +got):\n%s", where(), d)
			}
			if !rule.Hit() {
				break
			}
		}
	}
}
