package millrace

import (
	"iter"
	"reflect"
	"sync"
	"time"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/processor"
)

// StateOption changes how a state variable works.
type StateOption func(*processor.Variable)

// TTL makes the values of a state variable live for a time after they were written, as the batches count it. It works in
// TimeModeProcessingTime.
func TTL(d time.Duration) StateOption {
	return func(v *processor.Variable) {
		if v.TTL = d; d == 0 {
			v.TTL = -1 // nothing lives that long
		}
	}
}

// codecs are those of the types of one processor, for all copies of it.
type codecs struct {
	mu   sync.Mutex
	list map[codecKey]*processor.Codec
}

type codecKey struct {
	t     reflect.Type
	isKey bool
}

func codecOf[T any](h *StatefulProcessorHandle, isKey bool) (*processor.Codec, error) {
	c, k := h.codecs, codecKey{reflect.TypeFor[T](), isKey}
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.list[k]; known != nil {
		return known, nil
	}
	make := processor.CodecFor[T]
	if isKey {
		make = processor.KeyCodecFor[T]
	}
	made, err := make()
	if err == nil {
		c.list[k] = made
	}
	return made, err
}

// slot is a value of a state variable with the bytes that it is written to.
type slot[T any] struct {
	codec *processor.Codec
	buf   []byte
}

func (s *slot[T]) encode(name string, v T) ([]byte, error) {
	var err error
	if s.codec.Nullable && reflect.ValueOf(&v).Elem().Kind() == reflect.Pointer && reflect.ValueOf(&v).Elem().IsNil() {
		return nil, errclass.New("ILLEGAL_STATE_STORE_VALUE.NULL_VALUE", "stateName", name)
	}
	s.buf, err = processor.Append(s.codec, s.buf[:0], &v)
	return s.buf, err
}

func (s *slot[T]) decode(b []byte) (v T, err error) {
	err = processor.Decode(s.codec, b, &v)
	return v, err
}

func declare[T any](h *StatefulProcessorHandle, v processor.Variable, opts []StateOption) (processor.State, slot[T], error) {
	codec, err := codecOf[T](h, false)
	if err != nil {
		return nil, slot[T]{}, err
	}
	v.Value, v.Nullable = codec.Type, codec.Nullable
	for _, o := range opts {
		o(&v)
	}
	st, err := h.h.Declare(v)
	return st, slot[T]{codec: codec}, err
}

// ValueState is a state variable that holds one value for each grouping key.
//
// T is any type that a column can have: numbers, strings, times, structs, slices, maps of them. What it is made of is stored with the
// state, and a query whose variable is of another type does not start again from the same checkpoint. Times are read back in UTC.
type ValueState[T any] struct {
	name string
	s    processor.State
	slot slot[T]
}

// NewValueState defines a state variable, in Init.
func NewValueState[T any](h *StatefulProcessorHandle, name string, opts ...StateOption) (*ValueState[T], error) {
	s, sl, err := declare[T](h, processor.Variable{Name: name, Kind: processor.Value}, opts)
	return &ValueState[T]{name, s, sl}, err
}

// Get is the value; ok is false when there is none.
func (v *ValueState[T]) Get() (value T, ok bool, err error) {
	b, ok, err := v.s.Get()
	if err != nil || !ok {
		return value, false, err
	}
	value, err = v.slot.decode(b)
	return value, err == nil, v.s.Fail(err)
}

// Exists tells whether there is a value.
func (v *ValueState[T]) Exists() (bool, error) { return v.s.Exists() }

// Update sets the value.
func (v *ValueState[T]) Update(value T) error {
	b, err := v.slot.encode(v.name, value)
	if err != nil {
		return err
	}
	return v.s.Put(b)
}

// Clear removes the value.
func (v *ValueState[T]) Clear() error { return v.s.Clear() }

// ListState is a state variable that holds a list for each grouping key. Appending does not read what is there. See ValueState for T.
type ListState[T any] struct {
	name string
	s    processor.State
	slot slot[T]
}

// NewListState defines a state variable, in Init.
func NewListState[T any](h *StatefulProcessorHandle, name string, opts ...StateOption) (*ListState[T], error) {
	s, sl, err := declare[T](h, processor.Variable{Name: name, Kind: processor.List}, opts)
	return &ListState[T]{name, s, sl}, err
}

// All goes through the elements as they are now, in order. A list that cannot be read ends the loop, and the batch fails whatever the
// processor makes of it.
func (l *ListState[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) {
		err := l.s.Each(func(_, b []byte) bool {
			v, err := l.slot.decode(b)
			return l.s.Fail(err) == nil && yield(v)
		})
		_ = l.s.Fail(err)
	}
}

// Exists tells whether there is an element.
func (l *ListState[T]) Exists() (bool, error) { return l.s.Exists() }

// Append adds elements at the end.
func (l *ListState[T]) Append(elements ...T) error {
	for _, e := range elements {
		b, err := l.slot.encode(l.name, e)
		if err != nil {
			return err
		}
		if err := l.s.Append(b); err != nil {
			return err
		}
	}
	return nil
}

// Put replaces the list. To remove it there is Clear.
func (l *ListState[T]) Put(elements ...T) error {
	if len(elements) == 0 {
		return errclass.New("ILLEGAL_STATE_STORE_VALUE.EMPTY_LIST_VALUE", "stateName", l.name)
	}
	if err := l.s.Clear(); err != nil {
		return err
	}
	return l.Append(elements...)
}

// Clear removes the list.
func (l *ListState[T]) Clear() error { return l.s.Clear() }

// MapState is a state variable that holds a map for each grouping key. Its entries are read and written one by one. K is any type that a
// column can have and that is no map; see ValueState for V.
type MapState[K, V any] struct {
	name string
	s    processor.State
	key  slot[K]
	slot slot[V]
}

// NewMapState defines a state variable, in Init.
func NewMapState[K, V any](h *StatefulProcessorHandle, name string, opts ...StateOption) (*MapState[K, V], error) {
	key, err := codecOf[K](h, true)
	if err != nil {
		return nil, err
	}
	s, sl, err := declare[V](h, processor.Variable{Name: name, Kind: processor.Map, Key: key.Type}, opts)
	return &MapState[K, V]{name, s, slot[K]{codec: key}, sl}, err
}

// Get is the value of a key; ok is false when there is none.
func (m *MapState[K, V]) Get(key K) (value V, ok bool, err error) {
	k, err := m.key.encode(m.name, key)
	if err != nil {
		return value, false, err
	}
	b, ok, err := m.s.GetAt(k)
	if err != nil || !ok {
		return value, false, err
	}
	value, err = m.slot.decode(b)
	return value, err == nil, m.s.Fail(err)
}

// Contains tells whether there is a key.
func (m *MapState[K, V]) Contains(key K) (bool, error) {
	k, err := m.key.encode(m.name, key)
	if err != nil {
		return false, err
	}
	_, ok, err := m.s.GetAt(k)
	return ok, err
}

// Update sets the value of a key.
func (m *MapState[K, V]) Update(key K, value V) error {
	k, err := m.key.encode(m.name, key)
	if err != nil {
		return err
	}
	b, err := m.slot.encode(m.name, value)
	if err != nil {
		return err
	}
	return m.s.PutAt(k, b)
}

// Remove takes a key out. One that there is not is no error.
func (m *MapState[K, V]) Remove(key K) error {
	k, err := m.key.encode(m.name, key)
	if err != nil {
		return err
	}
	return m.s.RemoveAt(k)
}

// All goes through the entries as they are now, in the order of the keys. A map that cannot be read ends the loop, and the batch fails
// whatever the processor makes of it.
func (m *MapState[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		err := m.s.Each(func(kb, vb []byte) bool {
			k, err := m.key.decode(kb)
			if err != nil {
				_ = m.s.Fail(err)
				return false
			}
			v, err := m.slot.decode(vb)
			return m.s.Fail(err) == nil && yield(k, v)
		})
		_ = m.s.Fail(err)
	}
}

// Keys goes through the keys in order. See All.
func (m *MapState[K, V]) Keys() iter.Seq[K] {
	return func(yield func(K) bool) {
		for k := range m.All() {
			if !yield(k) {
				return
			}
		}
	}
}

// Values goes through the values in the order of the keys. See All.
func (m *MapState[K, V]) Values() iter.Seq[V] {
	return func(yield func(V) bool) {
		for _, v := range m.All() {
			if !yield(v) {
				return
			}
		}
	}
}

// Exists tells whether there is an entry.
func (m *MapState[K, V]) Exists() (bool, error) { return m.s.Exists() }

// Clear removes all entries.
func (m *MapState[K, V]) Clear() error { return m.s.Clear() }
