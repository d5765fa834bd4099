package kafka

import (
	"context"
	"strconv"
	"sync"

	"github.com/google/uuid"

	"github.com/millrace/millrace/internal/connector/kafka/offsets"
	"github.com/millrace/millrace/internal/connector/kafka/records"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// Format is the Kafka source.
type Format struct{ FS fs.FS }

var columns = []types.Field{
	{Name: "key", Type: types.Binary, Nullable: true},
	{Name: "value", Type: types.Binary, Nullable: true},
	{Name: "topic", Type: types.String, Nullable: true},
	{Name: "partition", Type: types.Integer, Nullable: true},
	{Name: "offset", Type: types.Long, Nullable: true},
	{Name: "timestamp", Type: types.Timestamp, Nullable: true},
	{Name: "timestampType", Type: types.Integer, Nullable: true},
}

// Open implements source.Format.
func (f Format) Open(_ context.Context, req source.Request) (source.Table, error) {
	if req.Schema != nil && len(req.Schema.Fields) > 0 && !req.Stream {
		want := types.StructType{Fields: columns}
		return nil, errclass.New("USER_SPECIFIED_AND_ACTUAL_SCHEMA_MISMATCH", "schema", req.Schema.DDL(), "actualSchema", want.DDL())
	}
	if req.Schema != nil && len(req.Schema.Fields) > 0 {
		return nil, errclass.New("KAFKA_INVALID_OPTION.UNSUPPORTED", "option", "schema", "reason", "the columns of the Kafka source are fixed; leave it away and convert the column value.")
	}
	t := &table{fsys: f.FS, req: req}
	if req.Stream {
		if err := checkStream(req.Options); err != nil {
			return nil, err
		}
	} else if err := t.settleBatch(); err != nil {
		return nil, err
	}
	headers, err := yesOrNo(req.Options, optHeaders, false)
	if err != nil {
		return nil, err
	}
	t.schema.Fields = append(t.schema.Fields, columns...)
	if headers {
		t.schema.Fields = append(t.schema.Fields, types.Field{Name: "headers", Type: records.HeadersType, Nullable: true})
	}
	return t, nil
}

// table is a read that was asked for.
type table struct {
	fsys   fs.FS
	req    source.Request
	schema types.StructType
	opts   *settled // of a batch read

	mu     sync.Mutex
	shared *cluster // by the splits that are open
	users  int
}

// settleBatch checks a batch read, in Spark's order.
func (t *table) settleBatch() (err error) {
	start, err := readBound(t.req.Options, optStartTime, optStartTimes, optStart, offsets.Earliest)
	if err != nil {
		return err
	}
	end, err := readBound(t.req.Options, optEndTime, optEndTimes, optEnd, offsets.Latest)
	if err != nil {
		return err
	}
	if start.fixed() && start.end == offsets.Latest {
		return badValue(optStart, "latest", "a batch read from the end has no rows; use earliest or offsets.")
	}
	if end.fixed() && end.end == offsets.Earliest {
		return badValue(optEnd, "earliest", "a batch read up to the beginning has no rows; use latest or offsets.")
	}
	for p, o := range start.specific {
		if o == offsets.Latest {
			return badValue(optStart, "-1", "a batch read cannot begin at the end of "+p.String()+"; use -2 or an offset.")
		}
	}
	for p, o := range end.specific {
		if o == offsets.Earliest {
			return badValue(optEnd, "-2", "a batch read cannot end at the beginning of "+p.String()+"; use -1 or an offset.")
		}
	}
	if err := checkGeneral(t.req.Options); err != nil {
		return err
	}
	t.opts, err = settle(t.req.Options, false)
	return err
}

// fixed tells whether the bound is one of the ends for all partitions.
func (b *bound) fixed() bool { return b.at == nil && b.times == nil && b.specific == nil }

// Schema implements source.Table.
func (t *table) Schema() types.StructType { return t.schema }

// groupID is the name under which a read would be known to the brokers; it stands in messages, as no group is ever joined.
func groupID(s *settled) string {
	if id := s.settings["group.id"]; id != "" {
		return id
	}
	return s.groupPrefix + "-" + uuid.NewString()
}

// Scan implements source.Batch.
func (t *table) Scan(ctx context.Context, want source.Projection) ([]source.Split, error) {
	r, err := newReading(t.schema, want, t.opts, groupID(t.opts))
	if err != nil {
		return nil, err
	}
	k, err := t.acquire()
	if err != nil {
		return nil, err
	}
	defer t.release()
	parts, _, err := t.opts.choice.resolve(ctx, k)
	if err != nil {
		return nil, err
	}
	starts, err := k.resolve(ctx, t.opts, &t.opts.start, parts, true)
	if err != nil {
		return nil, err
	}
	ends, err := k.resolve(ctx, t.opts, &t.opts.end, parts, false)
	if err != nil {
		return nil, err
	}
	var spans []span
	for _, p := range parts {
		if starts[p] > ends[p] {
			return nil, errclass.New("RESOLVED_START_OFFSET_GREATER_THAN_END_OFFSET", "startOffset", strconv.FormatInt(starts[p], 10),
				"endOffset", strconv.FormatInt(ends[p], 10), "topicPartition", p.String())
		}
		spans = append(spans, span{p, starts[p], ends[p]})
	}
	var out []source.Split
	most := t.opts.maxRecords
	if t.opts.minPartitions == 0 {
		most = 0 // alone it counts for streams only, as in Spark
	}
	for _, s := range divide(spans, t.opts.minPartitions, most) {
		out = append(out, &split{reading: r, span: s, private: t.private})
	}
	return out, nil
}

// private makes a fetcher for a split.
func (t *table) private() (*fetcher, func(), error) {
	k, err := t.acquire()
	if err != nil {
		return nil, nil, err
	}
	f := newFetcher(k, aheadBytes/4)
	return f, func() {
		f.close()
		t.release()
	}, nil
}

// acquire gives the client that all splits share while any of them is open.
func (t *table) acquire() (*cluster, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.shared == nil {
		k, err := dial(t.opts, logOf(t.req.Env))
		if err != nil {
			return nil, err
		}
		t.shared = k
	}
	t.users++
	return t.shared, nil
}

func (t *table) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.users--; t.users == 0 {
		t.shared.close()
		t.shared = nil
	}
}

// Stream implements source.Streamer.
func (t *table) Stream(_ context.Context, env source.StreamEnv) (source.Stream, error) {
	s, err := settle(t.req.Options, true)
	if err != nil {
		return nil, err
	}
	r, err := newReading(t.schema, env.Want, s, groupID(s))
	if err != nil {
		return nil, err
	}
	k, err := dial(s, logOf(t.req.Env))
	if err != nil {
		return nil, err
	}
	return &stream{reading: r, opts: s, k: k, fsys: t.fsys, log: env.Log, now: t.req.Env.Now}, nil
}
