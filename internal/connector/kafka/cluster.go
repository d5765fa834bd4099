package kafka

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/millrace/millrace/internal/connector/kafka/client"
	"github.com/millrace/millrace/internal/connector/kafka/offsets"
	"github.com/millrace/millrace/internal/errclass"
)

// cluster asks brokers about topics and offsets.
type cluster struct {
	cl  *kgo.Client
	log *slog.Logger
	// patience is how long an answer is waited for while brokers cannot be reached or change places.
	patience time.Duration
	// retries and interval are for answers that are likely to be other ones soon.
	retries   int
	interval  time.Duration
	committed bool
	crcs      bool
	settings  client.Settings
}

// dial makes a client. No broker is spoken to yet.
func dial(s *settled, log *slog.Logger) (*cluster, error) {
	if s.late != nil {
		return nil, s.late
	}
	opts, err := s.settings.Options(log)
	if err != nil {
		return nil, err
	}
	k := &cluster{
		log: log, retries: s.retries, interval: s.retryInterval, settings: s.settings,
		patience: max(time.Millisecond, s.settings.Millis("default.api.timeout.ms", time.Minute)),
	}
	if k.committed, err = s.settings.ReadCommitted(); err != nil {
		return nil, err
	}
	if k.crcs, err = s.settings.CheckCRCs(); err != nil {
		return nil, err
	}
	if k.cl, err = kgo.NewClient(opts...); err != nil {
		return nil, clientError(err)
	}
	return k, nil
}

func (k *cluster) close() { k.cl.Close() }

// clientError is an error of the client as users see it.
func clientError(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	if _, ok := errors.AsType[*errclass.Error](err); ok {
		return err
	}
	return errclass.New("KAFKA_CLIENT", "reason", err.Error()).WithCause(err)
}

func unknownTopic(name string) error { return errclass.New("KAFKA_UNKNOWN_TOPIC", "topic", name) }

// lasting tells whether an error will be there the next time, too.
func lasting(err error) bool {
	if _, ok := errors.AsType[*errclass.Error](err); ok {
		return true
	}
	if e, ok := errors.AsType[*kerr.Error](err); ok {
		return !e.Retriable
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return true
	}
	return errors.Is(err, context.Canceled) || errors.Is(err, kgo.ErrClientClosed)
}

// pause waits, unless the context ends.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// patiently asks again and again, until there is an answer, an error that will not go away, or no patience left.
func (k *cluster) patiently(ctx context.Context, what string, ask func(ctx context.Context) error) error {
	deadline := time.Now().Add(k.patience)
	limited, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		err := ask(limited)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case lasting(err):
			return clientError(err)
		case limited.Err() != nil || time.Now().Add(wait).After(deadline):
			return errclass.New("KAFKA_LOST_TIME", "what", what, "time", k.patience.String(), "reason", err.Error()).WithCause(err)
		}
		k.log.Warn("Kafka does not answer, asking again", "what", what, "err", err)
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
}

// layout is where partitions are.
type layout struct {
	topics map[string]*topic
}

type topic struct {
	id       [16]byte
	internal bool
	leaders  map[int32]int32 // by partition; -1 for none at the moment
}

// describe looks at topics, or at all of them for nil. Topics that are not there are an error.
func (k *cluster) describe(ctx context.Context, names []string) (*layout, error) {
	var l *layout
	unknown := 0
	err := k.patiently(ctx, "The list of topics", func(ctx context.Context) error {
		for {
			var missing string
			var err error
			if l, missing, err = k.metadata(ctx, names); err != nil || missing == "" {
				return err
			}
			// It may have been made a moment ago.
			if unknown++; unknown >= k.retries {
				return unknownTopic(missing)
			}
			if err := pause(ctx, k.interval); err != nil {
				return unknownTopic(missing)
			}
		}
	})
	return l, err
}

// metadata asks once. missing is a topic that is not there.
func (k *cluster) metadata(ctx context.Context, names []string) (_ *layout, missing string, err error) {
	req := kmsg.NewPtrMetadataRequest()
	req.AllowAutoTopicCreation = false
	for _, n := range names {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = kmsg.StringPtr(n)
		req.Topics = append(req.Topics, t)
	}
	resp, err := req.RequestWith(ctx, k.cl)
	if err != nil {
		return nil, "", err
	}
	l := &layout{topics: make(map[string]*topic, len(resp.Topics))}
	for i := range resp.Topics {
		t := &resp.Topics[i]
		if t.Topic == nil {
			continue
		}
		switch err := kerr.ErrorForCode(t.ErrorCode); {
		case errors.Is(err, kerr.UnknownTopicOrPartition):
			if names == nil {
				continue // it goes while we look
			}
			return nil, *t.Topic, nil
		case errors.Is(err, kerr.InvalidTopicException):
			return nil, "", unknownTopic(*t.Topic)
		case err != nil:
			return nil, "", err
		}
		to := &topic{id: t.TopicID, internal: t.IsInternal, leaders: make(map[int32]int32, len(t.Partitions))}
		for j := range t.Partitions {
			p := &t.Partitions[j]
			to.leaders[p.Partition] = p.Leader
		}
		l.topics[*t.Topic] = to
	}
	for _, n := range names {
		if l.topics[n] == nil {
			return nil, n, nil
		}
	}
	return l, "", nil
}

// noOffset stands for partitions without a record as late as a time.
const noOffset = -1

// list asks for an offset of each partition: offsets.Latest, offsets.Earliest or the first at or after a time in ms.
func (k *cluster) list(ctx context.Context, at offsets.Map) (offsets.Map, error) {
	out := make(offsets.Map, len(at))
	if len(at) == 0 {
		return out, nil
	}
	err := k.patiently(ctx, "The offsets", func(ctx context.Context) error {
		req := kmsg.NewPtrListOffsetsRequest()
		if k.committed {
			req.IsolationLevel = 1
		}
		for _, p := range at.Partitions() {
			if _, done := out[p]; done {
				continue
			}
			part := kmsg.NewListOffsetsRequestTopicPartition()
			part.Partition, part.Timestamp = p.Num, at[p]
			if n := len(req.Topics); n > 0 && req.Topics[n-1].Topic == p.Topic {
				req.Topics[n-1].Partitions = append(req.Topics[n-1].Partitions, part)
				continue
			}
			t := kmsg.NewListOffsetsRequestTopic()
			t.Topic, t.Partitions = p.Topic, []kmsg.ListOffsetsRequestTopicPartition{part}
			req.Topics = append(req.Topics, t)
		}
		var failed error
		for _, shard := range k.cl.RequestSharded(ctx, req) {
			if shard.Err != nil {
				failed = shard.Err
				continue
			}
			for _, t := range shard.Resp.(*kmsg.ListOffsetsResponse).Topics {
				for _, p := range t.Partitions {
					if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
						failed = err
						continue
					}
					out[offsets.Partition{Topic: t.Topic, Num: p.Partition}] = p.Offset
				}
			}
		}
		if failed == nil && len(out) < len(at) {
			failed = errors.New("some partitions were left out")
		}
		return failed
	})
	return out, err
}

// listAll asks for the same of several partitions.
func (k *cluster) listAll(ctx context.Context, ps []offsets.Partition, at int64) (offsets.Map, error) {
	m := make(offsets.Map, len(ps))
	for _, p := range ps {
		m[p] = at
	}
	return k.list(ctx, m)
}

// commit tells a consumer group how far its query has got.
func (k *cluster) commit(ctx context.Context, group string, at offsets.Map, l *layout) error {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.Generation = group, -1
	for _, p := range at.Partitions() {
		part := kmsg.NewOffsetCommitRequestTopicPartition()
		part.Partition, part.Offset = p.Num, at[p]
		if n := len(req.Topics); n > 0 && req.Topics[n-1].Topic == p.Topic {
			req.Topics[n-1].Partitions = append(req.Topics[n-1].Partitions, part)
			continue
		}
		t := kmsg.NewOffsetCommitRequestTopic()
		if known := l.topics[p.Topic]; known != nil {
			t.TopicID = known.id
		}
		t.Topic, t.Partitions = p.Topic, []kmsg.OffsetCommitRequestTopicPartition{part}
		req.Topics = append(req.Topics, t)
	}
	resp, err := req.RequestWith(ctx, k.cl)
	if err != nil {
		return err
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return err
			}
		}
	}
	return nil
}

func sorted(ps []offsets.Partition) []offsets.Partition {
	slices.SortFunc(ps, offsets.Compare)
	return slices.Compact(ps)
}
