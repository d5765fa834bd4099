package stream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/millrace/millrace"
	"github.com/millrace/millrace/internal/interval"
	"github.com/millrace/millrace/milltest"
	"github.com/millrace/millrace/types"
)

// target runs scripts: the engine in this process, or Spark.
type target interface {
	session() *millrace.Session
	// stream makes a stream; the DataFrame reads it.
	stream(name string, schema types.StructType, perBatch int) (*millrace.DataFrame, error)
	// start starts the query of the script.
	start(df *millrace.DataFrame, s spec) error
	// add brings rows to several streams at once.
	add(us []unit) error
	// process runs batches until there is nothing to do.
	process() ([]milltest.Batch, error)
	// await waits for a query that ends by itself.
	await() ([]milltest.Batch, error)
	// advance turns the clock.
	advance(d time.Duration) ([]milltest.Batch, error)
	// crash lets power fail while the rows added last are processed.
	crash(ws words) ([]milltest.Batch, string, error)
	// restart starts the query again, with another plan if df is set.
	restart(df *millrace.DataFrame, s spec) error
	stop() error
	// state shows what the operators keep.
	state(ws words) (string, error)
	// folder shows the rows that lie in a folder.
	folder(path string) (string, error)
	// try starts a query that should be refused, or fail.
	try(df *millrace.DataFrame, s spec) error
	failure() error
}

// errSkipped is what a target says to a command that it can't carry out; the result in the script is left as it is.
var errSkipped = errors.New("skipped")

// runner carries out the commands of one script.
type runner struct {
	t       target
	last    []milltest.Batch
	running bool
	ended   bool    // the query's trigger has ended it
	timed   bool    // its batches wait for the clock
	streams []words // as they were declared
	queries int
	options map[string]string // of the writer
	// between is called before a command that brings rows, once batches have run.
	between func() error
}

// run carries out one command. Mistakes in the script fail the test, what the engine says is the result.
func (r *runner) run(t *testing.T, d *datadriven.TestData) string {
	out, err := r.command(d)
	if errors.Is(err, errSkipped) {
		return d.Expected
	}
	if err != nil {
		t.Fatalf("%s: %s: %v", d.Pos, d.Cmd, err)
	}
	if out != "" && !strings.HasSuffix(out, "\n") {
		out += "\n"
	}
	return out
}

func (r *runner) command(d *datadriven.TestData) (string, error) {
	ws, err := argsOf(d)
	if err != nil {
		return "", err
	}
	switch d.Cmd {
	case "limits":
		return "", nil
	case "conf":
		for _, w := range ws {
			if err := r.t.session().Conf().Set(context.Background(), w.name, w.value); err != nil {
				return describe(err), nil
			}
		}
		return "", nil
	case "option":
		r.options = map[string]string{}
		for _, w := range ws {
			r.options[w.name] = w.value
		}
		return "", nil
	case "stream":
		r.streams = append(r.streams, ws)
		return "", r.stream(ws)
	case "table":
		return "", r.table(d, ws)
	case "query":
		return r.query(d, ws)
	case "add", "batch":
		return r.batch(d, ws)
	case "advance":
		if len(ws) == 0 {
			return "", fmt.Errorf("by how much?")
		}
		ms, err := interval.ParseTrigger(d.CmdArgs[0].Key + " " + ws[len(ws)-1].name)
		if err != nil {
			return "", err
		}
		return r.batches(r.t.advance(time.Duration(ms) * time.Millisecond))
	case "crash":
		return r.crash(d, ws)
	case "restart":
		return r.restart(d, ws)
	case "stop":
		r.running = false
		return "", r.t.stop()
	case "expect":
		return r.expect(d, ws)
	case "state":
		return r.t.state(ws)
	case "folder":
		if len(ws) == 0 {
			return "", fmt.Errorf("which folder?")
		}
		return r.t.folder(ws[0].name)
	case "progress":
		return r.progress(ws)
	case "plan":
		return r.plan(d)
	}
	return "", fmt.Errorf("there is no such command")
}

func (r *runner) stream(ws words) error {
	schema, err := schemaOf(ws)
	if err != nil {
		return err
	}
	perBatch := 0
	if n, ok := ws.get("per-batch"); ok {
		if perBatch, err = strconv.Atoi(n); err != nil {
			return err
		}
	}
	df, err := r.t.stream(ws[0].name, schema, perBatch)
	if err != nil {
		return err
	}
	if w, ok := ws.get("watermark"); ok {
		col, delay, _ := strings.Cut(w, ",")
		df = df.WithWatermark(strings.TrimSpace(col), strings.TrimSpace(delay))
	}
	return df.CreateOrReplaceTempView(context.Background(), ws[0].name)
}

func (r *runner) table(d *datadriven.TestData, ws words) error {
	schema, err := schemaOf(ws)
	if err != nil {
		return err
	}
	var rows [][]any
	for _, line := range strings.Split(d.Input, "\n") {
		row, err := milltest.ParseRow(line, schema)
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	return r.t.session().CreateDataFrameSchema(rows, schema).CreateOrReplaceTempView(context.Background(), ws[0].name)
}

// frame makes the DataFrame of a query.
func (r *runner) frame(s spec) (*millrace.DataFrame, error) {
	df, err := r.t.session().SQL(context.Background(), s.sql)
	if err != nil {
		return nil, err
	}
	for _, o := range s.ops {
		var list []string
		for _, a := range strings.Split(o.args, ",") {
			if a = strings.TrimSpace(a); a != "" {
				list = append(list, a)
			}
		}
		switch o.name {
		case "dropDuplicates":
			df = df.DropDuplicates(list...)
		case "dropDuplicatesWithinWatermark":
			df = df.DropDuplicatesWithinWatermark(list...)
		case "withWatermark":
			df = df.WithWatermark(list[0], list[1])
		case "limit":
			n, err := strconv.Atoi(o.args)
			if err != nil {
				return nil, err
			}
			df = df.Limit(n)
		case "where":
			df = df.Where(o.args)
		case "select":
			df = df.SelectExpr(list...)
		default:
			return nil, fmt.Errorf("there is no operation %q", o.name)
		}
	}
	return df, nil
}

func (r *runner) query(d *datadriven.TestData, ws words) (string, error) {
	if r.running {
		if err := r.t.stop(); err != nil {
			return "", err
		}
	}
	r.running, r.last = false, nil
	if r.queries++; r.queries > 1 && !ws.has("keep") {
		for _, ws := range r.streams {
			if err := r.stream(ws); err != nil {
				return "", err
			}
		}
	}
	s := r.spec(d, ws)
	df, err := r.frame(s)
	if err == nil {
		err = r.t.start(df, s)
	}
	if err != nil {
		return refused(err)
	}
	r.running = true
	if r.ended = s.ends(); r.ended {
		return r.batches(r.t.await())
	}
	r.timed = s.timed()
	bs, err := r.process() // so that what is there is a batch, and what comes next another one
	if len(bs) == 0 && err == nil {
		return "", nil
	}
	return r.batches(bs, err)
}

// spec is a query with the options of the writer that are in force.
func (r *runner) spec(d *datadriven.TestData, ws words) spec {
	s := specOf(d, ws)
	s.options = r.options
	return s
}

// process runs what there is to run. A query that waits for the clock does not run for being asked.
func (r *runner) process() ([]milltest.Batch, error) {
	if r.timed {
		return r.t.advance(0)
	}
	return r.t.process()
}

// timed tells whether the trigger is an interval.
func (s spec) timed() bool {
	return s.trigger != "" && !s.ends() && !strings.HasPrefix(s.trigger, "continuous")
}

// ends tells whether the trigger ends the query.
func (s spec) ends() bool { return s.trigger == "availableNow" || s.trigger == "once" }

func (r *runner) batch(d *datadriven.TestData, ws words) (string, error) {
	name := ""
	if len(ws) > 0 {
		name = ws[0].name
	}
	us, err := unitsOf(d, name)
	if err != nil {
		return "", err
	}
	if d.Cmd == "batch" && len(r.last) > 0 && r.between != nil {
		if err := r.between(); err != nil {
			return "", err
		}
	}
	if err := r.t.add(us); err != nil || d.Cmd == "add" {
		return "", err
	}
	return r.batches(r.process())
}

func (r *runner) batches(bs []milltest.Batch, err error) (string, error) {
	if errors.Is(err, errSkipped) {
		return "", err
	}
	if len(bs) > 0 {
		r.last = bs
	}
	text := milltest.FormatBatches(bs)
	if err != nil {
		if cause := r.t.failure(); cause != nil {
			err = cause
		}
		return strings.TrimLeft(text+"\nfailed "+describe(err), "\n"), nil
	}
	if text == "" {
		return "no batch", nil
	}
	return text, nil
}

func (r *runner) crash(d *datadriven.TestData, ws words) (string, error) {
	if len(ws) < 2 {
		return "", fmt.Errorf("it takes after=point or write=n, and a stream")
	}
	us, err := unitsOf(d, ws[1].name)
	if err != nil {
		return "", err
	}
	if err := r.t.add(us); err != nil {
		return "", err
	}
	bs, log, err := r.t.crash(ws)
	if err != nil {
		return "", err
	}
	return strings.TrimLeft(milltest.FormatBatches(bs)+"\n"+log, "\n"), nil
}

func (r *runner) restart(d *datadriven.TestData, ws words) (string, error) {
	s := r.spec(d, ws)
	var df *millrace.DataFrame
	if s.sql != "" {
		var err error
		if df, err = r.frame(s); err != nil {
			return refused(err)
		}
	}
	if err := r.t.restart(df, s); err != nil {
		return refused(err)
	}
	r.running = true
	if s.trigger != "" {
		r.ended, r.timed = s.ends(), s.timed()
	}
	if r.ended {
		return r.batches(r.t.await())
	}
	return r.batches(r.process())
}

// expect wants a query to be refused, by whoever gets to look at it first.
func (r *runner) expect(d *datadriven.TestData, ws words) (string, error) {
	if !ws.has("error") {
		return "", fmt.Errorf("expect what?")
	}
	s := r.spec(d, ws)
	df, err := r.frame(s)
	if err == nil {
		err = r.t.try(df, s)
	}
	if err == nil {
		return "no error", nil
	}
	return refused(err)
}

// refused is the result of a command that was refused. Only what has a condition is a result; anything else is a fault of the test.
func refused(err error) (string, error) {
	if _, ok := errors.AsType[*millrace.Error](err); !ok {
		return "", err
	}
	return describe(err), nil
}

// describe is an error as results show it: its condition. A failed query's is that of its cause.
func describe(err error) string {
	for {
		e, ok := errors.AsType[*millrace.Error](err)
		if !ok {
			return err.Error()
		}
		if e.Class == "STREAM_FAILED" && e.Cause != nil {
			err = e.Cause
			continue
		}
		if e.Class == "" {
			return e.Message
		}
		if e.SQLState == "" {
			return "[" + e.Class + "]"
		}
		return "[" + e.Class + "] SQLSTATE " + e.SQLState
	}
}

// progress shows fields of the last batches' reports.
func (r *runner) progress(ws words) (string, error) {
	fields, ok := ws.get("fields")
	if !ok {
		return "", fmt.Errorf("which fields?")
	}
	var b strings.Builder
	for _, batch := range r.last {
		var report any
		if err := json.Unmarshal([]byte(batch.Progress.JSON()), &report); err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "batch %d", batch.ID)
		for _, path := range strings.Split(fields, ",") {
			v, err := json.Marshal(follow(report, strings.Split(strings.TrimSpace(path), ".")))
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, "   %s %s", path, v)
		}
		b.WriteByte('\n')
	}
	return b.String(), nil
}

// follow goes down a path of names; a list is gone through.
func follow(v any, path []string) any {
	if len(path) == 0 {
		return v
	}
	switch x := v.(type) {
	case map[string]any:
		return follow(x[path[0]], path[1:])
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = follow(e, path)
		}
		return out
	}
	return nil
}

var columnID = regexp.MustCompile(`#\d+`)

// plan explains a query; columns are numbered in the order in which they come.
func (r *runner) plan(d *datadriven.TestData) (string, error) {
	df, err := r.frame(specOf(d, nil))
	if err != nil {
		return refused(err)
	}
	text, err := df.Explain(context.Background(), millrace.ExplainExtended)
	if err != nil {
		return refused(err)
	}
	seen := map[string]string{}
	text = columnID.ReplaceAllStringFunc(text, func(id string) string {
		if _, ok := seen[id]; !ok {
			seen[id] = "#" + strconv.Itoa(len(seen)+1)
		}
		return seen[id]
	})
	return regexp.MustCompile(`\n\s*\n`).ReplaceAllString(text, "\n"), nil
}
