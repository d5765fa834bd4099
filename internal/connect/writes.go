package connect

import (
	"maps"
	"strings"

	"github.com/millrace/millrace/internal/catalog"
	"github.com/millrace/millrace/internal/connect/convert"
	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/query"
	"github.com/millrace/millrace/internal/session"
	"github.com/millrace/millrace/internal/sql"
	"github.com/millrace/millrace/sink"
)

func (op *operation) writeOperation(m *connectpb.WriteOperation) error {
	c := convert.New(op.ctx, op.h.Session)
	n, err := c.Relation(m.GetInput())
	if err != nil {
		return err
	}
	buckets, err := bucketsOf(m)
	if err != nil {
		return err
	}
	mode, err := saveMode(m.GetMode())
	if err != nil {
		return err
	}
	w := session.Write{
		Plan: n, Format: m.GetSource(), Mode: mode, Options: m.GetOptions(), PartitionBy: m.GetPartitioningColumns(),
		Buckets: buckets,
	}
	switch k := m.GetSaveType().(type) {
	case *connectpb.WriteOperation_Table:
		insert := k.Table.GetSaveMethod() == connectpb.WriteOperation_SaveTable_TABLE_SAVE_METHOD_INSERT_INTO
		observed, err := op.h.WriteTable(op.ctx, k.Table.GetTableName(), w, insert)
		return op.written(c, observed, err)
	case *connectpb.WriteOperation_Path:
		w.Path = k.Path
	}
	observed, err := op.h.Write(op.ctx, w)
	return op.written(c, observed, err)
}

// bucketsOf are the buckets that a write asks for, which only a table can have that is made by it.
func bucketsOf(m *connectpb.WriteOperation) (*catalog.Buckets, error) {
	b := m.GetBucketBy()
	if b == nil {
		if len(m.GetSortColumnNames()) > 0 {
			return nil, errclass.New("SORT_BY_WITHOUT_BUCKETING")
		}
		return nil, nil
	}
	if m.GetTable().GetSaveMethod() != connectpb.WriteOperation_SaveTable_TABLE_SAVE_METHOD_SAVE_AS_TABLE {
		return nil, errclass.New("UNSUPPORTED_FEATURE.RELATION", "relation", "bucketBy without saveAsTable")
	}
	if b.GetNumBuckets() == 0 { // none, as for Spark's server
		return nil, nil
	}
	return &catalog.Buckets{N: int(b.GetNumBuckets()), By: b.GetBucketColumnNames(), SortBy: m.GetSortColumnNames()}, nil
}

// written ends a write. Observed metrics are all that it has to tell.
func (op *operation) written(c *convert.Converter, observed []query.Observation, err error) error {
	if err != nil || len(observed) == 0 {
		return err
	}
	return op.metrics(observed, c.Observed())
}

func saveMode(m connectpb.WriteOperation_SaveMode) (sink.Mode, error) {
	switch m {
	case connectpb.WriteOperation_SAVE_MODE_APPEND:
		return sink.Append, nil
	case connectpb.WriteOperation_SAVE_MODE_OVERWRITE:
		return sink.Overwrite, nil
	case connectpb.WriteOperation_SAVE_MODE_IGNORE:
		return sink.Ignore, nil
	case connectpb.WriteOperation_SAVE_MODE_ERROR_IF_EXISTS, connectpb.WriteOperation_SAVE_MODE_UNSPECIFIED:
		return sink.ErrorIfExists, nil
	}
	return 0, errclass.New("CONNECT_INVALID_PLAN.INVALID_ENUM", "fullName", "spark.connect.WriteOperation.SaveMode", "name", m.String())
}

func (op *operation) writeOperationV2(m *connectpb.WriteOperationV2) error {
	c := convert.New(op.ctx, op.h.Session)
	n, err := c.Relation(m.GetInput())
	if err != nil {
		return err
	}
	if m.GetOverwriteCondition() != nil || m.GetMode() == connectpb.WriteOperationV2_MODE_OVERWRITE {
		return errclass.New("UNSUPPORTED_FEATURE.RELATION", "relation", "writeTo(...).overwrite(condition)")
	}
	w := session.Write{Plan: n, Format: m.GetProvider(), Options: m.GetOptions(), Properties: m.GetTableProperties(), ByName: true}
	for _, e := range m.GetPartitioningColumns() {
		a := e.GetUnresolvedAttribute()
		if a == nil {
			return errclass.New("UNSUPPORTED_PARTITION_TRANSFORM", "transform", errclass.Ident(e.GetUnresolvedFunction().GetFunctionName()))
		}
		name, err := sql.ParseIdentifier(a.GetUnparsedIdentifier())
		if err != nil {
			return err
		}
		w.PartitionBy = append(w.PartitionBy, strings.Join(name, "."))
	}
	insert := false
	switch m.GetMode() {
	case connectpb.WriteOperationV2_MODE_APPEND:
		w.Mode, insert = sink.Append, true
	case connectpb.WriteOperationV2_MODE_OVERWRITE_PARTITIONS:
		w.Mode, insert = sink.Overwrite, true
		w.Options = maps.Clone(w.Options)
		if w.Options == nil {
			w.Options = map[string]string{}
		}
		w.Options["partitionOverwriteMode"] = "dynamic"
	case connectpb.WriteOperationV2_MODE_CREATE:
		w.Mode = sink.ErrorIfExists
	case connectpb.WriteOperationV2_MODE_REPLACE:
		w.Mode, w.MustExist = sink.Overwrite, true
	case connectpb.WriteOperationV2_MODE_CREATE_OR_REPLACE:
		w.Mode = sink.Overwrite
	default:
		return errclass.New("CONNECT_INVALID_PLAN.INVALID_ENUM",
			"fullName", "spark.connect.WriteOperationV2.Mode", "name", m.GetMode().String())
	}
	observed, err := op.h.WriteTable(op.ctx, m.GetTableName(), w, insert)
	return op.written(c, observed, err)
}
