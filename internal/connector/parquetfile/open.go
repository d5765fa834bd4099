package parquetfile

import (
	"fmt"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// mapped reads values of one kind as another.
type mapped[S, T any] struct {
	pager[S]
	to  func(S) T
	buf []S
}

func (m *mapped[S, T]) values(dst []T) error {
	if cap(m.buf) < len(dst) {
		m.buf = make([]S, len(dst))
	}
	buf := m.buf[:len(dst)]
	if err := m.pager.values(buf); err != nil {
		return err
	}
	for i, x := range buf {
		dst[i] = m.to(x)
	}
	return nil
}

// openColumn is the column chunk of a row group: exactly one of the fields is set.
type openColumn struct {
	ints   pager[int32]
	longs  pager[int64]
	int96s pager[parquet.Int96]
	floats pager[float32]
	double pager[float64]
	bools  pager[uint8]
	bytes  pager[[]byte]
}

func openChunk(rg *file.RowGroupReader, i int, col *schema.Column) (o openColumn, err error) {
	pages, err := rg.GetColumnPageReader(i)
	if err != nil {
		return o, err
	}
	c := newChunk(pages, col)
	c.onDict = func(*file.DictionaryPage) error { return errDamaged }
	switch col.PhysicalType() {
	case parquet.Types.Int32:
		o.ints = newFixedPages[int32](c)
	case parquet.Types.Int64:
		o.longs = newFixedPages[int64](c)
	case parquet.Types.Int96:
		o.int96s = newFixedPages[parquet.Int96](c)
	case parquet.Types.Float:
		o.floats = newFixedPages[float32](c)
	case parquet.Types.Double:
		o.double = newFixedPages[float64](c)
	case parquet.Types.Boolean:
		o.bools = &boolPages{chunk: c}
	case parquet.Types.ByteArray:
		o.bytes = newBytesPages(c, 0)
	case parquet.Types.FixedLenByteArray:
		o.bytes = newBytesPages(c, col.TypeLength())
	default:
		return o, fmt.Errorf("values of the physical type %s", col.PhysicalType())
	}
	return o, nil
}
