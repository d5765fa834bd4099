package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/millrace/millrace/internal/checkpoint"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// Format makes a source.Format of a file format.
type Format struct {
	Kind Kind
	FS   fs.FS
}

// Table is a table of files. It implements source.Batch, source.Streamer and source.Hidden.
type Table struct {
	kind    string
	fsys    fs.FS
	req     source.Request
	env     source.Env
	opts    readOptions
	decoder Decoder
	paths   []string
	schema  types.StructType // data columns, then partition columns
	data    types.StructType
	parts   types.StructType
	files   found                  // of a batch table, as it was opened
	absent  map[string]*vec.Vector // what rows have in a column that their file has not
	log     *checkpoint.SinkLog
	// fault is a mistake in the options or the schema of a stream that is not seen before its first batch, as in Spark.
	fault error

	measure    sync.Once
	size       source.Size
	unmeasured error
}

// Identity is a text that tables share that read the same files in the same way.
func (t *Table) Identity() string {
	options := make([]string, 0, len(t.req.Options))
	for k, v := range t.req.Options {
		if k == OptionLeaveOut {
			continue // what a table is called by may lack partitions today and have them tomorrow
		}
		options = append(options, strings.ToLower(k)+"="+v)
	}
	slices.Sort(options)
	return fmt.Sprintf("%s %q %q %s", t.kind, t.paths, options, types.JSON(t.schema))
}

// Open implements source.Format.
func (f Format) Open(ctx context.Context, req source.Request) (source.Table, error) {
	t := &Table{kind: f.Kind.Name(), fsys: f.FS, req: req, env: req.Env}
	var err error
	if t.opts, err = parseReadOptions(req); err != nil {
		return nil, err
	}
	if t.decoder, err = f.Kind.Prepare(req); err != nil {
		plain := req
		plain.Options = nil
		t.fault = err
		if t.decoder, err = f.Kind.Prepare(plain); err != nil { // it cannot do without options
			return nil, t.fault
		}
		if _, isFixed := t.decoder.Fixed(); !req.Stream || req.Schema == nil && !isFixed {
			return nil, t.fault
		}
	}
	fixed, isFixed := t.decoder.Fixed()
	if req.Stream && req.Schema == nil && !isFixed && t.conf(setting.SchemaInference) != "true" {
		return nil, errclass.New("INVALID_STREAMING_OPTION.NO_SCHEMA", "provider", t.kind)
	}
	if t.paths, err = t.findPaths(); err != nil {
		return nil, err
	}
	l := t.lister()
	if t.log, err = l.sinkLog(); err != nil {
		return nil, err
	}
	if t.log != nil {
		t.files, err = l.fromSinkLog(t.log)
	} else {
		t.files, err = l.list(ctx, !req.Stream)
	}
	if err != nil {
		return nil, err
	}
	if err := t.findSchema(ctx, fixed, isFixed); err != nil {
		return nil, err
	}
	if err := t.findAbsent(ctx); err != nil {
		return nil, err
	}
	if req.Stream {
		t.files = found{} // the stream lists for itself
		t.checkDirectory()
	}
	return t, nil
}

// checkDirectory finds out whether the path of a stream names a single file: files are looked for in directories. A glob may find one.
func (t *Table) checkDirectory() {
	if t.fault != nil || len(t.paths) != 1 || t.lister().globs && isGlob(t.paths[0]) {
		return
	}
	if info, err := t.fsys.Stat(t.paths[0]); err == nil && !info.IsDir() {
		t.fault = errclass.New("INVALID_STREAMING_OPTION.NOT_A_DIRECTORY", "path", fs.ShortURI(t.paths[0]), "option", "path").WithKind(errclass.IllegalArgument)
	}
}

// lister makes a lister of the table's paths.
func (t *Table) lister() *lister {
	globs := true
	if s, ok := t.req.Options.Get("__globPaths__"); ok && strings.EqualFold(s, "false") {
		globs = false
	}
	return &lister{fsys: t.fsys, paths: t.paths, opts: t.opts, globs: globs}
}

func (t *Table) conf(key string) string {
	if t.env.Conf == nil {
		return ""
	}
	return t.env.Conf(key)
}

// findPaths gives the absolute paths of the request.
func (t *Table) findPaths() ([]string, error) {
	given := t.req.Paths
	if len(given) == 0 {
		if p, ok := t.req.Options.Get("path"); ok && p != "" {
			given = []string{p}
		}
	}
	if len(given) == 0 {
		return nil, errclass.New("INVALID_STREAMING_OPTION.NO_PATH")
	}
	paths := make([]string, len(given))
	for i, p := range given {
		abs, err := absolute(p)
		if err != nil {
			return nil, err
		}
		paths[i] = abs
	}
	if t.opts.basePath != "" {
		abs, err := absolute(t.opts.basePath)
		if err != nil {
			return nil, err
		}
		if _, err := t.fsys.Stat(abs); errors.Is(err, fs.ErrNotExist) {
			return nil, errclass.New("INVALID_OPTION_VALUE", "option", "basePath", "format", t.kind, "value", t.opts.basePath, "requirement", "there is no such directory.")
		}
		t.opts.basePath = abs
	}
	return paths, nil
}

func absolute(location string) (string, error) {
	p, err := fs.ParseLocation(location)
	if err == nil {
		p, err = filepath.Abs(p)
	}
	if err != nil {
		return "", errclass.New("INVALID_OPTION_VALUE", "option", "path", "format", "file", "value", location, "requirement", err.Error()+".").WithCause(err)
	}
	return p, nil
}

// findSchema settles the data and the partition columns.
func (t *Table) findSchema(ctx context.Context, fixed types.StructType, isFixed bool) error {
	var names []string
	if !t.opts.recursive {
		var err error
		if names, err = partColumns(t.files); err != nil {
			return err
		}
	}
	t.parts = partSchema(names, t.files, t.req.Schema, t.opts)
	switch {
	case t.req.Schema != nil:
		t.data = *t.req.Schema
		if !t.req.Stream || t.conf(setting.ForceNullable) != "false" {
			t.data = types.NullableSchema(t.data)
		}
	case isFixed:
		t.data = fixed
	default:
		files, err := t.open(t.files, false)
		if err != nil {
			return err
		}
		s, ok, err := t.decoder.Infer(ctx, files)
		if err != nil {
			return err
		}
		if !ok {
			return errclass.New("UNABLE_TO_INFER_SCHEMA", "format", t.kind)
		}
		t.data = s
		if !t.asWritten() {
			t.data = types.NullableSchema(s)
		}
	}
	t.arrange()
	err := t.duplicates()
	if err == nil {
		err = t.decoder.Check(t.data)
	}
	if t.req.Stream && t.req.Schema != nil {
		if t.fault == nil {
			t.fault = err
		}
		return nil
	}
	if err != nil || t.req.Stream {
		return err
	}
	for _, part := range t.files.partitions() { // finds values that do not fit their columns
		if _, err := t.values(part); err != nil {
			return err
		}
	}
	return nil
}

// findAbsent finds out what columns hold that were added to a table when it had rows.
func (t *Table) findAbsent(ctx context.Context) error {
	d, ok := t.decoder.(Absenter)
	if !ok || t.env.Constant == nil {
		return nil
	}
	for _, f := range t.data.Fields {
		raw, ok := f.MetadataValue(types.ExistsDefaultKey)
		var text string
		if !ok || json.Unmarshal(raw, &text) != nil {
			continue
		}
		value, err := t.env.Constant(ctx, text, f.Type)
		if err != nil {
			return err
		}
		if value == nil {
			continue
		}
		b := vec.NewBuilder(f.Type)
		if err := b.AppendValue(value); err != nil {
			return err
		}
		if t.absent == nil {
			t.absent = map[string]*vec.Vector{}
		}
		t.absent[f.Name] = b.Finish()
	}
	if t.absent != nil {
		t.decoder = d.WithAbsent(t.absent)
	}
	return nil
}

// asWritten tells whether the table is a streaming sink's output read as a batch. Its log vouches for the files, so columns
// without nulls stay so, and partition columns that the schema names keep their place.
func (t *Table) asWritten() bool { return t.log != nil && !t.req.Stream }

// arrange puts the columns in order. A column that the directories give is not read from the files.
func (t *Table) arrange() {
	own := types.StructType{}
	t.schema = types.StructType{}
	placed := make([]bool, len(t.parts.Fields))
	for _, f := range t.data.Fields {
		i := indexName(&t.parts, f.Name, t.opts.caseSensitive)
		if i < 0 {
			own.Fields = append(own.Fields, f)
			t.schema.Fields = append(t.schema.Fields, f)
		} else if t.asWritten() {
			placed[i] = true
			t.schema.Fields = append(t.schema.Fields, t.parts.Fields[i])
		}
	}
	t.data = own
	for i, f := range t.parts.Fields {
		if !placed[i] {
			t.schema.Fields = append(t.schema.Fields, f)
		}
	}
}

func (t *Table) duplicates() error {
	seen := map[string]bool{}
	for _, f := range t.schema.Fields {
		key := f.Name
		if !t.opts.caseSensitive {
			key = strings.ToLower(key)
		}
		if seen[key] {
			return errclass.New("COLUMN_ALREADY_EXISTS", "columnName", errclass.Ident(key))
		}
		seen[key] = true
	}
	return nil
}

// open makes files of a listing's entries, with their partition values when values is set.
func (t *Table) open(f found, values bool) ([]*File, error) {
	files := make([]*File, len(f.entries))
	for i, e := range f.entries {
		files[i] = &File{FS: t.fsys, Path: e.path, Size: e.size, ModTime: e.mod}
		if !values {
			continue
		}
		var err error
		if files[i].Values, err = t.values(e.part); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// values reads the partition columns of a file.
func (t *Table) values(parts []partValue) ([]any, error) {
	if len(t.parts.Fields) == 0 {
		return nil, nil
	}
	values := make([]any, len(t.parts.Fields))
	for i, field := range t.parts.Fields {
		for _, p := range parts {
			if p.column != field.Name && (t.opts.caseSensitive || !strings.EqualFold(p.column, field.Name)) {
				continue
			}
			v, err := partValueOf(field, p.value, t.env.Zone, t.opts)
			if err != nil {
				return nil, err
			}
			values[i] = v
		}
	}
	return values, nil
}

// Relisted is a table of the catalog with the files that there are now. Other tables stay as they were opened.
func (t *Table) Relisted(ctx context.Context) (source.Table, error) {
	if !t.opts.maybeMissing || t.req.Stream || t.log != nil {
		return t, nil
	}
	files, err := t.lister().list(ctx, false)
	if err != nil {
		return nil, err
	}
	c := &Table{
		kind: t.kind, fsys: t.fsys, req: t.req, env: t.env, opts: t.opts, decoder: t.decoder, paths: t.paths,
		schema: t.schema, data: t.data, parts: t.parts, files: files, absent: t.absent,
	}
	return c, nil
}

// Roots are the paths that the table's files are looked for at and below. Those with a glob begin where it does.
func (t *Table) Roots() []string {
	out := make([]string, len(t.paths))
	for i, p := range t.paths {
		for t.lister().globs && isGlob(p) {
			p = filepath.Dir(p)
		}
		out[i] = p
	}
	return out
}

// Files are the addresses of the files of a batch table, as it was opened: DataFrame.inputFiles.
func (t *Table) Files(context.Context) ([]string, error) {
	out := make([]string, len(t.files.entries))
	for i, e := range t.files.entries {
		out[i] = fs.URI(e.path)
	}
	return out, nil
}

// Schema implements source.Table.
func (t *Table) Schema() types.StructType { return t.schema }

// HiddenColumns implements source.Hidden.
func (t *Table) HiddenColumns() []types.Field {
	if t.schema.IndexFold(MetadataColumn) >= 0 {
		return nil
	}
	return []types.Field{{Name: MetadataColumn, Type: t.metadataType()}}
}

// Scan implements source.Batch. The files are those that were there when the table was opened.
func (t *Table) Scan(_ context.Context, want source.Projection) ([]source.Split, error) {
	p, err := t.plan(want)
	if err != nil {
		return nil, err
	}
	files, err := t.open(t.files, true)
	if err != nil {
		return nil, err
	}
	return p.packed(files), nil
}

func baseName(path string) string { return filepath.Base(path) }
