package milltest

import (
	"path"
	"slices"
	"strings"

	"github.com/millrace/millrace/internal/checkpoint"
	"github.com/millrace/millrace/internal/fs"
)

// Folder are the rows that queries have written to a folder of the engine's disk in the format json: lines, sorted. What counts are the
// files in the folder's log, those of folders below it too, with their name in front.
func (e *Engine) Folder(dir string) ([]string, error) {
	disk := e.disk.found()
	log, err := checkpoint.OpenSinkLog(disk, dir, checkpoint.CompactOptions{})
	if err != nil {
		return nil, err
	}
	files, err := log.Files()
	if err != nil {
		return nil, err
	}
	var rows []string
	for _, f := range files {
		name, err := fs.ParseURI(f.Path)
		if err != nil {
			return nil, err
		}
		content, err := fs.ReadFile(disk, name)
		if err != nil {
			return nil, err
		}
		if text := strings.TrimRight(string(content), "\n"); text != "" {
			rows = append(rows, strings.Split(text, "\n")...)
		}
	}
	slices.Sort(rows)
	entries, err := disk.ReadDir(dir)
	if err != nil {
		return rows, nil
	}
	for _, d := range entries {
		if !d.IsDir() || strings.HasPrefix(d.Name(), "_") {
			continue
		}
		below, err := e.Folder(path.Join(dir, d.Name()))
		if err != nil {
			return nil, err
		}
		for _, r := range below {
			rows = append(rows, d.Name()+" "+r)
		}
	}
	return rows, nil
}
