package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// Commit is an entry of the commit log: its batch is done.
type Commit struct {
	// NextBatchWatermarkMs is the watermark with which the next batch runs.
	NextBatchWatermarkMs int64
	// InputWatermarksMs are the watermarks of the single inputs, where the query keeps them: the topmost withWatermark first. The field
	// is ours; Spark passes over it.
	InputWatermarksMs []int64
	// StateUniqueIDs names the state files of each operator in logs of version 2, which Spark writes with its
	// state format 2. It is read so that such logs can be shown; entries that hold it cannot be written.
	StateUniqueIDs json.RawMessage
}

const commitLogVersion = 2

// appendCommit encodes an entry of the commit log in version 1.
func appendCommit(b []byte, c Commit) ([]byte, error) {
	if c.StateUniqueIDs != nil {
		return nil, errors.New("a commit with state ids needs version 2 of the log, which is only read")
	}
	b = append(b, "v1\n{\"nextBatchWatermarkMs\":"...)
	b = strconv.AppendInt(b, c.NextBatchWatermarkMs, 10)
	b = appendInputWatermarks(b, c.InputWatermarksMs)
	return append(b, '}'), nil
}

// keyInputWatermarks is a field of entries of both logs.
const keyInputWatermarks = "millraceInputWatermarksMs"

// appendInputWatermarks adds the field to an object that is not empty.
func appendInputWatermarks(b []byte, ms []int64) []byte {
	if len(ms) == 0 {
		return b
	}
	b = append(b, `,"`+keyInputWatermarks+`":`...)
	for i, x := range ms {
		b = append(b, "[,"[min(i, 1)])
		b = strconv.AppendInt(b, x, 10)
	}
	return append(b, ']')
}

func parseInputWatermarks(value []byte) (ms []int64, err error) {
	if err := json.Unmarshal(value, &ms); err != nil {
		return nil, fmt.Errorf("%s: %w", keyInputWatermarks, err)
	}
	return ms, nil
}

// parseCommit decodes an entry of the commit log.
func parseCommit(content []byte) (Commit, error) {
	var c Commit
	_, rest, err := cutVersion(content, commitLogVersion)
	if err != nil {
		return c, err
	}
	// Nothing behind the version is an entry from before watermarks were kept here.
	err = eachLine(rest, func(n int, line []byte) error {
		if n > 2 {
			return fmt.Errorf("line %d should not be there: %s", n, clip(line))
		}
		err := eachField(line, func(key, value []byte) (err error) {
			switch string(key) {
			case "nextBatchWatermarkMs":
				c.NextBatchWatermarkMs, err = intValue(value)
			case keyInputWatermarks:
				c.InputWatermarksMs, err = parseInputWatermarks(value)
			case "stateUniqueIds":
				c.StateUniqueIDs = slices.Clone(value)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("line 2: %w", err)
		}
		return nil
	})
	return c, err
}
