package deltatable

import (
	"context"
	"maps"
	"slices"
	"strings"

	conn "github.com/millrace/millrace/internal/connector/delta"
	core "github.com/millrace/millrace/internal/delta"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// optimize runs OPTIMIZE, by which files of a partition that are small are written together, and REORG ... APPLY (PURGE), by which
// those are written anew that have deleted rows.
func (t *Table) optimize(ctx context.Context, st *plan.Optimize) (plan.Node, error) {
	order, err := t.zOrder(st.ZOrder)
	if err != nil {
		return nil, err
	}
	began := t.s.SourceEnv().Now().UnixMilli()
	adds, err := t.partitionsOnly(ctx, st.Where)
	if err != nil {
		return nil, err
	}
	txn := t.log.Begin(t.snap)
	groups := t.bins(adds, len(order) > 0, st.Purge)
	for _, group := range groups {
		if err := t.compact(ctx, txn, group, order); err != nil {
			return nil, err
		}
	}
	files := txn.Changed()
	op := core.Operation{Name: "OPTIMIZE", Parameters: map[string]string{
		"predicate": predicateList(st.Where), "zOrderBy": core.JSONList(order), "auto": "false", "clusterBy": "[]",
	}, Metrics: map[string]string{
		"numAddedFiles": count(files.Added.Files), "numRemovedFiles": count(files.Removed.Files),
		"numAddedBytes": count(files.Added.Bytes), "numRemovedBytes": count(files.Removed.Bytes),
	}}
	if st.Purge {
		op.Name, op.Parameters = "REORG", map[string]string{"predicate": predicateList(st.Where), "applyPurge": "true"}
	}
	if files.Added.Files+files.Removed.Files > 0 {
		if err := t.commit(ctx, txn, op); err != nil {
			return nil, err
		}
	}
	return plan.LocalRows(types.Struct(types.NewField("path", types.String), types.NewField("metrics", optimizeMetrics)), []types.Row{{
		fs.Location(t.log.Path), t.optimized(files, groups, int64(len(adds)), began, len(order) > 0),
	}})
}

func longs(names ...string) (fields []types.Field) {
	for _, name := range names {
		fields = append(fields, types.NewField(name, types.Long))
	}
	return fields
}

var (
	sizesType = types.Struct(slices.Concat(longs("min", "max"), []types.Field{types.NewField("avg", types.Double)}, longs("totalFiles", "totalSize"))...)
	// cubeType and clusterType are how many files there are and how large they are.
	cubeType    = types.Struct(longs("num", "size")...)
	clusterType = types.Struct(longs("numFiles", "size")...)

	optimizeMetrics = types.Struct(slices.Concat(
		longs("numFilesAdded", "numFilesRemoved"),
		[]types.Field{types.NewField("filesAdded", sizesType), types.NewField("filesRemoved", sizesType)},
		longs("partitionsOptimized"),
		[]types.Field{
			types.NewField("zOrderStats", types.Struct(
				types.NewField("strategyName", types.String), types.NewField("inputCubeFiles", cubeType), types.NewField("inputOtherFiles", cubeType),
				types.NewField("inputNumCubes", types.Long), types.NewField("mergedFiles", cubeType),
				types.NewField("numOutputCubes", types.Long), types.NewField("mergedNumCubes", types.Long),
			)),
			types.NewField("clusteringStats", types.Struct(
				types.NewField("inputZCubeFiles", clusterType), types.NewField("inputOtherFiles", clusterType), types.NewField("inputNumZCubes", types.Long),
				types.NewField("mergedFiles", clusterType), types.NewField("numOutputZCubes", types.Long),
			)),
		},
		longs("numBins", "numBatches", "totalConsideredFiles", "totalFilesSkipped"),
		[]types.Field{types.NewField("preserveInsertionOrder", types.Boolean)},
		longs("numFilesSkippedToReduceWriteAmplification", "numBytesSkippedToReduceWriteAmplification", "startTimeMs", "endTimeMs",
			"totalClusterParallelism", "totalScheduledTasks"),
		[]types.Field{
			types.NewField("autoCompactParallelismStats", types.Struct(longs("maxClusterActiveParallelism", "minClusterActiveParallelism",
				"maxSessionActiveParallelism", "minSessionActiveParallelism")...)),
			types.NewField("deletionVectorStats", types.Struct(longs("numDeletionVectorsRemoved", "numDeletionVectorRowsRemoved")...)),
		},
		longs("numTableColumns", "numTableColumnsWithStats"),
	)...)
)

// optimized is the row of metrics: one batch with a bin for each group of files. considered is how many files were looked at.
func (t *Table) optimized(files core.FileCounts, groups [][]*core.Add, considered, began int64, ordered bool) types.Row {
	sizes := func(c core.FileSizes) types.Row {
		if c.Files == 0 {
			return types.Row{nil, nil, 0.0, int64(0), int64(0)}
		}
		return types.Row{c.Least, c.Most, float64(c.Bytes) / float64(c.Files), c.Files, c.Bytes}
	}
	var cubes, vectors any
	if ordered {
		all := types.Row{files.Removed.Files, files.Removed.Bytes}
		cubes = types.Row{"all", types.Row{int64(0), int64(0)}, all, int64(0), all, int64(len(groups)), nil}
	}
	var removed, rows int64
	for _, group := range groups {
		for _, a := range group {
			if a.DeletionVector != nil {
				removed++
				rows += a.DeletionVector.Cardinality
			}
		}
	}
	if removed > 0 {
		vectors = types.Row{removed, rows}
	}
	batches := int64(1)
	columns := int64(len(t.snap.Schema.Fields))
	return types.Row{
		files.Added.Files, files.Removed.Files, sizes(files.Added), sizes(files.Removed), files.Partitions, cubes, nil,
		int64(len(groups)), batches, considered, considered - files.Removed.Files, false, int64(0), int64(0), began, int64(0),
		int64(t.s.SourceEnv().Parallelism), int64(0), nil, vectors, columns, min(columns, int64(t.snap.Metadata.StatsColumns())),
	}
}

// zOrder checks the columns of ZORDER BY.
func (t *Table) zOrder(columns [][]string) ([]string, error) {
	var out []string
	for _, c := range columns {
		name := strings.Join(c, ".")
		i := t.snap.Schema.IndexFold(name)
		if i < 0 {
			return nil, errclass.New("DELTA_ZORDERING_COLUMN_DOES_NOT_EXIST", "columnName", errclass.Ident(name))
		}
		name = t.snap.Schema.Fields[i].Name
		if slices.Contains(t.snap.Metadata.PartitionColumns, name) {
			return nil, errclass.New("DELTA_ZORDERING_ON_PARTITION_COLUMN", "colName", errclass.Ident(name))
		}
		out = append(out, name)
	}
	return out, nil
}

// partitionsOnly are the files that a condition on partition columns leaves; another condition is refused.
func (t *Table) partitionsOnly(ctx context.Context, where plan.Expr) ([]*core.Add, error) {
	adds, err := t.snap.Files(ctx)
	if err != nil || where == nil {
		return adds, err
	}
	parts := t.snap.Metadata.PartitionColumns
	if plan.Exists(where, func(e plan.Expr) bool {
		c, ok := e.(*plan.Column)
		return ok && !slices.ContainsFunc(parts, func(p string) bool { return strings.EqualFold(p, c.Parts[len(c.Parts)-1]) })
	}) {
		return nil, errclass.New("DELTA_NON_PARTITION_COLUMN_REFERENCE", "columnName", formatExpr(where), "columnList", errclass.Idents(parts))
	}
	hits, err := t.hits(ctx, t.log.Begin(t.snap), where, false)
	return addsOf(hits), err
}

// targetSize is how large files are to become.
const targetSize = 256 << 20

// bins gathers files of a partition that are small, or have deleted rows; all where they are to be in another order, and where deleted
// rows are to go only those that have some.
func (t *Table) bins(adds []*core.Add, all, purge bool) [][]*core.Add {
	byPartition := map[string][]*core.Add{}
	for _, a := range adds {
		if all || a.DeletionVector != nil || a.Size < targetSize && !purge {
			k := conn.PartitionKey(a)
			byPartition[k] = append(byPartition[k], a)
		}
	}
	var out [][]*core.Add
	for _, k := range slices.Sorted(maps.Keys(byPartition)) {
		var bin []*core.Add
		size := int64(0)
		end := func() {
			if len(bin) > 1 || len(bin) == 1 && (all || bin[0].DeletionVector != nil) {
				out = append(out, bin)
			}
			bin, size = nil, 0
		}
		for _, a := range byPartition[k] {
			if !all && size+a.Size > targetSize {
				end()
			}
			bin = append(bin, a)
			size += a.Size
		}
		end()
	}
	return out
}

// compact writes the rows of files into new ones. Nothing changes but the files.
func (t *Table) compact(ctx context.Context, txn *core.Transaction, group []*core.Add, order []string) error {
	n, err := t.scan(group)
	if err != nil {
		return err
	}
	if len(order) > 0 {
		sort := &plan.Sort{Global: true, Child: n}
		for _, c := range order {
			sort.Orders = append(sort.Orders, &plan.SortOrder{Child: &plan.Column{Parts: []string{c}, PlanID: -1}})
		}
		n = sort
	}
	q, err := t.s.Prepare(ctx, n, "optimize")
	if err != nil {
		return err
	}
	q.Alone()
	w, err := t.writeQuery(ctx, q, t.snap.Metadata, map[string]string{"dataChange": "false"}, "")
	if err != nil {
		return err
	}
	w.add(txn)
	for _, a := range group {
		txn.Remove(a, false)
	}
	return nil
}
