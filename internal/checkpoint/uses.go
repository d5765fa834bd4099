package checkpoint

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
)

// BySource reduces the lines of an offset log's entry, one for each use of a source, to one for each source. The log does not say which
// lines are further uses; they repeat an earlier line, and there are fewer logs of sources than lines.
func (c *Checkpoint) BySource(lines []json.RawMessage) []json.RawMessage {
	logs := 0
	list, err := c.fsys.ReadDir(filepath.Join(c.dir, "sources"))
	if err != nil {
		return lines // no source keeps a log
	}
	for _, d := range list {
		if n, err := strconv.Atoi(d.Name()); err == nil && d.IsDir() {
			logs = max(logs, n+1)
		}
	}
	var out []json.RawMessage
	for i, line := range lines {
		repeats := slices.ContainsFunc(out, func(o json.RawMessage) bool { return bytes.Equal(o, line) })
		if repeats && len(out)+len(lines)-i > logs {
			continue
		}
		out = append(out, line)
	}
	return out
}
