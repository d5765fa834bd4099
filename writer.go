package millrace

import (
	"context"

	"github.com/millrace/millrace/internal/connectpb"
)

// SaveMode is what a write does when there is something already.
type SaveMode int32

// The save modes.
const (
	SaveErrorIfExists SaveMode = SaveMode(connectpb.WriteOperation_SAVE_MODE_ERROR_IF_EXISTS)
	SaveAppend        SaveMode = SaveMode(connectpb.WriteOperation_SAVE_MODE_APPEND)
	SaveOverwrite     SaveMode = SaveMode(connectpb.WriteOperation_SAVE_MODE_OVERWRITE)
	SaveIgnore        SaveMode = SaveMode(connectpb.WriteOperation_SAVE_MODE_IGNORE)
)

// DataFrameWriter writes a bounded DataFrame. Its methods change it and return it; those with a context write.
type DataFrameWriter struct {
	d          *DataFrame
	mode       SaveMode
	format     string
	partitions []string
	clusters   []string
	sorted     []string
	buckets    *connectpb.WriteOperation_BucketBy
	options    options
	err        error
}

// Write writes a bounded DataFrame.
func (d *DataFrame) Write() *DataFrameWriter {
	return &DataFrameWriter{d: d, mode: SaveErrorIfExists}
}

// Mode says what to do when there is something already; the default is SaveErrorIfExists.
func (w *DataFrameWriter) Mode(m SaveMode) *DataFrameWriter { w.mode = m; return w }

// Format names the kind of sink: json, csv, parquet, text and others.
func (w *DataFrameWriter) Format(name string) *DataFrameWriter { w.format = name; return w }

// Option sets an option of the sink to a text, a boolean or a number.
func (w *DataFrameWriter) Option(key string, value any) *DataFrameWriter {
	w.options.set(key, value)
	return w
}

// Options sets several options.
func (w *DataFrameWriter) Options(m map[string]string) *DataFrameWriter {
	w.options.setAll(m)
	return w
}

// PartitionBy makes a directory for each combination of values of some columns.
func (w *DataFrameWriter) PartitionBy(cols ...string) *DataFrameWriter { w.partitions = cols; return w }

// ClusterBy keeps rows near each other that are near in some columns.
func (w *DataFrameWriter) ClusterBy(cols ...string) *DataFrameWriter { w.clusters = cols; return w }

// BucketBy spreads the rows of a table over n buckets by a hash of columns. Only SaveAsTable can do it.
func (w *DataFrameWriter) BucketBy(n int, cols ...string) *DataFrameWriter {
	w.buckets = &connectpb.WriteOperation_BucketBy{BucketColumnNames: cols}
	w.err = firstError(w.err, toInt32("n", n, &w.buckets.NumBuckets))
	return w
}

// SortBy sorts the rows of each bucket by columns.
func (w *DataFrameWriter) SortBy(cols ...string) *DataFrameWriter { w.sorted = cols; return w }

// Save writes to a path, or to where the options say if it is empty.
func (w *DataFrameWriter) Save(ctx context.Context, path string) error {
	m := &connectpb.WriteOperation{}
	if path != "" {
		m.SaveType = &connectpb.WriteOperation_Path{Path: path}
	}
	return w.run(ctx, w.format, m)
}

// JSON writes files with a JSON object in each line.
func (w *DataFrameWriter) JSON(ctx context.Context, path string) error {
	w.format = "json"
	return w.Save(ctx, path)
}

// CSV writes CSV files.
func (w *DataFrameWriter) CSV(ctx context.Context, path string) error {
	w.format = "csv"
	return w.Save(ctx, path)
}

// Parquet writes Parquet files.
func (w *DataFrameWriter) Parquet(ctx context.Context, path string) error {
	w.format = "parquet"
	return w.Save(ctx, path)
}

// XML writes XML files. The options rowTag and rootTag name the elements.
func (w *DataFrameWriter) XML(ctx context.Context, path string) error {
	w.format = "xml"
	return w.Save(ctx, path)
}

// Text writes the lines of the only column.
func (w *DataFrameWriter) Text(ctx context.Context, path string) error {
	w.format = "text"
	return w.Save(ctx, path)
}

// SaveAsTable writes a table, with columns matched by name.
func (w *DataFrameWriter) SaveAsTable(ctx context.Context, name string) error {
	return w.table(ctx, name, connectpb.WriteOperation_SaveTable_TABLE_SAVE_METHOD_SAVE_AS_TABLE)
}

// InsertInto writes into a table, with columns matched by position.
func (w *DataFrameWriter) InsertInto(ctx context.Context, name string) error {
	return w.table(ctx, name, connectpb.WriteOperation_SaveTable_TABLE_SAVE_METHOD_INSERT_INTO)
}

func (w *DataFrameWriter) table(ctx context.Context, name string, how connectpb.WriteOperation_SaveTable_TableSaveMethod) error {
	return w.run(ctx, w.format, &connectpb.WriteOperation{
		SaveType: &connectpb.WriteOperation_Table{Table: &connectpb.WriteOperation_SaveTable{TableName: name, SaveMethod: how}},
	})
}

func (w *DataFrameWriter) run(ctx context.Context, format string, m *connectpb.WriteOperation) error {
	if err := firstError(w.d.err, w.options.err, w.err); err != nil {
		return err
	}
	m.Input, m.Mode, m.Options = w.d.rel, connectpb.WriteOperation_SaveMode(w.mode), w.options.get()
	m.PartitioningColumns, m.ClusteringColumns, m.SortColumnNames, m.BucketBy = w.partitions, w.clusters, w.sorted, w.buckets
	if format != "" {
		m.Source = &format
	}
	return w.d.s.command(ctx, &connectpb.Command{CommandType: &connectpb.Command_WriteOperation{WriteOperation: m}}, nil)
}
