package parquetfile

import (
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// leafReader reads a column of a row group, some records at a time.
type leafReader interface {
	// records reads the next n records. values are those that are not null, without gaps; the levels, valid until the next call,
	// say where they belong.
	records(n int) (values *vec.Vector, lv batchLevels, err error)
}

// batchLevels are the levels of some records, one for each entry.
type batchLevels struct {
	n    int
	full bool // all definition levels are the highest; defs is not filled
	defs []int16
	reps []int16 // nil for columns that do not repeat
}

// collector collects the values of some records.
type collector[T any] interface {
	// begin starts anew. atMost is how many values there can be, or 0 when that is not known.
	begin(atMost int)
	// take reads n values.
	take(p pager[T], n int) error
	finish() (*vec.Vector, error)
}

// leaf puts the pages of a column chunk and a collector together.
type leaf[T any] struct {
	p      pager[T]
	sink   collector[T]
	maxDef int16
	maxRep int16
	defs   []int16
	reps   []int16
	end    bool
}

func (l *leaf[T]) records(n int) (*vec.Vector, batchLevels, error) {
	l.defs, l.reps = l.defs[:0], l.reps[:0]
	if l.maxRep == 0 {
		l.sink.begin(n)
	} else {
		l.sink.begin(0)
	}
	lv := batchLevels{full: true}
	for begun := 0; ; {
		pg := l.p.page()
		if pg.pos == pg.n {
			if l.end {
				break
			}
			more, err := l.p.load()
			if err != nil {
				return nil, lv, err
			}
			if !more {
				l.end = true
				break
			}
			continue
		}
		seg := 0
		if pg.reps == nil {
			seg = min(n-begun, pg.n-pg.pos)
			begun += seg
		} else {
			// A record goes on until the next entry of repetition level 0, which may be in another page.
			for _, r := range pg.reps[pg.pos:] {
				if r == 0 {
					if begun == n {
						break
					}
					begun++
				}
				seg++
			}
		}
		if seg == 0 {
			break
		}
		if err := l.segment(pg, seg, &lv); err != nil {
			return nil, lv, err
		}
		if begun == n && (l.maxRep == 0 || pg.pos < pg.n) {
			break
		}
	}
	lv.defs, lv.reps = l.defs, nil
	if l.maxRep > 0 {
		lv.reps = l.reps
	}
	v, err := l.sink.finish()
	return v, lv, err
}

// segment takes seg entries of a page.
func (l *leaf[T]) segment(pg *levels, seg int, lv *batchLevels) error {
	values := seg
	if pg.defs != nil {
		defs := pg.defs[pg.pos : pg.pos+seg]
		values = 0
		for _, d := range defs {
			if d == l.maxDef {
				values++
			}
		}
		if lv.full && values < seg {
			l.fillDefs(lv.n)
			lv.full = false
		}
		if !lv.full {
			l.defs = append(l.defs, defs...)
		}
	} else if !lv.full {
		l.fillDefs(lv.n + seg)
	}
	if l.maxRep > 0 {
		if pg.reps != nil {
			l.reps = append(l.reps, pg.reps[pg.pos:pg.pos+seg]...)
		} else {
			for range seg {
				l.reps = append(l.reps, 0)
			}
		}
	}
	lv.n += seg
	pg.pos += seg
	return l.sink.take(l.p, values)
}

// fillDefs makes the list of definition levels n long, with the highest level.
func (l *leaf[T]) fillDefs(n int) {
	for len(l.defs) < n {
		l.defs = append(l.defs, l.maxDef)
	}
}

// directSink reads values that need no conversion right into a vector.
type directSink[T vec.FixedWidth] struct {
	typ types.DataType
	v   *vec.Vector
	n   int
	buf []T // when the number of values is not known
}

func (s *directSink[T]) begin(atMost int) {
	s.v, s.n, s.buf = nil, 0, s.buf[:0]
	if atMost > 0 {
		s.v = vec.NewFixed(s.typ, atMost)
	}
}

func (s *directSink[T]) take(p pager[T], n int) error {
	if s.v != nil {
		s.n += n
		return p.values(vec.Fixed[T](s.v)[s.n-n : s.n])
	}
	at := len(s.buf)
	s.buf = growTo(s.buf, at+n)
	return p.values(s.buf[at:])
}

func (s *directSink[T]) finish() (*vec.Vector, error) {
	if s.v != nil {
		return s.v.Slice(0, s.n), nil
	}
	v := vec.NewFixed(s.typ, len(s.buf))
	copy(vec.Fixed[T](v), s.buf)
	return v, nil
}

func growTo[T any](b []T, n int) []T {
	if cap(b) >= n {
		return b[:n]
	}
	c := make([]T, n, n+n/2)
	copy(c, b)
	return c
}

// convertSink reads values that are stored in another form.
type convertSink[T any, V vec.FixedWidth] struct {
	typ     types.DataType
	convert func(dst []V, src []T) error
	buf     []T
}

func (s *convertSink[T, V]) begin(int) { s.buf = s.buf[:0] }

func (s *convertSink[T, V]) take(p pager[T], n int) error {
	at := len(s.buf)
	s.buf = growTo(s.buf, at+n)
	return p.values(s.buf[at:])
}

func (s *convertSink[T, V]) finish() (*vec.Vector, error) {
	v := vec.NewFixed(s.typ, len(s.buf))
	return v, s.convert(vec.Fixed[V](v), s.buf)
}

// convertBytesSink is convertSink for values that are bytes, which do not outlive their page.
type convertBytesSink[V vec.FixedWidth] struct {
	typ     types.DataType
	convert func(src []byte) (V, error)
	buf     [][]byte
	out     []V
}

func (s *convertBytesSink[V]) begin(int) { s.out = s.out[:0] }

func (s *convertBytesSink[V]) take(p pager[[]byte], n int) error {
	s.buf = growTo(s.buf[:0], n)
	if err := p.values(s.buf); err != nil {
		return err
	}
	for _, b := range s.buf {
		x, err := s.convert(b)
		if err != nil {
			return err
		}
		s.out = append(s.out, x)
	}
	return nil
}

func (s *convertBytesSink[V]) finish() (*vec.Vector, error) {
	v := vec.NewFixed(s.typ, len(s.out))
	copy(vec.Fixed[V](v), s.out)
	return v, nil
}

// bytesSink reads strings and binary values. As long as they are entries of one dictionary they stay that: the vector is an index
// over it.
type bytesSink struct {
	typ    types.DataType
	dict   *vec.Vector // of dictionary dictID
	dictID int
	idx    []uint32
	flat   *vec.Builder
	buf    [][]byte
}

func newBytesSink(t types.DataType) *bytesSink { return &bytesSink{typ: t, flat: vec.NewBuilder(t)} }

func (s *bytesSink) begin(atMost int) { s.idx = make([]uint32, 0, atMost) }

func (s *bytesSink) take(p pager[[]byte], n int) error {
	if b, ok := p.(*bytesPages); ok && b.isDict && s.flat.Len() == 0 {
		if s.dictID != b.dictID && len(s.idx) == 0 {
			bs := vec.NewBuilder(s.typ)
			for _, x := range b.dict {
				bs.AppendBytes(x)
			}
			s.dict, s.dictID = bs.Finish(), b.dictID
		}
		if s.dictID == b.dictID {
			idx, err := b.readIndices(n)
			s.idx = append(s.idx, idx...)
			return err
		}
	}
	// The dictionary has ended within these records.
	for _, x := range s.idx {
		s.flat.AppendBytes(s.dict.BytesAt(int(x)))
	}
	s.idx = s.idx[:0]
	s.buf = growTo(s.buf[:0], n)
	if err := p.values(s.buf); err != nil {
		return err
	}
	for _, x := range s.buf {
		if s.flat.Size() > maxBatchBytes {
			return errTooWide
		}
		s.flat.AppendBytes(x)
	}
	return nil
}

func (s *bytesSink) finish() (*vec.Vector, error) {
	if s.flat.Len() == 0 && s.dict != nil {
		return vec.NewDict(s.dict, s.idx, nil), nil
	}
	return s.flat.Finish(), nil
}
