package connect

import "github.com/millrace/millrace/internal/errclass"

// RegisterFunction keeps a Go function of the program that this service is part of, under an id by which the plans of a session name it.
// It has no counterpart in the protocol: a function cannot travel.
func (s *Service) RegisterFunction(user, session, id string, f any) error {
	h, err := s.known(user, session)
	if err != nil {
		return err
	}
	h.PutFunction(id, f)
	return nil
}

// NameFunction keeps a Go function under a name by which SQL calls it.
func (s *Service) NameFunction(user, session, name string, f any) error {
	h, err := s.known(user, session)
	if err != nil {
		return err
	}
	h.NameFunction(name, f)
	return nil
}

func (s *Service) known(user, session string) (*holder, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.sessions[sessionKey{user, session}]
	if h == nil {
		return nil, errclass.New("INVALID_HANDLE.SESSION_NOT_FOUND", "handle", session)
	}
	return h, nil
}
