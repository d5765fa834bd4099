package transform

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/processor"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/types"
)

// variable is a state variable with its number in keys.
type variable struct {
	processor.Variable
	number uint16
}

// variables are what a processor has defined.
type variables struct {
	mode processor.TimeMode
	list []*variable
	// dropped are names that are to be removed, gone the numbers that they had.
	dropped []string
	gone    map[uint16]processor.Kind
}

func (vs *variables) find(name string) *variable {
	for _, v := range vs.list {
		if v.Name == name {
			return v
		}
	}
	return nil
}

// count is how many variables there are of a kind.
func (vs *variables) count(k processor.Kind, ttl bool) int64 {
	n := int64(0)
	for _, v := range vs.list {
		if v.Kind == k && (v.TTL > 0) == ttl {
			n++
		}
	}
	return n
}

var definers = [...]string{"get_value_state", "get_list_state", "get_map_state"}

func (vs *variables) declare(v processor.Variable) (*variable, error) {
	switch {
	case vs.find(v.Name) != nil:
		return nil, errclass.New("STATEFUL_PROCESSOR_DUPLICATE_STATE_VARIABLE_DEFINED", "stateVarName", v.Name)
	case v.TTL != 0 && vs.mode != processor.ProcessingTime:
		return nil, errclass.New("STATEFUL_PROCESSOR_INCORRECT_TIME_MODE_TO_ASSIGN_TTL", "operationType", definers[v.Kind], "stateName", v.Name)
	case v.TTL < 0 || v.TTL > 0 && v.TTL < time.Millisecond:
		return nil, errclass.New("STATEFUL_PROCESSOR_TTL_DURATION_MUST_BE_POSITIVE", "operationType", definers[v.Kind], "stateName", v.Name)
	}
	nv := &variable{Variable: v}
	vs.list = append(vs.list, nv)
	return nv, nil
}

// stored is the list of state variables as the state has it. Names of Go fields and JSON are part of the checkpoint's format.
type stored struct {
	Version  int              `json:"version"`
	TimeMode string           `json:"timeMode"`
	Vars     []storedVariable `json:"variables"`
	Next     uint16           `json:"nextNumber"` // numbers of removed variables are not used again
}

type storedVariable struct {
	Number   uint16 `json:"number"`
	Name     string `json:"name"`
	Kind     string `json:"kind"`
	Key      string `json:"key,omitempty"` // data types as JSON
	Value    string `json:"value"`
	Nullable bool   `json:"nullable,omitempty"`
	TTL      bool   `json:"ttl,omitempty"`
}

// formatVersion is that of keys and values.
const formatVersion = 1

// readStored reads the list of state variables as it was stored.
func readStored(raw []byte) (list stored, err error) {
	if err := json.Unmarshal(raw, &list); err != nil || list.Version > formatVersion {
		return list, errclass.New("STATE_STORE_VALUE_ROW_FORMAT_VALIDATION_FAILURE", "errorMsg", "the list of state variables cannot be read")
	}
	return list, nil
}

// assign gives the variables their numbers and checks that those which the state has still fit. It returns the list to be stored when
// it has changed.
func (vs *variables) assign(kv state.KV) (update []byte, err error) {
	raw, found, err := kv.Get(catalogKey())
	if err != nil {
		return nil, err
	}
	raw = bytes.Clone(raw)
	old := stored{Version: formatVersion, TimeMode: vs.mode.String(), Next: timers + 1}
	if found {
		if old, err = readStored(raw); err != nil {
			return nil, err
		}
		if old.TimeMode != vs.mode.String() {
			return nil, errclass.New("STATE_STORE_INVALID_CONFIG_AFTER_RESTART", "configName", "timeMode", "oldConfig", old.TimeMode, "newConfig", vs.mode.String())
		}
	}
	next := stored{Version: formatVersion, TimeMode: old.TimeMode, Next: old.Next}
	for _, o := range old.Vars {
		v := vs.find(o.Name)
		switch {
		case v != nil:
			if err := o.fits(v); err != nil {
				return nil, err
			}
			v.number = o.Number
		case slices.Contains(vs.dropped, o.Name):
			if vs.gone == nil {
				vs.gone = map[uint16]processor.Kind{}
			}
			vs.gone[o.Number] = kindOf(o.Kind)
			continue
		}
		next.Vars = append(next.Vars, o)
	}
	for _, v := range vs.list {
		if v.number == 0 {
			if next.Next > maxVariable {
				return nil, errclass.New("UNSUPPORTED_FEATURE.EXPRESSION", "expression", "a stateful processor that has had more than 64000 state variables")
			}
			v.number = next.Next
			next.Next++
			next.Vars = append(next.Vars, describe(v))
		}
	}
	update, err = json.Marshal(next)
	if err != nil || found && bytes.Equal(raw, update) {
		return nil, err
	}
	return update, nil
}

func kindOf(name string) processor.Kind {
	for k := processor.Value; k < processor.Map; k++ {
		if k.String() == name {
			return k
		}
	}
	return processor.Map
}

func describe(v *variable) storedVariable {
	s := storedVariable{
		Number: v.number, Name: v.Name, Kind: v.Kind.String(), Value: typeJSON(v.Value), Nullable: v.Nullable, TTL: v.TTL > 0,
	}
	if v.Kind == processor.Map {
		s.Key = typeJSON(v.Key)
	}
	return s
}

// typeJSON is a data type as Spark writes it in schemas.
func typeJSON(t types.DataType) string { return types.JSON(t) }

// fits compares what the state has with what the processor wants.
func (s storedVariable) fits(v *variable) error {
	now := describe(v)
	switch {
	case s.Kind != now.Kind:
		return errclass.New("STATE_STORE_INVALID_VARIABLE_TYPE_CHANGE", "stateVarName", s.Name, "oldType", s.Kind, "newType", now.Kind)
	case s.Key != now.Key:
		return errclass.New("STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE", "operator", OperatorName,
			"storedKeySchema", s.text(s.Key), "newKeySchema", s.text(now.Key), "difference", "the keys of the state variable "+s.Name+" have another type")
	case s.Value != now.Value || s.Nullable != now.Nullable || s.TTL != now.TTL:
		return errclass.New("STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE", "operator", OperatorName,
			"storedValueSchema", s.full(), "newValueSchema", now.full(), "difference", "the state variable "+s.Name+" is another one", "way", "")
	}
	return nil
}

func (s storedVariable) text(t string) string { return s.Name + ": " + strings.Trim(t, `"`) }

func (s storedVariable) full() string {
	text := s.text(s.Value)
	if s.TTL {
		text += " with a time to live"
	}
	return text
}
