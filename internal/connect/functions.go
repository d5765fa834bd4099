package connect

import "github.com/millrace/millrace/internal/errclass"

// RegisterFunction keeps a Go function of the program that this service is part of, under an id by which the plans of a session name it.
// It has no counterpart in the protocol: a function cannot travel.
func (s *Service) RegisterFunction(user, session, id string, f any) error {
	s.mu.Lock()
	h := s.sessions[sessionKey{user, session}]
	s.mu.Unlock()
	if h == nil {
		return errclass.New("INVALID_HANDLE.SESSION_NOT_FOUND", "handle", session)
	}
	h.PutFunction(id, f)
	return nil
}
