package lsm

import (
	"fmt"
	"testing"

	"github.com/millrace/millrace/internal/fs"
)

// BenchmarkSmallBatch is what a batch of few rows costs without the waits for the disk.
func BenchmarkSmallBatch(b *testing.B) {
	p := Provider{FS: fs.WithoutSync(fs.Local()), Memory: &Memory{}}
	st, err := p.Open(b.TempDir(), spec(byKey, 2))
	if err != nil {
		b.Fatal(err)
	}
	o := &side{Store: st, spec: spec(byKey, 2)}
	for i := range 2 {
		o.values = append(o.values, &numbers{})
		st.Attach(i, o.values[i])
	}
	defer o.close(b)
	var keys []key
	for i := range 100 {
		keys = append(keys, key{fmt.Sprint("key ", i), int64(i + 1)})
	}
	o.load(b, 0)
	b.ReportAllocs()
	for b.Loop() {
		o.put(b, keys, 1, 0, true)
		o.remove(b, 0)
		o.save(b)
		if err := o.Maintain(b.Context(), o.Version()-100); err != nil {
			b.Fatal(err)
		}
		o.load(b, o.Version())
	}
}
