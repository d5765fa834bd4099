package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/millrace/millrace"
)

// jsonFiles is a folder of files.
type jsonFiles struct {
	dir   string
	files int
}

func (j *jsonFiles) stream(spark *millrace.Session) *millrace.DataFrame {
	return spark.ReadStream().Format("json").SchemaDDL(schema).Option("maxFilesPerTrigger", "2").Load(j.dir)
}

func (j *jsonFiles) all(spark *millrace.Session) *millrace.DataFrame {
	return spark.Read().Format("json").SchemaDDL(schema).Load(j.dir)
}

// put writes a file, which is there whole or not at all.
func (j *jsonFiles) put(_ context.Context, events []string) error {
	name := filepath.Join(j.dir, fmt.Sprintf("%06d.json", j.files))
	hidden := filepath.Join(j.dir, "."+filepath.Base(name))
	j.files++
	if err := os.WriteFile(hidden, []byte(strings.Join(events, "\n")+"\n"), 0o644); err != nil {
		return err
	}
	return os.Rename(hidden, name)
}

func (j *jsonFiles) close() {}

// folder is a folder of Parquet files with _spark_metadata, or a Delta table. With the partitions a batch has several files, which are
// all there or none.
type folder struct{ format, path string }

func (d folder) start(ctx context.Context, rows *millrace.DataFrame, with writer) (*millrace.StreamingQuery, error) {
	return with(rows).Format(d.format).PartitionBy("user").Start(ctx, d.path)
}

func (d folder) all(spark *millrace.Session) *millrace.DataFrame {
	return spark.Read().Format(d.format).Load(d.path)
}

// last reads the number of the batch from the newest commit of a Delta table: versions need not be batches.
func (d folder) last(context.Context) int64 {
	if d.format == "parquet" {
		return last(filepath.Join(d.path, "_spark_metadata"))
	}
	log := filepath.Join(d.path, "_delta_log")
	content, err := os.ReadFile(filepath.Join(log, fmt.Sprintf("%020d.json", last(log))))
	if err != nil {
		return -1
	}
	for line := range strings.Lines(string(content)) {
		var action struct{ Txn *struct{ Version int64 } }
		if err := json.Unmarshal([]byte(line), &action); err == nil && action.Txn != nil {
			return action.Txn.Version
		}
	}
	return -1
}

func (d folder) written(after time.Time) bool { return newer(d.path, after) }

func (d folder) reader() []string { return []string{d.format, d.path} }

func (d folder) close() {}
