package stream

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/millrace/millrace"
	"github.com/millrace/millrace/milltest"
	"github.com/millrace/millrace/types"
)

// local runs scripts on the engine in this process.
type local struct {
	eng     *milltest.Engine
	streams map[string]*milltest.Stream
	q       *milltest.Query
	mode    string
	trigger string

	// power is what a run with a power failure does about it; see crashes_test.go.
	power *outage
}

func newLocal(t milltest.TB, v variant) *local {
	opts := []milltest.Option{
		milltest.Partitions(v.partitions), milltest.VectorRows(v.vector), milltest.Workers(v.workers), milltest.Splits(v.splits),
	}
	if v.provider != "" {
		opts = append(opts, milltest.StateProvider(v.provider))
	}
	for key, value := range v.conf {
		opts = append(opts, milltest.Conf(key, value))
	}
	return &local{eng: milltest.New(t, opts...), streams: map[string]*milltest.Stream{}}
}

func (l *local) session() *millrace.Session { return l.eng.Session }

func (l *local) stream(name string, schema types.StructType, perBatch int) (*millrace.DataFrame, error) {
	s := l.eng.Stream(schema.DDL()).LimitPerBatch(perBatch)
	l.streams[name] = s
	return s.DataFrame(), nil
}

func (l *local) add(us []unit) error {
	for _, u := range us {
		s := l.streams[u.stream]
		if s == nil {
			return fmt.Errorf("there is no stream %q", u.stream)
		}
		s.AddText(u.rows...)
	}
	return nil
}

func options(s spec) ([]milltest.QueryOption, error) {
	opts := []milltest.QueryOption{milltest.Mode(millrace.OutputMode(s.mode)), milltest.NoWriterOptions()}
	for k, v := range s.options {
		opts = append(opts, milltest.WriterOption(k, v))
	}
	if s.trigger == "" {
		return opts, nil
	}
	t, err := triggerOf(s.trigger)
	return append(opts, milltest.Trigger(t)), err
}

func triggerOf(text string) (millrace.Trigger, error) {
	switch text {
	case "":
		return millrace.Trigger{}, nil
	case "availableNow":
		return millrace.AvailableNow(), nil
	case "once":
		return millrace.Once(), nil
	}
	if rest, ok := strings.CutPrefix(text, "continuous "); ok {
		return millrace.Continuous(rest), nil
	}
	return millrace.ProcessingTime(text), nil
}

func (l *local) start(df *millrace.DataFrame, s spec) error {
	opts, err := options(s)
	if err != nil {
		return err
	}
	l.mode, l.trigger = s.mode, s.trigger
	l.power.arm(l.eng)
	if l.q, err = l.eng.TryStart(df, opts...); err != nil && l.eng.Crashed() {
		return l.power.recover(l)
	}
	return err
}

func (l *local) process() ([]milltest.Batch, error) {
	return l.power.guard(l, l.q.TryProcess)
}

func (l *local) await() ([]milltest.Batch, error) {
	return l.power.guard(l, l.q.Await)
}

func (l *local) advance(d time.Duration) ([]milltest.Batch, error) {
	if l.q == nil {
		l.eng.Clock.Advance(d)
		return nil, nil
	}
	return l.q.Advance(d), nil
}

func (l *local) crash(ws words) ([]milltest.Batch, string, error) {
	var bs []milltest.Batch
	if n, ok := ws.get("write"); ok {
		k, err := strconv.Atoi(n)
		if err != nil {
			return nil, "", err
		}
		var crashed bool
		if bs, crashed = l.q.CrashAtWrite(k); !crashed {
			return bs, "not stopped", nil
		}
	} else {
		after, _ := ws.get("after")
		bs = l.q.CrashAfter(milltest.Point(after))
	}
	offsets, commits := l.q.Log()
	return bs, fmt.Sprintf("stopped: offsets %d, commits %d", offsets, commits), nil
}

func (l *local) restart(df *millrace.DataFrame, s spec) error {
	if df != nil {
		l.q.Change(df)
	}
	if s.mode == "" {
		s.mode = l.mode
	}
	if s.trigger == "" {
		s.trigger = l.trigger
	}
	opts, err := options(s)
	if err != nil {
		return err
	}
	l.mode, l.trigger = s.mode, s.trigger
	return l.q.TryRestart(opts...)
}

func (l *local) stop() error {
	l.q.Stop()
	return nil
}

func (l *local) state(ws words) (string, error) {
	n := 0
	if len(ws) > 0 {
		var err error
		if n, err = strconv.Atoi(ws[0].name); err != nil {
			return "", err
		}
	}
	rows := l.q.State(n)
	if len(rows) == 0 {
		return "none", nil
	}
	return strings.Join(rows, "\n"), nil
}

func (l *local) folder(path string) (string, error) {
	rows, err := l.eng.Folder(path)
	if len(rows) == 0 && err == nil {
		return "none", nil
	}
	return strings.Join(rows, "\n"), err
}

func (l *local) try(df *millrace.DataFrame, s spec) error {
	opts, err := options(s)
	if err != nil {
		return err
	}
	q, err := l.eng.TryStart(df, opts...)
	if err != nil {
		return err
	}
	if _, err = q.TryProcess(); err == nil {
		q.Stop()
	}
	return err
}

func (l *local) failure() error {
	e, err := l.q.Run().Exception(l.eng.Context())
	if err != nil || e == nil {
		return errors.Join(err)
	}
	return e
}
