package millrace

import (
	"encoding/json"
	"time"

	"github.com/millrace/millrace/internal/errclass"
)

// StreamingQueryProgress is the report on a batch of a streaming query.
type StreamingQueryProgress struct {
	ID              string                     `json:"id"`
	RunID           string                     `json:"runId"`
	Name            string                     `json:"name"`
	Timestamp       time.Time                  `json:"timestamp"` // of the batch's start
	BatchID         int64                      `json:"batchId"`
	BatchDuration   int64                      `json:"batchDuration"` // milliseconds
	DurationMs      map[string]int64           `json:"durationMs"`    // of the batch's steps
	EventTime       map[string]string          `json:"eventTime"`     // watermark, and min, max, avg if there were rows
	StateOperators  []StateOperatorProgress    `json:"stateOperators"`
	Sources         []SourceProgress           `json:"sources"`
	Sink            SinkProgress               `json:"sink"`
	ObservedMetrics map[string]json.RawMessage `json:"observedMetrics"` // by the name given to Observe

	text string
}

// NumInputRows is the number of rows that the batch has read.
func (p *StreamingQueryProgress) NumInputRows() int64 {
	var n int64
	for _, s := range p.Sources {
		n += s.NumInputRows
	}
	return n
}

// InputRowsPerSecond is how fast rows have arrived since the batch before.
func (p *StreamingQueryProgress) InputRowsPerSecond() float64 {
	var n float64
	for _, s := range p.Sources {
		n += s.InputRowsPerSecond
	}
	return n
}

// ProcessedRowsPerSecond is how fast rows were processed.
func (p *StreamingQueryProgress) ProcessedRowsPerSecond() float64 {
	var n float64
	for _, s := range p.Sources {
		n += s.ProcessedRowsPerSecond
	}
	return n
}

// JSON is the report as it came.
func (p *StreamingQueryProgress) JSON() string { return p.text }

// StateOperatorProgress is what a batch did to the state of an operator.
type StateOperatorProgress struct {
	OperatorName              string           `json:"operatorName"`
	NumRowsTotal              int64            `json:"numRowsTotal"`
	NumRowsUpdated            int64            `json:"numRowsUpdated"`
	AllUpdatesTimeMs          int64            `json:"allUpdatesTimeMs"`
	NumRowsRemoved            int64            `json:"numRowsRemoved"`
	AllRemovalsTimeMs         int64            `json:"allRemovalsTimeMs"`
	CommitTimeMs              int64            `json:"commitTimeMs"`
	MemoryUsedBytes           int64            `json:"memoryUsedBytes"`
	NumRowsDroppedByWatermark int64            `json:"numRowsDroppedByWatermark"`
	NumShufflePartitions      int64            `json:"numShufflePartitions"`
	NumStateStoreInstances    int64            `json:"numStateStoreInstances"`
	CustomMetrics             map[string]int64 `json:"customMetrics"`
}

// SourceProgress is what a batch has read from a source.
type SourceProgress struct {
	Description            string            `json:"description"`
	StartOffset            SourceOffset      `json:"startOffset"`
	EndOffset              SourceOffset      `json:"endOffset"`
	LatestOffset           SourceOffset      `json:"latestOffset"`
	NumInputRows           int64             `json:"numInputRows"`
	InputRowsPerSecond     float64           `json:"inputRowsPerSecond"`
	ProcessedRowsPerSecond float64           `json:"processedRowsPerSecond"`
	Metrics                map[string]string `json:"metrics"`
}

// SinkProgress is what a batch has written.
type SinkProgress struct {
	Description   string            `json:"description"`
	NumOutputRows int64             `json:"numOutputRows"` // -1 if the sink does not tell
	Metrics       map[string]string `json:"metrics"`
}

// SourceOffset is a position in a source as JSON, empty for none.
type SourceOffset string

// UnmarshalJSON takes an offset as JSON, as events hold it, and as a string of JSON, as replies do.
func (o *SourceOffset) UnmarshalJSON(b []byte) error {
	var text string
	switch {
	case string(b) == "null":
		*o = ""
	case json.Unmarshal(b, &text) == nil:
		*o = SourceOffset(text)
	default:
		*o = SourceOffset(b)
	}
	return nil
}

func parseProgress(text []byte) (StreamingQueryProgress, error) {
	p := StreamingQueryProgress{text: string(text)}
	if err := json.Unmarshal(text, &p); err != nil {
		return p, badEvent("progress", err)
	}
	return p, nil
}

func parseProgresses(texts []string) ([]StreamingQueryProgress, error) {
	var out []StreamingQueryProgress
	for _, text := range texts {
		p, err := parseProgress([]byte(text))
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

func badEvent(kind string, err error) error {
	return errclass.New("UNEXPECTED_RESPONSE", "reason", "a report of "+kind+" cannot be read: "+err.Error()).WithCause(err)
}
