package millrace

import (
	"fmt"
	"time"

	"github.com/millrace/millrace/internal/connectpb"
)

// OutputMode says which rows of the result a streaming query writes in each batch.
type OutputMode string

// The output modes.
const (
	// Append writes rows that will not change any more.
	Append OutputMode = "append"
	// Update writes rows that are new or have changed.
	Update OutputMode = "update"
	// Complete writes the whole result of an aggregation.
	Complete OutputMode = "complete"
)

// Interval is a length of time: a time.Duration, or text such as "10 seconds".
type Interval interface{ string | time.Duration }

// IntervalText is an interval as the protocol takes it.
func IntervalText[I Interval](i I) string {
	d, ok := any(i).(time.Duration)
	if !ok {
		return fmt.Sprint(i)
	}
	if d%time.Millisecond == 0 {
		return fmt.Sprintf("%d milliseconds", d.Milliseconds())
	}
	return fmt.Sprintf("%d microseconds", d.Microseconds())
}

// Trigger says when a streaming query runs its batches. The zero Trigger runs one after the other.
type Trigger struct {
	set func(*connectpb.WriteStreamOperationStart)
}

// ProcessingTime starts a batch at most once an interval.
func ProcessingTime[I Interval](interval I) Trigger {
	return Trigger{func(m *connectpb.WriteStreamOperationStart) {
		m.Trigger = &connectpb.WriteStreamOperationStart_ProcessingTimeInterval{ProcessingTimeInterval: IntervalText(interval)}
	}}
}

// AvailableNow processes what is there when the query starts, in as many batches as the source's limits ask for, and ends.
func AvailableNow() Trigger {
	return Trigger{func(m *connectpb.WriteStreamOperationStart) {
		m.Trigger = &connectpb.WriteStreamOperationStart_AvailableNow{AvailableNow: true}
	}}
}

// Once processes what is there in a single batch and ends.
func Once() Trigger {
	return Trigger{func(m *connectpb.WriteStreamOperationStart) {
		m.Trigger = &connectpb.WriteStreamOperationStart_Once{Once: true}
	}}
}

// Continuous processes rows as they come and notes the progress once an interval.
func Continuous[I Interval](interval I) Trigger {
	return Trigger{func(m *connectpb.WriteStreamOperationStart) {
		m.Trigger = &connectpb.WriteStreamOperationStart_ContinuousCheckpointInterval{ContinuousCheckpointInterval: IntervalText(interval)}
	}}
}
