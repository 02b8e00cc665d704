package spam

import (
	"errors"
	"fmt"
	"strings"
)

const (
	minPattern = 4 // letters in a row that a pattern must have
	maxPieces  = 8 // of a pattern
)

// domain reads a line of domains.txt.
func (b *builder) domain(line string) error {
	e, ok, err := b.entry(line)
	if err != nil || !ok {
		return err
	}
	e.text = strings.ToLower(strings.TrimSuffix(e.text, "."))
	if !strings.Contains(e.text, ".") || strings.ContainsAny(e.text, "/:@*?# \t") || strings.HasPrefix(e.text, ".") {
		return fmt.Errorf("%q is no domain", e.text)
	}
	if err := b.once("domain " + e.text); err != nil {
		return err
	}
	b.filter.domains[e.text] = e
	return nil
}

// A pattern is what occurs in an address: its pieces, in this order, the first where
// a word begins, unless it may stand anywhere.
type pattern struct {
	entry
	pieces   []string
	anywhere bool
}

func (b *builder) url(line string) error { return b.patternLine(&b.filter.urls, line) }

func (b *builder) email(line string) error { return b.patternLine(&b.filter.emails, line) }

func (b *builder) patternLine(list *patterns, line string) error {
	e, ok, err := b.entry(line)
	if err != nil || !ok {
		return err
	}
	return b.pattern(list, e)
}

// pattern adds a pattern: what an address must have where a word begins, with * for
// anything, so that "*viagra" may be anywhere and "cialis" is not in specialists.
func (b *builder) pattern(list *patterns, e entry) error {
	var pieces []string
	longest := ""
	for piece := range strings.SplitSeq(strings.ToLower(e.text), "*") {
		if piece != "" {
			pieces = append(pieces, piece)
		}
		if len(piece) > len(longest) {
			longest = piece
		}
	}
	switch {
	case strings.ContainsAny(e.text, " \t"):
		return fmt.Errorf("%q has a space in it, which no address has", e.text)
	case len(longest) < minPattern:
		return fmt.Errorf("%q is in too many addresses: want at least %d letters in a row", e.text, minPattern)
	case len(pieces) > maxPieces:
		return errors.New("there are too many * in it")
	}
	if err := b.once(e.list + " " + strings.Join(pieces, "*")); err != nil {
		return err
	}
	if *list == nil {
		*list = make(patterns)
	}
	key := [minPattern]byte([]byte(longest))
	(*list)[key] = append((*list)[key], pattern{e, pieces, strings.HasPrefix(e.text, "*")})
	return nil
}

// Patterns are found by what the longest of their pieces begins with, so that a
// search costs what the address has.
type patterns map[[minPattern]byte][]pattern

// in returns the patterns that occur in an address in small letters.
func (p patterns) in(address string) (found []pattern) {
	for i := 0; i+minPattern <= len(address); i++ {
		for _, candidate := range p[[minPattern]byte([]byte(address[i:i+minPattern]))] {
			if candidate.in(address) {
				found = append(found, candidate)
			}
		}
	}
	return found
}

// in reports whether the pattern occurs in an address in small letters.
func (p pattern) in(address string) bool {
	for from := 0; ; {
		i := strings.Index(address[from:], p.pieces[0])
		if i < 0 {
			return false
		}
		start := from + i
		from = start + 1
		if p.anywhere || start == 0 || !isLatin(address[start-1]) || !isLatin(address[start]) {
			return inOrder(p.pieces[1:], address[start+len(p.pieces[0]):])
		}
	}
}

func inOrder(pieces []string, address string) bool {
	for _, piece := range pieces {
		i := strings.Index(address, piece)
		if i < 0 {
			return false
		}
		address = address[i+len(piece):]
	}
	return true
}
