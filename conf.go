package millrace

import (
	"context"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
)

// RuntimeConfig is the configuration of a session: keys such as spark.sql.shuffle.partitions.
type RuntimeConfig struct{ s *Session }

// Conf is the session's configuration.
func (s *Session) Conf() RuntimeConfig { return RuntimeConfig{s} }

func (c RuntimeConfig) call(ctx context.Context, op *connectpb.ConfigRequest_Operation) (*connectpb.ConfigResponse, error) {
	s := c.s
	if err := s.open(); err != nil {
		return nil, err
	}
	r, err := s.backend.Config(ctx, &connectpb.ConfigRequest{
		SessionId: s.id, UserContext: s.userContext(), ClientType: &clientType, ClientObservedServerSideSessionId: s.observed(), Operation: op,
	})
	if err != nil {
		return nil, ended(ctx, err)
	}
	return r, s.answered(r)
}

// Get is the value of a key. A key that is neither set nor known is an error.
func (c RuntimeConfig) Get(ctx context.Context, key string) (string, error) {
	r, err := c.call(ctx, &connectpb.ConfigRequest_Operation{
		OpType: &connectpb.ConfigRequest_Operation_Get{Get: &connectpb.ConfigRequest_Get{Keys: []string{key}}},
	})
	return onlyValue(r, err)
}

// GetOr is the value of a key, or a default if it is not set.
func (c RuntimeConfig) GetOr(ctx context.Context, key, otherwise string) (string, error) {
	r, err := c.call(ctx, &connectpb.ConfigRequest_Operation{OpType: &connectpb.ConfigRequest_Operation_GetWithDefault{
		GetWithDefault: &connectpb.ConfigRequest_GetWithDefault{Pairs: []*connectpb.KeyValue{{Key: key, Value: &otherwise}}},
	}})
	return onlyValue(r, err)
}

// GetAll is every key that is set and begins with a prefix, with the prefix cut off; with an empty prefix every key that is set.
func (c RuntimeConfig) GetAll(ctx context.Context, prefix string) (map[string]string, error) {
	m := &connectpb.ConfigRequest_GetAll{}
	if prefix != "" {
		m.Prefix = &prefix
	}
	r, err := c.call(ctx, &connectpb.ConfigRequest_Operation{OpType: &connectpb.ConfigRequest_Operation_GetAll{GetAll: m}})
	if err != nil {
		return nil, err
	}
	all := make(map[string]string, len(r.GetPairs()))
	for _, p := range r.GetPairs() {
		all[p.GetKey()] = p.GetValue()
	}
	return all, nil
}

// Set sets a key for the session.
func (c RuntimeConfig) Set(ctx context.Context, key, value string) error {
	_, err := c.call(ctx, &connectpb.ConfigRequest_Operation{OpType: &connectpb.ConfigRequest_Operation_Set{
		Set: &connectpb.ConfigRequest_Set{Pairs: []*connectpb.KeyValue{{Key: key, Value: &value}}},
	}})
	return err
}

// Unset gives a key its default back.
func (c RuntimeConfig) Unset(ctx context.Context, key string) error {
	_, err := c.call(ctx, &connectpb.ConfigRequest_Operation{
		OpType: &connectpb.ConfigRequest_Operation_Unset{Unset: &connectpb.ConfigRequest_Unset{Keys: []string{key}}},
	})
	return err
}

// IsModifiable tells whether a key can be set in a session.
func (c RuntimeConfig) IsModifiable(ctx context.Context, key string) (bool, error) {
	r, err := c.call(ctx, &connectpb.ConfigRequest_Operation{
		OpType: &connectpb.ConfigRequest_Operation_IsModifiable{IsModifiable: &connectpb.ConfigRequest_IsModifiable{Keys: []string{key}}},
	})
	v, err := onlyValue(r, err)
	return v == "true", err
}

func onlyValue(r *connectpb.ConfigResponse, err error) (string, error) {
	if err != nil {
		return "", err
	}
	if len(r.GetPairs()) != 1 {
		return "", errclass.New("UNEXPECTED_RESPONSE", "reason", "it does not have the one key that was asked for")
	}
	return r.GetPairs()[0].GetValue(), nil
}
