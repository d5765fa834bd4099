package delta

import (
	"encoding/json"
	"strings"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// FileStats are the statistics of a file as its action has them. Names are those of the columns in files.
type FileStats struct {
	NumRecords *int64                     `json:"numRecords"`
	MinValues  map[string]json.RawMessage `json:"minValues"`
	MaxValues  map[string]json.RawMessage `json:"maxValues"`
	NullCount  map[string]json.RawMessage `json:"nullCount"`
	Tight      *bool                      `json:"tightBounds"`
}

// ParseStats reads the statistics of an action; nil when it has none that can be read.
func (a *Add) ParseStats() *FileStats {
	if a.Stats == "" {
		return nil
	}
	var s FileStats
	if json.Unmarshal([]byte(a.Stats), &s) != nil {
		return nil
	}
	return &s
}

// Rows is how many rows a file has, deleted ones not counted; ok is false when that is not known.
func (a *Add) Rows() (n int64, ok bool) {
	s := a.ParseStats()
	if s == nil || s.NumRecords == nil {
		return 0, false
	}
	n = *s.NumRecords
	if a.DeletionVector != nil {
		n -= a.DeletionVector.Cardinality
	}
	return n, true
}

// Column is a column as filters and files know it.
type Column struct {
	Field     types.Field
	Physical  string // its name in files, statistics and partition values
	Partition bool
}

// Pruner finds the files that may hold rows of use.
type Pruner struct {
	Columns map[string]Column // by name
	Filters []source.Filter
	// May tells whether a value may meet a filter, and Within whether one from low to high may. Values are those of package types.
	May    func(f source.Filter, v any) bool
	Within func(f source.Filter, low, high any) bool
}

// Keep tells whether a file may hold rows that meet all filters.
func (p *Pruner) Keep(a *Add) bool {
	var stats *FileStats
	for _, f := range p.Filters {
		c, ok := p.Columns[f.Column]
		if !ok {
			continue
		}
		if c.Partition {
			if v, ok := PartitionValue(c.Field.Type, a.PartitionValues[c.Physical]); ok && !p.May(f, v) {
				return false
			}
			continue
		}
		if stats == nil {
			if stats = a.ParseStats(); stats == nil {
				stats = &FileStats{}
			}
		}
		if !p.mayHold(f, &c, stats) {
			return false
		}
	}
	return true
}

func (p *Pruner) mayHold(f source.Filter, c *Column, s *FileStats) bool {
	var nulls int64
	haveNulls := json.Unmarshal(s.NullCount[c.Physical], &nulls) == nil && s.NullCount[c.Physical] != nil
	// Bounds that are not tight say nothing on how many nulls are left.
	tight := s.Tight == nil || *s.Tight
	allNull := haveNulls && s.NumRecords != nil && nulls == *s.NumRecords
	switch f.Op {
	case source.IsNull:
		return !haveNulls || nulls > 0 || !tight && nulls != 0
	case source.IsNotNull:
		return !allNull
	}
	if allNull {
		return false
	}
	low, ok1 := statValue(c.Field.Type, s.MinValues[c.Physical], false)
	high, ok2 := statValue(c.Field.Type, s.MaxValues[c.Physical], true)
	if !ok1 || !ok2 {
		return true
	}
	return p.Within(f, low, high)
}

// statValue reads a bound. Times are cut to milliseconds, so that a largest one may lie just below the true one; and of a text that is as
// long as they get the rest may be missing. Floating-point numbers are left out: writers do not agree on what NaN does to bounds.
func statValue(t types.DataType, raw json.RawMessage, high bool) (any, bool) {
	if raw == nil {
		return nil, false
	}
	var s string
	isText := json.Unmarshal(raw, &s) == nil
	switch t.(type) {
	case types.ByteType:
		var x int8
		ok := assign(raw, &x)
		return x, ok
	case types.ShortType:
		var x int16
		ok := assign(raw, &x)
		return x, ok
	case types.IntegerType:
		var x int32
		ok := assign(raw, &x)
		return x, ok
	case types.LongType:
		var x int64
		ok := assign(raw, &x)
		return x, ok
	case types.StringType:
		if high && len([]rune(s)) >= maxText {
			s += string(rune(0x10ffff))
		}
		return s, isText
	case types.DateType:
		d, ok := datetime.ParseDate([]byte(s))
		return types.Days(d), ok
	case types.TimestampType, types.TimestampNTZType:
		x, ok := datetime.ParseText([]byte(strings.TrimSuffix(s, "Z")))
		if !ok || x.HasZone || !x.HasDate {
			return nil, false
		}
		at := x.Local
		if high {
			at += 999
		}
		if _, ntz := t.(types.TimestampNTZType); ntz {
			return types.MicrosNTZ(at), true
		}
		return types.Micros(at), true
	}
	return nil, false
}

func assign[T any](raw json.RawMessage, x *T) bool { return json.Unmarshal(raw, x) == nil }
