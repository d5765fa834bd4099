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

// Staged is a file that has no name yet. It is invisible to readers until a Round publishes it. A crash before that leaves nothing
// but a temporary file (see IsTemp).
type Staged struct {
	fsys    FS
	temp    string
	name    string
	replace bool
	content []byte // that is to be written
	later   bool   // it is
	w       Writer // until its content is durable
	synced  bool
	done    func()
	fail    func(error) error
}

// Stage prepares a file that shall become name. Publishing it fails with ErrExist when that exists. The Round writes it, beside the others:
// on some file systems making a file takes as long as syncing one. The content must not change before that.
func Stage(fsys FS, name string, content []byte) *Staged {
	return &Staged{fsys: fsys, temp: tempName(name), name: name, content: content, later: true}
}

// StageFunc is Stage for content that is written in pieces, at once.
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
	s.content, s.later = nil, false
	if s.synced {
		s.synced = false
		return s.fsys.Remove(s.temp)
	}
	if s.w == nil {
		return nil
	}
	w := s.w
	s.w = nil
	return errors.Join(w.Close(), s.fsys.Remove(s.temp))
}

func (s *Staged) sync() error {
	if s.synced {
		return nil
	}
	if s.later {
		if err := s.write(); err != nil {
			return err
		}
	}
	if s.w == nil {
		return &PathError{Op: "publish", Path: s.name, Err: ErrClosed}
	}
	err := errors.Join(s.w.Sync(), s.w.Close())
	s.w = nil
	if err != nil { // the content may be torn: never give it a name
		return errors.Join(err, s.fsys.Remove(s.temp))
	}
	s.synced = true
	return nil
}

// write writes what was to be written later.
func (s *Staged) write() (err error) {
	content := s.content
	s.content, s.later = nil, false
	if s.w, err = s.fsys.Create(s.temp); err != nil {
		s.w = nil
		return err
	}
	if _, err := s.w.Write(content); err != nil {
		return errors.Join(err, s.Discard())
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
	s.synced = false
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
	first  []func() error
	dirs   []syncTarget
}

type syncTarget struct {
	fsys FS
	name string
}

// Publish adds a staged file. Files get their names in the order of the calls.
func (r *Round) Publish(s *Staged) { r.staged = append(r.staged, s) }

// File adds a file that has its final name already; its directory is not added.
func (r *Round) File(fsys FS, name string) {
	r.First(func() error { return fsys.Sync(name) })
}

// First adds something that must have been done before any staged file gets its name. It is done beside the fsyncs, in a goroutine
// of its own.
func (r *Round) First(do func() error) { r.first = append(r.first, do) }

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
func (r *Round) Empty() bool { return len(r.staged)+len(r.first)+len(r.dirs) == 0 }

// Sync does the first step of Commit for all that was added so far: the files are written and become durable, but none gets its name.
// It is for those who must wait for something else before that. After an error the Round is empty and its temporary files are gone.
func (r *Round) Sync(ctx context.Context) error {
	err := ctx.Err()
	if err == nil {
		err = inParallel(len(r.staged)+len(r.first), func(i int) error {
			if i < len(r.staged) {
				return r.staged[i].wrap(r.staged[i].sync())
			}
			return r.first[i-len(r.staged)]()
		})
	}
	r.first = nil
	if err != nil {
		return errors.Join(err, r.Discard())
	}
	return nil
}

// Discard empties the Round and removes its temporary files.
func (r *Round) Discard() error {
	var errs []error
	for _, s := range r.staged {
		errs = append(errs, s.Discard())
	}
	*r = Round{}
	return errors.Join(errs...)
}

// Commit writes and syncs the content of all files at once, then publishes the staged ones, then syncs
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
	if err := r.Sync(ctx); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return errors.Join(err, r.Discard())
	}
	var err error
	published := r.staged
	for i, s := range r.staged {
		if err = s.wrap(s.publish()); err == nil {
			r.Dir(s.fsys, filepath.Dir(s.name))
			continue
		}
		published = r.staged[:i]
		for _, later := range r.staged[i+1:] {
			err = errors.Join(err, later.Discard())
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

// CommitInOrder commits rounds one after the other, each when those before it are durable. All files are written and synced at once before
// that. After an error no later round is committed.
func CommitInOrder(ctx context.Context, rounds ...*Round) error {
	err := inParallel(len(rounds), func(i int) error { return rounds[i].Sync(ctx) })
	for _, r := range rounds {
		if err != nil {
			err = errors.Join(err, r.Discard())
			continue
		}
		err = r.Commit(ctx)
	}
	return err
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
	var r Round
	r.Publish(Stage(fsys, name, content))
	return r.Commit(ctx)
}

// Replace gives a file new content durably. A reader and a crash see the old content or the new.
func Replace(ctx context.Context, fsys FS, name string, content []byte) error {
	var r Round
	r.Publish(Stage(fsys, name, content).Replacing())
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
