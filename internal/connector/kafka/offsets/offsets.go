package offsets

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Partition is a partition of a topic.
type Partition struct {
	Topic string
	Num   int32
}

// String is the partition as Kafka's own messages write it.
func (p Partition) String() string { return p.Topic + "-" + strconv.Itoa(int(p.Num)) }

// Compare orders partitions by topic and number.
func Compare(a, b Partition) int {
	return cmp.Or(strings.Compare(a.Topic, b.Topic), cmp.Compare(a.Num, b.Num))
}

// The offsets that stand for the ends of a partition in options.
const (
	Latest   int64 = -1
	Earliest int64 = -2
)

// Map has a position, or a time, for each partition.
type Map map[Partition]int64

// Partitions are the keys in order.
func (m Map) Partitions() []Partition { return slices.SortedFunc(maps.Keys(m), Compare) }

// SameKeys tells whether two maps have the same partitions.
func (m Map) SameKeys(o Map) bool {
	if len(m) != len(o) {
		return false
	}
	for p := range m {
		if _, ok := o[p]; !ok {
			return false
		}
	}
	return true
}

// Without are the partitions of m that o does not have, in order.
func (m Map) Without(o Map) []Partition {
	var out []Partition
	for p := range m {
		if _, ok := o[p]; !ok {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, Compare)
	return out
}

// Names lists partitions for a message.
func Names(ps []Partition) string {
	names := make([]string, len(ps))
	for i, p := range ps {
		names[i] = p.String()
	}
	return "{" + strings.Join(names, ", ") + "}"
}

// JSON is the form of the offset log: {"topic":{"0":5,"1":7}}, topics and partitions in the order in which Spark writes them.
func (m Map) JSON() json.RawMessage {
	topics := map[string][]int32{}
	var names []string
	for _, p := range m.Partitions() {
		if _, ok := topics[p.Topic]; !ok {
			names = append(names, p.Topic)
		}
		topics[p.Topic] = append(topics[p.Topic], p.Num)
	}
	b := []byte{'{'}
	for i, topic := range tableOrder(names, hashOfText) {
		if i > 0 {
			b = append(b, ',')
		}
		name, _ := json.Marshal(topic) // a string is never refused
		b = append(append(b, name...), ":{"...)
		for j, n := range tableOrder(topics[topic], hashOfNumber) {
			if j > 0 {
				b = append(b, ',')
			}
			b = append(b, '"')
			b = strconv.AppendInt(b, int64(n), 10)
			b = append(b, `":`...)
			b = strconv.AppendInt(b, m[Partition{topic, n}], 10)
		}
		b = append(b, '}')
	}
	return append(b, '}')
}

// Parse reads a number for each partition of each topic. A fraction is cut off, and what stands behind the object is passed over, as Spark
// does it.
func Parse(text []byte) (Map, error) {
	var topics map[string]map[string]json.RawMessage
	if err := decode(text, &topics); err != nil {
		return nil, err
	}
	m := Map{}
	for topic, parts := range topics {
		for name, number := range parts {
			p, err := partition(topic, name)
			if err != nil {
				return nil, err
			}
			if m[p], err = whole(number); err != nil {
				return nil, fmt.Errorf("%s is no number, for partition %s", number, p)
			}
		}
	}
	return m, nil
}

// ParseAssigned reads a list of partitions for each topic: {"topic":[0,1]}. The partitions come in order.
func ParseAssigned(text []byte) ([]Partition, error) {
	var topics map[string][]int32
	if err := decode(text, &topics); err != nil {
		return nil, err
	}
	var out []Partition
	for topic, nums := range topics {
		for _, n := range nums {
			if n < 0 {
				return nil, fmt.Errorf("there is no partition %d", n)
			}
			out = append(out, Partition{topic, n})
		}
	}
	slices.SortFunc(out, Compare)
	return slices.Compact(out), nil
}

func whole(number json.RawMessage) (int64, error) {
	if n, err := strconv.ParseInt(string(number), 10, 64); err == nil {
		return n, nil
	}
	f, err := strconv.ParseFloat(string(number), 64)
	if err == nil && math.Abs(f) >= 1<<63 {
		err = strconv.ErrRange
	}
	return int64(f), err
}

func partition(topic, name string) (Partition, error) {
	n, err := strconv.ParseInt(name, 10, 32)
	if err != nil || n < 0 {
		return Partition{}, fmt.Errorf("%q is no number of a partition of %s", name, topic)
	}
	return Partition{topic, int32(n)}, nil
}

// decode reads one JSON value.
func decode(text []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(to); err != nil {
		return errors.New("it is not JSON of the form that is wanted: " + err.Error())
	}
	return nil
}
