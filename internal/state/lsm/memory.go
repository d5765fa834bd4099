package lsm

import (
	"runtime/metrics"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/millrace/millrace/internal/amount"
	"github.com/millrace/millrace/internal/errclass"
)

// LimitKey is the setting that bounds the memory of all stores of a process.
const LimitKey = "spark.millrace.state.memoryLimit"

// DefaultLimit is the bound when nothing is set.
const DefaultLimit = 1 << 30

const (
	minLimit = 32 << 20
	// openFiles is how many files the stores of a process keep open.
	openFiles = 1000
)

// heapShare is the part of a limit that each of the three users of memory may hold: the block cache, the tables of what is not yet in
// files, and the working sets. A heap grows beyond what is held in it before it is collected, by the percentage that the program has
// chosen; a quarter of the limit is for all else.
func heapShare(limit int64) int64 {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	growth := int64(100)
	if v := sample[0].Value; v.Kind() == metrics.KindUint64 && v.Uint64() <= 1000 {
		growth = max(50, int64(v.Uint64()))
	}
	return limit / 4 * 100 / (100 + growth)
}

// ParseLimit reads a size in bytes, or with a unit: 512m, 1g.
func ParseLimit(text string) (int64, error) {
	if strings.TrimSpace(text) == "" {
		return DefaultLimit, nil
	}
	n, ok := amount.Bytes(text)
	switch {
	case !ok:
		return 0, errclass.New("INVALID_CONF_VALUE.TYPE_MISMATCH", "confValue", text, "confName", LimitKey, "confType", "a size such as 512m")
	case n < minLimit:
		return 0, errclass.New("INVALID_CONF_VALUE.REQUIREMENT", "confValue", text, "confName", LimitKey,
			"confRequirement", "it must be at least 32m")
	}
	return n, nil
}

// Memory is what the stores of a process hold together. The limit is that of the first store that is opened; a changed one counts
// when no store is left open. The zero Memory has none.
type Memory struct {
	mu    sync.Mutex
	share int64 // of each user
	open  int
	cache *pebble.Cache
	files *pebble.FileCache
}

// grant is one store's part of a Memory.
type grant struct {
	m        *Memory
	cache    *pebble.Cache
	files    *pebble.FileCache
	memTable uint64
}

// memTables is how many tables of what is not yet in files a store has at most: one that is filled, the others being written.
const memTables = 4

func (m *Memory) grant(limit int64) *grant {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.open == 0 {
		m.share = heapShare(max(limit, minLimit))
		m.cache = pebble.NewCache(m.share)
		m.files = pebble.NewFileCache(4, openFiles)
	}
	m.open++
	// The stores that come first have the larger tables; the sum stays about the share.
	size := max(1<<20, m.share/memTables/int64(m.open))
	return &grant{m: m, cache: m.cache, files: m.files, memTable: uint64(size)}
}

// workingSet is how much a store may keep of rows that the next batch may want.
func (g *grant) workingSet() int64 {
	g.m.mu.Lock()
	defer g.m.mu.Unlock()
	return g.m.share / int64(max(1, g.m.open))
}

func (g *grant) release() {
	g.m.mu.Lock()
	defer g.m.mu.Unlock()
	g.m.open--
	if g.m.open == 0 {
		g.m.files.Unref()
		g.m.cache.Unref()
		g.m.files, g.m.cache = nil, nil
	}
}
