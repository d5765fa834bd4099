package files

import (
	"context"
	"errors"
	iofs "io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/millrace/millrace/internal/checkpoint"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
)

// hidden tells names that are never data: those of files still being written, logs and checksums.
func hidden(name string) bool {
	return strings.HasPrefix(name, "_") && !strings.Contains(name, "=") || strings.HasPrefix(name, ".") || strings.HasSuffix(name, "._COPYING_")
}

// entry is a file that a listing found.
type entry struct {
	path string
	name string
	size int64
	mod  time.Time
	part []partValue // of the directories between base and file
}

// partValue is one directory name of the form column=value.
type partValue struct{ column, value string }

// lister lists the files below some paths.
type lister struct {
	fsys  fs.FS
	paths []string // absolute; may be globs when globs is set
	opts  readOptions
	globs bool
	// skip, when set, tells files by directory and name that need not be looked at.
	skip func(dir, name string) bool
	// dirs remembers directories that have not changed since they were listed, for listers that are used again and again.
	dirs map[string]*knownDir
	// listed counts the directories that were really read.
	listed int
}

// knownDir is what the last listing of a directory found beside files.
type knownDir struct {
	mod  time.Time
	subs []string
}

// settled is how old a directory's last change must be, when it is listed, for its time to tell later changes: file systems round
// times, and a second change may come within the same tick.
const settled = 3 * time.Second

// root is a path that exists, after globs were replaced.
type root struct {
	path string
	info fs.Info
}

// roots finds what the paths stand for. A path without a glob must exist; with mustMatch a glob must stand for something, too.
func (l *lister) roots(mustMatch bool) ([]root, error) {
	var out []root
	for _, path := range l.paths {
		if !l.globs || !isGlob(path) {
			info, err := l.fsys.Stat(path)
			if errors.Is(err, fs.ErrNotExist) {
				if l.opts.maybeMissing {
					continue
				}
				return nil, notFound(path)
			}
			if err != nil {
				return nil, ioError("stat", path, err)
			}
			out = append(out, root{path, info})
			continue
		}
		found, err := l.glob(path)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 && mustMatch {
			return nil, notFound(path)
		}
		out = append(out, found...)
	}
	return out, nil
}

// glob gives the paths that a pattern stands for, sorted. A name that exists as it is written is meant when the pattern matches
// nothing else.
func (l *lister) glob(path string) ([]root, error) {
	if info, err := l.fsys.Stat(path); err == nil {
		return []root{{path, info}}, nil
	}
	alternatives, err := expandBraces(filepath.ToSlash(path))
	if err != nil {
		return nil, errclass.New("INVALID_OPTION_VALUE", "option", "path", "format", "file", "value", path, "requirement", "it must be a glob pattern: "+err.Error()+".")
	}
	seen := map[string]bool{}
	var out []root
	for _, alt := range alternatives {
		vol := filepath.VolumeName(alt)
		parts := strings.Split(strings.Trim(alt[len(vol):], "/"), "/")
		if err := l.globStep(vol+string(filepath.Separator), parts, func(r root) {
			if !seen[r.path] {
				seen[r.path] = true
				out = append(out, r)
			}
		}); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out, func(a, b root) int { return strings.Compare(a.path, b.path) })
	return out, nil
}

func (l *lister) globStep(dir string, parts []string, found func(root)) error {
	if len(parts) == 0 {
		info, err := l.fsys.Stat(dir)
		if errors.Is(err, fs.ErrNotExist) || err != nil && l.isFile(filepath.Dir(dir)) {
			return nil
		}
		if err != nil {
			return ioError("stat", dir, err)
		}
		found(root{dir, info})
		return nil
	}
	p, err := compilePattern(parts[0])
	if err != nil {
		return errclass.New("INVALID_OPTION_VALUE", "option", "path", "format", "file", "value", parts[0], "requirement", "it must be a glob pattern: "+err.Error()+".")
	}
	if p.isPlain {
		return l.globStep(filepath.Join(dir, p.plain), parts[1:], found)
	}
	entries, err := l.fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		if l.isFile(dir) || l.isFile(filepath.Dir(dir)) {
			return nil
		}
		return ioError("listing", dir, err)
	}
	for _, e := range entries { // hidden directories too: who names them means them
		if (e.IsDir() || !hidden(e.Name())) && p.match(e.Name()) {
			if err := l.globStep(filepath.Join(dir, e.Name()), parts[1:], found); err != nil {
				return err
			}
		}
	}
	return nil
}

// isFile tells whether a path is there and no directory: nothing can be below it.
func (l *lister) isFile(path string) bool {
	info, err := l.fsys.Stat(path)
	return err == nil && !info.IsDir()
}

// found is the result of a listing.
type found struct {
	entries []entry
	// bases are the directories from which partition columns count.
	bases []string
	// beside are files that filters pass over, one of each partition: they have a say in what the partition columns are.
	beside []entry
}

// list finds the files below the paths, in the order of their paths.
func (l *lister) list(ctx context.Context, mustMatch bool) (found, error) {
	roots, err := l.roots(mustMatch)
	if err != nil {
		return found{}, err
	}
	w := walker{lister: l, ctx: ctx}
	for _, r := range roots {
		w.plain, w.parted, w.root = "", "", r.path
		base := r.path
		if l.opts.basePath != "" {
			base = l.opts.basePath
		}
		w.out.bases = append(w.out.bases, base)
		var part []partValue
		if !l.opts.recursive {
			part = partsBetween(base, r.path, !r.info.IsDir())
		}
		w.given = len(part)
		if !r.info.IsDir() {
			if w.skip == nil || !w.skip(filepath.Dir(r.path), filepath.Base(r.path)) {
				w.file(r.path, filepath.Base(r.path), part, func() (fs.Info, error) { return r.info, nil })
			}
			continue
		}
		if err := w.dir(r.path, part, r.info.ModTime()); err != nil {
			return found{}, err
		}
		if w.parted != "" && w.plain != "" {
			return found{}, errclass.New("CONFLICTING_DIRECTORY_STRUCTURES", "discoveredBasePaths", fs.ShortURI(r.path)+", "+fs.ShortURI(w.plain))
		}
		if len(l.opts.leaveOut) > 0 {
			w.out.entries = slices.DeleteFunc(w.out.entries, func(e entry) bool {
				rel, err := filepath.Rel(r.path, filepath.Dir(e.path))
				return err == nil && slices.Contains(l.opts.leaveOut, filepath.ToSlash(rel))
			})
		}
		if w.parted != "" {
			// Files beside partition directories belong to no partition and are not part of the table.
			w.out.entries = slices.DeleteFunc(w.out.entries, func(e entry) bool { return len(e.part) == len(part) && filepath.Dir(e.path) == r.path })
		}
	}
	return w.out, nil
}

// partsBetween gives the partition directories on the way from base down to a root.
func partsBetween(base, path string, isFile bool) []partValue {
	rel, err := filepath.Rel(base, path)
	if err != nil || rel == "." || strings.HasPrefix(rel, "..") {
		return nil
	}
	names := strings.Split(filepath.ToSlash(rel), "/")
	if isFile {
		names = names[:len(names)-1]
	}
	var parts []partValue
	for _, n := range names {
		if p, ok := parsePart(n); ok {
			parts = append(parts, p)
		}
	}
	return parts
}

// walker goes through one tree.
type walker struct {
	*lister
	ctx    context.Context
	out    found
	root   string
	given  int    // partition directories on the way to root
	plain  string // a plain directory with files, at the top
	parted string // a partition directory with files
	beside string // the directory of the last file that filters passed over
}

// dir lists a directory that was last changed at mod. Sub-directories that are neither partitions nor below one are only looked
// into when the listing is recursive, or to find out that they do not go with partitions.
func (w *walker) dir(dir string, part []partValue, mod time.Time) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if known, ok := w.dirs[dir]; ok && known.mod.Equal(mod) {
		for _, sub := range known.subs {
			if err := w.sub(dir, sub, part); err != nil {
				return err
			}
		}
		return nil
	}
	before := time.Now() // of the machine that stamps the files, not the engine's clock
	var subs []string
	from := len(w.out.entries)
	err := fs.Each(w.fsys, dir, func(e fs.Entry) error {
		name := e.Name()
		if hidden(name) {
			return nil
		}
		isDir := e.IsDir()
		if e.Type()&iofs.ModeSymlink != 0 {
			info, err := w.fsys.Stat(below(dir, name))
			if err != nil {
				return nil // a link to nowhere
			}
			isDir = info.IsDir()
		}
		if isDir {
			subs = append(subs, name)
			return nil
		}
		if len(part) > w.given {
			w.parted = dir
		} else if dir != w.root {
			w.plain = dir
		}
		if w.skip != nil && w.skip(dir, name) {
			return nil
		}
		path := below(dir, name)
		return w.file(path, name, part, func() (fs.Info, error) {
			if e.Type()&iofs.ModeSymlink != 0 {
				return w.fsys.Stat(path)
			}
			return e.Info()
		})
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil // deleted since its parent was listed
	}
	if err != nil {
		if _, ok := errors.AsType[*errclass.Error](err); ok {
			return err // of a file
		}
		return ioError("listing", dir, err)
	}
	w.listed++
	slices.SortFunc(w.out.entries[from:], func(a, b entry) int { return strings.Compare(a.name, b.name) })
	slices.Sort(subs)
	for _, sub := range subs {
		if err := w.sub(dir, sub, part); err != nil {
			return err
		}
	}
	if w.dirs != nil {
		delete(w.dirs, dir)
		if before.Sub(mod) > settled {
			w.dirs[dir] = &knownDir{mod, subs}
		}
	}
	return nil
}

func (w *walker) sub(dir, name string, part []partValue) error {
	path := below(dir, name)
	p, isPart := parsePart(name)
	switch {
	case w.opts.recursive:
	case isPart:
		part = append(part[:len(part):len(part)], p)
	case len(part) == w.given:
		// Nothing in it is read; but beside partition directories it would be a mistake not to say so.
		if w.plain == "" && w.hasFile(path) {
			w.plain = path
		}
		return nil
	}
	info, err := w.fsys.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return ioError("stat", path, err)
	}
	return w.dir(path, part, info.ModTime())
}

// hasFile tells whether a directory holds a file that would count as data.
func (w *walker) hasFile(dir string) bool {
	entries, err := w.fsys.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, e := range entries {
		if !hidden(e.Name()) && (!e.IsDir() || w.hasFile(filepath.Join(dir, e.Name()))) {
			return true
		}
	}
	return false
}

func (w *walker) file(path, name string, part []partValue, stat func() (fs.Info, error)) error {
	if w.opts.nameGlob != nil && !w.opts.nameGlob.match(name) {
		w.passOver(path, part)
		return nil
	}
	info, err := stat()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return ioError("stat", path, err)
	}
	if !w.opts.before.IsZero() && !info.ModTime().Before(w.opts.before) || !w.opts.after.IsZero() && !info.ModTime().After(w.opts.after) {
		w.passOver(path, part)
		return nil
	}
	name = path[len(path)-len(name):] // so that there is one text for both
	w.out.entries = append(w.out.entries, entry{path, name, info.Size(), info.ModTime(), part})
	return nil
}

// passOver notes the partition of a file that a filter leaves out.
func (w *walker) passOver(path string, part []partValue) {
	if dir := filepath.Dir(path); len(part) > 0 && dir != w.beside {
		w.beside = dir
		w.out.beside = append(w.out.beside, entry{path: path, part: part})
	}
}

// sinkLog finds the log of a file sink that wrote the only path of a table: then that says which files there are.
func (l *lister) sinkLog() (*checkpoint.SinkLog, error) {
	if len(l.paths) != 1 || l.opts.ignoreSinkLog || l.globs && isGlob(l.paths[0]) {
		return nil, nil
	}
	has, err := checkpoint.HasSinkLog(l.fsys, l.paths[0])
	if err != nil || !has {
		if err != nil && errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return nil, nonDir(err)
	}
	return checkpoint.OpenSinkLog(l.fsys, l.paths[0], checkpoint.CompactOptions{})
}

// nonDir drops the error of looking below a path that is a file.
func nonDir(err error) error {
	if err == nil || strings.Contains(err.Error(), "not a directory") {
		return nil
	}
	return err
}

// fromSinkLog lists the files of an output by its log.
func (l *lister) fromSinkLog(log *checkpoint.SinkLog) (found, error) {
	files, err := log.Files()
	if err != nil {
		return found{}, err
	}
	out := found{bases: l.paths}
	for _, f := range files {
		path, err := fs.ParseURI(f.Path)
		if err != nil {
			return found{}, errclass.New("STORED_METADATA_MISMATCH", "path", log.Dir(), "reason", err.Error()).WithCause(err)
		}
		name := filepath.Base(path)
		if l.opts.nameGlob != nil && !l.opts.nameGlob.match(name) || l.skip != nil && l.skip(filepath.Dir(path), name) {
			continue
		}
		out.entries = append(out.entries, entry{path, name, f.Size, time.UnixMilli(f.ModificationTimeMs), partsBetween(l.paths[0], path, true)})
	}
	return out, nil
}

func notFound(path string) error { return errclass.New("PATH_NOT_FOUND", "path", fs.ShortURI(path)) }

func ioError(op, path string, err error) error {
	return errclass.New("FILE_IO", "operation", op, "path", path, "reason", reason(err)).WithCause(err)
}

// reason is what an error says of a file without naming it again.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error() + "."
	}
	if e := (*errclass.Error)(nil); errors.As(err, &e) { // without its condition: the error around it has one
		return e.Message
	}
	return err.Error() + "."
}

// below is the path of a name in a directory. It is filepath.Join without its cost, for clean paths.
func below(dir, name string) string {
	if strings.HasSuffix(dir, string(filepath.Separator)) {
		return dir + name
	}
	return dir + string(filepath.Separator) + name
}
