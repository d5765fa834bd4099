package stream

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/millrace/millrace/types"
)

// Spark writes a report in two ways: one in replies to queries about a query, one in listener events. Clients are written for
// both, so both are written here, by hand, because they differ in places that no struct tag can express.

const isoMillis = "2006-01-02T15:04:05.000Z"

func isoTime(t time.Time) string { return t.UTC().Format(isoMillis) }

// dialect tells the two ways apart.
type dialect struct {
	event bool
}

// jsonWriter writes objects member by member.
type jsonWriter struct {
	b     []byte
	fresh bool // nothing was written into the innermost object yet
}

func (w *jsonWriter) open()  { w.b, w.fresh = append(w.b, '{'), true }
func (w *jsonWriter) close() { w.b, w.fresh = append(w.b, '}'), false }

func (w *jsonWriter) key(k string) {
	if !w.fresh {
		w.b = append(w.b, ',')
	}
	w.fresh = false
	w.text(k)
	w.b = append(w.b, ':')
}

func (w *jsonWriter) text(s string) {
	q, err := json.Marshal(s)
	if err != nil {
		q = []byte(`""`)
	}
	w.b = append(w.b, q...)
}

func (w *jsonWriter) str(k, v string) {
	w.key(k)
	w.text(v)
}

// nullable writes null for an empty text.
func (w *jsonWriter) nullable(k, v string) {
	if v == "" {
		w.raw(k, "null")
		return
	}
	w.str(k, v)
}

func (w *jsonWriter) raw(k, v string) {
	w.key(k)
	w.b = append(w.b, v...)
}

func (w *jsonWriter) int(k string, v int64) {
	w.key(k)
	w.b = strconv.AppendInt(w.b, v, 10)
}

// float writes a number that a client reads as a double also when it is whole.
func (w *jsonWriter) float(k string, v float64) {
	w.key(k)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		v = 0
	}
	from := len(w.b)
	w.b = strconv.AppendFloat(w.b, v, 'f', -1, 64)
	if !slices.Contains(w.b[from:], '.') {
		w.b = append(w.b, ".0"...)
	}
}

// ReplyJSON is the report as replies carry it.
func (p *Progress) ReplyJSON() string { return string(p.json(dialect{}, nil)) }

// EventJSON is the report as listener events carry it.
func (p *Progress) EventJSON() string { return string(p.json(dialect{event: true}, nil)) }

func (p *Progress) json(d dialect, b []byte) []byte {
	w := &jsonWriter{b: b}
	w.open()
	w.str("id", p.ID)
	w.str("runId", p.RunID)
	w.nullable("name", p.Name)
	w.str("timestamp", isoTime(p.Timestamp))
	w.int("batchId", p.BatchID)
	w.int("batchDuration", p.BatchDuration)
	if d.event {
		w.int("numInputRows", p.NumInputRows)
		w.float("inputRowsPerSecond", d.rate(p.InputRowsPerSecond))
		w.float("processedRowsPerSecond", d.rate(p.ProcessedRowsPerSecond))
	}
	w.key("durationMs")
	w.open()
	for _, k := range slices.Sorted(maps.Keys(p.DurationMs)) {
		w.int(k, p.DurationMs[k])
	}
	w.close()
	p.eventTimeJSON(d, w)
	w.key("stateOperators")
	w.b = append(w.b, '[')
	for i := range p.StateOperators {
		w.element(i)
		p.StateOperators[i].json(w)
	}
	w.b = append(w.b, ']')
	w.key("sources")
	w.b = append(w.b, '[')
	for i := range p.Sources {
		w.element(i)
		p.Sources[i].json(d, w)
	}
	w.b = append(w.b, ']')
	w.key("sink")
	w.open()
	w.str("description", p.Sink.Description)
	w.int("numOutputRows", p.Sink.NumOutputRows)
	w.metrics(d, p.Sink.Metrics)
	w.close()
	p.observedJSON(d, w)
	w.close()
	return w.b
}

func (w *jsonWriter) element(i int) {
	if i > 0 {
		w.b = append(w.b, ',')
	}
}

func (w *jsonWriter) metrics(d dialect, m map[string]string) {
	if d.event && len(m) == 0 {
		return
	}
	w.key("metrics")
	w.open()
	for _, k := range slices.Sorted(maps.Keys(m)) {
		w.str(k, m[k])
	}
	w.close()
}

func (p *Progress) eventTimeJSON(d dialect, w *jsonWriter) {
	if d.event && p.EventTime == nil {
		return
	}
	w.key("eventTime")
	w.open()
	if e := p.EventTime; e != nil {
		if e.Seen {
			w.str("avg", isoTime(e.Avg))
			w.str("max", isoTime(e.Max))
			w.str("min", isoTime(e.Min))
		}
		w.str("watermark", isoTime(e.Watermark))
	}
	w.close()
}

func (s *StateOperatorProgress) json(w *jsonWriter) {
	w.open()
	w.str("operatorName", s.OperatorName)
	w.int("numRowsTotal", s.NumRowsTotal)
	w.int("numRowsUpdated", s.NumRowsUpdated)
	w.int("allUpdatesTimeMs", s.AllUpdatesTimeMs)
	w.int("numRowsRemoved", s.NumRowsRemoved)
	w.int("allRemovalsTimeMs", s.AllRemovalsTimeMs)
	w.int("commitTimeMs", s.CommitTimeMs)
	w.int("memoryUsedBytes", s.MemoryUsedBytes)
	w.int("numRowsDroppedByWatermark", s.NumRowsDroppedByWatermark)
	w.int("numShufflePartitions", s.NumShufflePartitions)
	w.int("numStateStoreInstances", s.NumStateStoreInstances)
	w.key("customMetrics")
	w.open()
	for _, k := range slices.Sorted(maps.Keys(s.CustomMetrics)) {
		w.int(k, s.CustomMetrics[k])
	}
	w.close()
	w.close()
}

func (s *SourceProgress) json(d dialect, w *jsonWriter) {
	w.open()
	w.str("description", s.Description)
	w.offset(d, "startOffset", s.StartOffset)
	w.offset(d, "endOffset", s.EndOffset)
	w.offset(d, "latestOffset", s.LatestOffset)
	w.int("numInputRows", s.NumInputRows)
	w.float("inputRowsPerSecond", d.rate(s.InputRowsPerSecond))
	w.float("processedRowsPerSecond", d.rate(s.ProcessedRowsPerSecond))
	w.metrics(d, s.Metrics)
	w.close()
}

// offset writes JSON within JSON: as a text in replies, as itself in events.
func (w *jsonWriter) offset(d dialect, k string, o json.RawMessage) {
	switch {
	case o == nil:
		w.raw(k, "null")
	case d.event && json.Valid(o):
		w.raw(k, string(o))
	default:
		w.str(k, string(o))
	}
}

func (d dialect) rate(v float64) float64 {
	if d.event {
		return math.Round(v*10) / 10
	}
	return v
}

func (p *Progress) observedJSON(d dialect, w *jsonWriter) {
	if d.event && len(p.Observed) == 0 {
		return
	}
	w.key("observedMetrics")
	w.open()
	for i := range p.Observed {
		o := &p.Observed[i]
		w.key(o.Name)
		w.open()
		if d.event {
			for j, f := range o.Schema.Fields {
				w.key(f.Name)
				w.value(d, f.Type, o.Values[j])
			}
		} else {
			w.row(d, o.Schema, o.Values)
		}
		w.close()
	}
	w.close()
}

// row writes the parts of a row in a reply: its values, and its schema.
func (w *jsonWriter) row(d dialect, t types.StructType, values []any) {
	w.key("values")
	w.b = append(w.b, '[')
	for i, f := range t.Fields {
		w.element(i)
		w.value(d, f.Type, values[i])
	}
	w.b = append(w.b, ']')
	w.raw("schema", t.JSON())
}

// value writes one observed value. In replies points in time are milliseconds and structs are rows with a schema of their own; in
// events times are texts and structs objects.
func (w *jsonWriter) value(d dialect, t types.DataType, v any) {
	switch x := v.(type) {
	case nil:
		w.b = append(w.b, "null"...)
	case types.Micros:
		if d.event {
			w.text(x.String())
		} else {
			w.b = strconv.AppendInt(w.b, x.Time().UnixMilli(), 10)
		}
	case types.Days:
		if d.event {
			w.text(x.String())
		} else {
			w.b = strconv.AppendInt(w.b, int64(x)*24*60*60*1000, 10)
		}
	case types.Decimal:
		w.b = append(w.b, x.String()...)
	case types.Row:
		w.structure(d, t, x)
	case []any:
		w.b = append(w.b, '[')
		for i, v := range x {
			w.element(i)
			w.value(d, elementType(t), v)
		}
		w.b = append(w.b, ']')
	case types.MapValue:
		w.pairs(d, t, x)
	case fmt.Stringer:
		w.text(x.String())
	case float64:
		w.b = appendDouble(w.b, x)
	case float32:
		w.b = appendDouble(w.b, float64(x))
	default:
		text, err := json.Marshal(v)
		if err != nil {
			text = []byte("null")
		}
		w.b = append(w.b, text...)
	}
}

func elementType(t types.DataType) types.DataType {
	if a, ok := t.(types.ArrayType); ok {
		return a.Element
	}
	return nil
}

func (w *jsonWriter) structure(d dialect, t types.DataType, x types.Row) {
	s, _ := t.(types.StructType)
	w.open()
	if d.event {
		for i, f := range s.Fields {
			w.key(f.Name)
			w.value(d, f.Type, x[i])
		}
	} else {
		w.row(d, s, x)
	}
	w.close()
}

// pairs writes a map: an object, but in events, where the keys are no texts, a list of objects.
func (w *jsonWriter) pairs(d dialect, t types.DataType, x types.MapValue) {
	m, _ := t.(types.MapType)
	if _, texts := m.Key.(types.StringType); d.event && !texts {
		w.b = append(w.b, '[')
		for i, p := range x {
			w.element(i)
			w.open()
			w.key("key")
			w.value(d, m.Key, p.Key)
			w.key("value")
			w.value(d, m.Value, p.Value)
			w.close()
		}
		w.b = append(w.b, ']')
		return
	}
	w.open()
	for _, p := range x {
		w.key(fmt.Sprint(p.Key))
		w.value(d, m.Value, p.Value)
	}
	w.close()
}

// appendDouble writes what JSON has no number for as a text.
func appendDouble(b []byte, x float64) []byte {
	switch {
	case math.IsNaN(x):
		return append(b, `"NaN"`...)
	case math.IsInf(x, 1):
		return append(b, `"Infinity"`...)
	case math.IsInf(x, -1):
		return append(b, `"-Infinity"`...)
	case x == math.Trunc(x) && math.Abs(x) < 1e15:
		return strconv.AppendFloat(b, x, 'f', 1, 64)
	}
	return strconv.AppendFloat(b, x, 'g', -1, 64)
}
