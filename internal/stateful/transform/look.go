package transform

import (
	"encoding/binary"
	"encoding/json"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/processor"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/types"
)

// Entry is a row of custom state as somebody sees it who does not have the processor.
type Entry struct {
	// Variable is the state variable's name, or "" for a timer, and Kind its kind.
	Variable string
	Kind     processor.Kind
	// Group is the grouping key.
	Group types.Row
	// MapKey is the key in a map. Value is a value, an element of a list, or a map's value.
	MapKey, Value any
	// At is when a timer expires, or when the life of a value ends, in milliseconds; 0 for one that lives for ever.
	At int64
}

// Look reads all custom state of an operator whose grouping key has columns of some types.
func Look(kvs []state.KV, keys []types.DataType, each func(e Entry) error) error {
	if len(kvs) == 0 {
		return nil
	}
	raw, found, err := kvs[0].Get(catalogKey())
	if err != nil || !found {
		return err
	}
	var cat stored
	if err := json.Unmarshal(raw, &cat); err != nil {
		return errclass.New("STATE_STORE_VALUE_ROW_FORMAT_VALIDATION_FAILURE", "errorMsg", "the list of state variables cannot be read")
	}
	vars := map[uint16]looked{}
	for _, s := range cat.Vars {
		v, err := s.look()
		if err != nil {
			return err
		}
		vars[s.Number] = v
	}
	for _, kv := range kvs {
		c, err := kv.Scan(nil, nil)
		if err != nil {
			return err
		}
		for {
			key, value, ok, err := c.Next()
			if err == nil && ok && key[state.HashBytes] < catalog {
				err = lookAt(key[state.HashBytes:], value, keys, vars, each)
			}
			if err != nil {
				_ = c.Close()
				return err
			}
			if !ok {
				break
			}
		}
		if err := c.Close(); err != nil {
			return err
		}
	}
	return nil
}

// looked is a state variable with its types.
type looked struct {
	storedVariable
	kind       processor.Kind
	key, value types.DataType
}

func (s storedVariable) look() (v looked, err error) {
	v = looked{storedVariable: s, kind: kindOf(s.Kind)}
	if v.value, err = types.ParseJSON([]byte(s.Value)); err == nil && s.Key != "" {
		v.key, err = types.ParseJSON([]byte(s.Key))
	}
	return v, err
}

func lookAt(key, value []byte, keys []types.DataType, vars map[uint16]looked, each func(Entry) error) error {
	var e Entry
	bad := func(err error) error {
		return errclass.New("STATE_STORE_KEY_ROW_FORMAT_VALIDATION_FAILURE", "errorMsg", err.Error())
	}
	rest := key
	for _, t := range keys {
		v, left, err := processor.ReadKey(rest, t, true)
		if err != nil {
			return bad(err)
		}
		e.Group, rest = append(e.Group, v), left
	}
	if len(rest) < 2 {
		return errclass.New("STATE_STORE_KEY_ROW_FORMAT_VALIDATION_FAILURE", "errorMsg", "a key is cut off")
	}
	number := binary.BigEndian.Uint16(rest)
	rest = rest[2:]
	var err error
	if number == timers {
		if e.At, _, err = processor.ReadTime(rest); err != nil {
			return bad(err)
		}
		return each(e)
	}
	v, ok := vars[number]
	if !ok || v.kind == processor.List && len(rest) == 0 {
		return nil
	}
	e.Variable, e.Kind = v.Name, v.kind
	if v.kind == processor.Map {
		if e.MapKey, _, err = processor.ReadKey(rest, v.key, false); err != nil {
			return bad(err)
		}
	}
	if v.TTL {
		if e.At, value, err = processor.ReadTime(value); err != nil {
			return bad(err)
		}
	}
	if e.Value, _, err = processor.Read(value, v.value, v.Nullable); err != nil {
		return errclass.New("STATE_STORE_VALUE_ROW_FORMAT_VALIDATION_FAILURE", "errorMsg", err.Error())
	}
	return each(e)
}
