package session

import (
	"context"
	"slices"

	"github.com/millrace/millrace/internal/analyze"
	"github.com/millrace/millrace/internal/plan"
)

// FileLister is implemented by tables that read files.
type FileLister interface {
	// Files are the addresses of the files that a scan would read now.
	Files(ctx context.Context) ([]string, error)
}

// InputFiles are the files that a resolved plan would read, sorted.
func InputFiles(ctx context.Context, n plan.Node) ([]string, error) {
	if err := analyze.CheckBatch(n, "inputFiles"); err != nil {
		return nil, err
	}
	var files []string
	var err error
	plan.Walk(n, func(n plan.Node) bool {
		if s, ok := n.(*plan.Scan); ok {
			if l, ok := s.Source.(FileLister); ok {
				var fs []string
				if fs, err = l.Files(ctx); err == nil {
					files = append(files, fs...)
				}
			}
		}
		return err == nil
	})
	slices.Sort(files)
	return slices.Compact(files), err
}
