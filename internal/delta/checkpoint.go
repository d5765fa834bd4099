package delta

import (
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// The columns of a checkpoint, one for each kind of action.

func text(name string) types.Field   { return types.NewField(name, types.String) }
func long(name string) types.Field   { return types.NewField(name, types.Long) }
func number(name string) types.Field { return types.NewField(name, types.Integer) }
func flag(name string) types.Field   { return types.NewField(name, types.Boolean) }

func textMap(name string) types.Field {
	return types.NewField(name, types.MapType{Key: types.String, Value: types.String, ValueContainsNull: true})
}

func texts(name string) types.Field { return types.NewField(name, types.ArrayOf(types.String)) }

func record(name string, fields ...types.Field) types.Field {
	return types.NewField(name, types.Struct(fields...))
}

var vectorColumn = record("deletionVector", text("storageType"), text("pathOrInlineDv"), number("offset"), number("sizeInBytes"), long("cardinality"), long("maxRowIndex"))

var (
	txnColumn = record("txn", text("appId"), long("version"), long("lastUpdated"))
	addColumn = record("add", text("path"), textMap("partitionValues"), long("size"), long("modificationTime"), flag("dataChange"), textMap("tags"),
		vectorColumn, long("baseRowId"), long("defaultRowCommitVersion"), text("clusteringProvider"), text("stats"))
	removeColumn = record("remove", text("path"), long("deletionTimestamp"), flag("dataChange"), flag("extendedFileMetadata"), textMap("partitionValues"),
		long("size"), vectorColumn, long("baseRowId"), long("defaultRowCommitVersion"))
	metadataColumn = record("metaData", text("id"), text("name"), text("description"), record("format", text("provider"), textMap("options")), text("schemaString"),
		texts("partitionColumns"), textMap("configuration"), long("createdTime"))
	protocolColumn = record("protocol", number("minReaderVersion"), number("minWriterVersion"), texts("readerFeatures"), texts("writerFeatures"))
	domainColumn   = record("domainMetadata", text("domain"), text("configuration"), flag("removed"))
	sidecarColumn  = record("sidecar", text("path"))
)

// checkpointSchema is what a checkpoint is written with.
var checkpointSchema = types.Struct(txnColumn, addColumn, removeColumn, metadataColumn, protocolColumn, domainColumn)

// stateSchema is what is read first: everything but the files. fileSchema is the rest.
var (
	stateSchema = types.Struct(txnColumn, metadataColumn, protocolColumn, domainColumn)
	fileSchema  = types.Struct(addColumn, removeColumn, sidecarColumn)
)

// readCheckpoint takes in what a checkpoint says beside the files.
func (s *Snapshot) readCheckpoint(ctx context.Context, c *checkpointFiles) error {
	s.base = c
	for _, name := range c.parts {
		if err := s.log.readActions(ctx, filepath.Join(s.log.dir(), name), stateSchema, func(a *Action) { s.note(a) }); err != nil {
			return err
		}
	}
	if s.Protocol == nil || s.Metadata == nil {
		return errclass.New("DELTA_STATE_RECOVER_ERROR", "operation", "protocol and metadata", "path", s.log.Path, "version", strconv.FormatInt(c.version, 10))
	}
	return s.Protocol.CheckRead(s.log.name())
}

// readFiles takes in the files of a checkpoint, and of the sidecars that it names.
func (l *Log) readFiles(ctx context.Context, c *checkpointFiles, f *fileSet) error {
	var sidecars []string
	take := func(a *Action) {
		if a.Sidecar != nil {
			sidecars = append(sidecars, a.Sidecar.Path)
			return
		}
		f.apply(a)
	}
	for _, name := range c.parts {
		if err := l.readActions(ctx, filepath.Join(l.dir(), name), fileSchema, take); err != nil {
			return err
		}
	}
	for _, name := range sidecars {
		if !filepath.IsAbs(name) {
			name = filepath.Join(l.dir(), "_sidecars", name)
		}
		if err := l.readActions(ctx, name, types.Struct(addColumn, removeColumn), take); err != nil {
			return err
		}
	}
	return nil
}

// readActions reads actions of the kinds in schema from a file of a checkpoint.
func (l *Log) readActions(ctx context.Context, path string, schema types.StructType, each func(*Action)) error {
	if strings.HasSuffix(path, ".json") {
		b, err := fs.ReadFile(l.FS, path)
		if err != nil {
			return err
		}
		actions, err := parseCommit(b)
		if err != nil {
			return err
		}
		for i := range actions {
			each(&actions[i])
		}
		return nil
	}
	return l.Codec.Read(ctx, l.FS, path, schema, func(b *vec.Batch) error {
		for c, f := range schema.Fields {
			col := b.Cols[c]
			if col.HasNulls() && allNull(col) {
				continue
			}
			for i := range b.N {
				if col.IsNull(i) {
					continue
				}
				r, ok := vec.ValueAt(col, i).(types.Row)
				if !ok {
					continue
				}
				if a := actionOf(f.Name, r); a != nil {
					each(a)
				}
			}
		}
		return nil
	})
}

func allNull(v *vec.Vector) bool {
	for i := range v.Len() {
		if !v.IsNull(i) {
			return false
		}
	}
	return true
}

// actionOf makes an action of a row; nil when the row lacks what makes one.
func actionOf(kind string, r types.Row) *Action {
	switch kind {
	case "txn":
		return &Action{Txn: &Txn{AppID: asText(r[0]), Version: asLong(r[1]), LastUpdated: maybe[int64](r[2])}}
	case "add":
		a := &Add{
			Path: asText(r[0]), PartitionValues: asMap(r[1]), Size: asLong(r[2]), ModificationTime: asLong(r[3]), DataChange: asFlag(r[4]), Tags: asMap(r[5]),
			DeletionVector: asVector(r[6]), BaseRowID: maybe[int64](r[7]), DefaultRowCommit: maybe[int64](r[8]), ClusteringBy: maybe[string](r[9]), Stats: asText(r[10]),
		}
		if a.Path == "" {
			return nil
		}
		return &Action{Add: a}
	case "remove":
		return &Action{Remove: &Remove{
			Path: asText(r[0]), DeletionTimestamp: maybe[int64](r[1]), DataChange: asFlag(r[2]), ExtendedFileMetadata: maybe[bool](r[3]), PartitionValues: asMap(r[4]),
			Size: maybe[int64](r[5]), DeletionVector: asVector(r[6]), BaseRowID: maybe[int64](r[7]), DefaultRowCommit: maybe[int64](r[8]),
		}}
	case "metaData":
		m := &Metadata{
			ID: asText(r[0]), Name: maybe[string](r[1]), Description: maybe[string](r[2]), Format: FileFormat{Provider: "parquet", Options: map[string]string{}},
			SchemaString: asText(r[4]), PartitionColumns: asTexts(r[5]), Configuration: map[string]string{}, CreatedTime: maybe[int64](r[7]),
		}
		if f, ok := r[3].(types.Row); ok {
			m.Format.Provider = asText(f[0])
		}
		for k, v := range asMap(r[6]) {
			if v != nil {
				m.Configuration[k] = *v
			}
		}
		return &Action{Metadata: m}
	case "protocol":
		p := &Protocol{ReaderFeatures: asTexts(r[2]), WriterFeatures: asTexts(r[3])}
		reader, _ := r[0].(int32)
		writer, _ := r[1].(int32)
		p.MinReaderVersion, p.MinWriterVersion = int(reader), int(writer)
		return &Action{Protocol: p}
	case "domainMetadata":
		return &Action{Domain: &Domain{Domain: asText(r[0]), Configuration: asText(r[1]), Removed: asFlag(r[2])}}
	case "sidecar":
		return &Action{Sidecar: &Sidecar{Path: asText(r[0])}}
	}
	return nil
}

func asText(v any) string { s, _ := v.(string); return s }
func asLong(v any) int64  { n, _ := v.(int64); return n }
func asFlag(v any) bool   { b, _ := v.(bool); return b }

func maybe[T any](v any) *T {
	if x, ok := v.(T); ok {
		return &x
	}
	return nil
}

func asMap(v any) map[string]*string {
	m, ok := v.(types.MapValue)
	if !ok {
		return nil
	}
	out := make(map[string]*string, len(m))
	for _, e := range m {
		out[asText(e.Key)] = maybe[string](e.Value)
	}
	return out
}

func asTexts(v any) []string {
	list, ok := v.([]any)
	if !ok {
		return nil
	}
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = asText(x)
	}
	return out
}

func asVector(v any) *DeletionVector {
	r, ok := v.(types.Row)
	if !ok {
		return nil
	}
	d := &DeletionVector{StorageType: asText(r[0]), PathOrInlineDv: asText(r[1]), Offset: maybe[int32](r[2]), Cardinality: asLong(r[4]), MaxRowIndex: maybe[int64](r[5])}
	d.SizeInBytes, _ = r[3].(int32)
	if d.StorageType == "" {
		return nil
	}
	return d
}

// WriteCheckpoint writes the checkpoint of a snapshot and has _last_checkpoint name it. The table is whole without it: those who read it
// have less to read.
func (s *Snapshot) WriteCheckpoint(ctx context.Context) error {
	f, err := s.all(ctx)
	if err != nil {
		return err
	}
	now := s.log.now()
	rows := s.checkpointRows(f, now)
	batches, err := checkpointBatches(rows)
	if err != nil {
		return err
	}
	name := filepath.Join(s.log.dir(), strings.TrimSuffix(commitName(s.Version), "json")+"checkpoint.parquet")
	if _, err := s.log.FS.Stat(name); err == nil {
		return nil // another writer was faster
	}
	staged, err := fs.StageFunc(s.log.FS, name, func(w fs.Writer) error { return s.log.Codec.Encode(w, checkpointSchema, batches) })
	if err != nil {
		return err
	}
	var r fs.Round
	r.Publish(staged.Replacing())
	if err := r.Commit(ctx); err != nil {
		return err
	}
	adds := int64(len(f.adds))
	last := lastCheckpoint{Version: s.Version, Size: int64(len(rows)), NumOfAddFiles: &adds}
	if info, err := s.log.FS.Stat(name); err == nil {
		last.SizeInBytes = info.Size()
	}
	b, err := json.Marshal(last)
	if err != nil {
		return err
	}
	if err := fs.Replace(ctx, s.log.FS, s.log.lastCheckpointFile(), b); err != nil {
		return err
	}
	return s.log.cleanUp(s, now)
}

// checkpointRow is a row of a checkpoint: the number of its only column that is not null, and that.
type checkpointRow struct {
	column int
	value  types.Row
}

func (s *Snapshot) checkpointRows(f *fileSet, now time.Time) []checkpointRow {
	var rows []checkpointRow
	for _, app := range slices.Sorted(maps.Keys(s.txns)) {
		t := s.txns[app]
		rows = append(rows, checkpointRow{0, types.Row{t.AppID, t.Version, deref(t.LastUpdated)}})
	}
	for _, a := range f.live() {
		rows = append(rows, checkpointRow{1, types.Row{
			a.Path, mapValue(a.PartitionValues, true), a.Size, a.ModificationTime, false, mapValue(a.Tags, false), vectorRow(a.DeletionVector),
			deref(a.BaseRowID), deref(a.DefaultRowCommit), deref(a.ClusteringBy), orNull(a.Stats),
		}})
	}
	// Files that readers of older versions may still be at stay listed, so that VACUUM leaves them.
	oldest := now.Add(-s.Metadata.DeletedFileRetention()).UnixMilli()
	for _, k := range slices.Sorted(maps.Keys(f.removes)) {
		r := f.removes[k]
		if r.DeletionTimestamp == nil || *r.DeletionTimestamp < oldest {
			continue
		}
		rows = append(rows, checkpointRow{2, types.Row{
			r.Path, *r.DeletionTimestamp, false, deref(r.ExtendedFileMetadata), mapValue(r.PartitionValues, false), deref(r.Size),
			vectorRow(r.DeletionVector), deref(r.BaseRowID), deref(r.DefaultRowCommit),
		}})
	}
	m := s.Metadata
	rows = append(rows, checkpointRow{3, types.Row{
		m.ID, deref(m.Name), deref(m.Description),
		types.Row{m.Format.Provider, plainMap(m.Format.Options)},
		m.SchemaString, textList(m.PartitionColumns, true),
		plainMap(m.Configuration), deref(m.CreatedTime),
	}})
	p := s.Protocol
	rows = append(rows, checkpointRow{4, types.Row{
		int32(p.MinReaderVersion), int32(p.MinWriterVersion), textList(p.ReaderFeatures, p.MinReaderVersion >= featureReader),
		textList(p.WriterFeatures, p.MinWriterVersion >= featureWriter),
	}})
	for _, name := range slices.Sorted(maps.Keys(s.domains)) {
		d := s.domains[name]
		rows = append(rows, checkpointRow{5, types.Row{d.Domain, d.Configuration, d.Removed}})
	}
	return rows
}

func checkpointBatches(rows []checkpointRow) ([]*vec.Batch, error) {
	var out []*vec.Batch
	builders := vec.NewBuilders(checkpointSchema)
	for from := 0; from < len(rows); from += vec.BatchRows {
		part := rows[from:min(from+vec.BatchRows, len(rows))]
		for _, r := range part {
			for c, b := range builders {
				var v any
				if c == r.column {
					v = r.value
				}
				if err := b.AppendValue(v); err != nil {
					return nil, err
				}
			}
		}
		b := vec.NewBatch(len(part))
		for _, bld := range builders {
			b.Cols = append(b.Cols, bld.Finish())
		}
		out = append(out, b)
	}
	return out, nil
}

func deref[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func mapValue(m map[string]*string, always bool) any {
	if m == nil && !always {
		return nil
	}
	out := types.MapValue{}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, types.MapEntry{Key: k, Value: deref(m[k])})
	}
	return out
}

func plainMap(m map[string]string) any {
	out := types.MapValue{}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, types.MapEntry{Key: k, Value: m[k]})
	}
	return out
}

func textList(list []string, always bool) any {
	if !always {
		return nil
	}
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

func vectorRow(d *DeletionVector) any {
	if d == nil {
		return nil
	}
	return types.Row{d.StorageType, d.PathOrInlineDv, deref(d.Offset), d.SizeInBytes, d.Cardinality, deref(d.MaxRowIndex)}
}

// cleanUp removes commits and checkpoints that are older than the table keeps its log, as far as a checkpoint stands in for them.
func (l *Log) cleanUp(s *Snapshot, now time.Time) error {
	if s.Metadata.Configuration[propExpiredCleanup] == "false" {
		return nil
	}
	ls, err := l.list()
	if err != nil {
		return err
	}
	oldest := now.Add(-s.Metadata.logRetention())
	expired := int64(-1)
	for _, v := range ls.commits {
		info, err := l.FS.Stat(l.CommitFile(v))
		if err != nil || v >= s.Version || info.ModTime().After(oldest) {
			break
		}
		expired = v
	}
	// Only what lies before a checkpoint may go, or the versions after it could no longer be read.
	keep := int64(-1)
	for _, c := range ls.checkpoints {
		if c.complete() && c.version <= expired {
			keep = max(keep, c.version)
		}
	}
	for _, c := range ls.checkpoints {
		if c.version < keep {
			for _, name := range c.parts {
				if err := l.FS.Remove(filepath.Join(l.dir(), name)); err != nil {
					return err
				}
			}
		}
	}
	for _, v := range ls.commits {
		if v >= keep {
			break
		}
		if err := l.FS.Remove(l.CommitFile(v)); err != nil {
			return err
		}
	}
	return nil
}
