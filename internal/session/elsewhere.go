package session

import (
	"context"
	"maps"

	"github.com/millrace/millrace/internal/catalog"
	"github.com/millrace/millrace/internal/connector/files"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// batchScan is the condition of a source that can be read as a stream only.
const batchScan = "UNSUPPORTED_FEATURE.TABLE_OPERATION"

// elsewhere tells whether a format reads what is not in files of a folder: a broker, a clock, a source of the program.
func elsewhere(format string) bool {
	f := source.Lookup(format)
	_, inFiles := f.(files.Format)
	return f != nil && !inFiles
}

// withColumns gives a table that is made without rows its columns, when the statement has none: those of the files that are there
// already, or those that the source tells. Columns that the source cannot have are refused.
func (s *Session) withColumns(ctx context.Context, t *catalog.Table) error {
	t.Format = orDefault(t.Format, s.Conf.Value(setting.Source))
	switch {
	case elsewhere(t.Format):
		return s.columnsElsewhere(ctx, t)
	case len(t.Schema.Fields) > 0:
		return nil
	case source.Lookup(t.Format) == nil && sink.Lookup(t.Format) == nil:
		return errclass.New("DATA_SOURCE_NOT_FOUND", "provider", t.Format)
	}
	r := &plan.Read{Format: t.Format, Options: t.Options, Paths: []string{t.Location}}
	if t.Location == "" { // a folder that is not there yet: some formats have always the same columns
		place, err := s.server.tables.Place(t.Database, t.Name)
		if err != nil {
			return err
		}
		r.Paths[0], r.Options = place, map[string]string{files.OptionMaybeMissing: "true"}
		maps.Copy(r.Options, t.Options)
	}
	n, err := s.Analyze(ctx, r)
	if err == nil {
		t.Schema = plan.Schema(n)
	}
	return err
}

// columnsElsewhere is withColumns for a table without files.
func (s *Session) columnsElsewhere(ctx context.Context, t *catalog.Table) error {
	r := &plan.Read{Format: t.Format, Options: t.Options}
	if t.Location != "" {
		r.Paths = []string{t.Location}
	}
	t.Elsewhere = catalog.Told
	if len(t.Schema.Fields) > 0 {
		t.Elsewhere, r.Schema = catalog.Given, types.JSON(t.Schema)
	}
	n, err := s.Analyze(ctx, r)
	if errclass.Has(err, batchScan) {
		stream := *r
		stream.Stream = true
		n, err = s.Analyze(ctx, &stream)
	}
	if err == nil {
		t.Schema = plan.Schema(n)
	}
	return err
}

// firstMode is how the first rows of a table are written: a system that cannot replace what it has gets no table made of a query.
func firstMode(t catalog.Table) sink.Mode {
	if elsewhere(t.Format) {
		return sink.Overwrite
	}
	return sink.Append
}
