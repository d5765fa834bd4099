package histories

import (
	"slices"

	"github.com/millrace/millrace/types"
)

// pairing is a join of two streams. The columns of the right side stand behind those of the left one.
type pairing struct {
	kept
	left, right operation
	kind        string // inner, left, right, full, semi
	marked      bool   // both sides have a watermark
	// keys are what must be equal; null is equal to nothing, unless nullSafe.
	leftKey, rightKey func(record) any
	nullSafe          bool
	matches           func(l, r record) bool // the rest of the condition
	// expires is the event time, in microseconds, up to which a row may find a partner; noTime for ever.
	expires [2]func(record) int64
	// shift is how far behind the watermark each side is forgotten, in milliseconds.
	shift [2]int64
	bound [2]bool
	time  [2]int // the column of each side with its event time, or -1 when nobody reads it
	state [2][]*waiting
}

type waiting struct {
	row     record
	matched bool
	until   int64
}

func (p *pairing) inputs() []operation { return []operation{p.left, p.right} }
func (p *pairing) cleans() bool        { return p.bound[0] || p.bound[1] }
func (*pairing) size() int             { return -1 }

func (p *pairing) watermark(in []int64) int64 {
	low := least(in)
	if low == noMark {
		return low
	}
	out := low
	for side := range 2 {
		if p.bound[side] {
			out = min(out, low+p.shift[side])
		}
	}
	return out
}

func (p *pairing) preserved(side int) bool {
	return p.kind == "full" || side == 0 && p.kind == "left" || side == 1 && p.kind == "right"
}

func (p *pairing) pad(side int, r record) record {
	nulls := make(record, len(r))
	if side == 0 {
		return append(slices.Clone(r), nulls...)
	}
	return append(nulls, r...)
}

func (p *pairing) fits(l, r record) bool {
	a, b := p.leftKey(l), p.rightKey(r)
	if (a == nil || b == nil) && !p.nullSafe {
		return false
	}
	return keyOf(a) == keyOf(b) && p.matches(l, r)
}

func (p *pairing) run(_ *batch, in [][]record) []record {
	var out []record
	order := []int{0, 1}
	if p.kind == "semi" { // a right row meets the stored left rows, a left row all right ones that are stored
		order = []int{1, 0}
	}
	for _, side := range order {
		for _, r := range in[side] {
			if p.time[side] >= 0 {
				if at, ok := r[p.time[side]].(types.Micros); ok && p.lateAt(int64(at)) {
					continue
				}
			}
			one := &waiting{row: r, until: noTime}
			if p.bound[side] {
				one.until = p.expires[side](r)
			}
			for _, o := range p.state[1-side] {
				l, rr := one, o
				if side == 1 {
					l, rr = o, one
				}
				if !p.fits(l.row, rr.row) {
					continue
				}
				if p.kind == "semi" {
					if !l.matched {
						out = append(out, l.row)
					}
				} else {
					out = append(out, append(slices.Clone(l.row), rr.row...))
				}
				l.matched, rr.matched = true, true
			}
			if side == 1 && one.until != noTime && p.finalAt(one.until) && (!p.preserved(1) || one.matched) {
				continue // it is never stored
			}
			p.state[side] = append(p.state[side], one)
		}
	}
	for side := range 2 {
		p.state[side] = slices.DeleteFunc(p.state[side], func(w *waiting) bool {
			final := w.until != noTime && p.finalAt(w.until)
			if final && p.preserved(side) && !w.matched {
				out = append(out, p.pad(side, w.row))
			}
			return final
		})
	}
	return out
}
