package meilisearch

import (
	"fmt"
	"strings"
	"time"

	"feedmesh/classify/query"
	"feedmesh/storage"
)

// A condition is a filter expression; documents satisfy the zero condition always. compare is the only
// function that writes values into it, to prevent injection.
type condition struct{ expression string }

// compare returns the condition that an attribute is =, <, <=, > or >= value. Meilisearch ignores case, but
// expects range bounds in lower case.
func compare(a attribute, operator, value string) condition {
	value = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(strings.ToLower(value))
	return condition{fmt.Sprintf(`%s %s "%s"`, a, operator, value)}
}

// among returns the condition that a document has one of the IDs.
func among(ids []string) condition {
	if len(ids) == 0 {
		return never
	}
	return condition{fmt.Sprintf(`%s IN ["%s"]`, attrID, strings.Join(ids, `", "`))} // IDs are letters and digits
}

// never is the condition that no document satisfies: no ID contains a star.
var never = compare(attrID, "=", "*")

// not returns the negation of a condition, which documents without the attribute satisfy. The operator !=
// matches nothing if no document has the attribute.
func not(c condition) condition {
	if c.expression == "" {
		return never
	}
	return condition{"NOT (" + c.expression + ")"}
}

// allOf returns the conjunction of conditions.
func allOf(conditions ...condition) condition {
	var all []string
	for _, c := range conditions {
		if c.expression != "" {
			all = append(all, "("+c.expression+")")
		}
	}
	return condition{strings.Join(all, " AND ")}
}

// oneOf returns the disjunction of conditions.
func oneOf(conditions ...condition) condition {
	var all []string
	for _, c := range conditions {
		if c.expression == "" {
			return c
		}
		all = append(all, "("+c.expression+")")
	}
	if all == nil {
		return never
	}
	return condition{strings.Join(all, " OR ")}
}

// request returns the condition in the form of a request.
func (c condition) request() any {
	if c.expression == "" {
		return nil
	}
	return c.expression
}

// conditionOf returns the condition of a tree without words.
func conditionOf(n query.Node) condition {
	switch n := n.(type) {
	case query.And:
		return allOf(conditionsOf(n)...)
	case query.Or:
		return oneOf(conditionsOf(n)...)
	case query.Not:
		return not(conditionOf(n.Node))
	case query.FieldEquals:
		return is(n)
	case query.ItemSet:
		return among(n.IDs)
	case query.TimeRange:
		return published(n.From, n.Until)
	}
	return condition{}
}

func conditionsOf(nodes []query.Node) []condition {
	conditions := make([]condition, len(nodes))
	for i, n := range nodes {
		conditions[i] = conditionOf(n)
	}
	return conditions
}

// is returns the condition that a field has a value. Values are lower case except topics; Meilisearch ignores
// case and surrounding spaces.
func is(n query.FieldEquals) condition {
	if n.Value != strings.TrimSpace(n.Value) || n.Field != query.Topic && n.Value != strings.ToLower(n.Value) {
		return never
	}
	switch n.Field {
	case query.Feed:
		return compare(attrFeed, "=", n.Value)
	case query.Category:
		return compare(attrCategory, "=", n.Value)
	case query.Topic:
		return compare(attrTopic, "=", n.Value)
	case query.Language:
		return compare(attrLanguage, "=", n.Value)
	case query.Host:
		return compare(attrHosts, "=", n.Value)
	case query.Story:
		return compare(attrStory, "=", n.Value)
	case query.Flag:
		return flagged(n.Value)
	}
	return never
}

// flagged returns the condition that an item has a flag.
func flagged(flag string) condition {
	switch flag {
	case storage.FlagSpam:
		return compare(attrSpam, "=", "true")
	case storage.FlagDuplicate:
		return compare(attrDuplicate, "=", "true")
	}
	return compare(attrFlag, "=", flag)
}

// published returns the condition that an item was published at or after from and before until. A zero time
// is no bound.
func published(from, until time.Time) condition {
	var since, before condition
	if !from.IsZero() {
		since = compare(attrPublished, ">=", timeOf(from))
	}
	if !until.IsZero() {
		before = compare(attrPublished, "<", timeOf(until))
	}
	return allOf(since, before)
}

// found returns the condition of the query besides its tree.
func found(q storage.Query) condition {
	var all []condition
	for _, flag := range []string{storage.FlagSpam, storage.FlagDuplicate, storage.FlagMuted} {
		if !q.IncludesFlag(flag) {
			all = append(all, not(flagged(flag)))
		}
	}
	if q.Spam {
		all = append(all, flagged(storage.FlagSpam))
	}
	return allOf(all...)
}
