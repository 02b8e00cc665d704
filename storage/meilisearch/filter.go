package meilisearch

import (
	"fmt"
	"strings"
	"time"

	"feedmesh/classify/query"
	"feedmesh/storage"
)

// A condition is one that documents must meet; the zero condition, all do. It is
// only made by compare, which alone writes values into it, and of others.
type condition struct{ expression string }

// compare returns the condition that an attribute is =, <, <=, > or >= value.
// Meilisearch ignores case, but expects the bounds of a range in small letters.
func compare(a attribute, operator, value string) condition {
	value = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(strings.ToLower(value))
	return condition{fmt.Sprintf(`%s %s "%s"`, a, operator, value)}
}

// never is the condition that no document meets: no ID has a star.
var never = compare(attrID, "=", "*")

// not returns the condition that another is not met, as by documents that have no
// such attribute. The operator != finds nothing where no document has it.
func not(c condition) condition {
	if c.expression == "" {
		return never
	}
	return condition{"NOT (" + c.expression + ")"}
}

// allOf returns the condition that all of the conditions are met.
func allOf(conditions ...condition) condition {
	var all []string
	for _, c := range conditions {
		if c.expression != "" {
			all = append(all, "("+c.expression+")")
		}
	}
	return condition{strings.Join(all, " AND ")}
}

// oneOf returns the condition that one of the conditions is met.
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

// conditionOf returns the condition that a tree without words is.
func conditionOf(n query.Node) condition {
	switch n := n.(type) {
	case query.And:
		return allOf(conditionsOf(n)...)
	case query.Or:
		return oneOf(conditionsOf(n)...)
	case query.Not:
		return not(conditionOf(n.Node))
	case query.Is:
		return is(n)
	case query.Time:
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

// is returns the condition that a field has a value. All our values are in small
// letters but for topics, and Meilisearch would take others for the same, as well
// as those without the spaces around them.
func is(n query.Is) condition {
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

// flagged returns the condition that an item has a flag of a [query.Document].
func flagged(flag string) condition {
	switch flag {
	case storage.FlagSpam:
		return compare(attrSpam, "=", "true")
	case storage.FlagDuplicate:
		return compare(attrDuplicate, "=", "true")
	}
	return compare(attrFlag, "=", flag)
}

// published returns the condition that an item was published at or after from and
// before until. A zero time is no bound.
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

// found returns the condition that the query finds an item if its tree does.
func found(q storage.Query) condition {
	var all []condition
	for _, flag := range []string{storage.FlagSpam, storage.FlagDuplicate, storage.Muted} {
		if !q.Finds(flag) {
			all = append(all, not(flagged(flag)))
		}
	}
	if q.Spam {
		all = append(all, flagged(storage.FlagSpam))
	}
	return allOf(all...)
}
