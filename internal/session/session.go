package session

import (
	"context"
	"maps"
	"os/user"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/millrace/millrace/internal/analyze"
	"github.com/millrace/millrace/internal/catalog"
	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/engine"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/internal/sql"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// Version is the version of Spark that the engine stands for.
const Version = "4.2.0"

// engineVersion is the version of this module in the program at hand.
func engineVersion() string {
	const path = "github.com/millrace/millrace"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "dev"
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == path && m.Version != "" && m.Version != "(devel)" {
			return m.Version
		}
	}
	return "dev"
}

// Server is what all sessions of a process share: runtime, settings at the start, global temporary views, tables.
type Server struct {
	Runtime *engine.Runtime
	conf    map[string]string
	globals views
	tables  *catalog.Catalog
	cache   *cache

	routines  routines
	functions map[string]any // Go functions of the program, by name
}

// NewServer returns a server whose sessions start with some settings beside the engine's own.
func NewServer(rt *engine.Runtime, conf map[string]string) *Server {
	base := map[string]string{
		"spark.app.name":  "millrace",
		"spark.app.id":    "millrace-" + uuid.NewString(),
		"spark.master":    "local[*]",
		setting.Warehouse: rt.Warehouse,
		setting.Version:   engineVersion(),
	}
	for k, v := range conf {
		base[k] = v
	}
	return &Server{Runtime: rt, conf: base, tables: catalog.Open(rt.FS, base[setting.Warehouse]), cache: newCache(rt)}
}

// Close drops what is kept for all sessions, which must have ended.
func (sv *Server) Close() error {
	return sv.cache.remove(func(string, *kept) bool { return true })
}

// Session is one user's session. It is safe for use by several goroutines.
type Session struct {
	// ID is the id that the client chose, User the user it is for, ServerID the server's own id of the session.
	ID, User, ServerID string
	Conf               *setting.Values

	server *Server
	views  views
	parent *Session // of a twin

	mu        sync.Mutex
	remote    map[string]plan.Node
	artifacts map[string][]byte
	pins      map[int64]pin // by the client's id of a relation
	namespace string
	functions map[string]any // Go functions of the program, by id
	named     map[string]any // and by name
	variables map[string]*variable
	routines  routines
}

// New returns a session with nothing in it.
func (sv *Server) New(user, id string) *Session {
	return &Session{
		ID: id, User: user, ServerID: uuid.NewString(), Conf: setting.New(sv.conf), server: sv,
		remote: map[string]plan.Node{}, artifacts: map[string][]byte{}, pins: map[int64]pin{}, namespace: catalog.Default,
	}
}

// Clone returns a session with a copy of the settings, temporary views, functions and variables, and with the same uploads.
func (s *Session) Clone(id string) *Session {
	c := s.server.New(s.User, id)
	c.Conf = s.Conf.Clone()
	c.views.copyFrom(&s.views)
	c.routines.copyFrom(&s.routines)
	s.mu.Lock()
	defer s.mu.Unlock()
	c.namespace = s.namespace
	c.named = maps.Clone(s.named)
	c.variables = make(map[string]*variable, len(s.variables))
	for k, v := range s.variables {
		own := *v
		c.variables[k] = &own
	}
	for k, v := range s.artifacts {
		c.artifacts[k] = v
	}
	return c
}

// Twin is Clone for the functions of a streaming query, which also use what their program parks, uploads or registers in the original
// later on.
func (s *Session) Twin(id string) *Session {
	c := s.Clone(id)
	c.parent = s
	return c
}

// Runtime is the runtime that the session works in.
func (s *Session) Runtime() *engine.Runtime { return s.server.Runtime }

// Files is the file system that the session works in.
func (s *Session) Files() fs.FS { return s.server.Runtime.FS }

// Zone is the session time zone.
func (s *Session) Zone() *time.Location {
	if z, ok := datetime.ParseZone(strings.TrimSpace(s.Conf.Value(setting.TimeZone))); ok {
		return z
	}
	return time.UTC
}

// Partitions is the number of hash partitions of a batch query.
func (s *Session) Partitions() int { return max(1, int(s.Conf.Int(setting.ShufflePartitions))) }

// slices is how many parts there are of what says nothing of parts.
func (s *Session) slices() int {
	if n := s.Conf.Int(setting.LeafParallelism); n > 0 {
		return int(n)
	}
	return s.server.Runtime.Parallelism
}

// SQLOptions are what the meaning of SQL text depends on.
func (s *Session) SQLOptions() sql.Options {
	return sql.Options{
		Zone: s.Zone(), Now: s.server.Runtime.Clock.Now(),
		NTZ:                     strings.EqualFold(s.Conf.Value(setting.TimestampType), "TIMESTAMP_NTZ"),
		ContinueHandlers:        s.Conf.Bool(setting.ContinueHandlers),
		DoubleQuotedIdentifiers: s.Conf.Bool(setting.ANSI) && s.Conf.Bool(setting.DoubleQuoted),
	}
}

// SourceEnv is what connectors are lent.
func (s *Session) SourceEnv() source.Env {
	rt := s.server.Runtime
	return source.Env{Now: rt.Clock.Now, Log: rt.Log, Zone: s.Zone(), Conf: s.Conf.Value, Parallelism: rt.Parallelism, Constant: s.constantValue}
}

// AnalyzeConf are the settings that the analysis depends on, as they are now.
func (s *Session) AnalyzeConf() analyze.Conf {
	return analyze.Conf{
		ANSI: s.Conf.Bool(setting.ANSI), CaseSensitive: s.Conf.Bool(setting.CaseSensitive), Zone: s.Zone(), Get: s.known,
	}
}

// known answers what the analysis asks: settings, and who and where the session is.
func (s *Session) known(key string) string {
	switch key {
	case setting.CurrentDatabase:
		return s.Namespace()
	case setting.CurrentUser:
		if s.User != "" {
			return s.User
		}
		if u, err := user.Current(); err == nil {
			return u.Username
		}
	}
	return s.Conf.Value(key)
}

// Analyze resolves a plan.
func (s *Session) Analyze(ctx context.Context, n plan.Node) (plan.Node, error) {
	return analyze.New(lookup{s, scriptOf(ctx)}, s.AnalyzeConf(), s.SourceEnv()).Resolve(ctx, n)
}

// Schema resolves a plan and gives the schema of its rows.
func (s *Session) Schema(ctx context.Context, n plan.Node) (types.StructType, error) {
	n, err := s.Analyze(ctx, n)
	if err != nil {
		return types.StructType{}, err
	}
	return plan.Schema(n), nil
}

// ---- what the client has parked or uploaded

// PutRemote parks a relation under an id.
func (s *Session) PutRemote(id string, n plan.Node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remote[id] = n
}

// DropRemote forgets a parked relation.
func (s *Session) DropRemote(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.remote, id)
}

// Artifact is an upload by its name.
func (s *Session) Artifact(name string) ([]byte, bool) {
	s.mu.Lock()
	b, ok := s.artifacts[name]
	s.mu.Unlock()
	if !ok && s.parent != nil {
		return s.parent.Artifact(name)
	}
	return b, ok
}

// PutArtifact keeps an upload. Cached data may be sent again; any other name may be used again for the same content only.
func (s *Session) PutArtifact(name string, content []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, ok := s.artifacts[name]; ok && !strings.HasPrefix(name, "cache/") && string(old) != string(content) {
		return errclass.New("ARTIFACT.DUPLICATE", "normalizedRemoteRelativePath", name)
	}
	s.artifacts[name] = content
	return nil
}

// lookup is the session as the analyser sees it.
type lookup struct {
	s      *Session
	script *frame // of the script that runs, or nil
}

// LookupView implements analyze.Catalog.
func (c lookup) LookupView(parts []string) (plan.Node, bool) {
	var n plan.Node
	ok := false
	switch {
	case len(parts) == 1:
		n, ok = c.s.views.find(parts[0])
	case len(parts) == 2 && strings.EqualFold(parts[0], globalNamespace):
		n, ok = c.s.server.globals.find(parts[1])
	}
	if !ok {
		return nil, false
	}
	return listedAgain(n), true
}

// LookupTable implements analyze.Catalog.
func (c lookup) LookupTable(ctx context.Context, t *plan.Named) (plan.Node, error) {
	return c.s.lookupTable(ctx, t)
}

// LookupRemote implements analyze.Catalog.
func (c lookup) LookupRemote(id string) (plan.Node, bool) {
	c.s.mu.Lock()
	n, ok := c.s.remote[id]
	c.s.mu.Unlock()
	if !ok && c.s.parent != nil {
		return lookup{s: c.s.parent}.LookupRemote(id)
	}
	return n, ok
}
