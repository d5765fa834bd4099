package checkup

import (
	"fmt"

	"github.com/millrace/millrace/internal/checkpoint"
	"github.com/millrace/millrace/internal/fs"
)

// VerifyOutput reads the log of the output folder of a file sink, and looks for the files that it lists.
func VerifyOutput(fsys fs.FS, output string) ([]Finding, error) {
	has, err := checkpoint.HasSinkLog(fsys, output)
	if err != nil || !has {
		return nil, err
	}
	l, err := checkpoint.OpenSinkLog(fsys, output, checkpoint.CompactOptions{})
	if err != nil {
		return nil, err
	}
	files, err := l.Files()
	if err != nil {
		return []Finding{{File: l.Dir(), Err: err}}, nil
	}
	var found []Finding
	for _, f := range files {
		path, err := fs.ParseURI(f.Path)
		if err != nil {
			found = append(found, Finding{File: l.Dir(), Err: err})
			continue
		}
		info, err := fsys.Stat(path)
		switch {
		case err != nil:
			found = append(found, Finding{File: path, Err: fmt.Errorf("the output's log lists it: %w", err)})
		case info.Size() != f.Size:
			found = append(found, Finding{File: path, Err: fmt.Errorf("it has %d bytes, and %d as the output's log lists it", info.Size(), f.Size)})
		}
	}
	return found, nil
}
