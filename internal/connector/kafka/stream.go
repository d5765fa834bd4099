package kafka

import (
	"context"
	"strconv"
	"time"

	"github.com/millrace/millrace/internal/checkpoint"
	"github.com/millrace/millrace/internal/connector/kafka/offsets"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/numtext"
	"github.com/millrace/millrace/source"
)

// aheadBytes bounds what a stream has read ahead, all partitions together.
const aheadBytes = 64 << 20

// discoverEvery is how often a stream that is busy looks for new partitions.
const discoverEvery = time.Second

// stream is the source of a streaming query.
type stream struct {
	*reading
	opts *settled
	k    *cluster
	fsys fs.FS
	log  source.Log
	now  func() time.Time
	f    *fetcher
	news chan<- struct{}

	initial offsets.Map // where the query first began
	// parts are the partitions as they were found at discovered.
	parts      []offsets.Partition
	layout     *layout
	discovered time.Time
	// fixed is the end of an availableNow run.
	fixed offsets.Map
	// latest and consumed are for reports: the ends of the partitions, and of the batch.
	latest, consumed offsets.Map
	// released is when a batch was last let go by minOffsetsPerTrigger.
	released time.Time
}

// begin finds where the query first began, or settles it.
func (s *stream) begin(ctx context.Context) (offsets.Map, error) {
	if s.initial != nil {
		return s.initial, nil
	}
	text, ok, err := checkpoint.ReadStart(s.fsys, s.log.Dir())
	if err != nil {
		return nil, err
	}
	if ok {
		s.initial, err = parseOffset(text)
		return s.initial, err
	}
	if err := s.discover(ctx); err != nil {
		return nil, err
	}
	at, err := s.k.resolve(ctx, s.opts, &s.opts.start, s.parts, true)
	if err != nil {
		return nil, err
	}
	if err := checkpoint.WriteStart(ctx, s.fsys, s.log.Dir(), checkpoint.KafkaStart, at.JSON()); err != nil {
		return nil, err
	}
	s.initial = at
	return at, nil
}

func parseOffset(o source.Offset) (offsets.Map, error) {
	m, err := offsets.Parse(o)
	if err != nil {
		return nil, errclass.New("STREAMING_CHECKPOINT_CORRUPT_FILE", "file", "offsets", "reason", "the offset "+string(o)+" is not one of the Kafka source",
			"advice", "The sources of the query may have changed; use another checkpointLocation.").WithCause(err)
	}
	return m, nil
}

// from is where a batch begins.
func (s *stream) from(ctx context.Context, start source.Offset) (offsets.Map, error) {
	if start == nil {
		return s.begin(ctx)
	}
	return parseOffset(start)
}

// discover finds the partitions.
func (s *stream) discover(ctx context.Context) (err error) {
	s.parts, s.layout, err = s.opts.choice.resolve(ctx, s.k)
	s.discovered = time.Now()
	return err
}

// ends finds where the partitions end now. While records keep coming the fetcher knows; else the brokers are asked.
func (s *stream) ends(ctx context.Context, from offsets.Map) (offsets.Map, error) {
	if s.f != nil && s.parts != nil && time.Since(s.discovered) < discoverEvery {
		if m, ok := s.f.highs(s.parts); ok && ahead(m, from) {
			return m, nil
		}
	}
	if err := s.discover(ctx); err != nil {
		return nil, err
	}
	for tries := 1; ; tries++ {
		m, err := s.k.listAll(ctx, s.parts, offsets.Latest)
		if err != nil || !behind(m, from) || tries >= s.k.retries {
			return m, err
		}
		// A broker that has just become the leader may not know yet.
		if err := pause(ctx, s.k.interval); err != nil {
			return nil, err
		}
	}
}

// ahead tells whether there is something after from, and nothing before it.
func ahead(m, from offsets.Map) bool {
	news := false
	for p, o := range m {
		begin, ok := from[p]
		if !ok || o < begin {
			return false
		}
		news = news || o > begin
	}
	return news
}

// behind tells whether any partition ends before from.
func behind(m, from offsets.Map) bool {
	for p, o := range m {
		if begin, ok := from[p]; ok && o < begin {
			return true
		}
	}
	return false
}

// PrepareAvailableNow implements source.AvailableNow.
func (s *stream) PrepareAvailableNow(ctx context.Context) (err error) {
	if err := s.discover(ctx); err != nil {
		return err
	}
	s.fixed, err = s.k.listAll(ctx, s.parts, offsets.Latest)
	return err
}

// LatestOffset implements source.Stream.
func (s *stream) LatestOffset(ctx context.Context, start source.Offset, limit source.Limit) (source.Offset, error) {
	from, err := s.from(ctx, start)
	if err != nil {
		return nil, err
	}
	latest := s.fixed
	if latest == nil {
		if latest, err = s.ends(ctx, from); err != nil {
			return nil, err
		}
	}
	s.latest = latest
	end, err := s.admit(ctx, from, latest, limit)
	if err != nil {
		return nil, err
	}
	s.consumed = end
	if start != nil && same(end, from) {
		return start, nil // whoever wrote it, and however
	}
	return end.JSON(), nil
}

func same(a, b offsets.Map) bool {
	if !a.SameKeys(b) {
		return false
	}
	for p, o := range a {
		if b[p] != o {
			return false
		}
	}
	return true
}

// admit applies the limits of the options.
func (s *stream) admit(ctx context.Context, from, latest offsets.Map, limit source.Limit) (offsets.Map, error) {
	if limit == source.LimitNone {
		return latest, nil
	}
	if s.opts.hasLeast && s.fixed == nil && s.wait(from, latest) {
		return from, nil
	}
	if !s.opts.hasMost {
		return latest, nil
	}
	begin := from
	if fresh := latest.Without(from); len(fresh) > 0 {
		first, err := s.k.listAll(ctx, fresh, offsets.Earliest)
		if err != nil {
			return nil, err
		}
		begin = make(offsets.Map, len(latest))
		for p, o := range from {
			begin[p] = o
		}
		for p, o := range first {
			begin[p] = o
		}
	}
	return prorate(s.opts.most, begin, latest), nil
}

// wait tells whether too little has come for a batch. The first of a run never waits.
func (s *stream) wait(from, latest offsets.Map) bool {
	now := s.now()
	if now.Sub(s.released) < s.opts.delay {
		count := int64(0)
		for p, o := range latest {
			count += o - from[p]
		}
		if count < s.opts.least {
			return true
		}
	}
	s.released = now
	return false
}

// Notify implements source.Notifier.
func (s *stream) Notify(news chan<- struct{}) { s.news = news }

// Plan implements source.Stream.
func (s *stream) Plan(ctx context.Context, start, end source.Offset) ([]source.Split, error) {
	from, err := s.from(ctx, start)
	if err != nil {
		return nil, err
	}
	until, err := parseOffset(end)
	if err != nil {
		return nil, err
	}
	s.consumed = until
	spans, err := s.spans(ctx, from, until)
	if err != nil {
		return nil, err
	}
	if s.f == nil {
		s.f = newFetcher(s.k, max(64<<10, aheadBytes/max(1, len(until))))
		s.f.news = s.news
	}
	parts := divide(spans, s.opts.minPartitions, s.opts.maxRecords)
	if err := s.seek(ctx, parts, until); err != nil {
		return nil, err
	}
	var out []source.Split
	for _, p := range parts {
		out = append(out, &split{reading: s.reading, span: p, shared: s.f, private: s.private})
	}
	return out, nil
}

// seek has the fetcher read what the batch needs, and go on behind it where batches follow one another: up to the end of the run.
func (s *stream) seek(ctx context.Context, parts []span, until offsets.Map) error {
	firsts := make(map[offsets.Partition]span, len(parts))
	for _, p := range parts {
		if _, ok := firsts[p.part]; !ok {
			firsts[p.part] = p
		}
	}
	// The parts of a partition that is cut are read side by side, each but the first by a fetcher of its own.
	cut := s.opts.minPartitions > 0 || s.opts.maxRecords > 0
	bounds := make([]span, 0, len(until))
	for p, o := range until {
		b, ok := firsts[p]
		if !ok {
			b = span{p, o, o} // nothing in this batch
		}
		if !cut && s.fixed != nil {
			b.end = max(b.end, s.fixed[p])
		}
		bounds = append(bounds, b)
	}
	return s.f.seek(ctx, bounds, !cut && s.fixed == nil)
}

// private makes a fetcher for a split that the shared one cannot serve: when a partition is cut, or read again. It has connections of its
// own, since the shared one's requests wait at the brokers.
func (s *stream) private() (*fetcher, func(), error) {
	k, err := dial(s.opts, s.k.log)
	if err != nil {
		return nil, nil, err
	}
	f := newFetcher(k, aheadBytes/4)
	return f, func() {
		f.close()
		k.close()
	}, nil
}

// spans are what lies between two offsets, partition by partition.
func (s *stream) spans(ctx context.Context, from, until offsets.Map) ([]span, error) {
	if gone := from.Without(until); len(gone) > 0 {
		if err := s.lose(s.deleted(gone)); err != nil {
			return nil, err
		}
	}
	fresh := until.Without(from)
	first, err := s.k.listAll(ctx, fresh, offsets.Earliest)
	if err != nil {
		return nil, err
	}
	for _, p := range fresh {
		if first[p] != 0 {
			if err := s.lose(errclass.New("KAFKA_DATA_LOSS.ADDED_PARTITION_DOES_NOT_START_FROM_OFFSET_ZERO", "topicPartition", p.String(),
				"startOffset", strconv.FormatInt(first[p], 10))); err != nil {
				return nil, err
			}
		}
	}
	var out []span
	for _, p := range until.Partitions() {
		begin, ok := from[p]
		if !ok {
			begin = first[p]
		}
		if until[p] < begin {
			if err := s.lose(errclass.New("KAFKA_DATA_LOSS.PARTITION_OFFSET_CHANGED", "topicPartition", p.String(),
				"prevOffset", strconv.FormatInt(begin, 10), "newOffset", strconv.FormatInt(until[p], 10))); err != nil {
				return nil, err
			}
		}
		out = append(out, span{p, begin, until[p]})
	}
	return out, nil
}

func (s *stream) deleted(ps []offsets.Partition) *errclass.Error {
	if _, given := s.opts.settings["group.id"]; given {
		return errclass.New("KAFKA_DATA_LOSS.PARTITIONS_DELETED_AND_GROUP_ID_CONFIG_PRESENT", "partitions", offsets.Names(ps), "groupIdConfig", "kafka.group.id")
	}
	return errclass.New("KAFKA_DATA_LOSS.PARTITIONS_DELETED", "partitions", offsets.Names(ps))
}

// lose fails because of records that are lost, unless the options say to go on.
func (s *stream) lose(e *errclass.Error) error {
	if s.opts.fail {
		return e
	}
	s.k.log.Warn("Kafka records may be lost: the query goes on, since failOnDataLoss is false", "what", e.Message)
	return nil
}

// Commit implements source.Stream. Kafka is told only where that was asked for; the query does not depend on it.
func (s *stream) Commit(ctx context.Context, end source.Offset) error {
	if s.opts.commitTo == "" {
		return nil
	}
	at, err := parseOffset(end)
	if err != nil {
		return err
	}
	if s.layout == nil { // a batch runs again that was planned by another run
		if err := s.discover(ctx); err != nil {
			return err
		}
	}
	limited, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := s.k.commit(limited, s.opts.commitTo, at, s.layout); err != nil && ctx.Err() == nil {
		s.k.log.Warn("the consumer group was not told how far the query has got", "group", s.opts.commitTo, "err", err)
	}
	return nil
}

// Description implements source.Stream.
func (s *stream) Description() string { return "KafkaV2[" + s.opts.choice.description() + "]" }

// ReportLatest implements source.Reporter.
func (s *stream) ReportLatest() source.Offset {
	if s.latest == nil {
		return nil
	}
	return s.latest.JSON()
}

// Metrics implements source.Reporter: how far the query is behind the partitions' ends.
func (s *stream) Metrics() map[string]string {
	if len(s.latest) == 0 || s.consumed == nil {
		return nil
	}
	var least, most, total int64
	first := true
	for p, o := range s.latest {
		lag := o - s.consumed[p]
		if first {
			least, most, first = lag, lag, false
		}
		least, most, total = min(least, lag), max(most, lag), total+lag
	}
	return map[string]string{
		"minOffsetsBehindLatest": strconv.FormatInt(least, 10),
		"maxOffsetsBehindLatest": strconv.FormatInt(most, 10),
		"avgOffsetsBehindLatest": string(numtext.AppendFloat(nil, float64(total)/float64(len(s.latest)), 64)),
	}
}

// Close implements source.Stream.
func (s *stream) Close() error {
	if s.f != nil {
		s.f.close()
	}
	s.k.close()
	return nil
}
