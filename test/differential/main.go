package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"time"

	"github.com/millrace/millrace"
	_ "github.com/millrace/millrace/engine"
)

func main() {
	var o options
	flag.StringVar(&o.spark, "spark", "", "Spark Connect server of an Apache Spark")
	flag.StringVar(&o.millrace, "millrace", "local[2]", "what is compared with it")
	flag.DurationVar(&o.time, "time", time.Minute, "how long to ask")
	flag.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()), "where to begin; every round has a seed of its own, one more than the last")
	flag.IntVar(&o.rounds, "n", 0, "how many rounds of one table and 40 questions; as many as there is time for by default")
	flag.StringVar(&o.file, "file", "", "ask the questions of this file instead, one a line")
	flag.StringVar(&o.again, "again", "", "ask once more what an earlier run has printed into this file")
	flag.StringVar(&o.about, "about", "", "\"scalars\" asks only for single expressions, \"queries\" only for queries")
	flag.StringVar(&o.record, "record", "", "write Spark's answers to the questions of -file into this file, for the test of the package")
	only := flag.String("run", ".", "only questions that match this regular expression")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if o.only, err = regexp.Compile(*only); err == nil {
		err = compare(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "differential:", err)
		os.Exit(1)
	}
}

type options struct {
	spark, millrace     string
	time                time.Duration
	seed                uint64
	rounds              int
	file, record, about string
	again               string
	only                *regexp.Regexp
}

// pair is the two servers, in the same settings.
type pair struct {
	ours, spark *millrace.Session
	found       map[string]int // differences by what they look like
	asked       int
	errors      int // questions that both refuse
	explained   int
	rows        int // of table t
}

func connect(ctx context.Context, address string) (*millrace.Session, error) {
	return millrace.Connect(ctx, address, millrace.WithConf("spark.sql.session.timeZone", "America/Los_Angeles"), millrace.WithConf("spark.sql.shuffle.partitions", "2"),
		millrace.WithConf("spark.sql.codegen.wholeStage", "false"), millrace.WithConf("spark.sql.codegen.factoryMode", "NO_CODEGEN"),
		millrace.WithConf("spark.sql.legacy.storeAnalyzedPlanForView", "true"), millrace.WithConf("spark.sql.timeType.enabled", "true")) // compiling would take most of the time
}

// compare asks until the time is over.
func compare(ctx context.Context, o options) error {
	if o.spark == "" {
		return errors.New("-spark is needed: start a server with `make oracle`")
	}
	p := &pair{found: map[string]int{}}
	for address, s := range map[string]**millrace.Session{o.millrace: &p.ours, o.spark: &p.spark} {
		var err error
		if *s, err = connect(ctx, address); err != nil {
			return err
		}
		defer (*s).Close()
	}
	switch {
	case o.record != "":
		return record(ctx, p.spark, o)
	case o.file != "":
		return p.askFile(ctx, o)
	case o.again != "":
		return p.askAgain(ctx, o)
	}
	began := time.Now()
	for round := 0; ctx.Err() == nil && time.Since(began) < o.time && (o.rounds == 0 || round < o.rounds); round++ {
		ask := p.round
		if o.about == "scalars" || o.about == "" && round%2 == 1 {
			ask = p.scalars
		}
		if err := ask(ctx, o.seed+uint64(round), o); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "%s: %d questions, %d of them refused by both, %d differences, %d known\n", time.Since(began).Round(time.Second), p.asked, p.errors, len(p.found), p.explained)
	}
	if len(p.found) > 0 {
		return fmt.Errorf("%d differences", len(p.found))
	}
	return nil
}

// prepare makes the tables in both sessions.
func (p *pair) prepare(ctx context.Context, ansi string, tables ...string) error {
	for _, s := range []*millrace.Session{p.ours, p.spark} {
		if err := s.Conf().Set(ctx, "spark.sql.ansi.enabled", ansi); err != nil {
			return err
		}
		for _, t := range tables {
			if _, err := s.SQL(ctx, t); err != nil {
				return fmt.Errorf("%s: %w", t, err)
			}
		}
	}
	return nil
}

// conf sets a setting in both sessions.
func (p *pair) conf(ctx context.Context, key, value string) error {
	return errors.Join(p.ours.Conf().Set(ctx, key, value), p.spark.Conf().Set(ctx, key, value))
}

// perRound is how many questions are asked about a pair of tables.
const perRound = 40

// forQueries makes the tables of a round of queries, and returns where the randomness is then.
func (p *pair) forQueries(ctx context.Context, seed uint64) (r *rand.Rand, ansi string, err error) {
	r = rand.New(rand.NewPCG(seed, 0))
	ansi = fmt.Sprint(r.IntN(3) > 0)
	if err := p.conf(ctx, "spark.sql.session.timeZone", zones[0]); err != nil {
		return nil, "", err
	}
	rows := r.IntN(4) * r.IntN(12)
	p.rows = max(1, rows)
	return r, ansi, p.prepare(ctx, ansi, view(r, "t", rows), view(r, "u", r.IntN(20)))
}

func (p *pair) round(ctx context.Context, seed uint64, o options) error {
	r, ansi, err := p.forQueries(ctx, seed)
	if err != nil {
		return err
	}
	g := &generator{r: r}
	for i := range perRound {
		var n *node
		query := ""
		if i%2 == 0 {
			n = g.expression("any", 1+r.IntN(3))
			query = asQuery(n)
		} else {
			query = g.query()
		}
		if !o.only.MatchString(query) {
			continue
		}
		diff, err := p.ask(ctx, query)
		if err != nil {
			return err
		}
		if diff == "" {
			continue
		}
		if n != nil {
			if n, diff, err = p.smaller(ctx, n, diff); err != nil {
				return err
			}
			query = asQuery(n)
			if diff, err = p.byRow(ctx, n.String(), diff); err != nil {
				return err
			}
		}
		p.report(seed, ansi, query, diff)
	}
	return nil
}

func asQuery(n *node) string { return fmt.Sprintf("SELECT id, %s AS c FROM t", n) }

// gone is how a server sounds that has died.
var gone = regexp.MustCompile("connection refused|Application error processing RPC|stopped SparkContext")

func (p *pair) ask(ctx context.Context, query string) (string, error) {
	ours, theirs := ask(ctx, p.ours, query), ask(ctx, p.spark, query)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if theirs.class == noCondition && gone.MatchString(theirs.err.Error()) {
		return "", theirs.err
	}
	if errors.Is(theirs.err, context.DeadlineExceeded) || theirs.err != nil && strings.Contains(theirs.err.Error(), "deadline exceeded") {
		return "", nil // a machine that is too busy says nothing
	}
	p.asked++
	if ours.err != nil && theirs.err != nil {
		p.errors++
	}
	diff := differ(ours, theirs)
	if diff != "" && ours.err != nil {
		diff += "\n    millrace: " + firstLine(ours.err)
	}
	if diff != "" && theirs.err != nil {
		diff += "\n    spark: " + firstLine(theirs.err)
	}
	return diff, nil
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line[:min(len(line), 300)]
}

// smaller finds the smallest part of an expression that differs by itself.
func (p *pair) smaller(ctx context.Context, n *node, diff string) (*node, string, error) {
	for _, k := range n.kids {
		if len(k.kids) == 0 {
			continue
		}
		d, err := p.ask(ctx, asQuery(k))
		if err != nil {
			return n, diff, err
		}
		if d != "" {
			return p.smaller(ctx, k, d)
		}
	}
	return n, diff, nil
}

var details = regexp.MustCompile("`[a-z0-9]+`|'[^']*'|[0-9.]+|CAST\\(NULL AS [^)]*\\)")

// twoErrors is how a difference looks that may come from which of several rows an error is about.
var twoErrors = regexp.MustCompile(`^(errors? \S+ 22\w+ (and \S+ 22|at "[^"]+" and "[^"]+")|parameter \S+ of)`)

// byRow looks at two errors of an expression again, row by row: of several rows that fail, any may be reported. The difference is left
// that a single row shows.
func (p *pair) byRow(ctx context.Context, expr, diff string) (string, error) {
	if p.rows < 2 || !twoErrors.MatchString(diff) {
		return diff, nil
	}
	for id := range p.rows {
		query := fmt.Sprintf("SELECT %s AS c FROM t WHERE id = %d", expr, id)
		ours, theirs := ask(ctx, p.ours, query), ask(ctx, p.spark, query)
		if d := p.compare(ours, theirs); d != "" || ctx.Err() != nil {
			return d, ctx.Err()
		}
	}
	return "", nil
}

// report prints a difference, unless it is explained or one like it has been.
func (p *pair) report(seed uint64, ansi, query, diff string) {
	if diff == "" {
		p.explained++
		return
	}
	if reason := reasonOf(query, diff, p.rows); reason != "" {
		p.explained++
		return
	}
	like := details.ReplaceAllString(query, "")
	p.found[like]++
	if p.found[like] > 1 {
		return
	}
	fmt.Printf("seed %d, ansi %s: %s\n    %s\n\n", seed, ansi, query, diff)
}
