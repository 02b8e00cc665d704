package main

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/tools/txtar"

	"feedmesh/classify/rule"
)

// A piece is a part of a rule's text, and the position of the element it was made from.
type piece struct {
	text string
	pos  rule.Pos
}

// A source is the text of rules, a line each. It remembers the origin of each part of the text.
type source struct {
	text    strings.Builder
	line    int // complete lines
	column  int // characters of the last line
	origins []origin
}

// An origin is the position of an element and the place of its text, counted from 0.
type origin struct {
	line, column int
	pos          rule.Pos
}

// write appends pieces, then ends the line.
func (s *source) write(pieces ...piece) {
	for _, p := range pieces {
		s.origins = append(s.origins, origin{s.line, s.column, p.pos})
		s.text.WriteString(p.text)
		s.column += utf8.RuneCountInString(p.text)
	}
	s.text.WriteByte('\n')
	s.line, s.column = s.line+1, 0
}

// origin returns the position of the element that the text at pos was made from.
func (s *source) origin(pos rule.Pos) rule.Pos {
	i, found := slices.BinarySearchFunc(s.origins, pos, func(o origin, pos rule.Pos) int {
		return cmp.Or(cmp.Compare(o.line+1, pos.Line), cmp.Compare(o.column+1, pos.Column))
	})
	switch {
	case pos.Line == 0:
		return rule.Pos{}
	case found:
		return s.origins[i].pos
	}
	return s.origins[i-1].pos
}

// set returns the rules, or all diagnostics in the order of the document.
func (im *importer) set() (*rule.Set, error) {
	set, err := rule.ParseFiles([]rule.File{{Name: rule.UnnamedFile, Text: im.rules.text.String()}})
	var found rule.Diagnostics
	errors.As(err, &found)
	for _, d := range found {
		im.report(im.rules.origin(d.Pos), "%s", d.Message)
	}
	if len(im.diagnostics) == 0 {
		return set, err
	}
	slices.SortStableFunc(im.diagnostics, func(a, b rule.Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Column, b.Pos.Column))
	})
	all := slices.Compact(im.diagnostics) // a rule with several topics was written several times
	return nil, all[:min(len(all), maxDiagnostics)]
}

// archiveOf returns the rules of a set with a file for each category, and one each for topics and facts
// without category.
func archiveOf(set *rule.Set) []byte {
	a := &txtar.Archive{}
	index := make(map[string]int)
	scopes := make(map[string]rule.Scope) // last scope of each file
	for _, r := range set.Rules {
		name := r.Action.Name
		switch {
		case r.Action.Kind == rule.ConcludeFact:
			name = "facts"
		case name == "":
			name = "topics"
		}
		name += ".rules"
		i, ok := index[name]
		if !ok {
			i = len(a.Files)
			index[name] = i
			a.Files = append(a.Files, txtar.File{Name: name})
		}
		text := r.String() + "\n"
		if r.Scope != scopes[name] {
			text = r.Scope.String() + "\n" + text
			scopes[name] = r.Scope
		}
		a.Files[i].Data = append(a.Files[i].Data, text...)
	}
	return txtar.Format(a)
}
