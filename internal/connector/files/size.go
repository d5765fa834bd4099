package files

import (
	"github.com/millrace/millrace/source"
)

// Measurer is implemented by decoders that find the size of a table in the ends of its files.
type Measurer interface {
	Measure(list []*File) (source.Size, error)
}

// mostMeasured is how many files a table may have to be measured: beyond, that would take longer than it saves.
const mostMeasured = 64

// Size implements source.Sized.
func (t *Table) Size() (source.Size, bool) {
	m, ok := t.decoder.(Measurer)
	if !ok || t.req.Stream || len(t.files.entries) == 0 || len(t.files.entries) > mostMeasured {
		return source.Size{}, false
	}
	t.measure.Do(func() {
		list := make([]*File, len(t.files.entries))
		for i, e := range t.files.entries {
			list[i] = &File{FS: t.fsys, Path: e.path, Size: e.size, ModTime: e.mod}
		}
		t.size, t.unmeasured = m.Measure(list)
	})
	return t.size, t.unmeasured == nil
}
