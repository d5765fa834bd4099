package session

import (
	"context"
	"os/user"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/millrace/millrace/internal/analyze"
	"github.com/millrace/millrace/internal/catalog"
	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/engine"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/sql"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// Version is the version of Spark that the engine stands for.
const Version = "4.2.0"

// Server is what all sessions of a process share: runtime, settings at the start, global temporary views, tables.
type Server struct {
	Runtime *engine.Runtime
	conf    map[string]string
	globals views
	tables  *catalog.Catalog
}

// NewServer returns a server whose sessions start with some settings beside the engine's own.
func NewServer(rt *engine.Runtime, conf map[string]string) *Server {
	base := map[string]string{
		"spark.app.name": "millrace",
		"spark.app.id":   "millrace-" + uuid.NewString(),
		"spark.master":   "local[*]",
		KeyWarehouse:     rt.Warehouse,
	}
	for k, v := range conf {
		base[k] = v
	}
	return &Server{Runtime: rt, conf: base, tables: catalog.Open(rt.FS, base[KeyWarehouse])}
}

// Session is one user's session. It is safe for use by several goroutines.
type Session struct {
	// ID is the id that the client chose, User the user it is for, ServerID the server's own id of the session.
	ID, User, ServerID string
	Conf               *Conf

	server *Server
	views  views

	mu        sync.Mutex
	remote    map[string]plan.Node
	artifacts map[string][]byte
	levels    map[string]StorageLevel // by semantic text of a plan
	namespace string
	functions map[string]any // Go functions of the program, by id
}

// New returns a session with nothing in it.
func (sv *Server) New(user, id string) *Session {
	return &Session{
		ID: id, User: user, ServerID: uuid.NewString(), Conf: NewConf(sv.conf), server: sv,
		remote: map[string]plan.Node{}, artifacts: map[string][]byte{}, levels: map[string]StorageLevel{}, namespace: catalog.Default,
	}
}

// Clone returns a session with a copy of the settings and temporary views, and with the same uploads.
func (s *Session) Clone(id string) *Session {
	c := s.server.New(s.User, id)
	c.Conf = s.Conf.Clone()
	c.views.copyFrom(&s.views)
	s.mu.Lock()
	defer s.mu.Unlock()
	c.namespace = s.namespace
	for k, v := range s.artifacts {
		c.artifacts[k] = v
	}
	return c
}

// Runtime is the runtime that the session works in.
func (s *Session) Runtime() *engine.Runtime { return s.server.Runtime }

// Zone is the session time zone.
func (s *Session) Zone() *time.Location {
	if z, ok := datetime.ParseZone(strings.TrimSpace(s.Conf.Value(KeyTimeZone))); ok {
		return z
	}
	return time.UTC
}

// Partitions is the number of hash partitions of a new query: what was set, or one for each core.
func (s *Session) Partitions() int {
	if _, ok := s.Conf.Explicit(KeyShufflePartitions); ok {
		if n := s.Conf.Int(KeyShufflePartitions); n > 0 {
			return int(n)
		}
	}
	return s.server.Runtime.Parallelism
}

// SQLOptions are what the meaning of SQL text depends on.
func (s *Session) SQLOptions() sql.Options {
	return sql.Options{
		Zone: s.Zone(), Now: s.server.Runtime.Clock.Now(),
		NTZ:                     strings.EqualFold(s.Conf.Value(KeyTimestampType), "TIMESTAMP_NTZ"),
		DoubleQuotedIdentifiers: s.Conf.Bool(KeyANSI) && s.Conf.Bool(KeyDoubleQuoted),
	}
}

// SourceEnv is what connectors are lent.
func (s *Session) SourceEnv() source.Env {
	rt := s.server.Runtime
	return source.Env{Now: rt.Clock.Now, Log: rt.Log, Zone: s.Zone(), Conf: s.Conf.Value, Parallelism: rt.Parallelism}
}

// AnalyzeConf are the settings that the analysis depends on, as they are now.
func (s *Session) AnalyzeConf() analyze.Conf {
	return analyze.Conf{
		ANSI: s.Conf.Bool(KeyANSI), CaseSensitive: s.Conf.Bool(KeyCaseSensitive), Zone: s.Zone(), Get: s.known,
	}
}

// known answers what the analysis asks: settings, and who and where the session is.
func (s *Session) known(key string) string {
	switch key {
	case "spark.millrace.currentDatabase":
		return s.Namespace()
	case "spark.millrace.currentUser":
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
	return analyze.New(lookup{s}, s.AnalyzeConf(), s.SourceEnv()).Resolve(ctx, n)
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
	defer s.mu.Unlock()
	b, ok := s.artifacts[name]
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
type lookup struct{ s *Session }

// LookupView implements analyze.Catalog.
func (c lookup) LookupView(parts []string) (plan.Node, bool) {
	switch {
	case len(parts) == 1:
		return c.s.views.find(parts[0])
	case len(parts) == 2 && strings.EqualFold(parts[0], globalNamespace):
		return c.s.server.globals.find(parts[1])
	}
	return nil, false
}

// LookupTable implements analyze.Catalog.
func (c lookup) LookupTable(ctx context.Context, t *plan.Named) (plan.Node, error) {
	return c.s.lookupTable(ctx, t)
}

// LookupRemote implements analyze.Catalog.
func (c lookup) LookupRemote(id string) (plan.Node, bool) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	n, ok := c.s.remote[id]
	return n, ok
}
