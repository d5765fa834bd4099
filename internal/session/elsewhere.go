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
	given := len(t.Schema.Fields) > 0
	if !elsewhere(t.Format) {
		switch {
		case given:
			return nil
		case source.Lookup(t.Format) == nil && sink.Lookup(t.Format) == nil:
			return errclass.New("DATA_SOURCE_NOT_FOUND", "provider", t.Format)
		}
	}
	r := &plan.Read{Format: t.Format, Options: t.Options}
	switch {
	case t.Location != "":
		r.Paths = []string{t.Location}
	case !elsewhere(t.Format): // in a folder that is not there yet; some formats have always the same columns
		place, err := s.server.tables.Place(t.Database, t.Name)
		if err != nil {
			return err
		}
		r.Paths, r.Options = []string{place}, maps.Clone(t.Options)
		if r.Options == nil {
			r.Options = map[string]string{}
		}
		r.Options[files.OptionMaybeMissing] = "true"
	}
	if given {
		r.Schema = types.JSON(t.Schema)
	}
	n, err := s.Analyze(ctx, r)
	if elsewhere(t.Format) {
		if errclass.Has(err, batchScan) {
			stream := *r
			stream.Stream = true
			n, err = s.Analyze(ctx, &stream)
		}
		if t.Elsewhere = catalog.Told; given {
			t.Elsewhere = catalog.Given
		}
	}
	if err != nil {
		return err
	}
	t.Schema = plan.Schema(n)
	return nil
}

// firstMode is how the first rows of a table are written: a system that cannot replace what it has gets no table made of a query.
func firstMode(t catalog.Table) sink.Mode {
	if elsewhere(t.Format) {
		return sink.Overwrite
	}
	return sink.Append
}
