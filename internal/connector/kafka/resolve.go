package kafka

import (
	"context"
	"log/slog"
	"strconv"

	"github.com/millrace/millrace/internal/connector/kafka/offsets"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/source"
)

func logOf(e source.Env) *slog.Logger {
	if e.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return e.Log
}

// resolve finds the offsets that a bound stands for.
func (k *cluster) resolve(ctx context.Context, s *settled, b *bound, parts []offsets.Partition, start bool) (offsets.Map, error) {
	assigned := make(offsets.Map, len(parts))
	for _, p := range parts {
		assigned[p] = 0
	}
	switch {
	case b.at != nil:
		for _, p := range parts {
			assigned[p] = *b.at
		}
		return k.byTime(ctx, s, assigned, start)
	case b.times != nil:
		if !b.times.SameKeys(assigned) {
			position := "ending"
			if start {
				position = "starting"
			}
			return nil, errclass.New("KAFKA_TIMESTAMP_OFFSET_DOES_NOT_MATCH_ASSIGNED", "position", position,
				"specifiedPartitions", offsets.Names(b.times.Partitions()), "assignedPartitions", offsets.Names(parts))
		}
		return k.byTime(ctx, s, b.times, start)
	case b.specific != nil:
		if !b.specific.SameKeys(assigned) {
			return nil, errclass.New("KAFKA_START_OFFSET_DOES_NOT_MATCH_ASSIGNED",
				"specifiedPartitions", offsets.Names(b.specific.Partitions()), "assignedPartitions", offsets.Names(parts))
		}
		ask := offsets.Map{}
		out := make(offsets.Map, len(parts))
		for p, o := range b.specific {
			switch {
			case o == offsets.Latest, o == offsets.Earliest:
				ask[p] = o
			case o < 0:
				return nil, badValue(b.option, strconv.FormatInt(o, 10), "offsets are 0 or more, -1 for the end and -2 for the beginning.").WithKind(errclass.SparkFailure)
			default:
				out[p] = o
			}
		}
		found, err := k.list(ctx, ask)
		if err != nil {
			return nil, err
		}
		for p, o := range found {
			out[p] = o
		}
		return out, nil
	}
	return k.listAll(ctx, parts, b.end)
}

// byTime finds the first records at or after times. Where there is none, a read ends at the end; whether it begins there is an option.
func (k *cluster) byTime(ctx context.Context, s *settled, times offsets.Map, start bool) (offsets.Map, error) {
	found, err := k.list(ctx, times)
	if err != nil {
		return nil, err
	}
	var none []offsets.Partition
	for _, p := range times.Partitions() {
		if found[p] != noOffset {
			continue
		}
		if start && s.noMatch == "error" {
			return nil, errclass.New("KAFKA_INVALID_OPTION.NO_OFFSET_FOR_TIMESTAMP", "topicPartition", p.String(), "timestamp", strconv.FormatInt(times[p], 10))
		}
		none = append(none, p)
	}
	ends, err := k.listAll(ctx, none, offsets.Latest)
	if err != nil {
		return nil, err
	}
	for p, o := range ends {
		found[p] = o
	}
	return found, nil
}
