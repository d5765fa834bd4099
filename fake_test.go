package millrace

import (
	"context"
	"errors"
	"io"
	"iter"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/backend"
	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
)

// fake is a backend whose executions play what the test puts into their channel.
type fake struct {
	backend.Backend // anything else is a nil call

	mu       sync.Mutex
	commands []*connectpb.Command
	play     func(c *connectpb.Command) *script
	version  func() *connectpb.AnalyzePlanResponse
}

// script is one execution: responses as they are sent, the end when the channel is closed.
type script struct {
	out chan *connectpb.ExecutePlanResponse
	err error // after the last response
}

func (f *fake) Execute(ctx context.Context, req *connectpb.ExecutePlanRequest) (backend.Responses, error) {
	c := req.GetPlan().GetCommand()
	f.mu.Lock()
	f.commands = append(f.commands, c)
	f.mu.Unlock()
	return &playing{ctx: ctx, s: f.play(c)}, nil
}

func (f *fake) Analyze(context.Context, *connectpb.AnalyzePlanRequest) (*connectpb.AnalyzePlanResponse, error) {
	return f.version(), nil
}

func (f *fake) ReleaseSession(context.Context, *connectpb.ReleaseSessionRequest) (*connectpb.ReleaseSessionResponse, error) {
	return &connectpb.ReleaseSessionResponse{}, nil
}

func (f *fake) AddArtifacts(context.Context, backend.Session, iter.Seq2[backend.Artifact, error]) error {
	return nil
}

func (f *fake) Close() error { return nil }

type playing struct {
	ctx context.Context
	s   *script
}

func (p *playing) Next() (*connectpb.ExecutePlanResponse, arrow.RecordBatch, error) {
	select {
	case r, ok := <-p.s.out:
		if ok {
			return r, nil, nil
		}
		if p.s.err != nil {
			return nil, nil, p.s.err
		}
		return nil, nil, io.EOF
	case <-p.ctx.Done():
		return nil, nil, p.ctx.Err()
	}
}

func (p *playing) Close() error { return nil }

// replies is an execution that is all there from the start.
func replies(rs ...*connectpb.ExecutePlanResponse) *script {
	s := &script{out: make(chan *connectpb.ExecutePlanResponse, len(rs))}
	for _, r := range rs {
		s.out <- r
	}
	close(s.out)
	return s
}

func events(m *connectpb.StreamingQueryListenerEventsResult) *connectpb.ExecutePlanResponse {
	return &connectpb.ExecutePlanResponse{
		ResponseType: &connectpb.ExecutePlanResponse_StreamingQueryListenerEventsResult{StreamingQueryListenerEventsResult: m},
	}
}

func added() *connectpb.ExecutePlanResponse {
	yes := true
	return events(&connectpb.StreamingQueryListenerEventsResult{ListenerBusListenerAdded: &yes})
}

func idle(id string) *connectpb.ExecutePlanResponse {
	return events(&connectpb.StreamingQueryListenerEventsResult{Events: []*connectpb.StreamingQueryListenerEvent{{
		EventJson: `{"id":"` + id + `","runId":"r","timestamp":"2026-01-01T00:00:10.000Z"}`, EventType: connectpb.StreamingQueryEventType_QUERY_IDLE_EVENT,
	}}})
}

// bus is a session whose streams of events the test plays.
type bus struct {
	*Session
	streams chan *script // those that were opened
	got     chan string  // ids of events that a listener saw
}

func newBus(t *testing.T, confirm bool) *bus {
	b := &bus{streams: make(chan *script, 10), got: make(chan string, 100)}
	var current *script
	f := &fake{play: func(c *connectpb.Command) *script {
		if c.GetStreamingQueryListenerBusCommand().GetAddListenerBusListener() {
			current = &script{out: make(chan *connectpb.ExecutePlanResponse, 100)}
			if confirm {
				current.out <- added()
			}
			b.streams <- current
			return current
		}
		close(current.out) // the stream ends when the listener is removed
		return replies()
	}}
	b.Session = newSession(f, "", "s")
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func (b *bus) listener() *ListenerFuncs {
	return &ListenerFuncs{Idle: func(e QueryIdleEvent) { b.got <- e.ID }}
}

func (b *bus) wait(t *testing.T, want string) {
	t.Helper()
	select {
	case id := <-b.got:
		if id != want {
			t.Errorf("event %q, want %q", id, want)
		}
	case <-time.After(5 * time.Minute):
		t.Fatalf("no event %q", want)
	}
}

func TestEventsReachTheirListeners(t *testing.T) {
	b := newBus(t, true)
	m, l := b.Streams(), b.listener()
	if err := m.AddListener(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	stream := <-b.streams
	stream.out <- idle("1")
	b.wait(t, "1")

	other := &ListenerFuncs{}
	if err := m.AddListener(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if err := m.RemoveListener(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if len(b.streams) > 0 {
		t.Error("a second stream was opened")
	}
	stream.out <- idle("2")
	if err := m.RemoveListener(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	b.wait(t, "2") // raised before the removal

	if err := m.AddListener(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	(<-b.streams).out <- idle("3")
	b.wait(t, "3")
}

func TestAListenerMayUseTheSession(t *testing.T) {
	b := newBus(t, true)
	m := b.Streams()
	l := &ListenerFuncs{Idle: func(e QueryIdleEvent) {
		if err := m.AddListener(context.Background(), b.listener()); err != nil {
			t.Error(err)
		}
		started := `{"id": "x"}`
		if err := b.bus.starting()(&started); err != nil { // as Start does
			t.Error(err)
		}
		b.got <- "used"
	}}
	if err := m.AddListener(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	(<-b.streams).out <- idle("1")
	b.wait(t, "used")
}

func TestNoEventOvertakesAStart(t *testing.T) {
	b := newBus(t, true)
	m, l := b.Streams(), b.listener()
	l.Started = func(e QueryStartedEvent) { b.got <- "start of " + e.ID }
	if err := m.AddListener(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	stream := <-b.streams
	sub, first, second := b.bus.subscription(), b.bus.starting(), b.bus.starting()
	stream.out <- idle("1")
	close(stream.out)
	<-sub.read
	started := `{"id": "1"}`
	if err := first(&started); err != nil {
		t.Fatal(err)
	}
	b.wait(t, "start of 1")
	if err := second(nil); err != nil { // a start that failed
		t.Fatal(err)
	}
	b.wait(t, "1")
}

func TestABrokenStreamEndsItsListeners(t *testing.T) {
	b := newBus(t, true)
	m := b.Streams()
	if err := m.AddListener(t.Context(), b.listener()); err != nil {
		t.Fatal(err)
	}
	stream := <-b.streams
	sub := b.bus.subscription()
	stream.err = errors.New("gone")
	close(stream.out)
	<-sub.done
	if err := m.AddListener(t.Context(), b.listener()); err != nil {
		t.Fatal(err)
	}
	(<-b.streams).out <- idle("2")
	b.wait(t, "2")
	if len(b.got) > 0 {
		t.Error("the first listener is still there")
	}
}

func TestAddingAListenerEndsWithItsContext(t *testing.T) {
	b := newBus(t, false) // the server never confirms
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-b.streams
		cancel()
	}()
	if err := b.Streams().AddListener(ctx, b.listener()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if b.bus.subscription() != nil {
		t.Error("the stream is still there")
	}
}

type byValue struct{ StreamingQueryListener }

func TestListenersMustBeComparable(t *testing.T) {
	b := newBus(t, true)
	for _, l := range []StreamingQueryListener{nil, struct {
		byValue
		f []func()
	}{}} {
		if err := b.Streams().AddListener(t.Context(), l); !errclass.Has(err, "UNUSABLE_LISTENER") {
			t.Errorf("%T gives %v", l, err)
		}
	}
}

func TestResponsesAreChecked(t *testing.T) {
	offset := int64(3)
	batch := func(b *connectpb.ExecutePlanResponse_ArrowBatch) *connectpb.ExecutePlanResponse {
		return &connectpb.ExecutePlanResponse{ResponseType: &connectpb.ExecutePlanResponse_ArrowBatch_{ArrowBatch: b}}
	}
	empty, err := encodeRecords(arrow.NewSchema(nil, nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]*connectpb.ExecutePlanResponse{
		"another session": {SessionId: "other"},
		"a gap":           batch(&connectpb.ExecutePlanResponse_ArrowBatch{StartOffset: &offset, Data: empty}),
		"a count":         batch(&connectpb.ExecutePlanResponse_ArrowBatch{RowCount: 2, Data: empty}),
		"no Arrow":        batch(&connectpb.ExecutePlanResponse_ArrowBatch{Data: []byte("xx")}),
	} {
		s := newSession(&fake{play: func(*connectpb.Command) *script { return replies(r) }}, "", "s")
		if _, err := s.Range(0, 1, 1).Collect(t.Context()); !errclass.Has(err, "UNEXPECTED_RESPONSE") {
			t.Errorf("%s gives %v", name, err)
		}
	}
}

func TestALostSessionIsNoticed(t *testing.T) {
	id := "first"
	s := newSession(&fake{version: func() *connectpb.AnalyzePlanResponse {
		return &connectpb.AnalyzePlanResponse{SessionId: "s", ServerSideSessionId: id}
	}}, "", "s")
	for range 2 {
		if _, err := s.Version(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	id = "second"
	if _, err := s.Version(t.Context()); !errclass.Has(err, "INVALID_HANDLE.SESSION_CHANGED") {
		t.Errorf("got %v", err)
	}
}

func TestTags(t *testing.T) {
	ctx := WithTags(WithTags(t.Context(), "a"), "b", "a")
	if d := cmp.Diff([]string{"a", "b"}, tagsOf(ctx)); d != "" {
		t.Error(d)
	}
}
