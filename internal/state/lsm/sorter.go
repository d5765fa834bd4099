package lsm

import (
	"bufio"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/millrace/millrace/internal/fs"
)

// sorter puts rows of the tree in the order of their places. What does not fit into memory waits in sorted runs beside the tree.
type sorter struct {
	s     *store
	limit int64
	buf   []byte // the rows as record has them
	recs  []record
	runs  []*run

	merge runHeap
	last  *run
	// at is the event time by which the row returned last was sorted.
	at int64
}

// record is where a row lies in buf: its event time, number, the length of its key, its key and its value.
type record struct {
	place
	end uint32 // row is where it begins
}

const (
	recordHead = timeBytes + numberBytes + 4
	// minSort keeps runs from being tiny.
	minSort = 1 << 20
	maxSort = 1 << 30
)

func newSorter(s *store, limit int64) *sorter {
	return &sorter{s: s, limit: min(max(limit, s.sortBytes), maxSort)}
}

// add takes a row. It is sorted by number alone unless byTime is set.
func (x *sorter) add(e entry, byTime bool) error {
	if int64(len(x.buf)+len(x.recs)*32) > x.limit {
		if err := x.spill(); err != nil {
			return err
		}
	}
	from := uint32(len(x.buf))
	x.buf = appendTime(x.buf, e.at)
	x.buf = appendNumber(x.buf, e.number)
	x.buf = binary.LittleEndian.AppendUint32(x.buf, uint32(len(e.key)))
	x.buf = append(append(x.buf, e.key...), e.value...)
	r := record{place{number: e.number, row: from}, uint32(len(x.buf))}
	if byTime {
		r.at = e.at
	}
	x.recs = append(x.recs, r)
	return nil
}

func (x *sorter) order() {
	slices.SortFunc(x.recs, func(a, b record) int { return byPlace(a.place, b.place) })
}

// spill writes what is in memory as a run.
func (x *sorter) spill() (err error) {
	x.order()
	name := filepath.Join(x.s.live(), fmt.Sprintf("run-%d", x.s.runs.Add(1)))
	w, err := x.s.folder.FS.Create(name)
	if err != nil {
		return err
	}
	r := &run{fsys: x.s.folder.FS, name: name}
	x.runs = append(x.runs, r)
	b := bufio.NewWriterSize(w, 1<<16)
	var head [timeBytes + 4]byte
	for _, rec := range x.recs {
		binary.BigEndian.PutUint64(head[:], uint64(rec.at))
		binary.LittleEndian.PutUint32(head[timeBytes:], rec.end-rec.row)
		b.Write(head[:])
		b.Write(x.buf[rec.row:rec.end])
	}
	x.buf, x.recs = x.buf[:0], x.recs[:0]
	return errors.Join(b.Flush(), w.Close())
}

// finish ends adding.
func (x *sorter) finish() error {
	x.order()
	if len(x.runs) == 0 {
		return nil
	}
	x.runs = append(x.runs, &run{mem: x.recs, buf: x.buf})
	for _, r := range x.runs {
		switch err := r.next(); err {
		case nil:
			x.merge = append(x.merge, r)
		case io.EOF:
		default:
			return err
		}
	}
	heap.Init(&x.merge)
	return nil
}

// next returns the next row, valid until the next call, or io.EOF.
func (x *sorter) next() (entry, error) {
	if len(x.runs) == 0 {
		if len(x.recs) == 0 {
			return entry{}, io.EOF
		}
		rec := x.recs[0]
		x.recs = x.recs[1:]
		x.at = rec.at
		return readEntry(x.buf[rec.row:rec.end])
	}
	if x.last != nil {
		switch err := x.last.next(); err {
		case nil:
			heap.Fix(&x.merge, 0)
		case io.EOF:
			heap.Pop(&x.merge)
		default:
			return entry{}, err
		}
		x.last = nil
	}
	if len(x.merge) == 0 {
		return entry{}, io.EOF
	}
	x.last = x.merge[0]
	x.at = x.last.head.at
	return readEntry(x.last.row)
}

func (x *sorter) close() error {
	var errs []error
	for _, r := range x.runs {
		errs = append(errs, r.close())
	}
	x.runs, x.recs, x.buf, x.merge = nil, nil, nil, nil
	return errors.Join(errs...)
}

func readEntry(p []byte) (entry, error) {
	if len(p) < recordHead {
		return entry{}, errRow
	}
	e := entry{at: readTime(p), number: readNumber(p[timeBytes:])}
	n := binary.LittleEndian.Uint32(p[timeBytes+numberBytes:])
	p = p[recordHead:]
	if uint64(n) > uint64(len(p)) {
		return entry{}, errRow
	}
	e.key, e.value = p[:n], p[n:]
	return e, nil
}

// run is a sorted part of the rows: in a file, or the last one in memory.
type run struct {
	fsys fs.FS
	name string
	f    fs.File
	r    *bufio.Reader

	mem []record
	buf []byte

	head place
	row  []byte
}

// next reads the next row, or returns io.EOF.
func (r *run) next() error {
	if r.name == "" {
		if len(r.mem) == 0 {
			return io.EOF
		}
		rec := r.mem[0]
		r.mem = r.mem[1:]
		r.head, r.row = rec.place, r.buf[rec.row:rec.end]
		return nil
	}
	if r.f == nil {
		f, err := r.fsys.Open(r.name)
		if err != nil {
			return err
		}
		r.f, r.r = f, bufio.NewReaderSize(f, 1<<16)
	}
	var head [timeBytes + 4]byte
	if _, err := io.ReadFull(r.r, head[:]); err != nil {
		return err
	}
	n := int(binary.LittleEndian.Uint32(head[timeBytes:]))
	if n < recordHead {
		return errRow
	}
	if cap(r.row) < n {
		r.row = make([]byte, n+n/4)
	}
	r.row = r.row[:n]
	if _, err := io.ReadFull(r.r, r.row); err != nil {
		return err
	}
	r.head = place{at: int64(binary.BigEndian.Uint64(head[:])), number: readNumber(r.row[timeBytes:])}
	return nil
}

func (r *run) close() error {
	if r.name == "" {
		return nil
	}
	var err error
	if r.f != nil {
		err = r.f.Close()
	}
	return errors.Join(err, r.fsys.Remove(r.name))
}

// runHeap has the run with the next row first.
type runHeap []*run

func (h runHeap) Len() int           { return len(h) }
func (h runHeap) Less(i, j int) bool { return byPlace(h[i].head, h[j].head) < 0 }
func (h runHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *runHeap) Push(x any)        { *h = append(*h, x.(*run)) }

func (h *runHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
