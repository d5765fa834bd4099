package stream

import (
	"context"

	"github.com/millrace/millrace/internal/state"
)

// providerOf makes stores of a generation.
func providerOf(g generation, p state.Provider) state.Provider {
	if g == (generation{}) {
		return p
	}
	return renumbered{p, g.Shift()}
}

// renumbered is a provider whose files count versions from another one than 0.
type renumbered struct {
	state.Provider
	by int64
}

// Open implements state.Provider.
func (p renumbered) Open(dir string, spec state.Spec) (state.Store, error) {
	s, err := p.Provider.Open(dir, spec)
	if err != nil {
		return nil, err
	}
	return renumberedTables{s, renumberedVersions{s, p.by}}, nil
}

// OpenKV implements state.KVProvider.
func (p renumbered) OpenKV(dir string, spec state.Spec) (state.KVStore, error) {
	s, err := p.Provider.OpenKV(dir, spec)
	if err != nil {
		return nil, err
	}
	return renumberedKVs{s, renumberedVersions{s, p.by}}, nil
}

type renumberedVersions struct {
	state.Versioned
	by int64
}

// Load implements state.Versioned.
func (s renumberedVersions) Load(ctx context.Context, version int64) error {
	return s.Versioned.Load(ctx, version-s.by)
}

// Version implements state.Versioned.
func (s renumberedVersions) Version() int64 {
	if v := s.Versioned.Version(); v >= 0 {
		return v + s.by
	}
	return -1
}

// Maintain implements state.Versioned.
func (s renumberedVersions) Maintain(ctx context.Context, keep int64) error {
	return s.Versioned.Maintain(ctx, max(0, keep-s.by))
}

type renumberedTables struct {
	state.Store
	v renumberedVersions
}

func (s renumberedTables) Load(ctx context.Context, version int64) error {
	return s.v.Load(ctx, version)
}
func (s renumberedTables) Version() int64 { return s.v.Version() }
func (s renumberedTables) Maintain(ctx context.Context, keep int64) error {
	return s.v.Maintain(ctx, keep)
}

type renumberedKVs struct {
	state.KVStore
	v renumberedVersions
}

func (s renumberedKVs) Load(ctx context.Context, version int64) error { return s.v.Load(ctx, version) }
func (s renumberedKVs) Version() int64                                { return s.v.Version() }
func (s renumberedKVs) Maintain(ctx context.Context, keep int64) error {
	return s.v.Maintain(ctx, keep)
}
