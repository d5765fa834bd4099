package files

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/amount"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/source"
)

// packing says how the files of a table are dealt out to the partitions of a batch, which is what decides on the order of its rows.
type packing struct {
	most  int64 // of bytes in a partition
	open  int64 // what opening a file is taken to cost
	least int64 // how many partitions there should be, 0 for any number
	limit int64 // how many partitions there may be, 0 for any number
}

// packing reads the settings. The number of cores is no part of it: the order of rows must not depend on the machine.
func (t *Table) packing() packing {
	size := func(key string, def int64) int64 {
		if n, ok := amount.Bytes(strings.TrimSpace(t.conf(key))); ok && n > 0 {
			return n
		}
		return def
	}
	count := func(key string) int64 {
		n, err := strconv.ParseInt(strings.TrimSpace(t.conf(key)), 10, 32)
		if err != nil {
			return 0
		}
		return max(n, 0)
	}
	p := packing{
		most: size(setting.SplitBytes, 128<<20), open: size(setting.OpenCost, 4<<20),
		least: count(setting.MinSplits), limit: count(setting.MaxSplits),
	}
	if p.least == 0 {
		p.least = count(setting.LeafParallelism)
	}
	return p
}

// packed are the splits of a batch: files are cut into parts of the size of a partition, the largest parts come first, and partitions
// are filled in this order. Parts of one size stay in the order of their paths. Splits do not go across partitions, but large
// partitions are several splits.
func (p *plan) packed(files []*File) []source.Split {
	pack := p.t.packing()
	var kept []*File
	total := int64(0)
	for _, f := range files {
		if f.Size > 0 && p.keep(f) {
			kept = append(kept, f)
			total += f.Size + pack.open
		}
	}
	most := pack.most
	if pack.least > 0 {
		most = min(most, max(pack.open, total/pack.least))
	}
	var parts []Piece
	for _, f := range kept {
		step := f.Size
		if p.t.decoder.Cut(f) > 0 {
			step = most
		}
		for off := int64(0); off < f.Size; off += step {
			parts = append(parts, Piece{f, off, min(step, f.Size-off)})
		}
	}
	slices.SortStableFunc(parts, func(a, b Piece) int { return cmp.Compare(b.Len, a.Len) })
	ends := partitionEnds(parts, most, pack.open)
	if n := int64(len(ends)); pack.limit > 0 && n > pack.limit {
		all := int64(0)
		for _, part := range parts {
			all += part.Len + pack.open
		}
		ends = partitionEnds(parts, (all+pack.limit-1)/pack.limit, pack.open)
	}
	g := gatherer{plan: p}
	from := 0
	for _, end := range ends {
		for _, part := range parts[from:end] {
			g.cut(part)
		}
		g.close()
		from = end
	}
	return g.out
}

// partitionEnds fills partitions with parts one after the other, and gives the number of parts before the end of each.
func partitionEnds(parts []Piece, most, open int64) []int {
	var ends []int
	size := int64(0)
	for i, part := range parts {
		if i > 0 && size+part.Len > most {
			ends = append(ends, i)
			size = 0
		}
		size += part.Len + open
	}
	if len(parts) > 0 {
		ends = append(ends, len(parts))
	}
	return ends
}
