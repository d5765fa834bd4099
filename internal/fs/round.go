package fs

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"
)

// syncsAtOnce bounds the fsyncs that wait together. More than this gains nothing on any
// disk and costs a thread each.
const syncsAtOnce = 16

// Staged is a file that is written but has no name yet. It is invisible to readers until a
// Round publishes it. A crash before that leaves nothing but a temporary file (see IsTemp).
type Staged struct {
	fsys    FS
	temp    string
	name    string
	replace bool
	w       Writer
	done    func()
	fail    func(error) error
}

// Stage writes a file that shall become name. Publishing it fails with ErrExist when that exists.
func Stage(fsys FS, name string, content []byte) (*Staged, error) {
	return StageFunc(fsys, name, func(w Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// StageFunc is Stage for content that is written in pieces.
func StageFunc(fsys FS, name string, write func(Writer) error) (*Staged, error) {
	s := &Staged{fsys: fsys, temp: tempName(name), name: name}
	w, err := fsys.Create(s.temp)
	if err != nil {
		return nil, err
	}
	s.w = w
	if err := write(w); err != nil {
		return nil, errors.Join(err, s.Discard())
	}
	return s, nil
}

// Replacing makes publication replace an existing file instead of failing.
func (s *Staged) Replacing() *Staged {
	s.replace = true
	return s
}

// Then sets what is called when the round has made the file durable, and what turns the round's
// error for this file into the caller's. Either may be nil.
func (s *Staged) Then(done func(), fail func(error) error) *Staged {
	s.done, s.fail = done, fail
	return s
}

// Name is the name that the file will have.
func (s *Staged) Name() string { return s.name }

// Discard removes a file that will not be published. It is harmless after publication.
func (s *Staged) Discard() error {
	if s.w == nil {
		return nil
	}
	w := s.w
	s.w = nil
	return errors.Join(w.Close(), s.fsys.Remove(s.temp))
}

func (s *Staged) sync() error {
	if s.w == nil {
		return &PathError{Op: "publish", Path: s.name, Err: ErrClosed}
	}
	err := errors.Join(s.w.Sync(), s.w.Close())
	s.w = nil
	if err != nil { // the content may be torn: never give it a name
		return errors.Join(err, s.fsys.Remove(s.temp))
	}
	return nil
}

func (s *Staged) publish() error {
	var err error
	if s.replace {
		err = s.fsys.Rename(s.temp, s.name)
	} else {
		err = s.fsys.RenameNew(s.temp, s.name)
	}
	if err != nil {
		return errors.Join(err, s.fsys.Remove(s.temp))
	}
	return nil
}

func (s *Staged) wrap(err error) error {
	if err == nil || s.fail == nil {
		return err
	}
	return s.fail(err)
}

// Round collects files and makes them durable together. The zero Round is empty. It is for one
// goroutine.
type Round struct {
	staged []*Staged
	files  []syncTarget
	dirs   []syncTarget
}

type syncTarget struct {
	fsys FS
	name string
}

// Publish adds a staged file. Files get their names in the order of the calls.
func (r *Round) Publish(s *Staged) { r.staged = append(r.staged, s) }

// File adds a file that has its final name already; its directory is not added.
func (r *Round) File(fsys FS, name string) { r.files = append(r.files, syncTarget{fsys, name}) }

// Dir adds a directory in which names have appeared.
func (r *Round) Dir(fsys FS, name string) {
	t := syncTarget{fsys, filepath.Clean(name)}
	for _, d := range r.dirs {
		if d == t {
			return
		}
	}
	r.dirs = append(r.dirs, t)
}

// Empty reports whether Commit would have nothing to do.
func (r *Round) Empty() bool { return len(r.staged)+len(r.files)+len(r.dirs) == 0 }

// Commit syncs the content of all files at once, then publishes the staged ones, then syncs
// all directories at once. The Round is empty afterwards.
//
// An error before publication leaves no file visible. An error in publication leaves those before it
// in order published. An error of the last step leaves all visible though maybe not durable:
// the caller must stop and find out after a restart what is there.
// The context is looked at before the first and the second step, an fsync cannot be interrupted.
func (r *Round) Commit(ctx context.Context) error {
	round := *r
	*r = Round{}
	return round.commit(ctx)
}

func (r *Round) commit(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return errors.Join(err, r.discard())
	}
	err := inParallel(len(r.staged)+len(r.files), func(i int) error {
		if i < len(r.staged) {
			return r.staged[i].wrap(r.staged[i].sync())
		}
		f := r.files[i-len(r.staged)]
		return f.fsys.Sync(f.name)
	})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return errors.Join(err, r.discard())
	}

	published := r.staged
	for i, s := range r.staged {
		if err = s.wrap(s.publish()); err == nil {
			r.Dir(s.fsys, filepath.Dir(s.name))
			continue
		}
		published = r.staged[:i]
		for _, later := range r.staged[i+1:] {
			err = errors.Join(err, later.fsys.Remove(later.temp))
		}
		break
	}
	synced := inParallel(len(r.dirs), func(i int) error {
		return r.dirs[i].fsys.SyncDir(r.dirs[i].name)
	})
	if synced == nil {
		for _, s := range published {
			if s.done != nil {
				s.done()
			}
		}
	}
	return errors.Join(err, synced)
}

// discard removes the temporary files of a round that published nothing.
func (r *Round) discard() error {
	var errs []error
	for _, s := range r.staged {
		if s.w != nil {
			errs = append(errs, s.Discard())
		} else if err := s.fsys.Remove(s.temp); err != nil && !errors.Is(err, ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// inParallel calls f for 0 to n-1 and waits for all calls, also when one fails: a file must
// not be closed or removed while it is being synced. The errors are joined in order.
func inParallel(n int, f func(int) error) error {
	if n == 1 {
		return f(0)
	}
	errs := make([]error, n)
	var g errgroup.Group
	g.SetLimit(syncsAtOnce)
	for i := range n {
		g.Go(func() error {
			errs[i] = f(i)
			return nil
		})
	}
	_ = g.Wait() // the calls give their errors through errs
	return errors.Join(errs...)
}

// WriteOnce creates a file durably, or fails with ErrExist: of two writers of one name only one
// gets it, and no reader sees half of it.
func WriteOnce(ctx context.Context, fsys FS, name string, content []byte) error {
	s, err := Stage(fsys, name, content)
	if err != nil {
		return err
	}
	var r Round
	r.Publish(s)
	return r.Commit(ctx)
}

// Replace gives a file new content durably. A reader and a crash see the old content or the new.
func Replace(ctx context.Context, fsys FS, name string, content []byte) error {
	s, err := Stage(fsys, name, content)
	if err != nil {
		return err
	}
	var r Round
	r.Publish(s.Replacing())
	return r.Commit(ctx)
}

// SyncAll makes finished files and their directories durable: all files at once, then all
// directories at once.
func SyncAll(ctx context.Context, fsys FS, files, dirs []string) error {
	var r Round
	for _, f := range files {
		r.File(fsys, f)
	}
	for _, d := range dirs {
		r.Dir(fsys, d)
	}
	return r.Commit(ctx)
}

// tempName is a name beside the final one that no reader takes for a log entry or a data
// file: it starts with a dot.
func tempName(name string) string {
	dir, base := filepath.Split(name)
	return dir + "." + base + "." + uuid.NewString() + tempSuffix
}

const tempSuffix = ".tmp"

// IsTemp reports whether a base name is that of a temporary file, ours or Spark's: a crash
// leaves them behind, and readers must pass over them.
func IsTemp(base string) bool {
	return strings.HasPrefix(base, ".") && strings.HasSuffix(base, tempSuffix)
}
