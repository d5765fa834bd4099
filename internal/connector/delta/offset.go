package delta

import (
	"encoding/json"
	"strconv"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/source"
)

// offset is a place in the stream over a table: behind a file of a version. While the table is read as it was at the beginning, the files
// are those of that version; afterwards they are those that a version has added.
type offset struct {
	SourceVersion int64  `json:"sourceVersion"`
	ReservoirID   string `json:"reservoirId"`
	// Version and Index name the last file that was read; Index is -1 when none of the version was.
	Version    int64 `json:"reservoirVersion"`
	Index      int64 `json:"index"`
	IsStarting bool  `json:"isStartingVersion"`
}

func (o offset) json() source.Offset {
	b, _ := json.Marshal(o) // a struct of numbers and texts always encodes
	return b
}

// parseOffset reads an offset of a checkpoint. Versions before the first of this form are not known to be in use.
func parseOffset(text source.Offset, table string) (offset, error) {
	var o offset
	if err := json.Unmarshal(text, &o); err != nil {
		return o, errclass.New("DELTA_INVALID_SOURCE_OFFSET_FORMAT", "offset", string(text)).WithCause(err)
	}
	switch {
	case o.SourceVersion > 3:
		return o, errclass.New("DELTA_INVALID_SOURCE_VERSION", "version", strconv.FormatInt(o.SourceVersion, 10))
	case o.ReservoirID != table:
		return o, errclass.New("DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE", "oldTableId", o.ReservoirID, "newTableId", table)
	}
	if o.SourceVersion == 3 { // there the beginning of a version is another number
		const before, after = -100, -20
		if o.Index == before {
			o.Index = -1
		} else if o.Index == after {
			o.Version, o.Index = o.Version+1, -1
		}
	}
	o.SourceVersion = 1
	return o, nil
}
