package kafka

import (
	"context"
	"strings"

	"github.com/millrace/millrace/internal/connector/kafka/offsets"
	"github.com/millrace/millrace/internal/javare"
	"github.com/millrace/millrace/source"
)

// choice is what partitions are read: exactly one of its fields is set.
type choice struct {
	topics  []string
	pattern *javare.Regexp
	source  string // of pattern
	assign  []offsets.Partition
}

func readChoice(o source.Options) (c choice, err error) {
	name, value, err := givenChoice(o)
	if err != nil {
		return c, err
	}
	switch name {
	case optSubscribe:
		c.topics = topicList(value)
	case optPattern:
		c.source = value
		// The whole name must match.
		if c.pattern, err = javare.Compile(`\A(?:` + strings.TrimSpace(value) + `)\z`); err != nil {
			return c, badValue(name, value, "it is no regular expression of Java: "+err.Error()+".")
		}
	default:
		if c.assign, err = offsets.ParseAssigned([]byte(value)); err != nil {
			return c, badValue(name, value, `it must list partitions as JSON, as in {"topic":[0,1]}: `+err.Error()+".")
		}
	}
	return c, nil
}

// description is the choice as progress shows it.
func (c *choice) description() string {
	switch {
	case c.topics != nil:
		return "Subscribe[" + strings.Join(c.topics, ", ") + "]"
	case c.pattern != nil:
		return "SubscribePattern[" + c.source + "]"
	}
	names := offsets.Names(c.assign)
	return "Assign[" + strings.Trim(names, "{}") + "]"
}

// resolve asks the brokers which partitions that is now, in order.
func (c *choice) resolve(ctx context.Context, k *cluster) ([]offsets.Partition, *layout, error) {
	var names []string
	switch {
	case c.topics != nil:
		names = c.topics
	case c.assign != nil:
		for i, p := range c.assign {
			if i == 0 || p.Topic != c.assign[i-1].Topic {
				names = append(names, p.Topic)
			}
		}
	}
	l, err := k.describe(ctx, names)
	if err != nil {
		return nil, nil, err
	}
	var out []offsets.Partition
	if c.assign != nil {
		for _, p := range c.assign {
			if _, ok := l.topics[p.Topic].leaders[p.Num]; ok { // as in Spark, others are no mistake
				out = append(out, p)
			}
		}
		return out, l, nil
	}
	for name, t := range l.topics {
		if c.pattern != nil && (t.internal || !c.pattern.Match([]byte(name))) {
			continue
		}
		for n := range t.leaders {
			out = append(out, offsets.Partition{Topic: name, Num: n})
		}
	}
	return sorted(out), l, nil
}
