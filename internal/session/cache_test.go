package session_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/millrace/millrace/internal/engine"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/session"
)

// cached tells whether a table or view is kept.
func (s *shell) cached(name string) bool {
	s.t.Helper()
	_, kept, err := s.StorageLevelOf(s.t.Context(), &plan.Named{Parts: []string{name}})
	if err != nil {
		s.t.Fatal(err)
	}
	return kept
}

func (s *shell) wantCached(want bool, names ...string) {
	s.t.Helper()
	for _, name := range names {
		if got := s.cached(name); got != want {
			s.t.Errorf("%s is cached: %t", name, got)
		}
	}
}

// A cached table answers from its rows until something that the engine knows of changes it.
func TestCachedTable(t *testing.T) {
	s := newShell(t)
	dir := t.TempDir()
	s.want("create table t (a string) using text location '"+dir+"'; insert into t values ('x'); cache table t; select * from t", "x")
	s.wantCached(true, "t")
	remove := func() {
		files, err := filepath.Glob(dir + "/part-*")
		if err != nil || len(files) == 0 {
			t.Fatalf("files %v, %v", files, err)
		}
		for _, f := range files {
			if err := os.Remove(f); err != nil {
				t.Fatal(err)
			}
		}
	}
	remove()
	s.want("select count(*) from t", "1")
	s.want("select upper(a) from t where a > 'a'", "X")
	s.want("refresh table t; select count(*) from t", "0")
	s.wantCached(true, "t")

	s.want("insert into t values ('y'); select * from t", "y")
	remove()
	s.want("select * from t", "y")
	s.want("refresh '" + dir + "'; select * from t")

	s.want("insert into t values ('z'); select * from t", "z")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	s.want("select * from t", "z")
	s.want("uncache table t; select * from t") // no directory, no rows
	s.wantCached(false, "t")
	s.want("uncache table t")
	s.fails("uncache table nope", "TABLE_OR_VIEW_NOT_FOUND")
	s.want("uncache table if exists nope")
}

// Every part of a plan that means the same as a cached relation is read from it. What was made from a relation goes with it.
func TestCachedParts(t *testing.T) {
	s := newShell(t)
	s.want("create table t (a int) using json; insert into t values (1); create temp view v as select a + 1 b from t")
	s.want("cache table t; cache table v; select * from v", "2")
	s.want("insert into t values (2); select * from v order by 1", "2", "3")
	s.wantCached(true, "t", "v")
	s.want("select x.a from t x join t y on x.a = y.a order by 1", "1", "2")
	s.want("uncache table t")
	s.wantCached(false, "t", "v")

	s.want("cache lazy table v")
	s.want("create or replace temp view v as select a + 2 b from t")
	s.wantCached(false, "v")
	s.want("cache table v; drop view v; create temp view v as select a + 2 b from t")
	s.wantCached(false, "v")

	s.want("cache table t; truncate table t; select * from t")
	s.wantCached(true, "t")
	s.want("drop table t; create table t (a int) using json")
	s.wantCached(false, "t")

	s.want("cache table q as select rand() r; select count(*) from q x join q y on x.r = y.r", "1")
	s.wantCached(true, "q")
	other := &shell{s.sv.New("you", uuid.NewString()), t, s.sv}
	other.want("cache table t") // what is kept is kept for all
	s.wantCached(true, "t")
	s.want("clear cache")
	other.wantCached(false, "t")
}

func TestStorageLevels(t *testing.T) {
	s := newShell(t)
	s.want("cache lazy table d options ('storageLevel' = 'disk_only_2') as select 1 x; select * from d", "1")
	l, _, err := s.StorageLevelOf(t.Context(), &plan.Named{Parts: []string{"d"}})
	if d := cmp.Diff(session.StorageLevel{Disk: true, Replication: 2}, l); d != "" || err != nil {
		t.Error(d, err)
	}
	s.want("select * from d", "1") // from its file
	s.fails("cache table e options ('storageLevel' = 'nope') as select 1 x", "INVALID_OPTION_VALUE")
}

// Rows that do not fit into memory are kept in files, which go with them.
func TestCacheOutgrowsMemory(t *testing.T) {
	scratch := t.TempDir()
	s := newShell(t)
	s.sv = session.NewServer(engine.New(engine.Runtime{Parallelism: 2, Warehouse: t.TempDir(), Scratch: scratch, Memory: engine.NewMemory(1 << 20)}), nil)
	s.Session = s.sv.New("me", uuid.NewString())
	s.want("cache table big as select id, id * 2 x from range(200000); select sum(id), sum(x) from big", "19999900000|39999800000")
	s.want("select x from big where id = 199999", "399998")
	files := func() int {
		n, err := os.ReadDir(scratch)
		if err != nil {
			t.Fatal(err)
		}
		return len(n)
	}
	if files() == 0 {
		t.Error("nothing was written to files")
	}
	s.want("uncache table big; select max(x) from big", "399998")
	if n := files(); n > 0 {
		t.Errorf("%d folders are left", n)
	}
	if used := s.sv.Runtime.Memory.Used(); used != 0 {
		t.Errorf("%d bytes are still counted", used)
	}
}

// A part that cannot be computed is no part of what is kept.
func TestCacheKeepsNoErrors(t *testing.T) {
	s := newShell(t)
	s.want("create table t (a int) using json; insert into t values (1), (0); create temp view v as select 1 div a from t; cache lazy table v")
	s.fails("select * from v", "DIVIDE_BY_ZERO")
	s.fails("select * from v", "DIVIDE_BY_ZERO")
	s.want("truncate table t; insert into t values (1); select * from v", "1")
}
