package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/millrace/millrace"
	f "github.com/millrace/millrace/functions"
)

// checker is the program that reads the output without millrace.
//
//go:embed check.py
var checker string

// pipeline is a query with what stands on both sides of it. Its folder has the checkpoint, and all events that were put.
type pipeline struct {
	dir   string
	in    input
	query query
	out   output
}

// input is where events come from.
type input interface {
	stream(spark *millrace.Session) *millrace.DataFrame
	// all is the whole input, for a batch query.
	all(spark *millrace.Session) *millrace.DataFrame
	// put adds events, JSON texts, all or none.
	put(ctx context.Context, events []string) error
	close()
}

// output is what the query writes.
type output interface {
	start(ctx context.Context, rows *millrace.DataFrame, with writer) (*millrace.StreamingQuery, error)
	// all is what a reader sees.
	all(spark *millrace.Session) *millrace.DataFrame
	// last is the newest batch that a reader sees, -1 for none; written tells if rows were put somewhere after a moment.
	last(ctx context.Context) int64
	written(after time.Time) bool
	// reader are the arguments of check.py.
	reader() []string
	close()
}

// writer begins to write rows: with the checkpoint and the trigger, without a place.
type writer func(rows *millrace.DataFrame) *millrace.DataStreamWriter

// query is what is done with the events; ddl are the columns of its rows. Late rows cannot occur in the data, so every event counts.
type query struct {
	name, ddl string
	rows      func(events *millrace.DataFrame) *millrace.DataFrame
}

// schema is that of events.
const schema = "id BIGINT, ts TIMESTAMP, user STRING, amount BIGINT"

var queries = []query{
	{"windows", "start TIMESTAMP, total BIGINT, n BIGINT, user STRING", func(events *millrace.DataFrame) *millrace.DataFrame {
		return events.WithWatermark("ts", "1 hour").
			GroupBy(f.Window(f.Col("ts"), "10 minutes"), f.Col("user")).
			Agg(f.Sum(f.Col("amount")).As("total"), f.Count(f.Lit(1)).As("n")).
			SelectExpr("window.start AS start", "total", "n", "user")
	}},
	{"rows", "id BIGINT, ts TIMESTAMP, amount BIGINT, user STRING", func(events *millrace.DataFrame) *millrace.DataFrame {
		return events.SelectExpr("id", "ts", "amount", "user")
	}},
}

// open makes a pipeline by its name. The process that kills creates what has to be there; the one that is killed finds it.
func open(ctx context.Context, name, dir, broker string, create bool) (*pipeline, error) {
	from, rest, _ := strings.Cut(name, "-")
	what, to, _ := strings.Cut(rest, "-")
	i := slices.IndexFunc(queries, func(q query) bool { return q.name == what })
	if i < 0 {
		return nil, fmt.Errorf("no query is called %q", what)
	}
	p := &pipeline{dir: dir, query: queries[i]}
	if broker == "" && (from == "kafka" || to == "kafka") {
		return nil, fmt.Errorf("%s needs -broker", name)
	}
	var err error
	switch from {
	case "files":
		p.in = &jsonFiles{dir: p.path("in")}
		err = os.MkdirAll(p.path("in"), 0o755)
	case "kafka":
		var t *topic
		t, err = newTopic(ctx, broker, topicName(dir), create)
		p.in = topicInput{t}
	default:
		err = fmt.Errorf("no input is called %q", from)
	}
	if err != nil {
		return nil, err
	}
	switch to {
	case "parquet":
		p.out = folder{"parquet", p.path("out")}
	case "delta":
		p.out = folder{"delta", p.path("out")}
	case "kafka":
		var t *topic
		t, err = newTopic(ctx, broker, topicName(dir)+"-out", create)
		p.out = topicOutput{t, p.query.ddl, p.path("checkpoint")}
	default:
		err = fmt.Errorf("no output is called %q", to)
	}
	if err != nil {
		p.in.close()
		return nil, err
	}
	return p, nil
}

func (p *pipeline) close() {
	p.in.close()
	p.out.close()
}

// put adds events to the input, and to the list of all of them.
func (p *pipeline) put(ctx context.Context, events []string) error {
	if err := p.in.put(ctx, events); err != nil {
		return err
	}
	list, err := os.OpenFile(p.path("events"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = list.WriteString(strings.Join(events, "\n") + "\n")
	if cerr := list.Close(); err == nil {
		err = cerr
	}
	return err
}

// compare holds the output against the batch query over all input and gives the number of its rows.
func compare(ctx context.Context, p *pipeline) (int, error) {
	spark, err := millrace.Connect(ctx, "local[2]")
	if err != nil {
		return 0, err
	}
	defer spark.Close()
	want, err := texts(ctx, p.query.rows(p.in.all(spark)))
	if err != nil {
		return 0, err
	}
	got, err := texts(ctx, p.out.all(spark))
	if err != nil {
		return 0, err
	}
	if !slices.Equal(want, got) {
		return 0, fmt.Errorf("the output has %d rows and the batch query %d:\n%s", len(got), len(want), difference(want, got))
	}
	return len(got), nil
}

// texts are the rows of events, without the closing one.
func texts(ctx context.Context, df *millrace.DataFrame) ([]string, error) {
	var out []string
	for row, err := range df.Where("user <> 'end'").Rows(ctx) {
		if err != nil {
			return nil, err
		}
		out = append(out, row.String())
	}
	slices.Sort(out)
	return out, nil
}

// difference lists the rows that only one side has.
func difference(want, got []string) string {
	var b strings.Builder
	for _, w := range want {
		if _, ok := slices.BinarySearch(got, w); !ok {
			fmt.Fprintln(&b, "missing:", w)
		}
	}
	for i, g := range got {
		if _, ok := slices.BinarySearch(want, g); !ok || i > 0 && got[i-1] == g {
			fmt.Fprintln(&b, "surplus:", g)
		}
	}
	return b.String()
}
