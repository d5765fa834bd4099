package session

// PutFunction keeps a Go function of the program under an id by which plans name it. It is there as long as the session.
func (s *Session) PutFunction(id string, f any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.functions == nil {
		s.functions = map[string]any{}
	}
	s.functions[id] = f
}

// Function is a Go function of the program by its id.
func (s *Session) Function(id string) (any, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, ok := s.functions[id]
	return f, ok
}
