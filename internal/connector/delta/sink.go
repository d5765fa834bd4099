package delta

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	core "github.com/millrace/millrace/internal/delta"
	"github.com/millrace/millrace/internal/setting"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/types"
)

// SinkFormat writes tables.
type SinkFormat struct{ FS fs.FS }

// Sink writes the batches of a stream, or one write.
type Sink struct {
	req  sink.Request
	log  *core.Log
	opts writeOptions
	snap *core.Snapshot // the newest that was seen; nil: none, or not looked yet
}

// writeOptions are those of a writer.
type writeOptions struct {
	merge, overwriteSchema bool
	dynamic                bool
	app                    string
	version                int64
	user                   *string
}

// Open implements sink.Format.
func (f SinkFormat) Open(ctx context.Context, req sink.Request) (sink.Sink, error) {
	location := req.Path
	if location == "" {
		location, _ = req.Options.Get("path")
	}
	path, err := Place(location)
	if err != nil {
		return nil, err
	}
	s := &Sink{req: req, log: OpenLog(f.FS, path, req.Env.Now)}
	if req.Stream {
		return s, s.checkStream()
	}
	if s.opts, err = s.options(); err != nil {
		return nil, err
	}
	if s.snap, err = s.log.Latest(ctx); err != nil {
		return nil, err
	}
	if req.Mode == sink.ErrorIfExists && s.snap != nil {
		return nil, errclass.New("DELTA_PATH_EXISTS", "path", fs.ShortURI(path))
	}
	if req.Mode == sink.Ignore && s.snap != nil {
		return s, nil
	}
	_, err = s.change(s.log.Begin(s.snap)) // finds what does not fit before any row is computed
	return s, err
}

// checkStream finds what a stream is refused for at its start.
func (s *Sink) checkStream() error {
	if s.req.Mode == sink.Update {
		return errclass.New("DELTA_UNSUPPORTED_OUTPUT_MODE", "mode", "update")
	}
	for _, name := range s.req.PartitionBy {
		if s.req.Schema.IndexFold(name) < 0 {
			return errclass.New("INVALID_STREAMING_OPTION.PARTITION_COLUMN", "columnName", errclass.Ident(name), "schema", s.req.Schema.SimpleString())
		}
	}
	return nil
}

func (s *Sink) conf(key string) string {
	if s.req.Env.Conf == nil {
		return ""
	}
	return s.req.Env.Conf(key)
}

// options reads the options of a writer.
func (s *Sink) options() (writeOptions, error) {
	var o writeOptions
	var err error
	get := s.req.Options.Get
	if o.merge, err = flagOption(get, "mergeSchema"); err != nil {
		return o, err
	}
	if _, given := get("mergeSchema"); !given {
		o.merge = s.conf(setting.DeltaAutoMerge) == "true"
	}
	if o.overwriteSchema, err = flagOption(get, "overwriteSchema"); err != nil {
		return o, err
	}
	if v, ok := get("userMetadata"); ok {
		o.user = &v
	} else if v := s.conf(setting.DeltaUserMetadata); v != "" {
		o.user = &v
	}
	if s.req.Stream {
		return o, nil
	}
	o.app, o.version, err = IdempotentWrite(get, s.conf)
	if err != nil {
		return o, err
	}
	mode, ok := get("partitionOverwriteMode")
	if !ok {
		mode = s.conf(setting.OverwriteMode)
	}
	switch strings.ToLower(mode) {
	case "dynamic":
		o.dynamic = s.req.Mode == sink.Overwrite
	case "static", "":
	default:
		return o, illegalOption("partitionOverwriteMode", mode, "it must be static or dynamic.")
	}
	if o.dynamic && o.overwriteSchema && ok {
		return o, errclass.New("DELTA_OVERWRITE_SCHEMA_WITH_DYNAMIC_PARTITION_OVERWRITE")
	}
	return o, nil
}

// IdempotentWrite is the application and its version for which something is written once; app is empty where none is set.
func IdempotentWrite(get func(string) (string, bool), conf func(string) string) (app string, version int64, err error) {
	app, haveApp := get("txnAppId")
	text, haveVersion := get("txnVersion")
	if !haveApp && !haveVersion {
		app, text = conf(setting.DeltaTxnApp), conf(setting.DeltaTxnVersion)
		haveApp, haveVersion = app != "", text != ""
	}
	switch {
	case !haveApp && !haveVersion:
		return "", 0, nil
	case !haveVersion:
		return "", 0, errclass.New("DELTA_INVALID_IDEMPOTENT_WRITES_OPTIONS", "reason", "txnVersion is missing.")
	case !haveApp:
		return "", 0, errclass.New("DELTA_INVALID_IDEMPOTENT_WRITES_OPTIONS", "reason", "txnAppId is missing.")
	}
	version, err = strconv.ParseInt(text, 10, 64)
	if err != nil || version < 0 {
		return "", 0, illegalOption("txnVersion", text, "it must be a number that is not negative.")
	}
	return app, version, nil
}

// Info implements sink.Sink.
func (s *Sink) Info() sink.Info {
	return sink.Info{Description: "DeltaSink[" + s.log.Path + "]", NeedsCheckpoint: true, Recovers: true}
}

// Begin implements sink.Sink.
func (s *Sink) Begin(ctx context.Context, id int64) (sink.Batch, bool, error) {
	var err error
	if s.req.Stream {
		if s.opts, err = s.options(); err != nil {
			return nil, false, err
		}
		s.opts.app, s.opts.version = s.req.QueryID, id
		if err := s.refresh(ctx); err != nil {
			return nil, false, err
		}
	}
	if s.req.Mode == sink.Ignore && s.snap != nil {
		return nil, true, nil
	}
	if s.opts.app != "" && s.snap != nil {
		if last, ok := s.snap.Txn(s.opts.app); ok && last >= s.opts.version {
			// Whoever has written the version may have ended before its name was durable.
			return nil, true, s.log.FS.SyncDir(s.log.Path + "/" + core.LogDir)
		}
	}
	t := s.log.Begin(s.snap)
	m, err := s.change(t)
	if err != nil {
		return nil, false, err
	}
	job, err := NewJob(ctx, s.log, m, s.req.Schema, "", s.req)
	if err != nil {
		return nil, false, err
	}
	if s.req.Stream {
		job.share()
	}
	return &batch{Job: job, s: s, txn: t}, false, nil
}

// refresh looks for newer versions.
func (s *Sink) refresh(ctx context.Context) error {
	var err error
	if s.snap != nil {
		s.snap, err = s.snap.Update(ctx)
	} else {
		s.snap, err = s.log.Latest(ctx)
	}
	return err
}

// change works out what the table will look like with rows of the request's schema, and has the transaction change it if need be.
func (s *Sink) change(t *core.Transaction) (*core.Metadata, error) {
	now := s.log.Now().UnixMilli()
	rows := s.req.Schema
	if s.snap == nil {
		if err := core.CheckNames(rows, false); err != nil {
			return nil, err
		}
		conf := map[string]string{}
		for k, v := range s.req.Options {
			if strings.HasPrefix(strings.ToLower(k), "delta.") {
				conf[k] = v
			}
		}
		conf, asked, err := core.Properties(conf)
		if err != nil {
			return nil, err
		}
		m, err := core.NewMetadata(storable(rows), s.req.PartitionBy, conf, "", now)
		if err != nil {
			return nil, err
		}
		return m, t.SetMetadata(m, asked)
	}
	old := s.snap.Metadata
	overwrite := s.req.Mode == sink.Overwrite && !s.req.Stream
	if overwrite && s.opts.overwriteSchema && !s.opts.dynamic {
		m := old.Clone()
		var err error
		if m.PartitionColumns, err = core.PartitionNames(rows, s.req.PartitionBy); err != nil {
			return nil, err
		}
		if err := m.SetSchema(storable(rows)); err != nil {
			return nil, err
		}
		if m.SchemaString == old.SchemaString && slices.Equal(m.PartitionColumns, old.PartitionColumns) {
			return old, nil
		}
		return m, t.SetMetadata(m, nil)
	}
	if err := core.CheckNames(rows, true); err != nil {
		return nil, err
	}
	if err := old.SamePartitions(s.req.PartitionBy, s.log.Path); err != nil {
		return nil, err
	}
	merged, added, err := core.Merge(s.snap.Schema, storable(rows), s.opts.merge, s.req.Stream, s.log.Path)
	if err != nil || !added {
		return old, err
	}
	m := old.Clone()
	if err := m.SetSchema(merged); err != nil {
		return nil, err
	}
	return m, t.SetMetadata(m, nil)
}

// storable gives a query's columns the form that they have in a table: all may be null.
func storable(s types.StructType) types.StructType {
	out, _ := types.Nullable(s).(types.StructType)
	return out
}

// Close implements sink.Sink.
func (s *Sink) Close() error { return nil }

// batch is one batch of a stream, or a write.
type batch struct {
	*Job
	s   *Sink
	txn *core.Transaction
	// unknown tells that the commit may be there although it gave an error, so that its files must stay.
	unknown bool
}

// Commit implements sink.Batch.
func (b *batch) Commit(ctx context.Context, messages []sink.Message) error {
	if err := b.Sync(ctx); err != nil {
		return err
	}
	err := b.commit(ctx, messages)
	if b.s.snap == nil && b.s.req.Mode == sink.Append && (errclass.Has(err, "DELTA_PROTOCOL_CHANGED") || errclass.Has(err, "DELTA_METADATA_CHANGED")) {
		// Another writer has made the table meanwhile: if it looks as this one would have made it, the rows go there.
		if again, aerr := b.again(ctx); aerr != nil || !again {
			return errors.Join(err, aerr)
		}
		err = b.commit(ctx, messages)
	}
	return err
}

// again begins anew on the table that another writer has made; ok is false when the files that were written do not fit it.
func (b *batch) again(ctx context.Context) (ok bool, err error) {
	s := b.s
	if err := s.refresh(ctx); err != nil || s.snap == nil {
		return false, err
	}
	made := b.txn.Metadata()
	t := s.log.Begin(s.snap)
	m, err := s.change(t)
	if err != nil || m != s.snap.Metadata || m.SchemaString != made.SchemaString || !slices.Equal(m.PartitionColumns, made.PartitionColumns) {
		return false, err
	}
	if last, ok := s.snap.Txn(s.opts.app); ok && last >= s.opts.version {
		return false, nil
	}
	b.txn = t
	return true, nil
}

func (b *batch) commit(ctx context.Context, messages []sink.Message) error {
	adds, rows, bytes := b.Files(messages)
	s := b.s
	for _, a := range adds {
		b.txn.Add(a)
	}
	removed, removedBytes, err := b.replace(ctx, adds)
	if err != nil {
		return err
	}
	blind := s.req.Mode != sink.Overwrite && s.req.Mode != sink.Complete
	if s.opts.app != "" {
		b.txn.SetTxn(s.opts.app, s.opts.version)
	} else if len(adds) == 0 && blind && s.snap != nil && b.txn.Metadata() == s.snap.Metadata {
		return nil // nothing comes of a write without rows, but for the table that it makes
	}
	op := core.Operation{Blind: blind, UserMetadata: s.opts.user}
	n := strconv.Itoa
	if s.req.Stream {
		mode := "Append"
		if s.req.Mode == sink.Complete {
			mode = "Complete"
		}
		op.Name = "STREAMING UPDATE"
		op.Parameters = map[string]string{"outputMode": mode, "queryId": s.opts.app, "epochId": strconv.FormatInt(s.opts.version, 10)}
		op.Metrics = map[string]string{
			"numRemovedFiles": n(removed), "numAddedFiles": n(len(adds)), "numOutputRows": strconv.FormatInt(rows, 10), "numOutputBytes": strconv.FormatInt(bytes, 10),
		}
	} else {
		op.Name = "WRITE"
		op.Parameters = map[string]string{"mode": modeName(s.req.Mode), "partitionBy": core.JSONList(s.req.PartitionBy)}
		op.Metrics = map[string]string{"numFiles": n(len(adds)), "numOutputRows": strconv.FormatInt(rows, 10), "numOutputBytes": strconv.FormatInt(bytes, 10)}
		if s.req.Mode == sink.Overwrite {
			op.Metrics["numRemovedFiles"], op.Metrics["numRemovedBytes"] = n(removed), strconv.FormatInt(removedBytes, 10)
		}
	}
	snap, err := b.txn.Commit(ctx, op)
	if err != nil {
		b.unknown = !core.Refused(err)
		return err
	}
	s.snap = snap
	return nil
}

// replace takes out what an overwrite replaces.
func (b *batch) replace(ctx context.Context, adds []*core.Add) (files int, bytes int64, err error) {
	s := b.s
	if s.snap == nil || s.req.Mode != sink.Complete && s.req.Mode != sink.Overwrite {
		return 0, 0, nil
	}
	old, err := s.snap.Files(ctx)
	if err != nil {
		return 0, 0, err
	}
	keep := func(*core.Add) bool { return false }
	if s.opts.dynamic && len(s.snap.Metadata.PartitionColumns) > 0 {
		touched := map[string]bool{}
		for _, a := range adds {
			touched[PartitionKey(a)] = true
		}
		keep = func(a *core.Add) bool { return !touched[PartitionKey(a)] }
		b.txn.ReadInside(func(a *core.Add) bool { return touched[PartitionKey(a)] })
	} else {
		b.txn.ReadWhole()
	}
	for _, a := range old {
		if !keep(a) {
			b.txn.Remove(a, true)
			files, bytes = files+1, bytes+a.Size
		}
	}
	return files, bytes, nil
}

// PartitionKey tells the partition of a file from others.
func PartitionKey(a *core.Add) string {
	var parts []string
	for k, v := range a.PartitionValues {
		if v == nil {
			parts = append(parts, k+"\x00")
		} else {
			parts = append(parts, k+"\x01"+*v)
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, "\x02")
}

func modeName(m sink.Mode) string {
	switch m {
	case sink.Overwrite:
		return "Overwrite"
	case sink.ErrorIfExists:
		return "ErrorIfExists"
	case sink.Ignore:
		return "Ignore"
	}
	return "Append"
}

// Abort implements sink.Batch.
func (b *batch) Abort(ctx context.Context) {
	if b.unknown { // all files are closed
		b.set.Wait()
		return
	}
	b.Job.Abort(ctx)
}
