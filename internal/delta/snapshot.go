package delta

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/types"
)

// Snapshot is a table as of a version. It does not change. Its files are read when they are asked for: those who only append do not need
// them.
type Snapshot struct {
	Version  int64
	Protocol *Protocol
	Metadata *Metadata
	Schema   types.StructType

	log     *Log
	txns    map[string]Txn
	domains map[string]Domain
	base    *checkpointFiles // nil: the commits from 0 on
	tail    []versionFiles   // file actions of the commits after the base

	mu    sync.Mutex
	files *fileSet
}

// versionFiles are the file actions of a version.
type versionFiles struct {
	version int64
	actions []Action
}

// fileSet is the files of a snapshot, and those that were taken out of it and may still be needed by readers.
type fileSet struct {
	adds    map[string]*Add
	order   []string // keys as they came, some of which may be gone
	removes map[string]*Remove
}

func newFileSet() *fileSet { return &fileSet{adds: map[string]*Add{}, removes: map[string]*Remove{}} }

func (f *fileSet) apply(a *Action) {
	switch {
	case a.Add != nil:
		k := a.Add.Key()
		if _, there := f.adds[k]; !there {
			f.order = append(f.order, k)
		}
		f.adds[k] = a.Add
		delete(f.removes, k)
	case a.Remove != nil:
		k := a.Remove.Key()
		delete(f.adds, k)
		f.removes[k] = a.Remove
	}
}

// live are the files, in the order in which they came.
func (f *fileSet) live() []*Add {
	out := make([]*Add, 0, len(f.adds))
	seen := make(map[string]bool, len(f.adds))
	for _, k := range f.order {
		if a := f.adds[k]; a != nil && !seen[k] {
			seen[k] = true
			out = append(out, a)
		}
	}
	return out
}

// apply takes in a commit.
func (s *Snapshot) apply(v int64, actions []Action) {
	var files []Action
	for _, a := range actions {
		switch {
		case a.Add != nil, a.Remove != nil:
			files = append(files, a)
		default:
			s.note(&a)
		}
	}
	if len(files) > 0 {
		s.tail = append(s.tail, versionFiles{v, files})
	}
}

// note takes in an action that is not about a file.
func (s *Snapshot) note(a *Action) {
	switch {
	case a.Metadata != nil:
		s.Metadata = a.Metadata
	case a.Protocol != nil:
		s.Protocol = a.Protocol
	case a.Txn != nil:
		s.txns[a.Txn.AppID] = *a.Txn
	case a.Domain != nil:
		if a.Domain.Removed {
			delete(s.domains, a.Domain.Domain)
		} else {
			s.domains[a.Domain.Domain] = *a.Domain
		}
	}
}

// complete checks that there is all that makes a table.
func (s *Snapshot) complete() error {
	missing := ""
	switch {
	case s.Protocol == nil:
		missing = "protocol"
	case s.Metadata == nil:
		missing = "metadata"
	}
	if missing != "" {
		return errclass.New("DELTA_STATE_RECOVER_ERROR", "operation", missing, "path", s.log.Path, "version", strconv.FormatInt(s.Version, 10))
	}
	if err := s.Protocol.CheckRead(s.log.name()); err != nil {
		return err
	}
	var err error
	if s.Schema, err = s.Metadata.Schema(); err != nil {
		return errclass.New("DELTA_STATE_RECOVER_ERROR", "operation", "readable schema", "path", s.log.Path, "version", strconv.FormatInt(s.Version, 10)).WithCause(err)
	}
	return nil
}

// Log is the log that the snapshot is of.
func (s *Snapshot) Log() *Log { return s.log }

// Txn tells how far an application has come; ok is false for one that is not known.
func (s *Snapshot) Txn(app string) (version int64, ok bool) {
	t, ok := s.txns[app]
	return t.Version, ok
}

// maxTail is how many commits a snapshot keeps the file actions of before it looks for a newer checkpoint.
const maxTail = 30

// Update gives the newest snapshot, which is s itself when nothing has been committed since. No list of names is needed for that.
func (s *Snapshot) Update(ctx context.Context) (*Snapshot, error) {
	next := s
	for v := s.Version + 1; ; v++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		actions, err := s.log.Read(v)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return nil, err
		}
		if next == s {
			next = s.clone()
		}
		next.apply(v, actions)
		next.Version = v
	}
	if next == s {
		return s, nil
	}
	if len(next.tail) > maxTail {
		if c, ok := s.log.readLast(); ok && (next.base == nil || c.Version > next.base.version) {
			if fresh, err := s.log.Latest(ctx); err == nil && fresh != nil && fresh.Version >= next.Version {
				return fresh, nil
			}
		}
	}
	return next, next.complete()
}

// Altered is the snapshot as if the table looked otherwise.
func (s *Snapshot) Altered(m *Metadata) (*Snapshot, error) {
	c := s.clone()
	c.Metadata = m
	var err error
	c.Schema, err = m.Schema()
	return c, err
}

func (s *Snapshot) clone() *Snapshot {
	c := &Snapshot{
		Version: s.Version, Protocol: s.Protocol, Metadata: s.Metadata, Schema: s.Schema, log: s.log,
		txns: map[string]Txn{}, domains: map[string]Domain{}, base: s.base, tail: slices.Clone(s.tail),
	}
	for k, v := range s.txns {
		c.txns[k] = v
	}
	for k, v := range s.domains {
		c.domains[k] = v
	}
	return c
}

// all reads the files.
func (s *Snapshot) all(ctx context.Context) (*fileSet, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.files != nil {
		return s.files, nil
	}
	f := newFileSet()
	if s.base != nil {
		if err := s.log.readFiles(ctx, s.base, f); err != nil {
			return nil, err
		}
	}
	for _, t := range s.tail {
		for i := range t.actions {
			f.apply(&t.actions[i])
		}
	}
	s.files = f
	return f, nil
}

// Files are the files of the table, in the order in which they were added.
func (s *Snapshot) Files(ctx context.Context) ([]*Add, error) {
	f, err := s.all(ctx)
	if err != nil {
		return nil, err
	}
	return f.live(), nil
}

// Ordered are the files of the table in the order in which a stream reads them: by time and name, so that it is the same after a restart,
// whatever checkpoint the snapshot comes from.
func (s *Snapshot) Ordered(ctx context.Context) ([]*Add, error) {
	out, err := s.Files(ctx)
	slices.SortStableFunc(out, func(a, b *Add) int {
		if a.ModificationTime != b.ModificationTime {
			return int(max(-1, min(1, a.ModificationTime-b.ModificationTime)))
		}
		return strings.Compare(a.Key(), b.Key())
	})
	return out, err
}

// Needed are the files that a version which is not older than a time has or had: those of the table, and those that were taken out since.
func (s *Snapshot) Needed(ctx context.Context, since time.Time) (map[string]bool, error) {
	f, err := s.all(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	take := func(path string, dv *DeletionVector) error {
		p, err := s.log.DataFile(path)
		if err != nil {
			return err
		}
		out[filepath.Clean(p)] = true
		if name, ok := s.log.vectorName(dv); ok {
			out[filepath.Clean(name)] = true
		}
		return nil
	}
	for _, a := range f.adds {
		if err := take(a.Path, a.DeletionVector); err != nil {
			return nil, err
		}
	}
	for _, r := range f.removes {
		if r.DeletionTimestamp == nil || *r.DeletionTimestamp >= since.UnixMilli() {
			if err := take(r.Path, r.DeletionVector); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}
