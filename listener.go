package millrace

import "time"

// StreamingQueryListener is told what happens to the streaming queries of a session. ListenerFuncs implements it for those who only want some
// of the events.
type StreamingQueryListener interface {
	OnQueryStarted(QueryStartedEvent)
	OnQueryProgress(QueryProgressEvent)
	OnQueryIdle(QueryIdleEvent)
	OnQueryTerminated(QueryTerminatedEvent)
}

// QueryStartedEvent says that a query has started. It comes before Start returns.
type QueryStartedEvent struct {
	ID        string    `json:"id"`
	RunID     string    `json:"runId"`
	Name      string    `json:"name"`
	Timestamp time.Time `json:"timestamp"`
	JobTags   []string  `json:"jobTags"`
}

// QueryProgressEvent says that a query has finished a batch.
type QueryProgressEvent struct{ Progress StreamingQueryProgress }

// QueryIdleEvent says that a query has had nothing to do for a while.
type QueryIdleEvent struct {
	ID        string    `json:"id"`
	RunID     string    `json:"runId"`
	Timestamp time.Time `json:"timestamp"`
}

// QueryTerminatedEvent says that a query has ended. The last two fields are empty unless it has failed.
type QueryTerminatedEvent struct {
	ID                    string `json:"id"`
	RunID                 string `json:"runId"`
	Exception             string `json:"exception"`
	ErrorClassOnException string `json:"errorClassOnException"`
}

// ListenerFuncs is a StreamingQueryListener of functions; nil ones are left out. Register a pointer to it.
type ListenerFuncs struct {
	Started    func(QueryStartedEvent)
	Progress   func(QueryProgressEvent)
	Idle       func(QueryIdleEvent)
	Terminated func(QueryTerminatedEvent)
}

// OnQueryStarted implements StreamingQueryListener.
func (f *ListenerFuncs) OnQueryStarted(e QueryStartedEvent) {
	if f.Started != nil {
		f.Started(e)
	}
}

// OnQueryProgress implements StreamingQueryListener.
func (f *ListenerFuncs) OnQueryProgress(e QueryProgressEvent) {
	if f.Progress != nil {
		f.Progress(e)
	}
}

// OnQueryIdle implements StreamingQueryListener.
func (f *ListenerFuncs) OnQueryIdle(e QueryIdleEvent) {
	if f.Idle != nil {
		f.Idle(e)
	}
}

// OnQueryTerminated implements StreamingQueryListener.
func (f *ListenerFuncs) OnQueryTerminated(e QueryTerminatedEvent) {
	if f.Terminated != nil {
		f.Terminated(e)
	}
}
