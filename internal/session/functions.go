package session

import (
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr/agg"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/userfunc"
)

// PutFunction keeps a Go function of the program under an id by which plans name it. It is there as long as the session.
func (s *Session) PutFunction(id string, f any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.functions == nil {
		s.functions = map[string]any{}
	}
	if _, known := s.functions[id]; !known {
		s.functions[id] = callable(f)
	}
}

// NameFunction makes a Go function known under a name, in any case, in the place of any other function of that name.
func (s *Session) NameFunction(name string, f any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.named == nil {
		s.named = map[string]any{}
	}
	s.named[strings.ToLower(name)] = labelled(callable(f), name)
}

// labelled is a function that is shown by the name that it is registered under.
func labelled(f any, name string) any {
	switch f := f.(type) {
	case *fn.Function:
		c := *f
		c.Name, c.Label = strings.ToLower(name), name
		return &c
	case *agg.Function:
		c := *f
		c.Name, c.Label = strings.ToLower(name), name
		return &c
	}
	return f
}

// DropFunctions forgets the functions that plans name by ids: none of these plans is used any more.
func (s *Session) DropFunctions() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.functions)
}

// dropNamed forgets a function with a name, and tells whether there was one.
func (s *Session) dropNamed(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	name = strings.ToLower(name)
	_, ok := s.named[name]
	delete(s.named, name)
	return ok
}

// NameFunctions makes Go functions known in all sessions.
func (sv *Server) NameFunctions(functions map[string]any) error {
	sv.functions = map[string]any{}
	for name, f := range functions {
		c := callable(f)
		switch c.(type) {
		case *fn.Function, *agg.Function:
			sv.functions[strings.ToLower(name)] = labelled(c, name)
		default:
			return errclass.New("INVALID_CONF_VALUE.REQUIREMENT", "confName", "Functions["+name+"]", "confValue", "nil", "confRequirement", "It is a function made by millrace.UDF1 and its like.")
		}
	}
	return nil
}

// callable is a function as the analyser knows functions, if it is one of expressions.
func callable(f any) any {
	switch f := f.(type) {
	case userfunc.Scalar:
		return fn.User(f)
	case userfunc.Aggregate:
		return agg.User(f)
	}
	return f
}

// Function is a Go function of the program by its id.
func (s *Session) Function(id string) (any, bool) {
	s.mu.Lock()
	f, ok := s.functions[id]
	s.mu.Unlock()
	if !ok && s.parent != nil {
		return s.parent.Function(id)
	}
	return f, ok
}

// namedFunction finds a Go function by id or name; nil when there is none.
func (s *Session) namedFunction(name string) any {
	if f, ok := s.Function(name); ok {
		return f
	}
	name = strings.ToLower(name)
	for o := s; o != nil; o = o.parent {
		o.mu.Lock()
		f, ok := o.named[name]
		o.mu.Unlock()
		if ok {
			return f
		}
	}
	return s.server.functions[name]
}

// LookupFunction implements analyze.Functions.
func (c lookup) LookupFunction(name string) *fn.Function {
	f, _ := c.s.namedFunction(name).(*fn.Function)
	return f
}

// LookupAggregate implements analyze.Functions.
func (c lookup) LookupAggregate(name string) *agg.Function {
	f, _ := c.s.namedFunction(name).(*agg.Function)
	return f
}
