package kafka

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/millrace/millrace/internal/connector/kafka/client"
)

// transactions write every batch of a query in one transaction.
//
// The name of the transactions is that of the query, so a run that starts ends what an earlier one has left open and shuts it out. With
// the rows of a batch its number is committed, as the offset of a consumer group of the same name: whether a batch is there is asked of
// Kafka itself, once for each run.
type transactions struct {
	id      string
	timeout time.Duration
	// last is the batch that was committed last, -1 for none; known is set when Kafka was asked.
	last  int64
	known bool
	open  bool
}

func (s *kafkaSink) transactions(settings client.Settings) (*transactions, error) {
	for _, name := range []string{"acks", "enable.idempotence"} {
		if v, ok := settings[name]; ok && v != "all" && v != "-1" && v != "true" {
			return nil, badValue(client.Prefix+name, v, "the option "+optTransactional+" needs every record to be acknowledged; leave it away.")
		}
	}
	return &transactions{
		id: s.transactionalID(), last: -1, known: s.req.QueryID == "",
		timeout: max(time.Second, settings.Millis("transaction.timeout.ms", time.Minute)),
	}, nil
}

func (t *transactions) options() []kgo.Opt {
	return []kgo.Opt{kgo.TransactionalID(t.id), kgo.TransactionTimeout(t.timeout)}
}

// begin opens the transaction of a batch; done is set when the batch was committed before.
func (t *transactions) begin(ctx context.Context, cl *kgo.Client, id int64) (done bool, err error) {
	if !t.known {
		t.last, err = t.committed(ctx, cl, false)
		if err == nil && id <= t.last {
			return true, nil
		}
		// This ends what another run has left open, and shuts it out. What it has committed is settled then.
		if _, _, err := cl.ProducerID(ctx); err != nil {
			return false, clientError(err)
		}
		if t.last, err = t.committed(ctx, cl, true); err != nil {
			return false, clientError(err)
		}
		t.known = true
	}
	if id <= t.last {
		return true, nil
	}
	if err := cl.BeginTransaction(); err != nil {
		return false, clientError(err)
	}
	t.open = true
	return false, nil
}

// committed asks for the batch that was committed last. While a transaction is open or being settled there is no answer, for which patient
// waits.
func (t *transactions) committed(ctx context.Context, cl *kgo.Client, patient bool) (int64, error) {
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group, req.RequireStable = t.id, true
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group = t.id
	req.Groups = append(req.Groups, g)
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		resp, err := req.RequestWith(ctx, cl)
		last := int64(-1)
		if err == nil {
			last, err = lastBatch(resp)
		}
		if err == nil || errors.Is(err, kerr.GroupIDNotFound) { // no batch has been committed
			return last, nil
		}
		if !patient || lasting(err) || ctx.Err() != nil {
			return 0, err
		}
		if err := pause(ctx, wait); err != nil {
			return 0, err
		}
	}
}

func lastBatch(resp *kmsg.OffsetFetchResponse) (last int64, err error) {
	last = -1
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return last, err
	}
	note := func(offset int64, code int16) error {
		last = max(last, offset-1)
		return kerr.ErrorForCode(code)
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if err := note(p.Offset, p.ErrorCode); err != nil {
				return last, err
			}
		}
	}
	for _, g := range resp.Groups {
		if err := kerr.ErrorForCode(g.ErrorCode); err != nil {
			return last, err
		}
		for _, t := range g.Topics {
			for _, p := range t.Partitions {
				if err := note(p.Offset, p.ErrorCode); err != nil {
					return last, err
				}
			}
		}
	}
	return last, nil
}

// commit ends the transaction of a batch. A batch without rows has none, and would write nothing again either.
func (t *transactions) commit(ctx context.Context, cl *kgo.Client, id int64, topic string) error {
	how := kgo.TryCommit
	var err error
	if topic != "" {
		if err = t.mark(ctx, cl, id, topic); err != nil {
			how = kgo.TryAbort
		}
	}
	t.open = false
	if eerr := cl.EndTransaction(ctx, how); err == nil {
		err = eerr
	}
	if err != nil {
		return clientError(err)
	}
	t.last = id
	return nil
}

// mark puts the number of a batch into its transaction.
func (t *transactions) mark(ctx context.Context, cl *kgo.Client, id int64, topic string) error {
	producer, epoch, err := cl.ProducerID(ctx)
	if err != nil {
		return err
	}
	topicID, err := topicID(ctx, cl, topic)
	if err != nil {
		return err
	}
	add := kmsg.NewPtrAddOffsetsToTxnRequest()
	add.TransactionalID, add.ProducerID, add.ProducerEpoch, add.Group = t.id, producer, epoch, t.id
	offset := kmsg.NewPtrTxnOffsetCommitRequest()
	offset.TransactionalID, offset.ProducerID, offset.ProducerEpoch, offset.Group, offset.Generation = t.id, producer, epoch, t.id, -1
	to := kmsg.NewTxnOffsetCommitRequestTopic()
	to.Topic, to.TopicID = topic, topicID
	part := kmsg.NewTxnOffsetCommitRequestTopicPartition()
	part.Offset, part.Metadata = id+1, kmsg.StringPtr("batch "+strconv.FormatInt(id, 10))
	to.Partitions = append(to.Partitions, part)
	offset.Topics = append(offset.Topics, to)
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		err := func() error {
			resp, err := add.RequestWith(ctx, cl)
			if err == nil {
				err = kerr.ErrorForCode(resp.ErrorCode)
			}
			if err != nil {
				return err
			}
			marked, err := offset.RequestWith(ctx, cl)
			if err != nil {
				return err
			}
			for _, t := range marked.Topics {
				for _, p := range t.Partitions {
					if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
						return err
					}
				}
			}
			return nil
		}()
		if err == nil || lasting(err) || ctx.Err() != nil {
			return err
		}
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
}

// topicID is what newer brokers know a topic by.
func topicID(ctx context.Context, cl *kgo.Client, topic string) ([16]byte, error) {
	req := kmsg.NewPtrMetadataRequest()
	t := kmsg.NewMetadataRequestTopic()
	t.Topic = kmsg.StringPtr(topic)
	req.Topics = append(req.Topics, t)
	resp, err := cl.RequestCachedMetadata(ctx, req, time.Minute)
	if err != nil {
		return [16]byte{}, err
	}
	for _, t := range resp.Topics {
		if t.Topic != nil && *t.Topic == topic {
			return t.TopicID, kerr.ErrorForCode(t.ErrorCode)
		}
	}
	return [16]byte{}, unknownTopic(topic)
}

// abort drops what the transaction has.
func (t *transactions) abort(ctx context.Context, cl *kgo.Client) {
	if !t.open {
		return
	}
	t.open = false
	_ = cl.AbortBufferedRecords(ctx)
	_ = cl.EndTransaction(ctx, kgo.TryAbort)
}
