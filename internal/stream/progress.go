package stream

import (
	"encoding/json"
	"time"

	"github.com/millrace/millrace/types"
)

// Progress reports one trigger of a query: a batch that ran, or that there was nothing to do. It does not change once it is
// handed out.
type Progress struct {
	ID, RunID string
	Name      string // "" for queries without one
	// Timestamp is when the trigger began.
	Timestamp time.Time
	// BatchID is the batch that ran; in an idle report the one that would come next.
	BatchID int64
	// BatchDuration is the length of the whole trigger in milliseconds.
	BatchDuration int64
	// NumInputRows and the rates are over all sources; a rate is 0 when there is nothing to compare with.
	NumInputRows           int64
	InputRowsPerSecond     float64
	ProcessedRowsPerSecond float64
	// DurationMs says how long the steps took, by Spark's names.
	DurationMs map[string]int64
	// EventTime is nil for queries without a watermark.
	EventTime      *EventTimeProgress
	StateOperators []StateOperatorProgress
	Sources        []SourceProgress
	Sink           SinkProgress
	Observed       []ObservedRow
}

// EventTimeProgress are the event times that a batch has seen.
type EventTimeProgress struct {
	// Watermark is the one that the batch ran with.
	Watermark time.Time
	// Seen tells whether the batch had rows with an event time; Min, Max and Avg are meaningless otherwise.
	Seen          bool
	Min, Max, Avg time.Time
}

// StateOperatorProgress are the figures of one stateful operator.
type StateOperatorProgress struct {
	OperatorName              string
	NumRowsTotal              int64
	NumRowsUpdated            int64
	AllUpdatesTimeMs          int64
	NumRowsRemoved            int64
	AllRemovalsTimeMs         int64
	CommitTimeMs              int64
	MemoryUsedBytes           int64
	NumRowsDroppedByWatermark int64
	NumShufflePartitions      int64
	NumStateStoreInstances    int64
	CustomMetrics             map[string]int64
}

// SourceProgress is what one source has given. Offsets are JSON, nil when unknown.
type SourceProgress struct {
	Description                          string
	StartOffset, EndOffset, LatestOffset json.RawMessage
	NumInputRows                         int64
	InputRowsPerSecond                   float64
	ProcessedRowsPerSecond               float64
	Metrics                              map[string]string
}

// SinkProgress is what the sink has got.
type SinkProgress struct {
	Description string
	// NumOutputRows is -1 for sinks that do not count, as in Spark; Metrics then hold the true number under the same name.
	NumOutputRows int64
	Metrics       map[string]string
}

// ObservedRow is the row of one Dataset.observe.
type ObservedRow struct {
	Name   string
	Schema types.StructType
	// Values follow the conventions of package types.
	Values []any
}

// Status says what a query is doing.
type Status struct {
	Message         string
	IsDataAvailable bool
	IsTriggerActive bool
}

// ring keeps the latest reports. As in Spark it holds one less than its size says.
type ring struct {
	size int
	list []*Progress
}

func (r *ring) add(p *Progress) {
	r.list = append(r.list, p)
	if over := len(r.list) - max(r.size-1, 0); over > 0 {
		// Copied, so that lists handed out earlier stay as they are and dropped reports can be freed.
		r.list = append([]*Progress(nil), r.list[over:]...)
	}
}

func (r *ring) last() *Progress {
	if len(r.list) == 0 {
		return nil
	}
	return r.list[len(r.list)-1]
}
