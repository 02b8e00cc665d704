package spam

import (
	"errors"
	"fmt"
	"strings"
)

const (
	minPattern = 4 // consecutive letters that a pattern must have
	maxPieces  = 8 // of a pattern
)

// domain parses a line of domains.txt.
func (b *listParser) domain(line string) error {
	e, ok, err := b.entry(line)
	if err != nil || !ok {
		return err
	}
	e.text = strings.ToLower(strings.TrimSuffix(e.text, "."))
	if !strings.Contains(e.text, ".") || strings.ContainsAny(e.text, "/:@*?# \t") || strings.HasPrefix(e.text, ".") {
		return fmt.Errorf("%q is not a domain", e.text)
	}
	if err := b.addUnique("domain " + e.text); err != nil {
		return err
	}
	b.filter.domains[e.text] = e
	return nil
}

// A pattern matches a URL that contains its pieces in order. The first piece must begin at a word boundary
// unless anywhere is set.
type pattern struct {
	entry
	pieces   []string
	anywhere bool
}

func (b *listParser) url(line string) error { return b.patternLine(&b.filter.urls, line) }

func (b *listParser) email(line string) error { return b.patternLine(&b.filter.emails, line) }

func (b *listParser) patternLine(list *patterns, line string) error {
	e, ok, err := b.entry(line)
	if err != nil || !ok {
		return err
	}
	return b.pattern(list, e)
}

// pattern adds a pattern. A pattern matches at the beginning of a word, and * matches any text, so that
// "*viagra" matches anywhere and "cialis" does not match specialists.
func (b *listParser) pattern(list *patterns, e entry) error {
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
		return fmt.Errorf("%q contains a space, which URLs do not", e.text)
	case len(longest) < minPattern:
		return fmt.Errorf("%q matches too many URLs: want at least %d consecutive letters", e.text, minPattern)
	case len(pieces) > maxPieces:
		return errors.New("too many * in the pattern")
	}
	if err := b.addUnique(e.list + " " + strings.Join(pieces, "*")); err != nil {
		return err
	}
	if *list == nil {
		*list = make(patterns)
	}
	key := [minPattern]byte([]byte(longest))
	(*list)[key] = append((*list)[key], pattern{e, pieces, strings.HasPrefix(e.text, "*")})
	return nil
}

// patterns are indexed by the first bytes of their longest piece, so that the cost of a search depends on the
// URL only.
type patterns map[[minPattern]byte][]pattern

// in returns the patterns that match a lower-case URL.
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

// in reports whether the pattern matches a lower-case URL.
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
