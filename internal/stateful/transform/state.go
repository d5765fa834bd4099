package transform

import (
	"encoding/binary"
	"math"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/processor"
	"github.com/millrace/millrace/internal/state"
)

// stateVar is a state variable of the grouping key at hand. It implements processor.State.
//
// A value row of a variable with a time to live begins with the time at which it ends. A list has a row without rest that says which
// number the next element gets and how many elements there are.
type stateVar struct {
	sh  *shard
	v   *variable
	key []byte // scratch
	val []byte
	// seen is the call of the processor in which the value was looked for last, and there whether it was found.
	seen  int
	there bool
}

// Fail implements processor.State.
func (s *stateVar) Fail(err error) error { return s.sh.fail(err) }

func (s *stateVar) ttl() bool { return s.v.TTL > 0 }

// row is the key of a row of the variable. It is valid until the next call.
func (s *stateVar) row(rest []byte) []byte {
	s.key = append(appendVariable(append(s.key[:0], s.sh.key...), s.v.number), rest...)
	return s.key
}

// ready tells whether there is a grouping key to work on.
func (s *stateVar) ready(operation string) error {
	if s.sh.key == nil {
		return errclass.New("STATEFUL_PROCESSOR_CANNOT_PERFORM_OPERATION_WITH_INVALID_HANDLE_STATE",
			"operationType", operation+" of "+s.v.Name, "handleState", s.sh.phase)
	}
	return nil
}

// open takes the end of its life off a stored value. live is false when it is over.
func (s *stateVar) open(value []byte) (_ []byte, live bool, err error) {
	if !s.ttl() {
		return value, true, nil
	}
	end, rest, err := processor.ReadTime(value)
	if err != nil {
		return nil, false, s.sh.fail(damaged(s.v))
	}
	return rest, end > s.sh.now, nil
}

func damaged(v *variable) error {
	return errclass.New("STATE_STORE_VALUE_ROW_FORMAT_VALIDATION_FAILURE", "errorMsg", "a row of the state variable "+v.Name+" is cut off")
}

// get reads a row that is a value. live is false when there is none, or its life is over.
func (s *stateVar) get(row []byte) (value []byte, live bool, err error) {
	value, found, err := s.sh.kv.Get(row)
	if err != nil || !found {
		return nil, false, s.sh.fail(err)
	}
	return s.open(value)
}

// put writes a row that is a value, with the end of its life. fresh tells whether there was none.
func (s *stateVar) put(row, value []byte) (fresh bool, err error) {
	old, found, err := s.sh.kv.Get(row)
	if err != nil {
		return false, s.sh.fail(err)
	}
	s.val = s.val[:0]
	if s.ttl() {
		end := s.sh.now + s.v.TTL.Milliseconds()
		if end < s.sh.now {
			end = math.MaxInt64
		}
		if found {
			was, _, err := processor.ReadTime(old)
			if err != nil {
				return false, s.sh.fail(damaged(s.v))
			}
			if was != end {
				if err := s.sh.expiry(was, row, false); err != nil {
					return false, err
				}
			}
		}
		s.val = processor.AppendTime(s.val, end)
		if err := s.sh.expiry(end, row, true); err != nil {
			return false, err
		}
	}
	s.val = append(s.val, value...)
	s.sh.figures.Updated++
	return !found, s.sh.fail(s.sh.kv.Put(row, s.val))
}

// remove deletes a row that is a value. It tells whether there was one.
func (s *stateVar) remove(row []byte) (bool, error) {
	old, found, err := s.sh.kv.Get(row)
	if err != nil || !found {
		return false, s.sh.fail(err)
	}
	if s.ttl() {
		was, _, err := processor.ReadTime(old)
		if err != nil {
			return false, s.sh.fail(damaged(s.v))
		}
		if err := s.sh.expiry(was, row, false); err != nil {
			return false, err
		}
	}
	return true, s.sh.fail(s.sh.kv.Delete(row))
}

// Get implements processor.State.
func (s *stateVar) Get() ([]byte, bool, error) {
	if err := s.ready("get"); err != nil {
		return nil, false, err
	}
	row := s.row(nil)
	value, found, err := s.sh.kv.Get(row)
	if err != nil {
		return nil, false, s.sh.fail(err)
	}
	if s.seen, s.there = s.sh.calls, found; !found {
		return nil, false, nil
	}
	return s.open(value)
}

// Put implements processor.State.
func (s *stateVar) Put(value []byte) error {
	if err := s.ready("update"); err != nil {
		return err
	}
	if s.seen == s.sh.calls && !s.ttl() { // it was just read, as it mostly is
		if !s.there {
			s.there = true
			s.sh.rows++
		}
		s.sh.figures.Updated++
		return s.sh.fail(s.sh.kv.Put(s.row(nil), value))
	}
	fresh, err := s.put(s.row(nil), value)
	if fresh {
		s.sh.rows++
	}
	return err
}

// Clear implements processor.State.
func (s *stateVar) Clear() error {
	if err := s.ready("clear"); err != nil {
		return err
	}
	if s.v.Kind == processor.Value {
		s.seen = 0
		found, err := s.remove(s.row(nil))
		if found {
			s.sh.rows--
			s.sh.figures.Removed++
		}
		return err
	}
	rows, err := s.scan(s.row(nil))
	if err != nil {
		return err
	}
	head := len(s.sh.key) + 2
	for _, r := range rows {
		if s.v.Kind == processor.List && len(r.key) == head {
			s.sh.rows--
			if err := s.sh.fail(s.sh.kv.Delete(r.key)); err != nil {
				return err
			}
			continue
		}
		if _, err := s.remove(r.key); err != nil {
			return err
		}
		s.sh.figures.Removed++
		if s.v.Kind == processor.Map {
			s.sh.rows--
		}
	}
	return nil
}

type pair struct{ key, value []byte }

// scan copies all rows that begin with a prefix.
func (s *stateVar) scan(prefix []byte) ([]pair, error) {
	var out []pair
	err := s.sh.each(prefix, after(prefix), func(key, value []byte) (bool, error) {
		out = append(out, pair{append([]byte(nil), key...), append([]byte(nil), value...)})
		return true, nil
	})
	return out, err
}

// Exists implements processor.State.
func (s *stateVar) Exists() (bool, error) {
	if err := s.ready("exists"); err != nil {
		return false, err
	}
	if s.v.Kind == processor.Value {
		_, live, err := s.get(s.row(nil))
		return live, err
	}
	found := false
	err := s.Each(func(_, _ []byte) bool {
		found = true
		return false
	})
	return found, err
}

// listHead is what a list's first row says.
type listHead struct{ next, count uint64 }

func (s *stateVar) head(row []byte) (h listHead, found bool, err error) {
	raw, found, err := s.sh.kv.Get(row)
	if err != nil || !found {
		return h, false, s.sh.fail(err)
	}
	next, n := binary.Uvarint(raw)
	if n <= 0 {
		return h, false, s.sh.fail(damaged(s.v))
	}
	count, m := binary.Uvarint(raw[n:])
	if m <= 0 {
		return h, false, s.sh.fail(damaged(s.v))
	}
	return listHead{next, count}, true, nil
}

func (s *stateVar) putHead(row []byte, h listHead) error {
	s.val = binary.AppendUvarint(binary.AppendUvarint(s.val[:0], h.next), h.count)
	return s.sh.fail(s.sh.kv.Put(row, s.val))
}

// Append implements processor.State.
func (s *stateVar) Append(element []byte) error {
	if err := s.ready("append"); err != nil {
		return err
	}
	h, found, err := s.head(s.row(nil))
	if err != nil {
		return err
	}
	if !found {
		s.sh.rows++
	}
	var number [8]byte
	binary.BigEndian.PutUint64(number[:], h.next)
	if err := s.putHead(s.row(nil), listHead{h.next + 1, h.count + 1}); err != nil {
		return err
	}
	_, err = s.put(s.row(number[:]), element)
	return err
}

// Each implements processor.State.
func (s *stateVar) Each(yield func(key, value []byte) bool) error {
	if err := s.ready("iterate"); err != nil {
		return err
	}
	prefix := append([]byte(nil), s.row(nil)...)
	key := append([]byte(nil), s.sh.key...)
	return s.sh.each(prefix, after(prefix), func(k, value []byte) (bool, error) {
		rest := k[len(prefix):]
		if s.v.Kind == processor.List {
			if len(rest) == 0 {
				return true, nil
			}
			rest = nil
		}
		value, live, err := s.open(value)
		if err != nil || !live {
			return true, err
		}
		if string(s.sh.key) != string(key) {
			return false, errclass.New("STATEFUL_PROCESSOR_CANNOT_PERFORM_OPERATION_WITH_INVALID_HANDLE_STATE",
				"operationType", "iterate of "+s.v.Name, "handleState", "after the grouping key's own call")
		}
		return yield(rest, value), nil
	})
}

// GetAt implements processor.State.
func (s *stateVar) GetAt(key []byte) ([]byte, bool, error) {
	if err := s.ready("get_value"); err != nil {
		return nil, false, err
	}
	return s.get(s.row(key))
}

// PutAt implements processor.State.
func (s *stateVar) PutAt(key, value []byte) error {
	if err := s.ready("update_value"); err != nil {
		return err
	}
	fresh, err := s.put(s.row(key), value)
	if fresh {
		s.sh.rows++
	}
	return err
}

// RemoveAt implements processor.State.
func (s *stateVar) RemoveAt(key []byte) error {
	if err := s.ready("remove_key"); err != nil {
		return err
	}
	found, err := s.remove(s.row(key))
	if found {
		s.sh.rows--
		s.sh.figures.Removed++
	}
	return err
}

// each goes through a range of the shard until f answers false.
func (sh *shard) each(from, to []byte, f func(key, value []byte) (bool, error)) (err error) {
	c, err := sh.kv.Scan(from, to)
	if err != nil {
		return sh.fail(err)
	}
	defer func() {
		if cerr := c.Close(); err == nil {
			err = sh.fail(cerr)
		}
	}()
	for {
		key, value, ok, err := c.Next()
		if err != nil {
			return sh.fail(err)
		}
		if !ok {
			return nil
		}
		if more, err := f(key, value); err != nil || !more {
			return err
		}
	}
}

// expiry notes in the index that the life of a row ends, or takes the note out.
func (sh *shard) expiry(ms int64, row []byte, there bool) error {
	sh.index = append(processor.AppendTime(indexKey(sh.index[:0], sh.partition, byExpiry), ms), row...)
	if !there {
		return sh.fail(sh.kv.Delete(sh.index))
	}
	sh.length = binary.AppendUvarint(sh.length[:0], uint64(len(sh.key)))
	return sh.fail(sh.kv.Put(sh.index, sh.length))
}

// expire removes what has outlived its time to live.
func (sh *shard) expire() error {
	for _, p := range sh.mine {
		from := indexKey(nil, p, byExpiry)
		var due []pair
		err := sh.each(from, processor.AppendTime(from[:len(from):len(from)], sh.now+1), func(key, value []byte) (bool, error) {
			due = append(due, pair{append([]byte(nil), key...), append([]byte(nil), value...)})
			return true, nil
		})
		if err != nil {
			return err
		}
		for _, d := range due {
			if err := sh.outlived(d.key, d.value); err != nil {
				return err
			}
		}
	}
	return nil
}

// outlived removes the row that an entry of the index is about.
func (sh *shard) outlived(entry, length []byte) error {
	row := entry[state.HashBytes+1+8:]
	n, w := binary.Uvarint(length)
	if w <= 0 || n+2 > uint64(len(row)) {
		return errclass.New("STATE_STORE_KEY_ROW_FORMAT_VALIDATION_FAILURE", "errorMsg", "an entry of the index of lives is cut off")
	}
	number := binary.BigEndian.Uint16(row[n:])
	if err := sh.kv.Delete(entry); err != nil {
		return err
	}
	if err := sh.kv.Delete(row); err != nil {
		return err
	}
	sh.figures.Removed++
	sh.custom[expiredValues]++
	rest := row[n+2:]
	v := sh.numbered(number)
	if v == nil || v.Kind != processor.List {
		sh.rows--
		return nil
	}
	if len(rest) == 0 {
		return nil
	}
	s := &stateVar{sh: sh, v: v}
	h, found, err := s.head(row[:n+2])
	switch {
	case err != nil || !found:
		return err
	case h.count > 1:
		h.count--
		return s.putHead(row[:n+2], h)
	}
	sh.rows--
	return sh.kv.Delete(row[:n+2])
}

func (sh *shard) numbered(n uint16) *variable {
	for _, v := range sh.vars.list {
		if v.number == n {
			return v
		}
	}
	return nil
}
