package kafka

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sort"
	"strconv"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/millrace/millrace/internal/connector/kafka/offsets"
	"github.com/millrace/millrace/internal/connector/kafka/records"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// reading is what the splits of one table or stream have in common.
type reading struct {
	columns     []string
	schema      *arrow.Schema
	fields      records.Fields
	fail        bool
	pollTimeout time.Duration
	group       string // for messages
}

func newReading(schema types.StructType, want source.Projection, s *settled, group string) (*reading, error) {
	r := &reading{columns: want.Columns, fail: s.fail, pollTimeout: s.pollTimeout, group: group}
	if r.columns == nil {
		r.columns = schema.Names()
	}
	var out types.StructType
	for _, c := range r.columns {
		i := schema.Index(c)
		if i < 0 {
			return nil, errclass.New("UNRESOLVED_COLUMN.WITHOUT_SUGGESTION", "objectName", errclass.Ident(c))
		}
		out.Fields = append(out.Fields, schema.Fields[i])
		switch c {
		case "key":
			r.fields.Key = true
		case "value":
			r.fields.Value = true
		case "timestamp":
			r.fields.Time = true
		case "timestampType":
			r.fields.TimeType = true
		case "headers":
			r.fields.Headers = true
		}
	}
	r.schema = types.ArrowSchema(out, types.ArrowOptions{})
	return r, nil
}

// split is a span that one worker reads.
type split struct {
	*reading
	span
	// shared is the fetcher that may have read ahead; nil for none.
	shared *fetcher
	// private makes a fetcher for this split alone, and what closes it.
	private func() (*fetcher, func(), error)
}

// Open implements source.Split.
func (s *split) Open(ctx context.Context) (source.Reader, error) {
	if s.shared != nil {
		if fd := s.shared.claim(s.span); fd != nil {
			return &reader{split: s, f: s.shared, fd: fd, at: s.start, done: func() { s.shared.release(fd) }}, nil
		}
	}
	f, done, err := s.private()
	if err != nil {
		return nil, err
	}
	if err := f.seek(ctx, []span{s.span}, false); err != nil {
		done()
		return nil, err
	}
	return &reader{split: s, f: f, fd: f.claim(s.span), at: s.start, done: done}, nil
}

// claim takes the feed of a span's partition for a reader, if it is free and stands where the span begins. It reads on to the span's end then,
// where it would have stopped before: the next part of a partition that is cut is likely to be here.
func (f *fetcher) claim(s span) *feed {
	f.mu.Lock()
	defer f.mu.Unlock()
	fd := f.feeds[s.part]
	if fd == nil || fd.taken {
		return nil
	}
	stands := len(fd.chunks) == 0 && fd.next == s.start || len(fd.chunks) > 0 && fd.chunks[0].from <= s.start && s.start < fd.chunks[0].next
	if !stands {
		return nil
	}
	fd.taken = true
	if fd.limit < s.end {
		fd.limit = s.end
		if wake := f.brokers[fd.leader]; wake != nil {
			signal(wake)
		}
	}
	return fd
}

func (f *fetcher) release(fd *feed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fd.taken = false
}

// reader reads a split. Beside source.Reader it gives vectors, for callers inside the engine.
type reader struct {
	*split
	f    *fetcher
	fd   *feed
	at   int64
	cur  *chunk
	seg  int // of cur
	row  int // of the segment
	done func()
}

// Next implements source.Reader.
func (r *reader) Next(ctx context.Context) (arrow.RecordBatch, error) {
	b, err := r.NextBatch(ctx)
	if err != nil {
		return nil, err
	}
	return vec.ToArrow(b, r.schema)
}

// NextBatch returns the next rows as Owned vectors of the columns, or io.EOF.
func (r *reader) NextBatch(ctx context.Context) (*vec.Batch, error) {
	for {
		if r.cur == nil {
			if r.at >= r.end {
				return nil, io.EOF
			}
			if err := r.advance(ctx); err != nil {
				return nil, err
			}
			continue
		}
		if r.seg < len(r.cur.segments) {
			s := r.cur.segments[r.seg]
			from, to := r.row, len(s.Offsets)
			if s.Offsets[to-1] >= r.end {
				to = sort.Search(to, func(i int) bool { return s.Offsets[i] >= r.end })
			}
			if from < to {
				to = min(to, from+vec.BatchRows)
				r.row = to
				return r.batch(s, from, to), nil
			}
			if to < len(s.Offsets) {
				r.pass(r.end)
				continue
			}
			r.seg++
			r.row = 0
			continue
		}
		r.pass(min(r.cur.next, r.end))
	}
}

// pass goes on at an offset, and gives up the chunk when nothing of it is left.
func (r *reader) pass(to int64) {
	r.at = to
	r.cur = nil
	r.f.mu.Lock()
	r.fd.move(to)
	wake := r.f.brokers[r.fd.leader]
	r.f.mu.Unlock()
	if wake != nil {
		signal(wake)
	}
}

// advance waits for the chunk with the next offset and decodes it.
func (r *reader) advance(ctx context.Context) error {
	timeout := time.NewTimer(r.pollTimeout)
	defer timeout.Stop()
	doubt := time.NewTimer(r.f.k.interval)
	defer doubt.Stop()
	doubts := 0
	for {
		r.f.mu.Lock()
		var c *chunk
		if len(r.fd.chunks) > 0 {
			c = r.fd.chunks[0]
		}
		err, high, why := r.fd.err, r.fd.high, r.f.lost
		r.f.mu.Unlock()
		switch {
		case c != nil:
			return r.decode(c)
		case errors.Is(err, errOutOfRange):
			return r.outOfRange(ctx)
		case err != nil:
			return r.fault(err)
		}
		select {
		case <-r.fd.changed:
		case <-doubt.C:
			// The batch was planned with a later end than there is something to read for: has the partition lost records, or is a new leader
			// catching up?
			ends, err := r.f.k.listAll(ctx, []offsets.Partition{r.part}, offsets.Latest)
			if err != nil {
				return err
			}
			if ends[r.part] > r.at {
				doubts = 0
			} else if doubts++; doubts > r.f.k.retries {
				return r.outOfRange(ctx)
			}
			doubt.Reset(max(r.f.k.interval, time.Millisecond))
		case <-timeout.C:
			if high >= 0 && high <= r.at {
				return r.outOfRange(ctx)
			}
			reason := "the broker sent nothing."
			if why != nil {
				reason = why.Error()
			}
			return errclass.New("KAFKA_LOST_TIME", "what", "The record at offset "+strconv.FormatInt(r.at, 10)+" of "+r.part.String(),
				"time", r.pollTimeout.String(), "reason", reason)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// decode makes columns of a chunk. What is left of it after this batch stays decoded for the next.
func (r *reader) decode(c *chunk) error {
	if !c.decoded {
		segments, next, err := records.Decode(c.raw, records.Options{
			Fields: r.fields, From: c.from, Committed: r.f.k.committed, Aborted: c.aborted, CheckCRC: r.f.k.crcs,
		})
		if err != nil {
			return r.fault(err)
		}
		c.segments, c.next, c.decoded = segments, next, true
	}
	r.cur, r.seg, r.row = c, 0, 0
	// The beginning may have been read by the batch before.
	for r.seg < len(c.segments) {
		s := c.segments[r.seg]
		if n := len(s.Offsets); s.Offsets[n-1] >= r.at {
			r.row = sort.Search(n, func(i int) bool { return s.Offsets[i] >= r.at })
			break
		}
		r.seg++
	}
	return nil
}

// outOfRange deals with offsets that are not there: the query fails, or goes on with what is left.
func (r *reader) outOfRange(ctx context.Context) error {
	if r.fail {
		return errclass.New("KAFKA_DATA_LOSS.COULD_NOT_READ_OFFSET_RANGE", "startOffset", strconv.FormatInt(r.at, 10),
			"endOffset", strconv.FormatInt(r.end, 10), "topicPartition", r.part.String(), "groupId", r.group)
	}
	first, err := r.f.k.listAll(ctx, []offsets.Partition{r.part}, offsets.Earliest)
	if err != nil {
		return err
	}
	to := first[r.part]
	if to <= r.at {
		to = r.end // what is missing is at the end
	}
	r.f.k.log.Warn("Kafka records are lost: the query goes on without them, since failOnDataLoss is false",
		"partition", r.part.String(), "from", r.at, "to", min(to, r.end))
	r.at = min(to, r.end)
	if r.at < r.end {
		r.f.mu.Lock()
		r.fd.turn++
		r.fd.move(r.at)
		wake := r.f.brokers[r.fd.leader]
		r.f.mu.Unlock()
		if wake != nil {
			signal(wake)
		}
	}
	return nil
}

func (r *reader) fault(err error) error {
	if _, ok := errors.AsType[*errclass.Error](err); ok {
		return err
	}
	return errclass.New("KAFKA_CLIENT", "reason", fmt.Sprintf("%s at offset %d: %v.", r.part, r.at, err)).WithCause(err)
}

// batch makes the columns of some rows of a segment.
func (r *reader) batch(s *records.Segment, from, to int) *vec.Batch {
	n := to - from
	b := vec.NewBatch(n)
	for _, name := range r.columns {
		var v *vec.Vector
		switch name {
		case "key":
			v = s.Key.Slice(from, n)
		case "value":
			v = s.Value.Slice(from, n)
		case "timestamp":
			v = s.Time.Slice(from, n)
		case "timestampType":
			v = s.TimeType.Slice(from, n)
		case "headers":
			v = s.Headers.Slice(from, n)
		case "topic":
			v = vec.NewConst(vec.NewBytes(types.String, []vec.Span{{Len: uint32(len(r.part.Topic))}}, []byte(r.part.Topic)), n)
		case "partition":
			one := vec.NewFixed(types.Integer, 1)
			vec.Fixed[int32](one)[0] = r.part.Num
			v = vec.NewConst(one, n)
		case "offset":
			v = vec.NewFixed(types.Long, n)
			copy(vec.Fixed[int64](v), s.Offsets[from:to])
		}
		b.Cols = append(b.Cols, v)
	}
	return b
}

// Close implements source.Reader.
func (r *reader) Close() error {
	if r.done != nil {
		r.done()
		r.done = nil
	}
	return nil
}
