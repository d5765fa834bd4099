package kafka

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/millrace/millrace/internal/connector/kafka/offsets"
	"github.com/millrace/millrace/internal/connector/kafka/records"
)

// fetcher reads ahead from brokers: for each partition it has a feed of what has come and was not taken yet. One goroutine a broker asks
// for all its partitions at once and waits at the broker while there is nothing, so that records are here a moment after they were written.
// All goroutines end with close.
type fetcher struct {
	k      *cluster
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	maxWait            time.Duration
	minBytes, maxBytes int32
	partBytes          int32
	// ahead is how many bytes a feed may hold before it asks for no more.
	ahead int

	mu      sync.Mutex
	feeds   map[offsets.Partition]*feed
	brokers map[int32]chan struct{} // wakes the broker's goroutine
	lost    error                   // what the brokers said last, while they give nothing
	// news gets a token after something has come; nil for nobody.
	news chan<- struct{}
}

// feed is one partition's.
type feed struct {
	part   offsets.Partition
	id     [16]byte
	leader int32
	turn   int   // counts seeks: answers to requests from before one are dropped
	next   int64 // the offset to ask for
	limit  int64 // nothing is asked for from here on
	chunks []*chunk
	bytes  int
	high   int64 // where what may be read ends, as the broker last said; -1 when it has said nothing since a seek
	taken  bool  // a reader has it
	missed int   // how often in a row it was asked for what it has delivered already
	err    error
	// changed holds a token after a change.
	changed chan struct{}
}

// chunk is one answer of a broker.
type chunk struct {
	from, next int64
	raw        []byte
	aborted    []records.Aborted
	segments   []*records.Segment // once decoded
	decoded    bool
}

// unlimited is the limit of feeds that go on for ever.
const unlimited = math.MaxInt64

func newFetcher(k *cluster, ahead int) *fetcher {
	f := &fetcher{
		k: k, ahead: ahead, feeds: map[offsets.Partition]*feed{}, brokers: map[int32]chan struct{}{},
		maxWait:   min(max(k.settings.Millis("fetch.max.wait.ms", 100*time.Millisecond), 0), 30*time.Second),
		minBytes:  clamp32(k.settings.Number("fetch.min.bytes", 1), 1),
		maxBytes:  clamp32(min(k.settings.Number("fetch.max.bytes", 50<<20), 1<<29), 1<<10),
		partBytes: clamp32(min(k.settings.Number("max.partition.fetch.bytes", 4<<20), 1<<29), 1<<10),
	}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	return f
}

func clamp32(n, least int64) int32 { return int32(min(max(n, least), math.MaxInt32)) }

func (f *fetcher) close() {
	f.cancel()
	f.wg.Wait()
}

// span is a part of a partition to be read.
type span struct {
	part       offsets.Partition
	start, end int64
}

// seek makes the feeds deliver from the starts of spans on: up to their ends, or for ever. Nothing more is asked for of
// other partitions.
func (f *fetcher) seek(ctx context.Context, spans []span, forever bool) error {
	f.mu.Lock()
	for _, fd := range f.feeds {
		fd.limit = 0
	}
	fresh := false
	for _, s := range spans {
		fd := f.feeds[s.part]
		if fd == nil {
			fd = &feed{part: s.part, leader: -1, next: s.start, high: -1, changed: make(chan struct{}, 1)}
			f.feeds[s.part] = fd
			fresh = true
		}
		if forever {
			fd.limit = unlimited
		} else {
			fd.limit = s.end
		}
		// What is read again is read by a fetcher of its own: here a request may wait at the broker for what comes next.
		if fd.holds() > s.start && fd.missed == 0 {
			fd.missed++
			continue
		}
		fd.missed = 0
		fd.move(s.start)
	}
	for _, wake := range f.brokers {
		signal(wake)
	}
	f.mu.Unlock()
	if fresh {
		return f.locate(ctx)
	}
	return nil
}

// holds is the first offset that the feed has, or will have. The fetcher is locked.
func (fd *feed) holds() int64 {
	if len(fd.chunks) > 0 {
		return fd.chunks[0].from
	}
	return fd.next
}

// move makes the feed deliver from an offset on, which keeps what it holds if that goes on there. The fetcher is locked.
func (fd *feed) move(to int64) {
	for len(fd.chunks) > 0 && fd.chunks[0].next <= to {
		fd.bytes -= len(fd.chunks[0].raw)
		fd.chunks = fd.chunks[1:]
	}
	if fd.err == nil && (len(fd.chunks) > 0 && fd.chunks[0].from <= to || len(fd.chunks) == 0 && fd.next == to) {
		return
	}
	fd.turn++
	fd.next, fd.chunks, fd.bytes, fd.high, fd.err = to, nil, 0, -1, nil
}

func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// locate finds the leaders of all feeds. What cannot be found now is looked for by a goroutine; a topic that is gone is found out by who asks
// for its offsets.
func (f *fetcher) locate(ctx context.Context) error {
	if f.relocate(ctx) {
		return nil
	}
	f.mu.Lock()
	f.startLocator()
	f.mu.Unlock()
	return ctx.Err()
}

// startLocator has a goroutine look for leaders while there is nobody else who does. The fetcher is locked.
func (f *fetcher) startLocator() {
	if _, on := f.brokers[-1]; on || f.ctx.Err() != nil {
		return
	}
	f.brokers[-1] = make(chan struct{}, 1)
	f.wg.Go(func() {
		for wait := 50 * time.Millisecond; ; wait = min(2*wait, time.Second) {
			if pause(f.ctx, wait) != nil {
				return
			}
			if f.relocate(f.ctx) {
				break
			}
		}
		f.mu.Lock()
		delete(f.brokers, -1)
		f.mu.Unlock()
	})
}

// relocate looks for the leaders once; false when some have none.
func (f *fetcher) relocate(ctx context.Context) bool {
	f.mu.Lock()
	seen := map[string]bool{}
	var names []string
	for p := range f.feeds {
		if !seen[p.Topic] {
			seen[p.Topic] = true
			names = append(names, p.Topic)
		}
	}
	f.mu.Unlock()
	l, missing, err := f.k.metadata(ctx, names)
	if err != nil || missing != "" {
		if err == nil {
			err = unknownTopic(missing)
		}
		f.mu.Lock()
		f.lost = err
		f.mu.Unlock()
		return false
	}
	return f.place(l)
}

// place notes who leads the partitions, and starts the goroutines that are missing.
func (f *fetcher) place(l *layout) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := true
	for p, fd := range f.feeds {
		t := l.topics[p.Topic]
		if t == nil {
			all = false
			continue
		}
		leader, ok := t.leaders[p.Num]
		if !ok || leader < 0 {
			fd.leader, all = -1, false
			continue
		}
		fd.leader, fd.id = leader, t.id
		if f.brokers[leader] == nil && f.ctx.Err() == nil {
			wake := make(chan struct{}, 1)
			f.brokers[leader] = wake
			f.wg.Go(func() { f.run(leader, wake) })
		}
		signal(f.brokers[leader])
	}
	if !all {
		f.startLocator()
	}
	return all
}

// asked is a partition in a request.
type asked struct {
	fd   *feed
	turn int
	from int64
}

// run asks one broker.
func (f *fetcher) run(broker int32, wake chan struct{}) {
	wait := time.Duration(0)
	for f.ctx.Err() == nil {
		req, parts := f.request(broker)
		if req == nil {
			select {
			case <-wake:
			case <-f.ctx.Done():
			}
			continue
		}
		resp, err := f.k.cl.Broker(int(broker)).Request(f.ctx, req)
		moved := false
		if err == nil {
			moved, err = f.take(resp.(*kmsg.FetchResponse), parts)
		}
		if f.ctx.Err() != nil {
			return
		}
		if err == nil && !moved {
			wait = 0
			continue
		}
		if err != nil {
			f.mu.Lock()
			f.lost = err
			f.mu.Unlock()
			f.k.log.Debug("Kafka broker gives nothing", "broker", broker, "err", err)
		}
		if wait > 0 && pause(f.ctx, wait) != nil {
			return
		}
		wait = min(max(20*time.Millisecond, 2*wait), time.Second)
		f.relocate(f.ctx)
	}
}

// request makes the next request to a broker; nil when there is nothing to ask for.
func (f *fetcher) request(broker int32) (*kmsg.FetchRequest, []asked) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var parts []asked
	full := false
	topics := map[string]int{}
	req := kmsg.NewPtrFetchRequest()
	for p, fd := range f.feeds {
		if fd.leader != broker || fd.err != nil || fd.next >= fd.limit {
			continue
		}
		if fd.bytes >= f.ahead {
			full = true
			continue
		}
		i, ok := topics[p.Topic]
		if !ok {
			i = len(req.Topics)
			topics[p.Topic] = i
			t := kmsg.NewFetchRequestTopic()
			t.Topic, t.TopicID = p.Topic, fd.id
			req.Topics = append(req.Topics, t)
		}
		part := kmsg.NewFetchRequestTopicPartition()
		part.Partition, part.FetchOffset, part.PartitionMaxBytes = p.Num, fd.next, min(f.partBytes, int32(f.ahead))
		part.CurrentLeaderEpoch, part.LastFetchedEpoch, part.LogStartOffset = -1, -1, -1
		req.Topics[i].Partitions = append(req.Topics[i].Partitions, part)
		parts = append(parts, asked{fd, fd.turn, fd.next})
	}
	if len(parts) == 0 {
		return nil, nil
	}
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes = int32(f.maxWait.Milliseconds()), f.minBytes, f.maxBytes
	if full {
		// Who is left out must not have to wait for the others.
		req.MaxWaitMillis = min(req.MaxWaitMillis, 10)
	}
	req.SessionID, req.SessionEpoch = 0, -1
	if f.k.committed {
		req.IsolationLevel = 1
	}
	req.Rack = f.k.settings["client.rack"]
	return req, parts
}

// take adds an answer to the feeds. moved tells that the broker is the wrong one for some of them.
func (f *fetcher) take(resp *kmsg.FetchResponse, parts []asked) (moved bool, err error) {
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return false, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range resp.Topics {
		t := &resp.Topics[i]
		for j := range t.Partitions {
			p := &t.Partitions[j]
			for _, a := range parts {
				if a.fd.part.Num == p.Partition && (t.Topic == a.fd.part.Topic || t.Topic == "" && t.TopicID == a.fd.id) {
					if a.turn != a.fd.turn {
						break // it has been moved in the meantime
					}
					wrong, perr := f.add(a, p)
					moved = moved || wrong
					if perr != nil {
						err = perr
					}
					break
				}
			}
		}
	}
	return moved, err
}

// errOutOfRange is of offsets that a partition does not have, or has no longer.
var errOutOfRange = errors.New("the offset is out of range")

// add adds what has come for one partition.
func (f *fetcher) add(a asked, p *kmsg.FetchResponseTopicPartition) (moved bool, err error) {
	fd := a.fd
	switch err := kerr.ErrorForCode(p.ErrorCode); {
	case err == nil:
	case errors.Is(err, kerr.OffsetOutOfRange):
		fd.err = errOutOfRange
		signal(fd.changed)
		return false, nil
	case lasting(err):
		fd.err = clientError(err)
		signal(fd.changed)
		return false, nil
	default:
		fd.leader = -1 // until it is found
		return true, err
	}
	high := p.HighWatermark
	if f.k.committed {
		high = p.LastStableOffset
	}
	c := &chunk{from: a.from, raw: p.RecordBatches}
	for _, t := range p.AbortedTransactions {
		c.aborted = append(c.aborted, records.Aborted{Producer: t.ProducerID, First: t.FirstOffset})
	}
	if c.next, err = records.End(p.RecordBatches, a.from); err != nil {
		fd.err = err
		signal(fd.changed)
		return false, nil
	}
	f.lost = nil
	if c.next > a.from {
		fd.chunks = append(fd.chunks, c)
		fd.bytes += len(c.raw)
		fd.next = c.next
	}
	if high != fd.high || c.next > a.from {
		fd.high = max(high, c.next)
		signal(fd.changed)
		signal(f.news)
	}
	return false, nil
}

// highs are where partitions end, as far as the fetcher knows that without asking: ok is false when it does not know it of all.
func (f *fetcher) highs(ps []offsets.Partition) (m offsets.Map, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m = make(offsets.Map, len(ps))
	for _, p := range ps {
		fd := f.feeds[p]
		// A feed that asks for no more does not hear of what comes.
		if fd == nil || fd.err != nil || fd.high < 0 || fd.bytes >= f.ahead || fd.leader < 0 || fd.limit != unlimited {
			return nil, false
		}
		m[p] = fd.high
	}
	return m, f.lost == nil
}
