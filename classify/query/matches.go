package query

import (
	"slices"
	"strings"

	"feedmesh/classify/expression"
)

// Matches reports whether an item matches the tree; nil matches all. Spam, duplicates and muted items are not
// excluded; the caller excludes them if required.
func Matches(n Node, d *Document) bool { return d.matches(n, false) }

// MatchesFuzzy is [Matches] with typos allowed in words, as many as [MaxEdits] returns, except in phrases, in
// the last word of a [Prefix], and below a [Not].
func MatchesFuzzy(n Node, d *Document) bool { return d.matches(n, true) }

func (d *Document) matches(n Node, nearly bool) bool {
	return expression.Holds(n, func(n Node, negated bool) bool {
		switch n := n.(type) {
		case Text:
			return d.part(n.In).has(n, nearly && !negated)
		case FieldEquals:
			return d.fieldEquals(n)
		case ItemSet:
			return slices.Contains(n.IDs, d.ID)
		case TimeRange:
			return (n.From.IsZero() || !d.Published.Before(n.From)) && (n.Until.IsZero() || d.Published.Before(n.Until))
		}
		return false
	})
}

func (d *Document) fieldEquals(n FieldEquals) bool {
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

// SelectsValue reports whether the tree contains the condition field:value outside of [Not].
func SelectsValue(n Node, field Field, value string) bool {
	for n, negations := range expression.Walk(n) {
		if is, ok := n.(FieldEquals); ok && negations == 0 && is == (FieldEquals{field, value}) {
			return true
		}
	}
	return false
}

// HasItemSet reports whether the tree contains an [ItemSet].
func HasItemSet(n Node) bool {
	for n := range expression.Walk(n) {
		if _, is := n.(ItemSet); is {
			return true
		}
	}
	return false
}

// Texts returns the word conditions outside of [Not], in order.
func Texts(n Node) (texts []Text) {
	for n, negations := range expression.Walk(n) {
		if t, is := n.(Text); is && negations == 0 {
			texts = append(texts, t)
		}
	}
	return texts
}
