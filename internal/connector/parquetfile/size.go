package parquetfile

import (
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"

	"github.com/millrace/millrace/internal/connector/files"
	"github.com/millrace/millrace/source"
)

// Measure implements files.Measurer: rows, and how far apart the values of whole numbers and dates lie.
func (d *decoder) Measure(list []*files.File) (source.Size, error) {
	m := measurer{size: source.Size{Distinct: map[string]int64{}}, low: map[string]int64{}, high: map[string]int64{}}
	for _, f := range list {
		if f.Size == 0 {
			continue
		}
		if err := m.add(f); err != nil {
			return source.Size{}, err
		}
	}
	for name, lo := range m.low {
		if span := m.high[name] - lo + 1; span > 0 {
			m.size.Distinct[name] = span
		}
	}
	return m.size, nil
}

type measurer struct {
	size      source.Size
	low, high map[string]int64
}

func (m *measurer) add(f *files.File) (err error) {
	r, err := openFile(f)
	if err != nil {
		return err
	}
	defer r.Close()
	defer recovered(&err)
	for g := range r.NumRowGroups() {
		if err := m.rowGroup(r, g); err != nil {
			return err
		}
	}
	return nil
}

func (m *measurer) rowGroup(r *file.Reader, g int) error {
	rg := r.MetaData().RowGroup(g)
	m.size.Rows += rg.NumRows()
	for i := range rg.NumColumns() {
		c, err := rg.ColumnChunk(i)
		if err != nil {
			return err
		}
		s, err := c.Statistics()
		if err != nil || s == nil || !s.HasMinMax() || len(c.PathInSchema()) != 1 {
			continue
		}
		var lo, hi int64
		switch s := s.(type) {
		case *metadata.Int32Statistics:
			lo, hi = int64(s.Min()), int64(s.Max())
		case *metadata.Int64Statistics:
			lo, hi = s.Min(), s.Max()
		default:
			continue
		}
		name := c.PathInSchema()[0]
		if old, seen := m.low[name]; !seen || lo < old {
			m.low[name] = lo
		}
		if old, seen := m.high[name]; !seen || hi > old {
			m.high[name] = hi
		}
	}
	return nil
}
