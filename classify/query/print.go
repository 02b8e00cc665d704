package query

import (
	"strings"
	"time"
	"unicode"

	"feedmesh/classify/expression"
)

var notation = &expression.Notation{And: " ", Or: " OR ", Not: "-", IsSeveral: func(n Node) bool {
	switch n := n.(type) {
	case Text:
		return n.Form != Phrase && strings.ContainsFunc(n.String(), unicode.IsSpace)
	case TimeRange:
		return !n.From.IsZero() && !n.Until.IsZero()
	}
	return false
}}

// Notation implements [expression.Leaf].
func (Text) Notation() *expression.Notation { return notation }

// Notation implements [expression.Leaf].
func (FieldEquals) Notation() *expression.Notation { return notation }

// Notation implements [expression.Leaf].
func (TimeRange) Notation() *expression.Notation { return notation }

// Notation implements [expression.Leaf].
func (ItemSet) Notation() *expression.Notation { return notation }

// String implements [Node].
func (n Text) String() string {
	field := ""
	if n.In != Anywhere {
		field = string(n.In) + ":"
	}
	if n.Form == Phrase {
		return field + quote(n.Words)
	}
	words := strings.Fields(n.Words)
	for i := range words {
		words[i] = field + words[i]
	}
	s := strings.Join(words, " ")
	if n.Form == Prefix {
		s += "*"
	}
	return s
}

// String implements [Node].
func (n FieldEquals) String() string {
	value := n.Value
	if value == "" || strings.ContainsAny(value, `"()`) || strings.ContainsFunc(value, unicode.IsSpace) {
		value = quote(value)
	}
	return string(n.Field) + ":" + value
}

// String implements [Node].
func (n TimeRange) String() string {
	var parts []string
	if !n.From.IsZero() {
		parts = append(parts, "after:"+stamp(n.From))
	}
	if !n.Until.IsZero() {
		parts = append(parts, "before:"+stamp(n.Until))
	}
	return strings.Join(parts, " ")
}

// String implements [Node].
func (n ItemSet) String() string { return n.Of.String() }

// stamp formats a time as briefly as possible.
func stamp(t time.Time) string {
	t = t.UTC()
	if t.Equal(t.Truncate(24 * time.Hour)) {
		return t.Format(time.DateOnly)
	}
	return t.Format(time.RFC3339Nano)
}

func quote(s string) string { return expression.Quote(s, `"`) }
