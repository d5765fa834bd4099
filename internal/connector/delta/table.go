package delta

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	core "github.com/millrace/millrace/internal/delta"

	"github.com/millrace/millrace/internal/connector/files"
	"github.com/millrace/millrace/internal/connector/parquetfile"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// MetadataColumn is the hidden column with facts on the file that a row comes from.
const MetadataColumn = files.MetadataColumn

// Table is a table as of a version. It implements source.Batch, source.Streamer and source.Hidden.
type Table struct {
	req    source.Request
	env    source.Env
	snap   *core.Snapshot
	pinned bool // a version was asked for
	only   []*core.Add
	// feed tells that the rows are the changes of versions.
	feed    bool
	cols    map[string]core.Column
	decoder files.Decoder
}

// NewTable is a table of some files of a snapshot; nil stands for all.
func NewTable(snap *core.Snapshot, only []*core.Add, env source.Env) (*Table, error) {
	t := &Table{snap: snap, only: only, env: env, pinned: true, req: source.Request{Format: "delta", Env: env}}
	return t, t.arrange()
}

// arrange settles how columns are called in files.
func (t *Table) arrange() error {
	m := t.snap.Metadata
	t.cols = map[string]core.Column{}
	for _, f := range t.snap.Schema.Fields {
		t.cols[f.Name] = core.Column{Field: f, Physical: m.Physical(f), Partition: slices.Contains(m.PartitionColumns, f.Name)}
	}
	req := t.req
	req.Options = nil
	var err error
	t.decoder, err = parquetfile.Kind{}.Prepare(req)
	return err
}

// Snapshot is the version that the table is of.
func (t *Table) Snapshot() *core.Snapshot { return t.snap }

// Schema implements source.Table.
func (t *Table) Schema() types.StructType {
	if t.feed {
		return types.StructType{Fields: slices.Concat(t.snap.Schema.Fields, core.ChangeColumns)}
	}
	return t.snap.Schema
}

// HiddenColumns implements source.Hidden.
func (t *Table) HiddenColumns() []types.Field {
	if t.feed || t.snap.Schema.IndexFold(MetadataColumn) >= 0 {
		return nil
	}
	return []types.Field{{Name: MetadataColumn, Type: files.MetadataType(true)}}
}

// Identity is a text that tables share that read the same files in the same way.
func (t *Table) Identity() string {
	names := ""
	if t.only != nil {
		names = fmt.Sprintf(" %p", t.only)
	}
	options := make([]string, 0, len(t.req.Options))
	for k, v := range t.req.Options {
		options = append(options, strings.ToLower(k)+"="+v)
	}
	slices.Sort(options)
	return fmt.Sprintf("delta %q %s %d%s %q", t.snap.Log().Path, t.snap.Metadata.ID, t.snap.Version, names, options)
}

// Roots are the folders that the rows come from.
func (t *Table) Roots() []string { return []string{t.snap.Log().Path} }

// files are those that the rows come from.
func (t *Table) files(ctx context.Context) ([]core.Change, error) {
	if t.feed {
		return t.changes(ctx)
	}
	adds := t.only
	if adds == nil {
		var err error
		if adds, err = t.snap.Files(ctx); err != nil {
			return nil, err
		}
	}
	return unchanged(adds), nil
}

// unchanged are files whose rows are rows of the table.
func unchanged(adds []*core.Add) []core.Change {
	out := make([]core.Change, len(adds))
	for i, a := range adds {
		out[i].Add = a
	}
	return out
}

// Files are the addresses of the files of the table: DataFrame.inputFiles.
func (t *Table) Files(ctx context.Context) ([]string, error) {
	adds, err := t.files(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(adds))
	for i, a := range adds {
		p, err := t.snap.Log().DataFile(a.Path)
		if err != nil {
			return nil, err
		}
		out[i] = fs.URI(p)
	}
	return out, nil
}

// Size implements source.Sized.
func (t *Table) Size() (source.Size, bool) {
	if t.feed {
		return source.Size{}, false
	}
	adds, err := t.files(context.Background())
	if err != nil {
		return source.Size{}, false
	}
	var s source.Size
	for _, a := range adds {
		n, ok := a.Rows()
		if !ok {
			return source.Size{}, false
		}
		s.Rows += n
	}
	return s, true
}

// MayHold tells whether a file may hold rows that meet all filters.
func (t *Table) MayHold(a *core.Add, filters []source.Filter) bool {
	p := core.Pruner{Columns: t.cols, Filters: filters, May: files.MayMatch, Within: files.MayMatchWithin}
	return p.Keep(a)
}

// Scan implements source.Batch.
func (t *Table) Scan(ctx context.Context, want source.Projection) ([]source.Split, error) {
	adds, err := t.files(ctx)
	if err != nil {
		return nil, err
	}
	r, err := t.plan(want)
	if err != nil {
		return nil, err
	}
	return r.splits(slices.DeleteFunc(adds, func(c core.Change) bool { return !t.MayHold(c.Add, want.Filters) }))
}

// splits gathers files, cutting large ones into pieces. None of it depends on the number of workers: splits are part of the result's
// order.
func (r *reading) splits(adds []core.Change) ([]source.Split, error) {
	const splitBytes, openBytes = 8 << 20, 256 << 10
	var out []source.Split
	var cur *split
	size := int64(0)
	add := func(p piece) {
		if cost := p.Len + openBytes; cur == nil || size+cost > splitBytes {
			cur, size = &split{r: r}, cost
			out = append(out, cur)
		} else {
			size += cost
		}
		cur.pieces = append(cur.pieces, p)
	}
	for _, a := range adds {
		path, err := r.t.snap.Log().DataFile(a.Path)
		if err != nil {
			return nil, err
		}
		f := &files.File{FS: r.t.snap.Log().FS, Path: path, Size: a.Size, ModTime: time.UnixMilli(a.ModificationTime)}
		cut := r.t.decoder.Cut(f)
		if cut <= 0 || f.Size <= cut+cut/4 {
			add(piece{files.Piece{File: f, Len: f.Size}, a})
			continue
		}
		for off := int64(0); off < f.Size; {
			n := min(cut, f.Size-off)
			if rest := f.Size - off - n; rest < cut/4 {
				n += rest
			}
			add(piece{files.Piece{File: f, Off: off, Len: n}, a})
			off += n
		}
	}
	return out, nil
}

// plan settles where the columns of a projection come from.
func (t *Table) plan(want source.Projection) (*reading, error) {
	r := &reading{t: t}
	names := want.Columns
	if names == nil {
		names = t.Schema().Names()
	}
	for _, name := range names {
		c, ok := t.cols[name]
		switch {
		case ok && c.Partition:
			r.cols = append(r.cols, column{from: fromPartition, col: c})
			r.out.Fields = append(r.out.Fields, c.Field)
		case ok:
			f := types.Field{Name: c.Physical, Type: c.Field.Type, Nullable: true}
			if t.snap.Metadata.Mapped() {
				f.Type = core.PhysicalType(f.Type)
			}
			r.cols = append(r.cols, column{from: fromData, i: len(r.data.Fields), col: c})
			r.data.Fields = append(r.data.Fields, f)
			r.out.Fields = append(r.out.Fields, c.Field)
		case t.feed && slices.ContainsFunc(core.ChangeColumns, func(f types.Field) bool { return f.Name == name }):
			i := slices.IndexFunc(core.ChangeColumns, func(f types.Field) bool { return f.Name == name })
			r.cols = append(r.cols, column{from: fromChange, i: i})
			r.out.Fields = append(r.out.Fields, core.ChangeColumns[i])
		case name == MetadataColumn:
			r.cols = append(r.cols, column{from: fromMetadata})
			r.out.Fields = append(r.out.Fields, types.Field{Name: name, Type: files.MetadataType(true)})
		default:
			return nil, errclass.New("UNRESOLVED_COLUMN.WITHOUT_SUGGESTION", "objectName", errclass.Ident(name))
		}
	}
	for _, f := range want.Filters {
		if c, ok := t.cols[f.Column]; ok && !c.Partition {
			f.Column = c.Physical
			r.filters = append(r.filters, f)
		}
	}
	r.schema = types.ArrowSchema(r.out, types.ArrowOptions{})
	return r, nil
}

// Pinned tells whether the table is of a version that was asked for, or of some files only: it is not to be changed then.
func (t *Table) Pinned() bool { return t.pinned }
