package delta

import (
	"context"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/google/uuid"

	core "github.com/millrace/millrace/internal/delta"

	"github.com/millrace/millrace/internal/connector/files"
	"github.com/millrace/millrace/internal/connector/filesink"
	"github.com/millrace/millrace/internal/connector/parquetfile"
	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/types"
)

// Target is what rows are to become.
type Target struct {
	// Table is how errors call the table.
	Table  string
	Schema types.StructType
	// Checks are conditions that all rows must meet.
	Checks []core.Check
	// Only is a condition that the rows of a write must meet; empty for none.
	Only string
}

// RowShaper turns a batch of a query's rows into rows of a table. What it returns is valid until the next call.
type RowShaper func(*vec.Batch) (*vec.Batch, error)

// Shaper compiles what turns rows of a query into rows of a table: columns by name in any case, cast to their types; nulls or generated
// values for those that are missing; and the table's checks.
type Shaper interface {
	ShapeRows(ctx context.Context, from types.StructType, to Target) (func(part int) RowShaper, error)
}

// Job writes data files of a table. Nothing of it is part of the table before a transaction has its files. It is the sink.Batch of
// whoever commits them.
type Job struct {
	log    *core.Log
	target Target
	parts  []int // places of partition columns
	data   []int // and of the others
	// names are the columns' names in files, by place; file is the schema of files.
	names  []string
	file   types.StructType
	enc    filesink.Encoder
	zone   *datetime.Zone
	limits filesink.Limits
	set    *filesink.Set
	shape  func(part int) RowShaper
	from   types.StructType
	change bool
	// shared is set when all parts share files; all are those then.
	shared *filesink.Shared
	all    collected
	dir    string // where the files lie, below the table
}

// NewJob prepares the writing of rows of a schema into a table that looks like m.
func NewJob(ctx context.Context, log *core.Log, m *core.Metadata, from types.StructType, only string, req sink.Request) (*Job, error) {
	schema, err := m.Schema()
	if err != nil {
		return nil, err
	}
	return newJob(ctx, log, m, Target{Table: log.Path, Schema: schema, Checks: m.Checks(), Only: only}, "", from, req)
}

// NewChangesJob prepares the writing of changed rows for the change data feed. Their last column says what became of them.
func NewChangesJob(ctx context.Context, log *core.Log, m *core.Metadata, from types.StructType, req sink.Request) (*Job, error) {
	schema, err := m.Schema()
	if err != nil {
		return nil, err
	}
	schema.Fields = append(slices.Clip(schema.Fields), core.ChangeColumns[0])
	return newJob(ctx, log, m, Target{Table: log.Path, Schema: schema}, core.ChangesDir, from, req)
}

func newJob(ctx context.Context, log *core.Log, m *core.Metadata, to Target, dir string, from types.StructType, req sink.Request) (*Job, error) {
	schema := to.Schema
	j := &Job{
		log: log, target: to, from: from, zone: datetime.NewZone(req.Env.Zone), change: true, dir: dir, set: filesink.NewSet(log.FS, log.Path),
	}
	j.set.MakeRoot = true
	for i, f := range schema.Fields {
		name := m.Physical(f)
		j.names = append(j.names, name)
		if slices.Contains(m.PartitionColumns, f.Name) {
			continue
		}
		p := types.Field{Name: name, Type: f.Type, Nullable: f.Nullable, Metadata: f.Metadata}
		if m.Mapped() {
			p = core.PhysicalField(f)
		}
		j.data = append(j.data, i)
		j.file.Fields = append(j.file.Fields, p)
	}
	for _, name := range m.PartitionColumns { // in the order of the table's definition, which folders follow
		if i := schema.Index(name); i >= 0 {
			j.parts = append(j.parts, i)
		}
	}
	var err error
	if j.limits, err = filesink.ParseLimits(req); err != nil {
		return nil, err
	}
	if v, _ := req.Options.Get("dataChange"); strings.EqualFold(v, "false") {
		j.change = false
	}
	enc, err := (parquetfile.SinkKind{}).Prepare(req)
	if err != nil {
		return nil, err
	}
	j.enc = counted{enc, m.StatsColumns()}
	if err := j.enc.Check(j.file); err != nil {
		return nil, err
	}
	j.shape, err = shaper(ctx, req.Env.Session, from, j.target)
	return j, err
}

// shaper has the session compile what turns rows into those of the table. Without one only rows that are of the table already will do.
func shaper(ctx context.Context, session any, from types.StructType, to Target) (func(part int) RowShaper, error) {
	if s, ok := session.(Shaper); ok {
		return s.ShapeRows(ctx, from, to)
	}
	same := len(from.Fields) == len(to.Schema.Fields) && len(to.Checks) == 0 && to.Only == ""
	for i := 0; same && i < len(from.Fields); i++ {
		same = from.Fields[i].Name == to.Schema.Fields[i].Name && types.SameShape(from.Fields[i].Type, to.Schema.Fields[i].Type)
	}
	if !same {
		return nil, errclass.New("INTERNAL_ERROR", "message", "rows cannot be cast to those of a table without a session")
	}
	return func(int) RowShaper { return func(b *vec.Batch) (*vec.Batch, error) { return b, nil } }, nil
}

// written is a file that is complete.
type written struct {
	add  *core.Add
	rows int64
}

// collected are the files that are complete, and what their folders mean.
type collected struct {
	mu     sync.Mutex
	values map[string]map[string]*string // of the partitions that have had rows
	done   []written
}

// share has the parts share files: those of a stream are often many and small.
func (j *Job) share() {
	j.shared = filesink.NewShared(func(lane int) filesink.Output { return j.output(lane, &j.all) })
}

// output is for the files whose names begin with a number.
func (j *Job) output(number int, c *collected) filesink.Output {
	return filesink.Output{
		Set: j.set, Enc: j.enc, Schema: j.file, Limits: j.limits,
		Place: func(dir string, n int) (string, error) {
			return filepath.Join(j.log.Path, j.dir, filepath.FromSlash(dir), filesink.FileName(number, uuid.NewString(), dir != "", n, j.enc.Ext())), nil
		},
		Done: func(dir string, f filesink.File, file filesink.Written) { j.add(c, dir, f, file) },
	}
}

// Writer implements sink.Batch.
func (j *Job) Writer(_ context.Context, part int) (sink.Writer, error) { return j.writer(part), nil }

func (j *Job) writer(part int) *writer {
	w := &writer{j: j, shape: j.shape(part)}
	if j.shared != nil {
		w.out, w.files = &j.all, j.shared.Part(part)
		return w
	}
	w.out = &collected{}
	w.files = filesink.NewOpenFiles(j.output(part, w.out))
	return w
}

// Commit implements sink.Batch for those who commit elsewhere: it waits until all files are durable.
func (j *Job) Commit(ctx context.Context, _ []sink.Message) error { return j.Sync(ctx) }

// Abort implements sink.Batch. What cannot be removed is not part of the table, and VACUUM removes it.
func (j *Job) Abort(context.Context) {
	if j.shared != nil {
		j.shared.Abort()
	}
	j.set.Remove()
}

// Sync waits until the content of all files and the names of all files and folders are durable.
func (j *Job) Sync(ctx context.Context) error {
	if j.shared != nil {
		if err := j.shared.Finish(); err != nil {
			return filesink.WriteError(j.log.Path, err)
		}
	}
	return j.set.Synced(ctx)
}

// Files are the files of writers, in the order of their parts.
func (j *Job) Files(messages []sink.Message) (adds []*core.Add, rows, bytes int64) {
	if j.shared != nil {
		messages = []sink.Message{j.all.done}
	}
	for _, m := range messages {
		list, _ := m.([]written)
		for _, w := range list {
			adds = append(adds, w.add)
			rows += w.rows
			bytes += w.add.Size
		}
	}
	return adds, rows, bytes
}

// Changes are the files of writers of changed rows.
func (j *Job) Changes(messages []sink.Message) []*core.CDC {
	adds, _, _ := j.Files(messages)
	out := make([]*core.CDC, len(adds))
	for i, a := range adds {
		out[i] = &core.CDC{Path: a.Path, PartitionValues: a.PartitionValues, Size: a.Size}
	}
	return out
}

// counted writes files whose statistics go into the log.
type counted struct {
	filesink.Encoder
	columns int // with statistics
}

// Create implements filesink.Encoder.
func (c counted) Create(w io.Writer, schema types.StructType) (filesink.File, error) {
	f, err := c.Encoder.Create(w, schema)
	if err != nil {
		return nil, err
	}
	return &countedFile{f, core.NewStats(schema, c.columns)}, nil
}

type countedFile struct {
	filesink.File
	stats *core.Stats
}

// Write implements filesink.File.
func (f *countedFile) Write(b *vec.Batch) error {
	f.stats.Add(b)
	return f.File.Write(b)
}

// Held implements filesink.Holder.
func (f *countedFile) Held() int64 {
	if h, ok := f.File.(filesink.Holder); ok {
		return h.Held()
	}
	return 0
}

// writer writes the rows of one part. Beside sink.Writer it takes vectors.
type writer struct {
	j     *Job
	shape RowShaper
	files filesink.RowFiles
	out   *collected
	keys  map[string]int
	key   []byte
}

// Write implements sink.Writer.
func (w *writer) Write(ctx context.Context, rec arrow.RecordBatch) error {
	b, err := vec.FromArrow(rec, w.j.from)
	if err != nil {
		return err
	}
	return w.WriteBatch(ctx, b)
}

// WriteBatch writes the rows of a batch that count. It keeps nothing of it.
func (w *writer) WriteBatch(_ context.Context, b *vec.Batch) error {
	b = b.Compact(nil)
	if b.N == 0 {
		return nil
	}
	b, err := w.shape(b)
	if err != nil {
		return err
	}
	j := w.j
	data := vec.NewBatch(b.N)
	for k, i := range j.data {
		v := b.Cols[i]
		if types.IsNested(v.Type()) {
			v = relabel(v, j.file.Fields[k].Type)
		}
		data.Cols = append(data.Cols, v)
	}
	if len(j.parts) == 0 {
		return w.files.Write("", data)
	}
	for _, g := range w.group(b) {
		rows := data
		if len(g.rows) < b.N {
			rows = data.Take(g.rows, nil)
		}
		w.out.folder(g.dir, g.values)
		if err := w.files.Write(g.dir, rows); err != nil {
			return err
		}
	}
	return nil
}

// group is the rows of a batch that go to one partition.
type group struct {
	dir    string
	values map[string]*string
	rows   []uint32
}

// group deals out the rows of a batch to partitions, in the order in which they come up.
func (w *writer) group(b *vec.Batch) []group {
	var out []group
	w.keys = map[string]int{}
	j := w.j
	for i := range b.N {
		w.key = w.key[:0]
		for _, p := range j.parts {
			text, ok := core.PartitionText(append(w.key, 1), b.Cols[p], i)
			if !ok {
				text[len(w.key)] = 0
			}
			w.key = append(text, 2)
		}
		g, ok := w.keys[string(w.key)]
		if !ok {
			g = len(out)
			w.keys[string(w.key)] = g
			dir, values := w.folder(b, i)
			out = append(out, group{dir: dir, values: values})
		}
		out[g].rows = append(out[g].rows, uint32(i))
	}
	return out
}

// folder is the folder of a row's partition, and its values as the log has them.
func (w *writer) folder(b *vec.Batch, i int) (string, map[string]*string) {
	var dirs []string
	values := map[string]*string{}
	for _, p := range w.j.parts {
		name, value := w.j.names[p], core.DefaultPartition
		text, ok := core.PartitionText(nil, b.Cols[p], i)
		if !ok {
			values[name] = nil
		} else {
			s := string(text)
			values[name] = &s
			value = files.EscapePart(w.folderText(b.Cols[p], i, s))
		}
		dirs = append(dirs, files.EscapePart(name)+"="+value)
	}
	return strings.Join(dirs, "/"), values
}

// folderText is a value in the name of a folder: times stand there in the session's zone.
func (w *writer) folderText(v *vec.Vector, i int, text string) string {
	if _, ok := v.Type().(types.TimestampType); ok {
		return string(datetime.AppendTimestamp(nil, w.j.zone.Local(vec.At[int64](v, i))))
	}
	if _, ok := v.Type().(types.TimestampNTZType); ok {
		return string(datetime.AppendTimestamp(nil, vec.At[int64](v, i)))
	}
	return text
}

// folder notes what a folder means.
func (c *collected) folder(dir string, values map[string]*string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.values == nil {
		c.values = map[string]map[string]*string{}
	}
	c.values[dir] = values
}

// add notes a file that is complete.
func (j *Job) add(c *collected, dir string, f filesink.File, file filesink.Written) {
	rel := path.Join(j.dir, dir, filepath.Base(file.Path))
	a := &core.Add{
		Path: core.EncodePath(rel), Size: file.Size, ModificationTime: j.log.Now().UnixMilli(), DataChange: j.change, Stats: f.(*countedFile).stats.JSON(),
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	a.PartitionValues = c.values[dir]
	if a.PartitionValues == nil {
		a.PartitionValues = map[string]*string{}
	}
	c.done = append(c.done, written{a, file.Rows})
}

// Close implements sink.Writer.
func (w *writer) Close(context.Context) (sink.Message, error) {
	if err := w.files.Close(); err != nil {
		return nil, err
	}
	if w.j.shared != nil {
		return nil, nil // Files has them
	}
	return w.out.done, nil
}

// Abort implements sink.Writer. The files are removed when the batch is aborted.
func (w *writer) Abort() { w.files.Abort() }
