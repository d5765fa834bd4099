package faults

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace"
	f "github.com/millrace/millrace/functions"
	"github.com/millrace/millrace/internal/fs/errfs"
	"github.com/millrace/millrace/internal/leaktest"
)

var (
	all   = flag.Bool("faults.all", false, "every call of the file system fails once, in every way")
	every = flag.Int("faults.every", 0, "of so many calls one fails; 0 is a sample that takes some seconds")
	from  = flag.Int("faults.from", 1, "the first call that fails")
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// unit is a file of rows: minutes after 12:00, k and v.
func unit(rows ...[3]any) string {
	var b strings.Builder
	for _, r := range rows {
		at := time.Unix(start, 0).UTC().Add(time.Duration(r[0].(int)) * time.Minute)
		fmt.Fprintf(&b, "{\"ts\": %q, \"k\": %q, \"v\": %d}\n", at.Format("2006-01-02T15:04:05Z"), r[1], r[2])
	}
	return b.String()
}

type row = [3]any

var (
	left = []string{
		unit(row{0, "a", 1}, row{1, "b", 2}, row{1, "a", 3}),
		unit(row{2, "a", 4}, row{6, "c", 5}),
		unit(row{12, "b", 6}, row{13, "a", 7}, row{12, "a", 4}),
	}
	right = []string{
		unit(row{0, "a", 10}, row{2, "x", 11}),
		unit(row{4, "b", 12}, row{7, "c", 13}),
		unit(row{12, "y", 14}),
	}
	closing = unit(row{600, "end", 0})
)

var scenarios = []scenario{
	{
		name: "windows", inputs: map[string][]string{"e": left}, format: "json",
		query: sqlQuery("SELECT window.start AS start, k, count(*) AS n, sum(v) AS total FROM e GROUP BY window(ts, '5 minutes'), k"),
	},
	{
		name: "outer join", inputs: map[string][]string{"e": left, "g": right}, format: "json",
		query: sqlQuery("SELECT e.ts, e.k, e.v, g.v AS w FROM e LEFT JOIN g ON e.k = g.k AND g.ts BETWEEN e.ts AND e.ts + INTERVAL 5 MINUTES"),
	},
	{
		name: "sessions", inputs: map[string][]string{"e": left}, format: "parquet",
		query: sqlQuery("SELECT session_window.start AS start, session_window.end AS stop, k, sum(v) AS total FROM e GROUP BY session_window(ts, '3 minutes'), k"),
	},
	{
		name: "chain", inputs: map[string][]string{"e": left}, format: "json", partition: "k",
		query: func(ctx context.Context, s *millrace.Session) (*millrace.DataFrame, error) {
			return s.Table("e").DropDuplicates("k", "v", "ts").GroupBy(f.Window(f.Col("ts"), "5 minutes"), f.Col("k")).
				Agg(f.Count("*").As("n")).Select(f.Col("window.start"), f.Col("k"), f.Col("n")), nil
		},
	},
	{
		name: "rows", inputs: map[string][]string{"e": left, "g": right}, format: "parquet", partition: "k",
		query: sqlQuery("SELECT k, v + 1 AS v FROM e UNION ALL SELECT k, v FROM g WHERE v <> 11"),
	},
}

func init() {
	for i := range scenarios {
		scenarios[i].mode, scenarios[i].closing = millrace.Append, closing
	}
}

var variants = []variant{{"millrace.mem", true}, {"millrace.lsm", true}, {"millrace.mem", false}, {"millrace.lsm", false}}

// undisturbed is what a scenario gives without faults, and how many calls its run makes.
func undisturbed(t *testing.T, sc scenario, v variant, match errfs.Match) (rows []string, calls int) {
	t.Helper()
	m := newMachine(sc, v)
	count := errfs.FailAt(1<<40, match, errfs.ErrIO)
	if err := m.run(errfs.Wrap(m.mem, count)); err != nil {
		t.Fatalf("without faults: %v", err)
	}
	if err := m.close(); err != nil {
		t.Fatalf("without faults: %v", err)
	}
	rows, err := m.rows()
	if err != nil {
		t.Fatalf("without faults: %v", err)
	}
	if len(rows) < 4 {
		t.Fatalf("hardly any rows: %s", rows)
	}
	return rows, count.Seen()
}

// fault is a way in which a disk fails.
type fault struct {
	name  string
	match errfs.Match
	rule  func(k int, match errfs.Match) *errfs.Rule
	// process is set when the fault is not over before the process is.
	process bool
	// crash is set when power fails: what was not synced is lost, or a part of it.
	crash bool
	// later is set when power fails after the query has gone on: what it has found on the disk must have been made durable by somebody.
	later bool
	// lie is set when nobody is told: an error may come when the files are read.
	lie bool
}

func anything(errfs.Op) bool { return true }

var writes = errfs.Ops(errfs.Create, errfs.Write, errfs.Mkdir, errfs.Rename, errfs.RenameNew, errfs.Link)

var faultKinds = []fault{
	{name: "EIO", match: anything, rule: func(k int, m errfs.Match) *errfs.Rule { return errfs.FailAt(k, m, errfs.ErrIO) }},
	{name: "EIO, later a crash", match: anything, later: true, rule: func(k int, m errfs.Match) *errfs.Rule { return errfs.FailAt(k, m, errfs.ErrIO) }},
	{name: "full", match: writes, process: true, rule: func(k int, m errfs.Match) *errfs.Rule { return errfs.FailAt(k, m, errfs.ErrNoSpace).Forever() }},
	{name: "broken", match: anything, process: true, rule: func(k int, m errfs.Match) *errfs.Rule { return errfs.FailAt(k, m, errfs.ErrIO).Forever() }},
	{name: "short", match: errfs.Ops(errfs.Write), rule: func(k int, m errfs.Match) *errfs.Rule { return errfs.FailAt(k, m, errfs.ErrNoSpace).Short(7) }},
	{name: "crash", match: changes, process: true, crash: true, rule: func(k int, _ errfs.Match) *errfs.Rule { return errfs.CrashAt(k) }},
	{name: "torn", match: errfs.Ops(errfs.Write).Named("/ck/"), lie: true, process: true, rule: func(k int, m errfs.Match) *errfs.Rule { return errfs.FailAt(k, m, errfs.ErrIO).Torn(9) }},
}

func changes(o errfs.Op) bool {
	return !errfs.Ops(errfs.Open, errfs.Read, errfs.Close, errfs.ReadDir, errfs.Stat, errfs.Lock)(o)
}

// Wherever a disk fails, the query ends well or with an error that says what happened to which file, and goes on when the disk is well
// again: every row comes out once.
func TestFaults(t *testing.T) {
	for _, sc := range scenarios {
		for _, v := range variants {
			for _, k := range faultKinds {
				t.Run(sc.name+"/"+v.String()+"/"+k.name, func(t *testing.T) { everyCall(t, sc, v, k) })
			}
		}
	}
}

func everyCall(t *testing.T, sc scenario, v variant, k fault) {
	want, calls := undisturbed(t, sc, v, k.match)
	step := max(1, calls) // one of them
	first := *from
	switch {
	case *every > 0:
		step = *every
	case *all:
		step = 1
	default:
		first += rand.IntN(step)
	}
	for at := first; at <= calls; at += step {
		watched(t, fmt.Sprintf("%s %s %s at call %d", sc.name, v, k.name, at), func() {
			m := newMachine(sc, v)
			if err := m.suffer(k, at); err != nil {
				t.Errorf("call %d of %d: %v", at, calls, err)
				return
			}
			if k.lie && m.refused {
				return
			}
			got, err := m.rows()
			if err != nil {
				t.Errorf("call %d of %d: read the output: %v", at, calls, err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("call %d of %d (-without fault +with):\n%s", at, calls, d)
			}
		})
	}
}

// suffer runs the query into a fault and, when it is over, to the end.
func (m *machine) suffer(k fault, at int) error {
	rule := k.rule(at, k.match)
	disk := errfs.Wrap(m.mem, rule)
	ctx, s, err := m.session(disk)
	if err != nil {
		return fmt.Errorf("open a session: %w", err)
	}
	first := m.runIn(ctx, s)
	if first != nil && !rule.Hit() {
		return errors.Join(fmt.Errorf("failed without a fault: %w", first), s.Close())
	}
	if !k.crash {
		if err := telling(first, rule, k); err != nil {
			return errors.Join(err, s.Close())
		}
	}
	if first != nil && !k.process { // the same process goes on
		if err := m.runIn(ctx, s); err != nil {
			return errors.Join(fmt.Errorf("%v at %s: started again: %w", rule.First().Kind, rule.First().Name, err), s.Close())
		}
	}
	closed := s.Close()
	if closed != nil && !k.process {
		return fmt.Errorf("close the session: %w", closed)
	}
	if open := m.mem.OpenFiles(); len(open) > 0 {
		return fmt.Errorf("%v at %s: files are left open: %s", rule.First().Kind, rule.First().Name, open)
	}
	if k.crash || k.later {
		m.mem = m.mem.Crash(rand.New(rand.NewPCG(uint64(at), 1)).IntN)
		m.mem.SetClock(func() time.Time { return time.Unix(int64(start+m.files), 0).UTC() })
	}
	err = m.run(m.mem)
	if err == nil {
		err = m.close()
	}
	if err != nil && k.lie {
		m.refused = true
		return telling(err, rule, k)
	}
	if err != nil {
		return fmt.Errorf("%v at %s: a new process: %w", rule.First().Kind, rule.First().Name, err)
	}
	return nil
}

// telling checks that an error says what it is about.
func telling(err error, rule *errfs.Rule, k fault) error {
	if err == nil {
		return nil
	}
	op := rule.First()
	e, ok := errors.AsType[*millrace.Error](err)
	if !ok || e.Class == "" {
		return fmt.Errorf("%s of %s: the error has no condition: %T %w", op.Kind, op.Name, err, err)
	}
	base := filepath.Base(op.Name)
	if strings.HasSuffix(base, ".tmp") { // the file that it would have become
		base = strings.TrimPrefix(base, ".")
		base = base[:max(0, len(base)-len(".00000000-0000-0000-0000-000000000000.tmp"))]
	}
	// A part of a tree is named by the tree, a name by its directory.
	dir := filepath.Dir(op.Name)
	if !k.process && !strings.Contains(err.Error(), base) && !strings.Contains(err.Error(), dir) {
		return fmt.Errorf("%s of %s: the error does not name the file: %w", op.Kind, op.Name, err)
	}
	if k.lie {
		return nil
	}
	if reason := rule.Err().Error(); !strings.Contains(err.Error(), reason) {
		return fmt.Errorf("%s of %s: the error does not say %q: %w", op.Kind, op.Name, reason, err)
	}
	return nil
}
