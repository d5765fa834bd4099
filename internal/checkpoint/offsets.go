package checkpoint

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"unicode/utf16"
)

// OffsetSeq is an entry of the offset log: all that a batch needs besides the plan, so that it can be run
// again exactly.
type OffsetSeq struct {
	// Offsets holds the end offset of each use of a source, in the order of the plan. Nil: the source has had
	// nothing yet.
	Offsets  []json.RawMessage
	Metadata OffsetMetadata
}

// OffsetMetadata is the second line of an entry of the offset log.
type OffsetMetadata struct {
	BatchWatermarkMs int64
	BatchTimestampMs int64 // the clock of the batch
	Conf             Conf
	// InputWatermarksMs are those of the single inputs before the batch; see Commit.
	InputWatermarksMs []int64
}

// Setting is one configuration entry.
type Setting struct{ Key, Value string }

// Conf holds settings in the order in which they stand in the file. Settings that we do not know
// are kept.
type Conf []Setting

// NewConf orders settings as Spark 4.2 writes them.
func NewConf(settings map[string]string) Conf {
	c := make(Conf, 0, len(settings))
	for k, v := range settings {
		c = append(c, Setting{k, v})
	}
	if len(c) <= 4 { // small Scala maps keep no hash order; any fixed one will do
		slices.SortFunc(c, func(a, b Setting) int { return cmp.Compare(a.Key, b.Key) })
		return c
	}
	ranks := hashRanks(slices.Collect(maps.Keys(settings)))
	slices.SortFunc(c, func(a, b Setting) int { return cmp.Compare(ranks[a.Key], ranks[b.Key]) })
	return c
}

// Get finds a setting.
func (c Conf) Get(key string) (string, bool) {
	for _, s := range c {
		if s.Key == key {
			return s.Value, true
		}
	}
	return "", false
}

// Map gives the settings without their order.
func (c Conf) Map() map[string]string {
	m := make(map[string]string, len(c))
	for _, s := range c {
		m[s.Key] = s.Value
	}
	return m
}

// hashRanks orders keys as a walk through Scala's immutable hash map does: a trie over the hash,
// five bits a level from the lowest; a node gives its own keys before those of its children.
func hashRanks(keys []string) map[string]int {
	ranks := make(map[string]int, len(keys))
	var walk func(keys []string, shift uint)
	walk = func(keys []string, shift uint) {
		if shift >= 32 { // equal hashes
			slices.Sort(keys)
			for _, k := range keys {
				ranks[k] = len(ranks)
			}
			return
		}
		var slots [32][]string
		for _, k := range keys {
			i := scalaHash(k) >> shift & 31
			slots[i] = append(slots[i], k)
		}
		for _, s := range slots {
			if len(s) == 1 {
				ranks[s[0]] = len(ranks)
			}
		}
		for _, s := range slots {
			if len(s) > 1 {
				walk(s, shift+5)
			}
		}
	}
	walk(keys, 0)
	return ranks
}

// scalaHash is Java's hash of a string, stirred as Scala's maps do.
func scalaHash(s string) uint32 {
	var h uint32
	for _, u := range utf16.Encode([]rune(s)) {
		h = 31*h + uint32(u)
	}
	h += ^(h << 9)
	h ^= h >> 14
	h += h << 4
	return h ^ h>>10
}

const offsetLogVersion = 1

// appendOffsets encodes an entry of the offset log.
func appendOffsets(b []byte, o OffsetSeq) ([]byte, error) {
	b = append(b, "v1\n{\"batchWatermarkMs\":"...)
	b = strconv.AppendInt(b, o.Metadata.BatchWatermarkMs, 10)
	b = append(b, `,"batchTimestampMs":`...)
	b = strconv.AppendInt(b, o.Metadata.BatchTimestampMs, 10)
	b = append(b, `,"conf":{`...)
	for i, s := range o.Metadata.Conf {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, s.Key)
		b = append(b, ':')
		b = appendString(b, s.Value)
	}
	b = append(b, '}')
	b = appendInputWatermarks(b, o.Metadata.InputWatermarksMs)
	b = append(b, '}')
	for i, off := range o.Offsets {
		b = append(b, '\n')
		if off == nil {
			b = append(b, '-')
			continue
		}
		if bytes.IndexByte(off, '\n') >= 0 || !json.Valid(off) {
			return nil, fmt.Errorf("offset of source %d is not JSON in one line: %s", i, clip(off))
		}
		b = append(b, off...)
	}
	return b, nil
}

// parseOffsets decodes an entry of the offset log.
func parseOffsets(content []byte) (OffsetSeq, error) {
	var o OffsetSeq
	_, rest, err := cutVersion(content, offsetLogVersion)
	if err != nil {
		return o, err
	}
	seen := false
	err = eachLine(rest, func(n int, line []byte) error {
		switch {
		case n == 2:
			seen = true
			if len(bytes.TrimSpace(line)) == 0 { // written before there was metadata
				return nil
			}
			m, err := parseOffsetMetadata(line)
			o.Metadata = m
			return err
		case string(line) == "-":
			o.Offsets = append(o.Offsets, nil)
		case json.Valid(line):
			o.Offsets = append(o.Offsets, slices.Clone(line))
		default:
			return fmt.Errorf("line %d is no offset: %s", n, clip(line))
		}
		return nil
	})
	if err == nil && !seen {
		err = errors.New("the file ends after the first line")
	}
	return o, err
}

func parseOffsetMetadata(line []byte) (m OffsetMetadata, err error) {
	err = eachField(line, func(key, value []byte) (err error) {
		switch string(key) {
		case "batchWatermarkMs":
			m.BatchWatermarkMs, err = intValue(value)
		case "batchTimestampMs":
			m.BatchTimestampMs, err = intValue(value)
		case "conf":
			m.Conf, err = parseConf(value)
		case keyInputWatermarks:
			m.InputWatermarksMs, err = parseInputWatermarks(value)
		}
		return err
	})
	if err != nil {
		return m, fmt.Errorf("line 2: %w", err)
	}
	return m, nil
}

func parseConf(text []byte) (Conf, error) {
	c := Conf{}
	err := eachField(text, func(key, value []byte) error {
		v, err := textValue(value)
		if err != nil {
			return err
		}
		k := string(key)
		for i := range c {
			if c[i].Key == k { // as in Spark, the last one counts
				c[i].Value = v
				return nil
			}
		}
		c = append(c, Setting{k, v})
		return nil
	})
	return c, err
}
