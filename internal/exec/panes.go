package exec

import (
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Panes make the grouping by overlapping windows cheaper than a row for each of them: time is cut into panes, at every start and end of
// a window. Rows are grouped by pane first, and what came of a pane is merged into all windows that hold it. The aggregates must be
// orderless. Groups come in the order in which the rows, one for each window from the last to the first, would have made them.
type Panes struct {
	// Key is the place of the window among the grouping's keys.
	Key int
	// Pane computes the start of a row's pane.
	Pane Expr
	// Duration, Slide and Start of the windows, in microseconds.
	Duration, Slide, Start int64
}

// windows is how many windows hold one pane at most.
func (p *Panes) windows() int { return int((p.Duration + p.Slide - 1) / p.Slide) }

// last is the start of the last window that holds a pane.
func (p *Panes) last(pane int64) int64 {
	r := (pane - p.Start) % p.Slide
	r += p.Slide & (r >> 63)
	return pane - r
}

// Ended counts the windows that hold the rows' panes, which are key number key, and end at bound or before it.
func (p *Panes) Ended(keys []*vec.Vector, n, key int, bound int64) (ended int64) {
	for _, pane := range vec.Fixed[int64](keys[key].Flatten())[:n] {
		if pane >= bound { // a window ends behind its panes
			continue
		}
		for end := p.last(pane) + p.Duration; end > pane; end -= p.Slide {
			if end <= bound {
				ended++
			}
		}
	}
	return ended
}

// spreadRows is how many rows are made at a time.
const spreadRows = 4 * vec.BatchRows

// spread repeats rows for every window that holds their pane, from the last window to the first. f gets keys with the window, and the
// columns beside them.
func (p *Panes) spread(keys, cols []*vec.Vector, n int, f func(keys, cols []*vec.Vector, n int) error) error {
	if n == 0 {
		return nil
	}
	panes := vec.Fixed[int64](keys[p.Key].Flatten())
	t := keys[p.Key].Type()
	window := types.Struct(types.NewField("start", t), types.NewField("end", t))
	size := min(n, max(1, spreadRows/p.windows())) * p.windows()
	rows, starts := make([]uint32, 0, size), make([]int64, 0, size)
	emit := func() error {
		s, e := vec.NewFixed(t, len(rows)), vec.NewFixed(t, len(rows))
		copy(vec.Fixed[int64](s), starts)
		for i, at := range starts {
			vec.Fixed[int64](e)[i] = at + p.Duration
		}
		all := make([]*vec.Vector, len(keys))
		for i, k := range keys {
			if i == p.Key {
				all[i] = vec.NewStruct(window, len(rows), []*vec.Vector{s, e})
				continue
			}
			all[i] = vec.Take(k, rows, nil)
		}
		err := f(all, vec.TakeAll(cols, rows), len(rows))
		rows, starts = rows[:0], starts[:0]
		return err
	}
	for i, pane := range panes[:n] {
		for s := p.last(pane); s+p.Duration > pane; s -= p.Slide {
			rows, starts = append(rows, uint32(i)), append(starts, s)
		}
		if len(rows)+p.windows() > size {
			if err := emit(); err != nil {
				return err
			}
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return emit()
}
