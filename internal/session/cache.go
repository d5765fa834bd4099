package session

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/millrace/millrace/internal/analyze"
	"github.com/millrace/millrace/internal/engine"
	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/exec/spill"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/optimize"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// StorageLevel says where a kept relation's rows are to be. Only Memory means something to the engine: without it they are in files.
type StorageLevel struct {
	Disk, Memory, OffHeap, Deserialized bool
	Replication                         int32
}

// levels are the names of storage levels.
var levels = map[string]StorageLevel{
	"NONE":                  {Replication: 1},
	"DISK_ONLY":             {Disk: true, Replication: 1},
	"DISK_ONLY_2":           {Disk: true, Replication: 2},
	"DISK_ONLY_3":           {Disk: true, Replication: 3},
	"MEMORY_ONLY":           {Memory: true, Deserialized: true, Replication: 1},
	"MEMORY_ONLY_2":         {Memory: true, Deserialized: true, Replication: 2},
	"MEMORY_ONLY_SER":       {Memory: true, Replication: 1},
	"MEMORY_ONLY_SER_2":     {Memory: true, Replication: 2},
	"MEMORY_AND_DISK":       {Disk: true, Memory: true, Deserialized: true, Replication: 1},
	"MEMORY_AND_DISK_2":     {Disk: true, Memory: true, Deserialized: true, Replication: 2},
	"MEMORY_AND_DISK_SER":   {Disk: true, Memory: true, Replication: 1},
	"MEMORY_AND_DISK_SER_2": {Disk: true, Memory: true, Replication: 2},
	"OFF_HEAP":              {Disk: true, Memory: true, OffHeap: true, Replication: 1},
}

// cache is the relations whose rows are kept, for all sessions of a server. A query has no need to know: whatever part of its plan
// means the same as one of them is replaced by the rows that are there. Streams do not look.
type cache struct {
	rt   *engine.Runtime
	room atomic.Int64 // bytes that the rows hold in memory

	mu      sync.Mutex
	entries map[string]*kept // by the meaning of their plans
}

// kept is a relation whose rows are kept, from the first query on that asks for them.
type kept struct {
	name   string
	types  []types.DataType
	level  StorageLevel
	inside map[string]bool // the meanings of the parts of its plan
	roots  []string        // paths that its rows come from
	store  *exec.Store
}

func newCache(rt *engine.Runtime) *cache { return &cache{rt: rt, entries: map[string]*kept{}} }

func (c *cache) newStore(k *kept) *exec.Store {
	return exec.NewStore(k.types, spill.NewScope(c.rt), &c.room, k.level.Disk && !k.level.Memory)
}

// rooted is implemented by tables of files.
type rooted interface{ Roots() []string }

// meaning is a text that resolved plans share which give the same rows in a session.
func (s *Session) meaning(n plan.Node) string { return s.Zone().String() + " " + Semantics(n) }

// add keeps a relation, unless it is kept already.
func (c *cache) add(s *Session, n plan.Node, name string, l StorageLevel) *kept {
	key := s.meaning(n)
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.entries[key]; k != nil {
		return k
	}
	k := &kept{name: name, level: l, inside: map[string]bool{}}
	for _, a := range n.Output() {
		k.types = append(k.types, a.T)
	}
	walkAll(n, func(n plan.Node) {
		k.inside[s.meaning(n)] = true
		if scan, ok := n.(*plan.Scan); ok {
			if r, ok := scan.Source.(rooted); ok {
				k.roots = append(k.roots, r.Roots()...)
			}
		}
	})
	k.store = c.newStore(k)
	c.entries[key] = k
	return k
}

// walkAll visits a plan with those of the subqueries in it.
func walkAll(n plan.Node, visit func(plan.Node)) {
	plan.Walk(n, func(n plan.Node) bool {
		visit(n)
		for _, e := range n.Exprs() {
			plan.WalkExpr(e, func(e plan.Expr) bool {
				if q, ok := e.(*plan.Subquery); ok {
					walkAll(q.Plan, visit)
				}
				return true
			})
		}
		return true
	})
}

func (c *cache) empty() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.entries) == 0
}

func (c *cache) find(s *Session, n plan.Node) *kept {
	if c.empty() {
		return nil
	}
	key := s.meaning(n)
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.entries[key]
}

// remove forgets the relations that are meant, and drops their rows.
func (c *cache) remove(meant func(key string, k *kept) bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var err error
	for key, k := range c.entries {
		if meant(key, k) {
			delete(c.entries, key)
			err = errors.Join(err, k.store.Release())
		}
	}
	return err
}

// refresh drops the rows of the relations that are meant. They are computed again when a query asks for them.
func (c *cache) refresh(meant func(key string, k *kept) bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var err error
	for key, k := range c.entries {
		if meant(key, k) {
			old := k.store
			k.store = c.newStore(k)
			err = errors.Join(err, old.Release())
		}
	}
	return err
}

func (c *cache) storeOf(k *kept) *exec.Store {
	c.mu.Lock()
	defer c.mu.Unlock()
	return k.store
}

// holds tells whether a relation is still kept, and its rows were not dropped since it had a store.
func (c *cache) holds(k *kept, store *exec.Store) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, other := range c.entries {
		if other == k {
			return k.store == store
		}
	}
	return false
}

// from tells whether rows of a relation come from a path or from below it, or from a directory that it is in.
func (k *kept) from(path string) bool {
	for _, root := range k.roots {
		if within(root, path) || within(path, root) {
			return true
		}
	}
	return false
}

func within(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator)))
	return ok && (rest == "" || rest[0] == filepath.Separator)
}

// use puts the kept relations into a resolved plan. What computes the rows of one that has none yet is the part of the plan that it
// replaces, whose sources have been opened for this query.
func (c *cache) use(s *Session, n plan.Node) (plan.Node, error) {
	if c.empty() {
		return n, nil
	}
	return c.replace(s, n, nil)
}

// replace is use within a relation that is being computed, or nil. Nodes that mean what their child means, such as a view, are no
// relations of their own.
func (c *cache) replace(s *Session, n plan.Node, within *kept) (plan.Node, error) {
	k := c.find(s, n)
	if k == within {
		k = nil
	}
	if k != nil {
		within = k
	}
	below := func() (plan.Node, error) {
		return plan.MapChildren(n, func(child plan.Node) (plan.Node, error) { return c.replace(s, child, within) })
	}
	out := n.Output()
	if k == nil || len(out) != len(k.types) { // columns that only this query reads, such as _metadata, are not kept
		return below()
	}
	store := c.storeOf(k)
	r := &plan.Kept{Name: k.name, Out: out, Store: store}
	for i := range out {
		r.Cols = append(r.Cols, i)
	}
	if store.Whole() {
		return r, nil
	}
	child, err := below()
	if err != nil {
		return nil, err
	}
	r.Child, err = optimize.Plan(child, optimize.Options{Zone: s.Zone()})
	return r, err
}

// ---- what a session can ask for

// Persist keeps the rows of a relation from now on. They are computed when they are first needed.
func (s *Session) Persist(ctx context.Context, n plan.Node, l StorageLevel) error {
	_, err := s.keep(ctx, n, "", l)
	return err
}

func (s *Session) keep(ctx context.Context, n plan.Node, name string, l StorageLevel) (plan.Node, error) {
	n, err := s.Analyze(ctx, n)
	if err != nil {
		return nil, err
	}
	if err := analyze.CheckBatch(n, "persist"); err != nil {
		return nil, err
	}
	s.server.cache.add(s, n, name, l)
	return n, nil
}

// Once implements deltatable.Session.
func (s *Session) Once(n plan.Node) (once plan.Node, done func() error, err error) {
	k := &kept{}
	r := &plan.Kept{Out: n.Output()}
	for i, a := range r.Out {
		k.types, r.Cols = append(k.types, a.T), append(r.Cols, i)
	}
	store := s.server.cache.newStore(k)
	if n, err = s.server.cache.use(s, n); err != nil {
		return nil, nil, err
	}
	if r.Child, err = optimize.Plan(n, optimize.Options{Zone: s.Zone()}); err != nil {
		return nil, nil, err
	}
	r.Store = store
	return r, store.Release, nil
}

// Unpersist drops the rows of a relation. Those of others that were made from it stay.
func (s *Session) Unpersist(ctx context.Context, n plan.Node) error {
	n, err := s.Analyze(ctx, n)
	if err != nil {
		return err
	}
	meaning := s.meaning(n)
	return s.server.cache.remove(func(key string, _ *kept) bool { return key == meaning })
}

// Uncache drops the rows of a relation, and of those that were made from it.
func (s *Session) Uncache(ctx context.Context, n plan.Node) error {
	n, err := s.Analyze(ctx, n)
	if err != nil {
		return err
	}
	meaning := s.meaning(n)
	return s.server.cache.remove(func(_ string, k *kept) bool { return k.inside[meaning] })
}

// StorageLevelOf is the level of a relation; kept is false when its rows are not kept.
func (s *Session) StorageLevelOf(ctx context.Context, n plan.Node) (l StorageLevel, kept bool, err error) {
	n, err = s.Analyze(ctx, n)
	if err != nil {
		return l, false, err
	}
	if k := s.server.cache.find(s, n); k != nil {
		return k.level, true, nil
	}
	return StorageLevel{Replication: 1}, false, nil
}

// ClearCache drops the rows of all relations.
func (s *Session) ClearCache() error {
	return s.server.cache.remove(func(string, *kept) bool { return true })
}

// RefreshPath drops the rows that come from a path. They are computed again when they are needed.
func (s *Session) RefreshPath(path string) error {
	path, err := fs.ParseLocation(path)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return nil // what is no path of this host is nobody's
	}
	return s.server.cache.refresh(func(_ string, k *kept) bool { return k.from(path) })
}
