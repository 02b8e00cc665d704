package classify

import (
	"fmt"

	"feedmesh/classify/query"
	"feedmesh/classify/rule"
)

// maxQueries bounds the query scopes of a set, because each document is matched against each of them.
const maxQueries = 64

// A scopeQuery is the query that selects the documents of a section.
type scopeQuery struct {
	where   query.Node
	section int32
}

// normalizeScope returns the form in which scopes are compared: tags are folded like values.
func normalizeScope(s rule.Scope) rule.Scope {
	switch s.Kind {
	case rule.Everywhere:
		s.Value = ""
	case rule.FeedTag:
		s.Value = folded(s.Value)
	}
	return s
}

// query adds the query scope of a rule for a section.
func (c *compiler) query(r *rule.Rule, section int32) {
	where, err := query.ParseScope(r.Scope.Value)
	switch {
	case err != nil:
		c.report(r.Pos, "the scope of the rule is not a valid query: "+err.Error())
	case len(c.queries) == maxQueries:
		c.report(r.Pos, fmt.Sprintf("a set has at most %d query scopes: merge scopes, or use feed-tag: and feed:", maxQueries))
	}
	c.queries = append(c.queries, scopeQuery{where, section})
}

// activateQueries activates the sections whose query matches the document.
func (f *evaluation) activateQueries(d *Document) {
	if len(f.rules.queries) == 0 {
		return
	}
	document := d.queryDocument()
	for _, q := range f.rules.queries {
		if query.Matches(q.where, document) {
			f.activateSection(q.section)
		}
	}
}

// queryDocument returns the fields that scope queries use. Its words are split when a query first needs them.
func (d *Document) queryDocument() *query.Document {
	return &query.Document{
		Title: d.Title, Author: d.Author, Text: d.Text, Tags: d.Tags[:min(len(d.Tags), maxTags)],
		Feed: d.FeedID, Language: folded(d.Language), URL: d.URL, Published: d.Published,
	}
}
