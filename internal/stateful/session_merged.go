package stateful

import (
	"cmp"
	"slices"

	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/group"
)

// sessionRow is a row of this batch by its place.
type sessionRow struct {
	key, chunk, row uint32
	start, end      int64
}

// mergedOnTime leaves out the rows whose sessions, as this batch alone makes them, ended before the late bound.
func (s *sessionShard) mergedOnTime(chunks []exec.SessionChunk) []exec.SessionChunk {
	if !slices.ContainsFunc(chunks, func(c exec.SessionChunk) bool {
		return slices.ContainsFunc(c.Ends, func(end int64) bool { return end <= s.bounds.Late })
	}) {
		return chunks
	}
	table := group.New(s.s.Group.KeyTypes())
	var rows []sessionRow
	for i, c := range chunks {
		keys := make([]uint32, c.N)
		table.Resolve(c.Keys, c.N, true, keys, nil)
		for r, key := range keys {
			rows = append(rows, sessionRow{key, uint32(i), uint32(r), c.Starts[r], c.Ends[r]})
		}
	}
	slices.SortFunc(rows, func(a, b sessionRow) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.start, b.start)) })
	rest := make([][]uint32, len(chunks))
	for len(rows) > 0 {
		n, end := 1, rows[0].end
		for n < len(rows) && rows[n].key == rows[0].key && rows[n].start <= end {
			end = max(end, rows[n].end)
			n++
		}
		if end <= s.bounds.Late {
			s.late++
			s.lateRows += int64(n)
		} else {
			for _, r := range rows[:n] {
				rest[r.chunk] = append(rest[r.chunk], r.row)
			}
		}
		rows = rows[n:]
	}
	var kept []exec.SessionChunk
	for i, c := range chunks {
		slices.Sort(rest[i])
		kept = appendRows(kept, c, rest[i])
	}
	return kept
}
