package query

import (
	"slices"
	"strings"
)

// Matches reports whether an item is what the tree asks for; nil asks for all.
// Whether spam, duplicates and muted items count is for the caller to say: a tree
// alone asks for them as for others.
func Matches(n Node, d *Document) bool { return d.matches(n, false) }

// MatchesNearly is [Matches] where words may have mistakes, as many as [Forgives]
// says; though not in phrases, in the last one of a [Prefix], or below a [Not].
func MatchesNearly(n Node, d *Document) bool { return d.matches(n, true) }

func (d *Document) matches(n Node, nearly bool) bool {
	switch n := n.(type) {
	case nil:
		return true
	case And:
		return !slices.ContainsFunc(n, func(n Node) bool { return !d.matches(n, nearly) })
	case Or:
		return slices.ContainsFunc(n, func(n Node) bool { return d.matches(n, nearly) })
	case Not:
		return !d.matches(n.Node, false)
	case Text:
		return d.part(n.In).has(n, nearly)
	case Is:
		return d.is(n)
	case Time:
		return (n.From.IsZero() || !d.Published.Before(n.From)) && (n.Until.IsZero() || d.Published.Before(n.Until))
	}
	return false
}

func (d *Document) is(n Is) bool {
	switch n.Field {
	case Feed:
		return d.Feed == n.Value
	case Category:
		return slices.Contains(d.Categories, n.Value)
	case Topic:
		return slices.ContainsFunc(d.Topics, func(s string) bool { return strings.EqualFold(s, n.Value) })
	case Language:
		return d.Language == n.Value
	case Host:
		return slices.Contains(Hosts(d.URL), n.Value)
	case Story:
		return d.Story == n.Value
	case Flag:
		return slices.Contains(d.Flags, n.Value)
	}
	return false
}

// Asks reports whether the tree asks for a value of a field, though not below a
// [Not].
func Asks(n Node, field Field, value string) bool {
	switch n := n.(type) {
	case And:
		return slices.ContainsFunc(n, func(n Node) bool { return Asks(n, field, value) })
	case Or:
		return slices.ContainsFunc(n, func(n Node) bool { return Asks(n, field, value) })
	case Is:
		return n == Is{field, value}
	}
	return false
}

// Texts returns the words that the tree asks for, though not those below a [Not],
// in order.
func Texts(n Node) []Text {
	switch n := n.(type) {
	case And:
		return textsOf(n)
	case Or:
		return textsOf(n)
	case Text:
		return []Text{n}
	}
	return nil
}

func textsOf(nodes []Node) (texts []Text) {
	for _, n := range nodes {
		texts = append(texts, Texts(n)...)
	}
	return texts
}
