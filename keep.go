package millrace

import (
	"context"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
)

// StorageLevel says where the rows of a DataFrame are kept.
type StorageLevel struct {
	Disk, Memory, OffHeap, Deserialized bool
	Replication                         int
}

// The usual storage levels, by Spark's names. StorageMemoryAndDisk is the default of Cache; StorageNone is that of rows that are not kept.
var (
	StorageNone          = StorageLevel{Replication: 1}
	StorageMemoryOnly    = StorageLevel{Memory: true, Deserialized: true, Replication: 1}
	StorageMemoryAndDisk = StorageLevel{Disk: true, Memory: true, Deserialized: true, Replication: 1}
	StorageDiskOnly      = StorageLevel{Disk: true, Replication: 1}
)

func (l StorageLevel) message() *connectpb.StorageLevel {
	return &connectpb.StorageLevel{
		UseDisk: l.Disk, UseMemory: l.Memory, UseOffHeap: l.OffHeap, Deserialized: l.Deserialized, Replication: int32(l.Replication),
	}
}

// Cache keeps the rows after they have been computed for the first time.
func (d *DataFrame) Cache(ctx context.Context) error { return d.persist(ctx, nil) }

// Persist is Cache that says where.
func (d *DataFrame) Persist(ctx context.Context, level StorageLevel) error {
	return d.persist(ctx, level.message())
}

func (d *DataFrame) persist(ctx context.Context, level *connectpb.StorageLevel) error {
	_, err := d.ask(ctx, &connectpb.AnalyzePlanRequest{
		Analyze: &connectpb.AnalyzePlanRequest_Persist_{Persist: &connectpb.AnalyzePlanRequest_Persist{Relation: d.rel, StorageLevel: level}},
	})
	return err
}

// Unpersist drops what Cache keeps.
func (d *DataFrame) Unpersist(ctx context.Context) error {
	_, err := d.ask(ctx, &connectpb.AnalyzePlanRequest{
		Analyze: &connectpb.AnalyzePlanRequest_Unpersist_{Unpersist: &connectpb.AnalyzePlanRequest_Unpersist{Relation: d.rel}},
	})
	return err
}

// StorageLevel tells where the rows are kept.
func (d *DataFrame) StorageLevel(ctx context.Context) (StorageLevel, error) {
	r, err := d.ask(ctx, &connectpb.AnalyzePlanRequest{
		Analyze: &connectpb.AnalyzePlanRequest_GetStorageLevel_{GetStorageLevel: &connectpb.AnalyzePlanRequest_GetStorageLevel{Relation: d.rel}},
	})
	l := r.GetGetStorageLevel().GetStorageLevel()
	return StorageLevel{
		Disk: l.GetUseDisk(), Memory: l.GetUseMemory(), OffHeap: l.GetUseOffHeap(), Deserialized: l.GetDeserialized(), Replication: int(l.GetReplication()),
	}, err
}

// LocalCheckpoint computes the rows, now if eager, and returns a DataFrame of them that has forgotten how they came about. They are kept by
// the engine until the session ends.
func (d *DataFrame) LocalCheckpoint(ctx context.Context, eager bool) (*DataFrame, error) {
	return d.checkpoint(ctx, &connectpb.CheckpointCommand{Local: true, Eager: eager})
}

// Checkpoint is LocalCheckpoint that keeps the rows in the checkpoint directory of the engine, which must have one.
func (d *DataFrame) Checkpoint(ctx context.Context, eager bool) (*DataFrame, error) {
	return d.checkpoint(ctx, &connectpb.CheckpointCommand{Eager: eager})
}

func (d *DataFrame) checkpoint(ctx context.Context, m *connectpb.CheckpointCommand) (*DataFrame, error) {
	if d.err != nil {
		return nil, d.err
	}
	m.Relation = d.rel
	var kept *connectpb.CachedRemoteRelation
	err := d.s.command(ctx, &connectpb.Command{CommandType: &connectpb.Command_CheckpointCommand{CheckpointCommand: m}}, func(r *connectpb.ExecutePlanResponse) {
		if c := r.GetCheckpointCommandResult(); c != nil {
			kept = c.GetRelation()
		}
	})
	if err == nil && kept == nil {
		err = errclass.New("UNEXPECTED_RESPONSE", "reason", "it does not name the rows that were kept")
	}
	if err != nil {
		return nil, err
	}
	return newDataFrame(d.s, &connectpb.Relation{RelType: &connectpb.Relation_CachedRemoteRelation{CachedRemoteRelation: kept}}), nil
}
