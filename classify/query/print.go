package query

import (
	"strings"
	"time"
	"unicode"
)

// String implements [Node].
func (n And) String() string {
	parts := make([]string, len(n))
	for i, inner := range n {
		parts[i] = inner.String()
		if _, is := inner.(Or); is {
			parts[i] = "(" + parts[i] + ")"
		}
	}
	return strings.Join(parts, " ")
}

// String implements [Node].
func (n Or) String() string {
	if len(n) == 0 {
		return "()" // users cannot type it, and it must not be read as "no condition"
	}
	parts := make([]string, len(n))
	for i, inner := range n {
		parts[i] = inner.String()
	}
	return strings.Join(parts, " OR ")
}

// String implements [Node].
func (n Not) String() string {
	s := n.Node.String()
	switch inner := n.Node.(type) {
	case Text:
		if inner.Form == Phrase || !strings.ContainsFunc(s, unicode.IsSpace) {
			return "-" + s
		}
	case FieldEquals:
		return "-" + s
	case TimeRange:
		if inner.From.IsZero() || inner.Until.IsZero() {
			return "-" + s
		}
	}
	return "-(" + s + ")"
}

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

// stamp formats a time as briefly as possible.
func stamp(t time.Time) string {
	t = t.UTC()
	if t.Equal(t.Truncate(24 * time.Hour)) {
		return t.Format(time.DateOnly)
	}
	return t.Format(time.RFC3339Nano)
}

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
