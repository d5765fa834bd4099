package filesink

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/millrace/millrace/internal/amount"
	"github.com/millrace/millrace/internal/checkpoint"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/types"
)

// Format makes a sink.Format of a file format.
type Format struct {
	Kind Kind
	FS   fs.FS
	gaps bool // batches may be missing in the log of a stream
}

// Sink writes to a directory.
type Sink struct {
	kind   Kind
	fsys   fs.FS
	made   bool // the directory of a stream's output exists
	req    sink.Request
	path   string
	parts  []int // partition columns, in the order given
	data   []int // the other columns
	schema types.StructType
	enc    Encoder
	limits Limits
	log    *checkpoint.SinkLog // of a stream, from the first Begin on
	gaps   bool
}

// Aside is the same format for a side output of a query on some file system: the query may run without it for a while.
func (f Format) Aside(fsys fs.FS) sink.Format { return Format{Kind: f.Kind, FS: fsys, gaps: true} }

// Open implements sink.Format.
func (f Format) Open(_ context.Context, req sink.Request) (sink.Sink, error) {
	s := &Sink{kind: f.Kind, fsys: f.FS, req: req, gaps: f.gaps}
	location := req.Path
	if location == "" {
		location, _ = req.Options.Get("path")
	}
	if location == "" {
		return nil, errclass.New("INVALID_STREAMING_OPTION.NO_PATH")
	}
	path, err := fs.ParseLocation(location)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return nil, errclass.New("INVALID_OPTION_VALUE", "option", "path", "format", f.Kind.Name(), "value", location, "requirement", err.Error()+".").WithCause(err)
	}
	s.path = path
	if req.Stream && req.Mode != sink.Append {
		mode := "update"
		if req.Mode == sink.Complete {
			mode = "complete"
		}
		return nil, errclass.New("STREAMING_OUTPUT_MODE.UNSUPPORTED_DATASOURCE", "className", f.Kind.Name(), "outputMode", mode)
	}
	if err := s.findPartitions(); err != nil {
		return nil, err
	}
	if req.Stream {
		return s, s.checkStream()
	}
	if req.Mode == sink.ErrorIfExists {
		if exists, err := s.exists(); err != nil || exists {
			if err == nil {
				err = errclass.New("PATH_ALREADY_EXISTS", "outputPath", fs.ShortURI(path))
			}
			return nil, err
		}
	}
	return s, s.prepare()
}

// checkStream finds what a stream is refused for at its start.
func (s *Sink) checkStream() error {
	if fi, err := s.fsys.Stat(s.path); err == nil && !fi.IsDir() {
		return errclass.New("INVALID_STREAMING_OPTION.NOT_A_DIRECTORY", "option", "path", "path", fs.ShortURI(s.path))
	}
	if _, err := setting.Positive(s.conf, setting.SinkLogInterval); err != nil {
		return err
	}
	_, err := s.retention()
	return err
}

// retention is how long the log names files; 0 is for good.
func (s *Sink) retention() (time.Duration, error) {
	r, ok := s.req.Options.Get("retention")
	if !ok {
		return 0, nil
	}
	// Other than elsewhere, Spark takes no words here: 12h, not 12 hours.
	if d, ok := amount.Time(r, time.Millisecond); ok && d >= 0 {
		return d, nil
	}
	return 0, errclass.New("INVALID_STREAMING_OPTION.VALUE", "option", "retention", "value", "'"+r+"'", "requirement", "it must be a number with a unit, such as 7d or 12h.").
		WithKind(errclass.NumberFormat)
}

func (s *Sink) exists() (bool, error) {
	_, err := s.fsys.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, WriteError(s.path, err)
	}
	return true, nil
}

func (s *Sink) conf(key string) string {
	if s.req.Env.Conf == nil {
		return ""
	}
	return s.req.Env.Conf(key)
}

// findPartitions finds the partition columns.
func (s *Sink) findPartitions() error {
	taken := make([]bool, len(s.req.Schema.Fields))
	for _, name := range s.req.PartitionBy {
		i := s.req.Schema.Index(name)
		if i < 0 && s.conf(setting.CaseSensitive) != "true" {
			i = s.req.Schema.IndexFold(name)
		}
		if i < 0 {
			return errclass.New("INVALID_STREAMING_OPTION.PARTITION_COLUMN", "columnName", errclass.Ident(name), "schema", s.req.Schema.SimpleString())
		}
		if types.IsNested(s.req.Schema.Fields[i].Type) {
			return errclass.New("INVALID_PARTITION_COLUMN_DATA_TYPE", "type", errclass.Expr(s.req.Schema.Fields[i].Type.SQL()))
		}
		if taken[i] {
			return errclass.New("COLUMN_ALREADY_EXISTS", "columnName", errclass.Ident(strings.ToLower(name)))
		}
		taken[i] = true
		s.parts = append(s.parts, i)
	}
	for i, f := range s.req.Schema.Fields {
		if !taken[i] {
			s.data = append(s.data, i)
			s.schema.Fields = append(s.schema.Fields, f)
		}
	}
	return nil
}

// prepare looks at what depends on the format.
func (s *Sink) prepare() error {
	if s.enc != nil {
		return nil
	}
	if len(s.data) == 0 && len(s.parts) > 0 && !s.req.Stream {
		return errclass.New("ALL_PARTITION_COLUMNS_NOT_ALLOWED")
	}
	if len(s.data) == 0 && len(s.parts) > 0 && s.kind.Name() == "parquet" {
		return WriteError(s.path, errors.New("a Parquet file needs a column that is no partition column"))
	}
	seen := map[string]bool{}
	for _, f := range s.req.Schema.Fields { // readers find columns by name
		name := f.Name
		if s.conf(setting.CaseSensitive) != "true" {
			name = strings.ToLower(name)
		}
		if seen[name] {
			return errclass.New("COLUMN_ALREADY_EXISTS", "columnName", errclass.Ident(name))
		}
		seen[name] = true
	}
	enc, err := s.kind.Prepare(s.req)
	if err != nil {
		return err
	}
	if err := enc.Check(s.schema); err != nil {
		return err
	}
	if s.limits, err = ParseLimits(s.req); err != nil {
		return err
	}
	s.enc = enc
	return nil
}

// Info implements sink.Sink.
func (s *Sink) Info() sink.Info {
	return sink.Info{Description: "FileSink[" + fs.Location(s.path) + "]", NeedsCheckpoint: true, Recovers: true}
}

// Begin implements sink.Sink.
func (s *Sink) Begin(ctx context.Context, id int64) (sink.Batch, bool, error) {
	if s.req.Stream && !s.made { // as in Spark it is there when the batch fails
		if err := fs.MakeDirs(s.fsys, s.path); err != nil {
			return nil, false, WriteError(s.path, err)
		}
		s.made = true
	}
	if err := s.prepare(); err != nil {
		return nil, false, err
	}
	if s.req.Stream {
		if err := s.openLog(); err != nil {
			return nil, false, err
		}
		if s.log.Committed(id) {
			// The run that has written the entry may have ended before that was durable.
			if err := s.fsys.SyncDir(s.log.Dir()); err != nil {
				return nil, false, WriteError(s.log.Dir(), err)
			}
			return nil, true, nil
		}
		return newStreamBatch(s, id), false, nil
	}
	if s.req.Mode == sink.Ignore || s.req.Mode == sink.ErrorIfExists {
		exists, err := s.exists()
		if err != nil {
			return nil, false, err
		}
		if exists && s.req.Mode == sink.Ignore {
			return nil, true, nil
		}
		if exists {
			return nil, false, errclass.New("PATH_ALREADY_EXISTS", "outputPath", fs.ShortURI(s.path))
		}
	}
	b, err := newWriteBatch(ctx, s)
	return b, false, err
}

func (s *Sink) openLog() error {
	if s.log != nil {
		return nil
	}
	opts := checkpoint.CompactOptions{Now: s.req.Env.Now, FillGaps: s.gaps}
	opts.Interval, _ = strconv.Atoi(s.conf(setting.SinkLogInterval))
	opts.MinBatchesToRetain, _ = strconv.ParseInt(s.conf(setting.MinBatches), 10, 64)
	opts.KeepExpired = s.conf(setting.SinkLogDeletion) == "false"
	if d, ok := amount.Time(s.conf(setting.SinkLogDelay), time.Millisecond); ok && d >= 0 {
		opts.CleanupDelay = d
	}
	var err error
	if opts.Retention, err = s.retention(); err != nil {
		return err
	}
	log, err := checkpoint.OpenSinkLog(s.fsys, s.path, opts)
	if err != nil {
		return err
	}
	s.log = log
	return nil
}

// Close implements sink.Sink.
func (s *Sink) Close() error { return nil }
