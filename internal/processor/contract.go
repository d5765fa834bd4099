package processor

import (
	"context"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/millrace/millrace/types"
)

// TimeMode says by which clock timers expire.
type TimeMode uint8

// The time modes.
const (
	None TimeMode = iota
	ProcessingTime
	EventTime
)

// String is the mode as plans and errors name it.
func (m TimeMode) String() string { return [...]string{"None", "ProcessingTime", "EventTime"}[m] }

// ParseTimeMode reads what String gives.
func ParseTimeMode(s string) (TimeMode, bool) {
	for m := None; m <= EventTime; m++ {
		if m.String() == s {
			return m, true
		}
	}
	return None, false
}

// Kind is the shape of a state variable.
type Kind uint8

// The kinds of state variables.
const (
	Value Kind = iota
	List
	Map
)

// String is the kind's name.
func (k Kind) String() string { return [...]string{"ValueState", "ListState", "MapState"}[k] }

// Variable describes a state variable.
type Variable struct {
	Name string
	Kind Kind
	Key  types.DataType // of a map
	// Value is the type of a value, an element or a map's value.
	Value    types.DataType
	Nullable bool
	// TTL is how long a value lives after it was written; 0 is for ever.
	TTL time.Duration
}

// Processor is a stateful processor of a program, as a session keeps it. It is not changed by its use.
type Processor interface {
	// Fit prepares it for columns: those of the grouping key, of the rows and, if there is one, of the initial state.
	Fit(keys, rows types.StructType, initial *types.StructType) (Program, error)
}

// Program is a Processor that fits a query. It may be used by several goroutines.
type Program interface {
	// New returns a processor of its own for one shard in one batch.
	New() Instance
}

// Instance is a processor at work on one shard in one batch, by one goroutine.
type Instance interface {
	// Init lets the processor define its state variables. It comes first.
	Init(h Handle) error
	// Keys sets the records of grouping keys that the calls after it count from 0.
	Keys(keys arrow.RecordBatch) error
	// Bind sets the rows that Rows and Initial count from 0: ChunkRows in every record but the last.
	Bind(rows []arrow.RecordBatch) error
	// BindInitial is Bind for the rows of the initial state.
	BindInitial(rows []arrow.RecordBatch) error
	// Rows hands rows from to to-1 to the processor, which are those of a key.
	Rows(ctx context.Context, key, from, to int) error
	// Initial does so with rows of the initial state.
	Initial(ctx context.Context, key, from, to int) error
	// Timer tells the processor that a timer of a key, in milliseconds, has expired.
	Timer(ctx context.Context, key int, at int64) error
	// Take returns rows that the processor has emitted and that were not taken yet, or nil. Few may be held back unless all is set.
	Take(all bool) (arrow.RecordBatch, error)
	// Close comes last, unless Init has failed.
	Close() error
}

// ChunkRows is the number of rows in records that are bound.
const ChunkRows = 1 << 16

// Handle is what the engine lends to an Instance. Everything but Declare and Drop works on the state of the key at hand.
type Handle interface {
	// Declare defines a state variable, in Init only.
	Declare(v Variable) (State, error)
	// Drop removes a state variable that an earlier version of the processor had, in Init only.
	Drop(name string) error
	RegisterTimer(ms int64) error
	DeleteTimer(ms int64) error
	// Timers are those of the key that have not expired, or expire now, in order.
	Timers() ([]int64, error)
	Info() Info
	// Fail is that of State.
	Fail(err error) error
}

// Info is what a processor may know about its batch.
type Info struct {
	OutputMode string
	TimeMode   TimeMode
	// Now is the time of the batch and Watermark the watermark, in milliseconds; HasWatermark tells whether there is one.
	Now, Watermark int64
	HasWatermark   bool
	QueryID, RunID string
	Batch          int64
}

// State is a state variable of the key at hand, as bytes. What it returns is valid until the next call of any method.
type State interface {
	// Fail makes the batch fail with an error whatever the processor does about it, and returns the error.
	Fail(err error) error
	// Get and Put are for a value; Clear removes a value, a list or a map.
	Get() (value []byte, found bool, err error)
	Put(value []byte) error
	Clear() error
	// Exists tells whether there is a value, an element, or an entry.
	Exists() (bool, error)

	// Append adds an element to a list.
	Append(element []byte) error
	// Each goes through the elements of a list in order, or through the entries of a map in the order of their keys, until yield
	// answers false. Elements have no key. The variable may be changed meanwhile; what is seen is how it was at first.
	Each(yield func(key, value []byte) bool) error

	// GetAt, PutAt and RemoveAt are for the entries of a map.
	GetAt(key []byte) (value []byte, found bool, err error)
	PutAt(key, value []byte) error
	RemoveAt(key []byte) error
}
