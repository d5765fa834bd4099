package deltatable

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/catalog"
	core "github.com/millrace/millrace/internal/delta"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// Define commits the version that makes a table, or makes it anew, with the rows of a query if there is one.
func (t *Table) Define(ctx context.Context, said catalog.Table, st *plan.CreateTable, query plan.Node, managed bool) error {
	conf, asked, err := core.Properties(said.Properties)
	if err != nil {
		return err
	}
	m, err := core.NewMetadata(said.Schema, said.PartitionBy, conf, said.Comment, t.log.Now().UnixMilli())
	if err != nil {
		return err
	}
	if t.snap != nil {
		m.ID, m.CreatedTime = t.snap.Metadata.ID, t.snap.Metadata.CreatedTime
	}
	txn := t.log.Begin(t.snap)
	if err := txn.SetMetadata(m, asked); err != nil {
		return err
	}
	var w *written
	if query != nil {
		if w, err = t.write(ctx, query, m, nil, ""); err != nil {
			return err
		}
		w.add(txn)
	}
	if t.snap != nil {
		txn.ReadWhole()
		old, err := t.snap.Files(ctx)
		if err != nil {
			return err
		}
		for _, a := range old {
			txn.Remove(a, true)
		}
	}
	name := "CREATE TABLE"
	switch {
	case st.Replace && !st.MustExist:
		name = "CREATE OR REPLACE TABLE"
	case st.Replace:
		name = "REPLACE TABLE"
	}
	if query != nil {
		name += " AS SELECT"
	}
	op := core.Operation{Name: name, Blind: t.snap == nil, Parameters: map[string]string{
		"isManaged": strconv.FormatBool(managed), "description": said.Comment, "partitionBy": core.JSONList(m.PartitionColumns),
		"properties": core.JSONMap(conf), "clusterBy": "[]",
	}}
	if w != nil {
		op.Metrics = map[string]string{"numFiles": count(int64(len(w.adds))), "numOutputRows": count(rowsWritten(w.adds))}
	}
	return t.commit(ctx, txn, op, w)
}

// Same checks that a statement which makes a table where there is one says nothing else of it.
func (t *Table) Same(said catalog.Table, st *plan.CreateTable) error {
	if len(said.Schema.Fields) == 0 {
		return nil
	}
	same := types.SameType(types.Nullable(t.snap.Schema), types.Nullable(said.Schema))
	if !same {
		return errclass.New("DELTA_CREATE_TABLE_SCHEME_MISMATCH", "path", said.Location, "existingSchema", t.snap.Schema.SimpleString(), "specifiedSchema", said.Schema.SimpleString())
	}
	if len(st.Partitions) > 0 && !slices.EqualFunc(said.PartitionBy, t.snap.Metadata.PartitionColumns, strings.EqualFold) {
		return errclass.New("DELTA_CREATE_TABLE_WITH_DIFFERENT_PARTITIONING", "path", said.Location,
			"existingColumns", core.JSONList(t.snap.Metadata.PartitionColumns), "specifiedColumns", core.JSONList(said.PartitionBy))
	}
	return nil
}

// ColumnField is the column of a table that a definition in CREATE TABLE makes.
func ColumnField(c plan.ColumnDef) types.Field {
	f := c.Field
	if c.GeneratedText != "" {
		f = f.WithMetadata(core.GenerationKey, c.GeneratedText)
	}
	return f
}
