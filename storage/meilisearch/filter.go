package meilisearch

import (
	"fmt"
	"strings"
)

// A condition is one that documents must meet. It is only made by compare,
// which alone writes values into it.
type condition struct{ expression string }

// compare returns the condition that an attribute is =, <, <=, > or >= value.
// Meilisearch ignores case, but expects the bounds of a range in small letters.
func compare(a attribute, operator, value string) condition {
	value = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(strings.ToLower(value))
	return condition{fmt.Sprintf(`%s %s "%s"`, a, operator, value)}
}

// not returns the condition that another is not met, as by documents that have no
// such attribute. The operator != finds nothing where no document has it.
func not(c condition) condition { return condition{"NOT " + c.expression} }

// both returns the condition that both others are met.
func both(a, b condition) condition {
	return condition{a.expression + " AND " + b.expression}
}

// A filter is conditions that documents must meet, all of them, or of those
// that are listed together, one.
type filter [][]condition

// add adds conditions of which one must be met.
func (f *filter) add(oneOf ...condition) { *f = append(*f, oneOf) }

// request returns the filter in the form of a request.
func (f filter) request() any {
	all := make([][]string, len(f))
	for i, oneOf := range f {
		for _, c := range oneOf {
			all[i] = append(all[i], c.expression)
		}
	}
	return all
}
