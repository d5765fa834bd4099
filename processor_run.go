package millrace

import (
	"context"
	"io"
	"iter"
	"reflect"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/processor"
	"github.com/millrace/millrace/types"
)

// typedProcessor is a program's processor as the engine takes it. It implements processor.Processor.
type typedProcessor[K, I, O any] struct {
	p       StatefulProcessor[K, I, O]
	out     types.StructType
	initial func(p any) (initialRows, bool)
	name    string
}

func newProcessor[K, I, O any](p StatefulProcessor[K, I, O], opts TransformOptions) (*typedProcessor[K, I, O], error) {
	if p == nil {
		return nil, errclass.New("CANNOT_BE_EMPTY", "item", "processor")
	}
	out, err := outputSchema[O](opts.Schema)
	if err != nil {
		return nil, err
	}
	t := &typedProcessor[K, I, O]{p: p, out: out, initial: opts.InitialState.bind, name: reflect.TypeOf(p).String()}
	if t.initial != nil {
		if _, ok := t.initial(p); !ok {
			return nil, errclass.New("NOT_EXPECTED_TYPE", "argName", "A processor with an initial state",
				"expectedType", "an InitialStateHandler of its types", "argType", t.name)
		}
	}
	return t, nil
}

// String is the processor's Go type.
func (t *typedProcessor[K, I, O]) String() string { return t.name }

// Fit implements processor.Processor.
func (t *typedProcessor[K, I, O]) Fit(keys, rows types.StructType, initial *types.StructType) (processor.Program, error) {
	p := &typedProgram[K, I, O]{typedProcessor: t, keys: keys, rows: rows, codecs: &codecs{list: map[codecKey]*processor.Codec{}}}
	if err := fits[K](keys); err != nil {
		return nil, err
	}
	if err := fits[I](rows); err != nil {
		return nil, err
	}
	if initial != nil {
		p.initialRows = *initial
		if h, _ := t.initial(t.p); h != nil {
			return p, h.fits(*initial)
		}
	}
	return p, nil
}

// typedProgram is a processor that fits its columns.
type typedProgram[K, I, O any] struct {
	*typedProcessor[K, I, O]
	keys, rows, initialRows types.StructType
	codecs                  *codecs
}

// New implements processor.Program.
func (p *typedProgram[K, I, O]) New() processor.Instance {
	x := &instance[K, I, O]{p: copyOf(p.p), program: p, keys: rowReader[K]{schema: p.keys}, rows: rowReader[I]{schema: p.rows}}
	x.out.schema = p.out
	x.onTimer, _ = any(x.p).(TimerHandler[K, O])
	if p.initial != nil {
		x.initial, _ = p.initial(x.p)
	}
	x.emit = x.out.add
	x.seq = x.each
	return x
}

// copyOf copies a processor that is a pointer to a struct.
func copyOf[P any](p P) P {
	v := reflect.ValueOf(p)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return p
	}
	c := reflect.New(v.Type().Elem())
	c.Elem().Set(v.Elem())
	return c.Interface().(P)
}

// instance is a copy of a processor at work. It implements processor.Instance.
type instance[K, I, O any] struct {
	p       StatefulProcessor[K, I, O]
	program *typedProgram[K, I, O]
	handle  *StatefulProcessorHandle
	timers  TimerValues
	onTimer TimerHandler[K, O]
	initial initialRows

	keys rowReader[K]
	rows rowReader[I]
	out  rowWriter[O]
	emit func(O) error
	// The rows at hand, and what went wrong while the processor went through them.
	seq      iter.Seq[I]
	from, to int
	err      error
}

// Init implements processor.Instance.
func (x *instance[K, I, O]) Init(h processor.Handle) error {
	x.handle = &StatefulProcessorHandle{h: h, codecs: x.program.codecs}
	info := h.Info()
	x.timers.Now = time.UnixMilli(info.Now).UTC()
	if info.HasWatermark {
		x.timers.Watermark = time.UnixMilli(info.Watermark).UTC()
	}
	return x.p.Init(x.handle)
}

// Keys implements processor.Instance.
func (x *instance[K, I, O]) Keys(rec arrow.RecordBatch) error {
	return x.keys.bind([]arrow.RecordBatch{rec})
}

// Bind implements processor.Instance.
func (x *instance[K, I, O]) Bind(recs []arrow.RecordBatch) error { return x.rows.bind(recs) }

// BindInitial implements processor.Instance.
func (x *instance[K, I, O]) BindInitial(recs []arrow.RecordBatch) error {
	return x.initial.bind(x.program.initialRows, recs)
}

// each is x.seq.
func (x *instance[K, I, O]) each(yield func(I) bool) {
	for ; x.from < x.to; x.from++ {
		row, err := x.rows.at(x.from, x.to)
		if err != nil {
			x.err = err
			return
		}
		if !yield(*row) {
			x.from++
			return
		}
	}
}

// Rows implements processor.Instance.
func (x *instance[K, I, O]) Rows(ctx context.Context, key, from, to int) error {
	k, err := x.keys.at(key, key+1)
	if err != nil {
		return err
	}
	x.from, x.to, x.err = from, to, nil
	err = x.p.HandleInputRows(ctx, *k, x.seq, x.timers, x.emit)
	x.to = 0
	return firstError(x.err, x.out.err, err)
}

// Initial implements processor.Instance.
func (x *instance[K, I, O]) Initial(ctx context.Context, key, from, to int) error {
	k, err := x.keys.at(key, key+1)
	if err != nil {
		return err
	}
	return x.initial.handle(ctx, *k, from, to, x.timers)
}

// Timer implements processor.Instance. A processor that does not handle timers lets them pass.
func (x *instance[K, I, O]) Timer(ctx context.Context, key int, at int64) error {
	if x.onTimer == nil {
		return nil
	}
	k, err := x.keys.at(key, key+1)
	if err != nil {
		return err
	}
	err = x.onTimer.HandleExpiredTimer(ctx, *k, ExpiredTimer{At: time.UnixMilli(at).UTC()}, x.timers, x.emit)
	return firstError(x.out.err, err)
}

// Take implements processor.Instance.
func (x *instance[K, I, O]) Take(all bool) (arrow.RecordBatch, error) { return x.out.take(all) }

// Close implements processor.Instance.
func (x *instance[K, I, O]) Close() error {
	if c, ok := any(x.p).(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// initialRows hands rows of the initial state to a processor, whose type for them only the initial state knows.
type initialRows interface {
	fits(s types.StructType) error
	bind(s types.StructType, recs []arrow.RecordBatch) error
	handle(ctx context.Context, key any, from, to int, timers TimerValues) error
}

type initialOf[K, S any] struct {
	handler InitialStateHandler[K, S]
	rows    rowReader[S]
}

func (i *initialOf[K, S]) fits(s types.StructType) error { return fits[S](s) }

func (i *initialOf[K, S]) bind(s types.StructType, recs []arrow.RecordBatch) error {
	i.rows.schema = s
	return i.rows.bind(recs)
}

func (i *initialOf[K, S]) handle(ctx context.Context, key any, from, to int, timers TimerValues) error {
	k, ok := key.(K)
	if !ok {
		return errclass.New("NOT_EXPECTED_TYPE", "argName", "The key of the initial state", "expectedType", reflect.TypeFor[K]().String(), "argType", reflect.TypeOf(key).String())
	}
	for ; from < to; from++ {
		row, err := i.rows.at(from, to)
		if err != nil {
			return err
		}
		if err := i.handler.HandleInitialState(ctx, k, *row, timers); err != nil {
			return err
		}
	}
	return nil
}
