package deltatable

import (
	"context"
	"maps"
	"slices"
	"time"

	core "github.com/millrace/millrace/internal/delta"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

var textMap = types.MapType{Key: types.String, Value: types.String, ValueContainsNull: true}

// historyColumns are those of DESCRIBE HISTORY.
var historyColumns = types.Struct(
	types.NewField("version", types.Long), types.NewField("timestamp", types.Timestamp), types.NewField("userId", types.String),
	types.NewField("userName", types.String), types.NewField("operation", types.String), types.NewField("operationParameters", textMap),
	types.NewField("job", types.Struct(optional("jobId"), optional("jobName"), optional("jobRunId"), optional("runId"), optional("jobOwnerId"), optional("triggerType"))),
	types.NewField("notebook", types.Struct(optional("notebookId"))), types.NewField("clusterId", types.String), types.NewField("readVersion", types.Long),
	types.NewField("isolationLevel", types.String), types.NewField("isBlindAppend", types.Boolean), types.NewField("operationMetrics", textMap),
	types.NewField("userMetadata", types.String), types.NewField("engineInfo", types.String),
)

// history runs DESCRIBE HISTORY.
func (t *Table) history(limit int) (plan.Node, error) {
	versions, err := t.log.Versions()
	if err != nil {
		return nil, err
	}
	var rows []types.Row
	for _, v := range slices.Backward(versions) {
		if limit > 0 && len(rows) == limit {
			break
		}
		actions, err := t.log.Read(v.Number)
		if err != nil {
			return nil, err
		}
		row := make(types.Row, len(historyColumns.Fields))
		row[0], row[1] = v.Number, types.MicrosOf(v.Time)
		for _, a := range actions {
			if c := a.CommitInfo; c != nil {
				if c.InCommitTimestamp != nil {
					row[1] = types.Micros(*c.InCommitTimestamp * 1000)
				}
				row[4], row[5] = c.Operation, mapOf(c.OperationParameters)
				if c.ReadVersion != nil {
					row[9] = *c.ReadVersion
				}
				if c.IsolationLevel != "" {
					row[10] = c.IsolationLevel
				}
				if c.IsBlindAppend != nil {
					row[11] = *c.IsBlindAppend
				}
				row[12] = mapOf(c.OperationMetrics)
				if c.UserMetadata != nil {
					row[13] = *c.UserMetadata
				}
				if c.EngineInfo != "" {
					row[14] = c.EngineInfo
				}
			}
		}
		rows = append(rows, row)
	}
	return plan.LocalRows(historyColumns, rows)
}

func mapOf[M ~map[string]string](m M) types.MapValue {
	out := types.MapValue{}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, types.MapEntry{Key: k, Value: m[k]})
	}
	return out
}

// detailColumns are those of DESCRIBE DETAIL.
var detailColumns = types.Struct(
	optional("format"), optional("id"), optional("name"), optional("description"), optional("location"), types.NewField("createdAt", types.Timestamp),
	types.NewField("lastModified", types.Timestamp), types.NewField("partitionColumns", types.ArrayOf(types.String)),
	types.NewField("clusteringColumns", types.ArrayOf(types.String)), types.NewField("numFiles", types.Long), types.NewField("sizeInBytes", types.Long),
	types.NewField("properties", textMap), types.NewField("minReaderVersion", types.Integer), types.NewField("minWriterVersion", types.Integer),
	types.NewField("tableFeatures", types.ArrayOf(types.String)),
)

// detail runs DESCRIBE DETAIL. name is the table's in the catalog, or nil.
func (t *Table) detail(ctx context.Context, name any) (plan.Node, error) {
	adds, err := t.snap.Files(ctx)
	if err != nil {
		return nil, err
	}
	size := int64(0)
	for _, a := range adds {
		size += a.Size
	}
	m, p := t.snap.Metadata, t.snap.Protocol
	var description, created any
	if m.Description != nil {
		description = *m.Description
	}
	if m.CreatedTime != nil {
		created = types.Micros(*m.CreatedTime * 1000)
	}
	modified := time.Time{}
	if info, err := t.log.FS.Stat(t.log.CommitFile(t.snap.Version)); err == nil {
		modified = info.ModTime()
	}
	list := func(texts []string) []any {
		out := make([]any, len(texts))
		for i, s := range texts {
			out[i] = s
		}
		return out
	}
	return plan.LocalRows(detailColumns, []types.Row{{
		Format, m.ID, name, description, fs.Location(t.log.Path), created, types.MicrosOf(modified), list(m.PartitionColumns),
		[]any{},
		int64(len(adds)), size, mapOf(m.Configuration), int32(p.MinReaderVersion), int32(p.MinWriterVersion), list(p.Features()),
	}})
}

// restoreTo runs RESTORE.
func (t *Table) restoreTo(ctx context.Context, to plan.TimeTravel) (plan.Node, error) {
	if err := t.appendOnly(); err != nil {
		return nil, err
	}
	version, err := t.versionOf(ctx, to)
	if err != nil {
		return nil, err
	}
	then, err := t.log.Snapshot(ctx, version)
	if err != nil {
		return nil, err
	}
	had, err := then.Files(ctx)
	if err != nil {
		return nil, err
	}
	has, err := t.snap.Files(ctx)
	if err != nil {
		return nil, err
	}
	for _, a := range had { // what VACUUM has deleted cannot come back
		p, err := t.log.DataFile(a.Path)
		if err != nil {
			return nil, err
		}
		if _, err := t.log.FS.Stat(p); err != nil {
			return nil, errclass.New("FAILED_READ_FILE.FILE_NOT_EXIST", "path", fs.URI(p)).WithCause(err)
		}
	}
	txn := t.log.Begin(t.snap)
	txn.ReadWhole()
	m := then.Metadata.Clone()
	if err := txn.SetMetadata(m, nil); err != nil {
		return nil, err
	}
	now, before := map[string]bool{}, map[string]bool{}
	for _, a := range has {
		now[a.Key()] = true
	}
	var added, removed, addedSize, removedSize, size int64
	for _, a := range had {
		before[a.Key()] = true
		size += a.Size
		if !now[a.Key()] {
			back := *a
			back.DataChange = true
			txn.Add(&back)
			added, addedSize = added+1, addedSize+a.Size
		}
	}
	for _, a := range has {
		if !before[a.Key()] {
			txn.Remove(a, true)
			removed, removedSize = removed+1, removedSize+a.Size
		}
	}
	txn.EndWithProtocol()
	parameters := map[string]string{"version": "null", "timestamp": "null"}
	if to.Timestamp != nil {
		parameters["timestamp"] = formatExpr(to.Timestamp)
	} else {
		parameters["version"] = count(version)
	}
	op := core.Operation{Name: "RESTORE", Parameters: parameters, Metrics: map[string]string{
		"numRestoredFiles": count(added), "numRemovedFiles": count(removed), "restoredFilesSize": count(addedSize), "removedFilesSize": count(removedSize),
		"numOfFilesAfterRestore": count(int64(len(had))), "tableSizeAfterRestore": count(size),
	}}
	if err := t.commit(ctx, txn, op); err != nil {
		return nil, err
	}
	return plan.LocalRows(types.Struct(
		types.NewField("table_size_after_restore", types.Long), types.NewField("num_of_files_after_restore", types.Long),
		types.NewField("num_removed_files", types.Long), types.NewField("num_restored_files", types.Long),
		types.NewField("removed_files_size", types.Long), types.NewField("restored_files_size", types.Long),
	), []types.Row{{size, int64(len(had)), removed, added, removedSize, addedSize}})
}

// versionOf is the version that RESTORE names.
func (t *Table) versionOf(ctx context.Context, to plan.TimeTravel) (int64, error) {
	versions, err := t.log.Versions()
	if err != nil {
		return 0, err
	}
	first, last := versions[0], versions[len(versions)-1]
	if to.Timestamp == nil {
		v, err := parseVersion(to.Version)
		if err != nil || v < first.Number || v > last.Number {
			return 0, errclass.New("DELTA_CANNOT_RESTORE_TABLE_VERSION", "version", to.Version, "startVersion", count(first.Number), "endVersion", count(last.Number))
		}
		return v, nil
	}
	at, err := instant(ctx, t.s, to.Timestamp)
	if err != nil {
		return 0, err
	}
	v, ok, after := core.At(versions, at.Time())
	switch {
	case !ok:
		return 0, errclass.New("DELTA_CANNOT_RESTORE_TIMESTAMP_EARLIER", "requestedTimestamp", at.In(t.s.SourceEnv().Zone), "earliestTimestamp", first.Time.UTC().Format(time.DateTime))
	case after && at.Time().After(v.Time):
		return 0, errclass.New("DELTA_CANNOT_RESTORE_TIMESTAMP_GREATER", "requestedTimestamp", at.In(t.s.SourceEnv().Zone), "latestTimestamp", last.Time.UTC().Format(time.DateTime))
	}
	return v.Number, nil
}

func optional(name string) types.Field { return types.NewField(name, types.String) }
