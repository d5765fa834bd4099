package session

import (
	"strings"

	"github.com/millrace/millrace/internal/amount"
	"github.com/millrace/millrace/internal/engine"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/setting"
)

// Runtime completes a runtime with what settings say of the process: how much memory it may take, and where the files lie that operators
// write when that is not enough.
func Runtime(r engine.Runtime, conf map[string]string) (*engine.Runtime, error) {
	if text, ok := conf[setting.MemoryLimit]; ok {
		limit, ok := amount.Bytes(text)
		if !ok || limit <= 0 {
			return nil, errclass.New("INVALID_CONF_VALUE.REQUIREMENT", "confName", setting.MemoryLimit, "confValue", text,
				"confRequirement", "It is a size such as 512m or 4g.")
		}
		r.Memory = engine.NewMemory(limit)
	}
	// Spark takes several folders; the first will do.
	r.Scratch, _, _ = strings.Cut(conf[setting.LocalDir], ",")
	return engine.New(r), nil
}
