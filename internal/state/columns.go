package state

import (
	"fmt"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Columns are value columns as they are stored, for whoever reads a state without its operator. What is overwritten keeps its room until
// it is more than the rest.
type Columns struct {
	fields []types.Field
	cols   []*vec.Builder
	at     []uint32 // by row
	dead   int      // places that no row has any more
}

// fewDead are not worth moving the rest.
const fewDead = 1 << 12

// NewColumns makes value columns.
func NewColumns(fields []types.Field) *Columns {
	c := &Columns{fields: fields}
	c.Reset()
	return c
}

// Grow implements Values.
func (c *Columns) Grow(n int) {
	for len(c.at) < n {
		c.at = append(c.at, vec.NoRow)
	}
}

// Load implements Values.
func (c *Columns) Load(rows []uint32, cols []*vec.Vector) error {
	if len(cols) != len(c.cols) {
		return errclass.Internal(fmt.Errorf("state: %d columns instead of %d", len(cols), len(c.cols)))
	}
	from := uint32(0)
	if len(c.cols) > 0 {
		from = uint32(c.cols[0].Len())
	}
	for i, v := range cols {
		c.cols[i].AppendAll(v)
	}
	for i, r := range rows {
		if c.at[r] != vec.NoRow {
			c.dead++
		}
		c.at[r] = from + uint32(i)
	}
	if size := int(from) + len(rows); c.dead > max(fewDead, size/2) {
		c.close()
	}
	return nil
}

// close moves the values together, in the order of the rows.
func (c *Columns) close() {
	pos := make([]uint32, 0, len(c.at))
	for r, at := range c.at {
		if at != vec.NoRow {
			c.at[r] = uint32(len(pos))
			pos = append(pos, at)
		}
	}
	for i, b := range c.cols {
		c.cols[i] = vec.NewBuilder(c.fields[i].Type)
		c.cols[i].AppendAll(vec.Take(b.Borrow(), pos, nil))
	}
	c.dead = 0
}

// Save implements Values.
func (c *Columns) Save(rows []uint32) []*vec.Vector {
	pos := make([]uint32, len(rows))
	for i, r := range rows {
		pos[i] = c.at[r]
	}
	out := make([]*vec.Vector, len(c.cols))
	for i, b := range c.cols {
		out[i] = vec.Take(b.Borrow(), pos, nil).Own()
	}
	return out
}

// Clear implements Values.
func (c *Columns) Clear(rows []uint32) {
	for _, r := range rows {
		if c.at[r] != vec.NoRow {
			c.dead++
		}
		c.at[r] = vec.NoRow
	}
}

// Reset implements Values.
func (c *Columns) Reset() {
	c.at, c.dead, c.cols = nil, 0, make([]*vec.Builder, len(c.fields))
	for i, f := range c.fields {
		c.cols[i] = vec.NewBuilder(f.Type)
	}
}
