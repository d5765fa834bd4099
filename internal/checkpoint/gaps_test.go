package checkpoint

import (
	"context"
	"fmt"
	"testing"

	"github.com/millrace/millrace/internal/fs/errfs"
)

// TestSinkLogWithGaps goes on behind batches that the log knows nothing of, over compactions.
func TestSinkLogWithGaps(t *testing.T) {
	fsys := errfs.NewMem()
	add := func(batch int64) error {
		l, err := OpenSinkLog(fsys, "/out", CompactOptions{Interval: 3, FillGaps: true})
		if err != nil {
			t.Fatal(err)
		}
		return l.Add(context.Background(), batch, []SinkFile{{Path: fmt.Sprintf("file:///out/%d", batch), Action: AddFile}})
	}
	for _, batch := range []int64{4, 5, 6, 13, 22, 23} {
		if err := add(batch); err != nil {
			t.Fatalf("batch %d: %v", batch, err)
		}
	}
	l, err := OpenSinkLog(fsys, "/out", CompactOptions{})
	if err != nil {
		t.Fatal(err)
	}
	files, err := l.Files()
	if err != nil || len(files) != 6 {
		t.Errorf("%v, %v", files, err)
	}
}
