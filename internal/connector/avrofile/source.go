package avrofile

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/hamba/avro/v2"

	"github.com/millrace/millrace/internal/avrorow"
	"github.com/millrace/millrace/internal/connector/files"
	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// Kind is the format avro.
type Kind struct {
	FS fs.FS // for schemas in files
}

// Name implements files.Kind.
func (Kind) Name() string { return "avro" }

// Prepare implements files.Kind.
func (k Kind) Prepare(req source.Request) (files.Decoder, error) {
	d := &decoder{}
	var err error
	if d.typing, err = avrorow.TypingOf(req.Options.Get); err != nil {
		return nil, err
	}
	d.unsaid = files.NewCalendar(req, "datetimeRebaseMode", setting.AvroReadCalendar)
	if d.reader, _, err = schemaOption(k.FS, req.Options.Get); err != nil {
		return nil, err
	}
	for key, to := range map[string]*bool{
		"enableStableIdentifiersForUnionType": &d.typing.StableNames, "positionalFieldMatching": &d.match.Position,
	} {
		if *to, err = flag(req.Options.Get, key, false); err != nil {
			return nil, err
		}
	}
	any, err := flag(req.Options.Get, "ignoreExtension", true)
	d.byExtension = !any
	if err == nil {
		d.ignoreCorrupt, err = files.IgnoresCorrupt(req)
	}
	d.match.CaseSensitive = req.Env.Conf != nil && req.Env.Conf(setting.CaseSensitive) == "true"
	return d, err
}

// flag reads an option that is true or false.
func flag(get func(string) (string, bool), key string, otherwise bool) (bool, error) {
	s, ok := get(key)
	switch {
	case !ok:
		return otherwise, nil
	case strings.EqualFold(s, "true"), strings.EqualFold(s, "false"):
		return strings.EqualFold(s, "true"), nil
	}
	return false, errclass.New("STDS_INVALID_OPTION_VALUE.WITH_MESSAGE", "optionName", key, "message", "it must be true or false, and is "+s+".")
}

// schemaOption is the schema that the options give, in their text or in a file; nil when they give none.
func schemaOption(fsys fs.FS, get func(string) (string, bool)) (avro.Schema, string, error) {
	text, ok := get("avroSchema")
	if !ok {
		url, ok := get("avroSchemaUrl")
		if !ok {
			return nil, "", nil
		}
		path, err := fs.ParseLocation(url)
		if err != nil {
			return nil, "", errclass.New("INVALID_OPTION_VALUE", "option", "avroSchemaUrl", "format", "avro", "value", url, "requirement", err.Error()+".").WithCause(err)
		}
		b, err := fs.ReadFile(fsys, path)
		if err != nil {
			return nil, "", errclass.New("FAILED_READ_FILE.NO_HINT", "path", fs.URI(path), "reason", err.Error()+".").WithCause(err)
		}
		text = string(b)
	}
	s, err := avrorow.Parse(text)
	return s, text, err
}

// decoder reads Avro files.
type decoder struct {
	reader        avro.Schema // by which files are read; nil for their own
	typing        avrorow.Typing
	match         avrorow.Match
	byExtension   bool // files without .avro are passed over
	ignoreCorrupt bool
	unsaid        files.Calendar // of files that do not tell their calendar themselves
}

// Fixed implements files.Decoder.
func (d *decoder) Fixed() (types.StructType, bool) { return types.StructType{}, false }

// cut is the size of pieces.
const cut = 16 << 20

// Cut implements files.Decoder.
func (d *decoder) Cut(*files.File) int64 { return cut }

// Check implements files.Decoder.
func (d *decoder) Check(schema types.StructType) error { return checkTypes(schema) }

// Infer implements files.Decoder. The schema is that of the first file.
func (d *decoder) Infer(ctx context.Context, list []*files.File) (types.StructType, bool, error) {
	s := d.reader
	for _, f := range list {
		if s != nil {
			break
		}
		if err := ctx.Err(); err != nil {
			return types.StructType{}, false, err
		}
		if !d.reads(f) || f.Size == 0 {
			continue
		}
		h, err := headerOf(f)
		if err != nil && d.ignoreCorrupt {
			continue
		}
		if err != nil {
			return types.StructType{}, false, files.InferError(f, err, false)
		}
		s = h.schema
	}
	if s == nil {
		return types.StructType{}, false, nil
	}
	t, _, err := avrorow.TypeOf(s, d.typing)
	if err != nil {
		return types.StructType{}, false, err
	}
	st, ok := t.(types.StructType)
	if !ok {
		return types.StructType{}, false, errclass.New("INVALID_SCHEMA.PARSE_ERROR", "inputSchema", s.String(), "reason", "rows are records, and this is none")
	}
	return st, true, nil
}

func (d *decoder) reads(f *files.File) bool {
	return !d.byExtension || strings.HasSuffix(f.Path, ".avro")
}

func headerOf(f *files.File) (*header, error) {
	h, err := f.FS.Open(f.Path)
	if err != nil {
		return nil, err
	}
	head, err := readHeader(h)
	return head, errors.Join(err, h.Close())
}

// Open implements files.Decoder.
func (d *decoder) Open(_ context.Context, p files.Piece, want types.StructType, _ []source.Filter) (_ files.Rows, err error) {
	if !d.reads(p.File) {
		return nothing{}, nil
	}
	f, err := p.FS.Open(p.Path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	h, err := readHeader(f)
	if err != nil {
		return nil, err
	}
	r := &rows{f: f, ancient: d.unsaid.Ancient("Avro")}
	if r.blocks, err = newBlocks(f, h, p.Off, p.Off+p.Len); err != nil {
		return nil, err
	}
	if len(want.Fields) == 0 {
		return r, nil
	}
	reader := d.reader
	if reader == nil {
		reader = h.schema
	}
	cal, err := d.calendar(h)
	if err != nil {
		return nil, err
	}
	records, reason := avrorow.NewRows(h.schema, reader, want, d.match, cal)
	if reason != "" {
		return nil, errors.New(reason)
	}
	r.records = records
	return r, nil
}

// calendar is that of a file; nil for today's.
func (d *decoder) calendar(h *header) (*avrorow.Calendar, error) {
	r, err := d.unsaid.Of(h.version, h.old, "3.0.0")
	if err != nil || r == datetime.Corrected {
		return nil, err
	}
	zone, ok := datetime.ParseZone(h.zone)
	if !ok {
		zone = time.UTC
	}
	return &avrorow.Calendar{Rebase: r, Zone: zone}, nil
}

// rows reads the records of a piece.
type rows struct {
	f       fs.File
	blocks  *blocks
	records *avrorow.Rows // nil when rows are only counted
	text    []byte        // of the block at hand
	left    int64         // records of it
	ancient error         // for a day or time that may mean two
}

// maxBatch caps a batch in bytes.
const maxBatch = 8 << 20

// Next implements files.Rows.
func (r *rows) Next(ctx context.Context) (*vec.Batch, error) {
	for {
		for r.left == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			n, text, err := r.blocks.next(r.records != nil)
			if err == io.EOF && r.records != nil && r.records.Len() > 0 {
				return r.records.Take(), nil
			}
			if err != nil {
				return nil, err
			}
			r.left, r.text = n, text
		}
		if r.records == nil {
			n := min(r.left, vec.BatchRows)
			r.left -= n
			return vec.NewBatch(int(n)), nil
		}
		for r.left > 0 && r.records.Len() < vec.BatchRows && r.records.Size() < maxBatch {
			rest, err := r.records.Read(r.text)
			if errors.Is(err, avrorow.ErrAncient) {
				return nil, r.ancient
			}
			if err != nil {
				return nil, err
			}
			r.text = rest
			r.left--
		}
		if r.left > 0 || r.records.Len() >= vec.BatchRows {
			return r.records.Take(), nil
		}
	}
}

// Close implements files.Rows.
func (r *rows) Close() error { return r.f.Close() }

// nothing is the rows of a file that is not read.
type nothing struct{}

// Next implements files.Rows.
func (nothing) Next(context.Context) (*vec.Batch, error) { return nil, io.EOF }

// Close implements files.Rows.
func (nothing) Close() error { return nil }
