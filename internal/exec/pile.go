package exec

import (
	"github.com/millrace/millrace/internal/exec/spill"
	"github.com/millrace/millrace/internal/vec"
)

// pile keeps batches dealt out to some number of heaps, in memory as long as there is room. It is filled by one goroutine.
type pile struct {
	memory *spill.Scope // nil without a limit
	files  *spill.Set
	heaps  [][]piece
	held   int64 // bytes in memory
}

// piece is some rows of a heap: a batch, or batch at of a file.
type piece struct {
	rows  int
	size  int64 // bytes in memory
	batch *vec.Batch
	file  *spill.File
	at    int
}

func newPile(memory *spill.Scope, files *spill.Set, heaps int) *pile {
	return &pile{memory: memory, files: files, heaps: make([][]piece, heaps)}
}

// load returns the piece's rows, Owned. The files are sealed.
func (p piece) load() (*vec.Batch, error) {
	if p.batch != nil {
		return p.batch, nil
	}
	return p.file.Read(p.at)
}

// add puts an Owned batch on a heap. When there is too much in memory all of it goes to a file.
func (p *pile) add(heap int, b *vec.Batch) error {
	x := piece{rows: b.N, batch: b}
	if p.memory != nil {
		x.size = int64(b.SizeBytes())
	}
	p.heaps[heap] = append(p.heaps[heap], x)
	p.held += x.size
	if p.memory.Grow(x.size) || p.held < minSpill(p.memory) {
		return nil
	}
	return p.spill()
}

// end puts what is in memory into a file if there is no room: nothing more will come.
func (p *pile) end() error {
	if p.memory.Grow(0) || p.held < minSpill(p.memory)/minShare {
		return nil
	}
	return p.spill()
}

// spill puts what heaps have in memory into a file, as one batch each: it lies behind what of the heap is there already.
func (p *pile) spill() error {
	file, err := p.files.Take()
	if err != nil {
		return err
	}
	defer p.files.Put(file)
	for h, pieces := range p.heaps {
		stored := 0
		for stored < len(pieces) && pieces[stored].file != nil {
			stored++
		}
		fresh := pieces[stored:]
		if len(fresh) == 0 {
			continue
		}
		all := piece{file: file}
		batches := make([]*vec.Batch, len(fresh))
		for i, x := range fresh {
			batches[i] = x.batch
			all.rows += x.rows
			all.size += x.size
		}
		b := batches[0]
		if len(batches) > 1 {
			b = vec.ConcatBatches(batches)
		}
		if all.at, err = file.Append(b); err != nil {
			return err
		}
		clear(fresh)
		p.heaps[h] = append(pieces[:stored], all)
	}
	p.memory.Release(p.held)
	p.held = 0
	return nil
}
