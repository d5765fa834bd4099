package millrace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
)

// listenerBus brings the events of a session's queries to its listeners. The server allows one stream of events a session: it opens with the
// first listener and ends with the last.
type listenerBus struct {
	s *Session

	change sync.Mutex // held while the stream is opened or ended

	mu  sync.Mutex // guards sub
	sub *subscription
}

func (b *listenerBus) subscription() *subscription {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sub
}

// subscription is an open stream of events with its listeners, which end with it. One goroutine reads it, another calls the listeners, so
// that a listener can take its time and use the session.
type subscription struct {
	cancel context.CancelFunc
	added  chan struct{} // closed when the server sends events
	read   chan struct{} // closed when the stream has ended
	done   chan struct{} // closed when the listeners have seen everything
	err    error         // of the stream, valid once read is closed

	mu        sync.Mutex
	listeners []StreamingQueryListener
	queue     []event
	held      []event       // back until no query is being started
	starting  int           // calls of Start
	wake      chan struct{} // holds a token when there is something to look at
}

// event calls the method of a listener that it is for.
type event func(StreamingQueryListener)

func (b *listenerBus) add(ctx context.Context, l StreamingQueryListener) error {
	if l == nil || !reflect.TypeOf(l).Comparable() {
		return mistake(errclass.New("UNUSABLE_LISTENER", "goType", fmt.Sprintf("%T", l)))
	}
	b.change.Lock()
	defer b.change.Unlock()
	if sub := b.subscription(); sub != nil {
		sub.mu.Lock()
		defer sub.mu.Unlock()
		sub.listeners = append(sub.listeners, l)
		return nil
	}
	return b.open(ctx, l)
}

// open asks for the events and waits until they come.
func (b *listenerBus) open(ctx context.Context, l StreamingQueryListener) error {
	// The stream outlives the call that opens it. Its owner is the session, which ends it in Close.
	streaming, cancel := context.WithCancel(context.WithoutCancel(ctx))
	x, err := b.s.start(streaming, busCommand(&connectpb.StreamingQueryListenerBusCommand{
		Command: &connectpb.StreamingQueryListenerBusCommand_AddListenerBusListener{AddListenerBusListener: true},
	}))
	if err != nil {
		cancel()
		return err
	}
	sub := &subscription{
		listeners: []StreamingQueryListener{l},
		cancel:    cancel, added: make(chan struct{}), read: make(chan struct{}), done: make(chan struct{}), wake: make(chan struct{}, 1),
	}
	b.mu.Lock()
	b.sub = sub
	b.mu.Unlock()
	go b.receive(sub, x)
	go sub.dispatch()
	select {
	case <-sub.added:
		return nil
	case <-sub.read:
		return firstError(sub.err, errclass.New("UNEXPECTED_RESPONSE", "reason", "the stream of events ended before it began"))
	case <-ctx.Done():
		cancel()
		<-sub.read
		return context.Cause(ctx)
	}
}

func busCommand(m *connectpb.StreamingQueryListenerBusCommand) *connectpb.Plan {
	return &connectpb.Plan{OpType: &connectpb.Plan_Command{Command: &connectpb.Command{
		CommandType: &connectpb.Command_StreamingQueryListenerBusCommand{StreamingQueryListenerBusCommand: m},
	}}}
}

// receive reads the stream to its end.
func (b *listenerBus) receive(sub *subscription, x *execution) {
	defer sub.cancel()
	confirmed := false
	for {
		r, _, err := x.next()
		if err == nil {
			m := r.GetStreamingQueryListenerEventsResult()
			if m.GetListenerBusListenerAdded() && !confirmed {
				confirmed = true
				close(sub.added)
			}
			for _, e := range m.GetEvents() {
				var ev event
				if ev, err = parseEvent(e); err != nil {
					break
				}
				sub.push(ev)
			}
		}
		if err == nil {
			continue
		}
		if !errors.Is(err, io.EOF) {
			sub.err = err
		}
		break
	}
	if err := x.close(); err != nil && sub.err == nil {
		sub.err = err
	}
	b.mu.Lock()
	b.sub = nil
	b.mu.Unlock()
	if sub.err != nil && confirmed && !b.s.closed.Load() {
		slog.Warn("millrace: no more events of streaming queries; add the listeners again", "session", b.s.id, "err", sub.err)
	}
	close(sub.read)
	sub.signal()
}

// dispatch calls the listeners, one event after the other, until the stream has ended and nothing is left.
func (s *subscription) dispatch() {
	defer close(s.done)
	for {
		ended := false
		select {
		case <-s.read:
			ended = true
		default:
		}
		e, listeners, more := s.pop()
		switch {
		case e != nil:
			for _, l := range listeners {
				e(l)
			}
		case ended && !more:
			return
		default:
			<-s.wake
		}
	}
}

func (b *listenerBus) remove(ctx context.Context, l StreamingQueryListener) error {
	if l == nil || !reflect.TypeOf(l).Comparable() {
		return nil
	}
	b.change.Lock()
	defer b.change.Unlock()
	sub := b.subscription()
	if sub == nil || !sub.forget(l) {
		return nil
	}
	x, err := b.s.start(ctx, busCommand(&connectpb.StreamingQueryListenerBusCommand{
		Command: &connectpb.StreamingQueryListenerBusCommand_RemoveListenerBusListener{RemoveListenerBusListener: true},
	}))
	if err != nil {
		return err
	}
	for err == nil {
		_, _, err = x.next()
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if err := firstError(err, x.close()); err != nil {
		return err
	}
	select {
	case <-sub.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// starting holds events back until done is called: the start of a query comes with the answer to Start, which other events of the query
// must not overtake. done takes the event as JSON, or nil if there is none.
func (b *listenerBus) starting() (done func(text *string) error) {
	sub := b.subscription()
	if sub != nil {
		sub.mu.Lock()
		sub.starting++
		sub.mu.Unlock()
	}
	return func(text *string) error {
		var started event
		var err error
		if text != nil {
			var e QueryStartedEvent
			if err = json.Unmarshal([]byte(*text), &e); err != nil {
				err = badEvent("a start", err)
			} else {
				started = func(l StreamingQueryListener) { l.OnQueryStarted(e) }
			}
		}
		if sub != nil {
			sub.started(started)
		}
		return err
	}
}

// started ends a call of Start.
func (s *subscription) started(e event) {
	s.mu.Lock()
	if e != nil {
		s.queue = append(s.queue, e)
	}
	if s.starting--; s.starting == 0 {
		s.queue = append(s.queue, s.held...)
		s.held = nil
	}
	s.mu.Unlock()
	s.signal()
}

// close ends the stream and waits for it and its listeners, unless one of them takes too long.
func (b *listenerBus) close() {
	sub := b.subscription()
	if sub == nil {
		return
	}
	sub.cancel()
	<-sub.read
	select {
	case <-sub.done:
	case <-time.After(closeTimeout):
		slog.Warn("millrace: a listener still runs when its session has ended", "session", b.s.id)
	}
}

func parseEvent(m *connectpb.StreamingQueryListenerEvent) (event, error) {
	text := []byte(m.GetEventJson())
	switch m.GetEventType() {
	case connectpb.StreamingQueryEventType_QUERY_PROGRESS_EVENT:
		var raw struct {
			Progress json.RawMessage `json:"progress"`
		}
		if err := json.Unmarshal(text, &raw); err != nil {
			return nil, badEvent("progress", err)
		}
		p, err := parseProgress(raw.Progress)
		return func(l StreamingQueryListener) { l.OnQueryProgress(QueryProgressEvent{p}) }, err
	case connectpb.StreamingQueryEventType_QUERY_IDLE_EVENT:
		var e QueryIdleEvent
		if err := json.Unmarshal(text, &e); err != nil {
			return nil, badEvent("idling", err)
		}
		return func(l StreamingQueryListener) { l.OnQueryIdle(e) }, nil
	case connectpb.StreamingQueryEventType_QUERY_TERMINATED_EVENT:
		var e QueryTerminatedEvent
		if err := json.Unmarshal(text, &e); err != nil {
			return nil, badEvent("an end", err)
		}
		return func(l StreamingQueryListener) { l.OnQueryTerminated(e) }, nil
	}
	return func(StreamingQueryListener) {}, nil // of a kind that a later server may have
}

func (s *subscription) push(e event) {
	s.mu.Lock()
	if s.starting > 0 {
		s.held = append(s.held, e)
	} else {
		s.queue = append(s.queue, e)
	}
	s.mu.Unlock()
	s.signal()
}

// pop takes the next event and those who are to see it. Without one, more is true if a call of Start still holds events back. Both are found
// out at once: events that a Start lets go in between must not be missed.
func (s *subscription) pop() (e event, to []StreamingQueryListener, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return nil, nil, s.starting > 0
	}
	e = s.queue[0]
	s.queue = s.queue[1:]
	return e, slices.Clone(s.listeners), true
}

// forget removes a listener beside others. last is true if it is the only one: it stays until the stream has ended.
func (s *subscription) forget(l StreamingQueryListener) (last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.listeners, l)
	switch {
	case i < 0:
		return false
	case len(s.listeners) == 1:
		return true
	}
	s.listeners = slices.Delete(slices.Clone(s.listeners), i, i+1)
	return false
}

func (s *subscription) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
