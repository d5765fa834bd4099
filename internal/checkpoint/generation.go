package checkpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
)

// GenerationKey is the setting in the offset log that says where the state lies.
const GenerationKey = "spark.millrace.streaming.state.repartitioned"

// Generation says where state lies after it was written anew. The zero value is the folder in which it began.
type Generation struct {
	// Version is the first that is there, Steps how many files it was written in: their own numbers count from 1.
	Version, Steps int64
}

// ParseGeneration reads a setting.
func ParseGeneration(text string) (g Generation, err error) {
	if text == "" {
		return g, nil
	}
	v, n, ok := strings.Cut(text, "/")
	if g.Version, err = strconv.ParseInt(v, 10, 64); err == nil {
		g.Steps, err = strconv.ParseInt(n, 10, 64)
	}
	if !ok || err != nil || g.Version < 1 || g.Steps < 1 {
		return g, errclass.New("INVALID_CONF_VALUE.TYPE_MISMATCH", "confName", GenerationKey, "confValue", text,
			"confType", "a version and a number of files, such as 12/1")
	}
	return g, nil
}

// String is the setting.
func (g Generation) String() string { return fmt.Sprintf("%d/%d", g.Version, g.Steps) }

// Dir is the state directory of the generation below that of the checkpoint.
func (g Generation) Dir(top string) string {
	if g == (Generation{}) {
		return top
	}
	return filepath.Join(top, generationPrefix+strconv.FormatInt(g.Version, 10))
}

const generationPrefix = "from-"

// Shift is by how much versions are larger than in the names of the generation's files.
func (g Generation) Shift() int64 { return g.Version - g.Steps }

// RemoveStateBefore removes the state of earlier generations. The operators' metadata stay where they are.
func (c *Checkpoint) RemoveStateBefore(g Generation) error {
	top := c.StateDir()
	entries, err := c.fsys.ReadDir(top)
	if err != nil {
		return err
	}
	for _, e := range entries {
		folder := filepath.Join(top, e.Name())
		if v, ok := strings.CutPrefix(e.Name(), generationPrefix); ok {
			if n, err := strconv.ParseInt(v, 10, 64); err == nil && n < g.Version {
				if err := c.fsys.RemoveAll(folder); err != nil {
					return err
				}
			}
			continue
		}
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		partitions, err := c.fsys.ReadDir(folder)
		if err != nil {
			return err
		}
		for _, p := range partitions {
			if _, err := strconv.Atoi(p.Name()); err == nil {
				if err := c.fsys.RemoveAll(filepath.Join(folder, p.Name())); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

type repartitionRequest struct {
	Partitions int `json:"partitions"`
}

func (c *Checkpoint) repartitionFile() string { return filepath.Join(c.StateDir(), "_repartition") }

// RequestRepartition notes that the state is to have another number of partitions. It gets them when the query starts next.
func (c *Checkpoint) RequestRepartition(ctx context.Context, partitions int) error {
	content, err := json.Marshal(repartitionRequest{partitions})
	if err != nil {
		return err
	}
	return fs.Replace(ctx, c.fsys, c.repartitionFile(), content)
}

// WantedPartitions reads such a request.
func (c *Checkpoint) WantedPartitions() (n int, ok bool, err error) {
	content, err := fs.ReadFile(c.fsys, c.repartitionFile())
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	var r repartitionRequest
	if err := json.Unmarshal(content, &r); err != nil || r.Partitions < 1 {
		return 0, false, errclass.New("STREAMING_CHECKPOINT_CORRUPT_FILE", "file", c.repartitionFile(), "reason", "it names no number of partitions",
			"advice", "Delete it, or ask again by millrace checkpoint repartition.")
	}
	return r.Partitions, true, nil
}

// ForgetRepartition removes a request.
func (c *Checkpoint) ForgetRepartition() error { return removeIfThere(c.fsys, c.repartitionFile()) }
