package millrace

import (
	"context"
	"maps"

	"github.com/millrace/millrace/internal/connectpb"
)

// TableWriter writes a bounded DataFrame into a table, with what happens to the table spelled out. Its methods change it and return it; those
// with a context write.
type TableWriter struct {
	d *DataFrame
	m *connectpb.WriteOperationV2
	options
	err error
}

// WriteTo writes into a table.
func (d *DataFrame) WriteTo(table string) *TableWriter {
	return &TableWriter{d: d, m: &connectpb.WriteOperationV2{TableName: table}}
}

// Using names the format of a table that is made.
func (w *TableWriter) Using(format string) *TableWriter { w.m.Provider = &format; return w }

// Option sets an option of the format to a text, a boolean or a number.
func (w *TableWriter) Option(key string, value any) *TableWriter { w.set(key, value); return w }

// Options sets several options.
func (w *TableWriter) Options(m map[string]string) *TableWriter { w.setAll(m); return w }

// TableProperties gives properties to a table that is made.
func (w *TableWriter) TableProperties(m map[string]string) *TableWriter {
	if w.m.TableProperties == nil {
		w.m.TableProperties = map[string]string{}
	}
	maps.Copy(w.m.TableProperties, m)
	return w
}

// PartitionedBy partitions a table that is made: by columns, or by functions.Years, Months, Days, Hours and Bucket of them.
func (w *TableWriter) PartitionedBy(cols ...any) *TableWriter {
	w.m.PartitioningColumns, w.err = expressions(columns(cols))
	return w
}

// ClusterBy keeps rows near each other that are near in some columns.
func (w *TableWriter) ClusterBy(cols ...string) *TableWriter { w.m.ClusteringColumns = cols; return w }

// Create makes the table, which must not be there.
func (w *TableWriter) Create(ctx context.Context) error {
	return w.run(ctx, connectpb.WriteOperationV2_MODE_CREATE)
}

// Replace makes the table anew, which must be there.
func (w *TableWriter) Replace(ctx context.Context) error {
	return w.run(ctx, connectpb.WriteOperationV2_MODE_REPLACE)
}

// CreateOrReplace makes the table, or makes it anew.
func (w *TableWriter) CreateOrReplace(ctx context.Context) error {
	return w.run(ctx, connectpb.WriteOperationV2_MODE_CREATE_OR_REPLACE)
}

// Append adds the rows to the table.
func (w *TableWriter) Append(ctx context.Context) error {
	return w.run(ctx, connectpb.WriteOperationV2_MODE_APPEND)
}

// Overwrite replaces the rows for which a condition is true.
func (w *TableWriter) Overwrite(ctx context.Context, condition Column) error {
	w.m.OverwriteCondition = condition.expr
	w.err = firstError(w.err, condition.use())
	return w.run(ctx, connectpb.WriteOperationV2_MODE_OVERWRITE)
}

// OverwritePartitions replaces the partitions that the rows belong to.
func (w *TableWriter) OverwritePartitions(ctx context.Context) error {
	return w.run(ctx, connectpb.WriteOperationV2_MODE_OVERWRITE_PARTITIONS)
}

func (w *TableWriter) run(ctx context.Context, mode connectpb.WriteOperationV2_Mode) error {
	if err := firstError(w.d.err, w.options.err, w.err); err != nil {
		return err
	}
	w.m.Input, w.m.Mode, w.m.Options = w.d.rel, mode, w.get()
	return w.d.s.command(ctx, &connectpb.Command{CommandType: &connectpb.Command_WriteOperationV2{WriteOperationV2: w.m}}, nil)
}
