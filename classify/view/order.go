package view

import (
	"fmt"
	"slices"
	"strings"
)

// A CycleError reports views that read each other.
type CycleError struct {
	Chain []string // each reads the next; the last is the first
}

// Error implements error.
func (e *CycleError) Error() string {
	return "a view cannot read itself: " + strings.Join(e.Chain, " > ")
}

// A MissingError reports a view that does not exist.
type MissingError struct {
	View    string // that reads Missing
	Missing string
}

// Error implements error.
func (e *MissingError) Error() string {
	return fmt.Sprintf("view %s reads view %s, which does not exist", e.View, e.Missing)
}

// Order returns the views in an order in which each follows those that it reads, otherwise by name. Names are unique. The
// error is a [*CycleError] or a [*MissingError]. O(views and sources).
func Order(views []View) ([]View, error) {
	s := sorter{views: make(map[string]*View, len(views)), state: make(map[string]visitState, len(views)), sorted: make([]View, 0, len(views))}
	names := make([]string, len(views))
	for i := range views {
		names[i] = views[i].Name
		s.views[names[i]] = &views[i]
	}
	slices.Sort(names)
	for _, name := range names {
		if err := s.visit(name); err != nil {
			return nil, err
		}
	}
	return s.sorted, nil
}

type visitState uint8

const (
	unvisited visitState = iota
	visiting
	visited
)

// A sorter visits views depth first.
type sorter struct {
	views  map[string]*View
	state  map[string]visitState
	chain  []string // names that are being visited
	sorted []View
}

func (s *sorter) visit(name string) error {
	switch s.state[name] {
	case visited:
		return nil
	case visiting:
		return &CycleError{append(slices.Clone(s.chain[slices.Index(s.chain, name):]), name)}
	}
	s.state[name] = visiting
	s.chain = append(s.chain, name)
	for _, read := range s.views[name].Reads() {
		if s.views[read] == nil {
			return &MissingError{name, read}
		}
		if err := s.visit(read); err != nil {
			return err
		}
	}
	s.chain = s.chain[:len(s.chain)-1]
	s.state[name] = visited
	s.sorted = append(s.sorted, *s.views[name])
	return nil
}
