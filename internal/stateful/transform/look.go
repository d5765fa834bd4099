package transform

import (
	"encoding/binary"

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
	// Group is the grouping key, Place its hash and bytes.
	Group types.Row
	Place []byte
	// MapKey is the key in a map. Value is a value, an element of a list, or a map's value.
	MapKey, Value any
	// At is when a timer expires, or when the life of a value ends, in milliseconds; 0 for one that lives for ever.
	At int64
}

// Variable is a state variable as somebody sees it who does not have the processor.
type Variable struct {
	Name string
	Kind processor.Kind
	// Key is the type of a map's keys, Value that of its values, of a list's elements or of the value.
	Key, Value types.DataType
	// Nullable is set when values may be null, TTL when they have an end of life.
	Nullable, TTL bool

	number uint16
}

// Variables are those of a state, and how its program looks at time; none of a state that nothing was written into.
func Variables(kvs []state.KV) (vars []Variable, timeMode string, err error) {
	if len(kvs) == 0 {
		return nil, "", nil
	}
	raw, found, err := kvs[0].Get(catalogKey())
	if err != nil || !found {
		return nil, "", err
	}
	cat, err := readStored(raw)
	if err != nil {
		return nil, "", err
	}
	for _, s := range cat.Vars {
		v := Variable{Name: s.Name, Kind: kindOf(s.Kind), Nullable: s.Nullable, TTL: s.TTL, number: s.Number}
		if v.Value, err = types.ParseJSON([]byte(s.Value)); err == nil && s.Key != "" {
			v.Key, err = types.ParseJSON([]byte(s.Key))
		}
		if err != nil {
			return nil, "", err
		}
		vars = append(vars, v)
	}
	return vars, cat.TimeMode, nil
}

// Look reads all custom state of an operator whose grouping key has columns of some types. Entries of one group and variable come one
// after the other.
func Look(kvs []state.KV, keys []types.DataType, each func(e Entry) error) error {
	list, _, err := Variables(kvs)
	if err != nil {
		return err
	}
	vars := map[uint16]Variable{}
	for _, v := range list {
		vars[v.number] = v
	}
	for _, kv := range kvs {
		c, err := kv.Scan(nil, nil)
		if err != nil {
			return err
		}
		for {
			key, value, ok, err := c.Next()
			if err == nil && ok && key[state.HashBytes] < catalog {
				err = lookAt(key, value, keys, vars, each)
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

func lookAt(key, value []byte, keys []types.DataType, vars map[uint16]Variable, each func(Entry) error) error {
	var e Entry
	bad := func(err error) error {
		return errclass.New("STATE_STORE_KEY_ROW_FORMAT_VALIDATION_FAILURE", "errorMsg", err.Error())
	}
	rest := key[state.HashBytes:]
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
	e.Place = key[:len(key)-len(rest)]
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
	if !ok || v.Kind == processor.List && len(rest) == 0 {
		return nil
	}
	e.Variable, e.Kind = v.Name, v.Kind
	if v.Kind == processor.Map {
		if e.MapKey, _, err = processor.ReadKey(rest, v.Key, false); err != nil {
			return bad(err)
		}
	}
	if v.TTL {
		if e.At, value, err = processor.ReadTime(value); err != nil {
			return bad(err)
		}
	}
	if e.Value, _, err = processor.Read(value, v.Value, v.Nullable); err != nil {
		return errclass.New("STATE_STORE_VALUE_ROW_FORMAT_VALIDATION_FAILURE", "errorMsg", err.Error())
	}
	return each(e)
}
