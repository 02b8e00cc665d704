package classify

import (
	"fmt"

	"feedmesh/classify/query"
	"feedmesh/classify/rule"
)

// maxQueries is how many scopes of a set may be queries, as each document is held
// against each of them.
const maxQueries = 64

// A scopeQuery says of which items the rules of a section are.
type scopeQuery struct {
	where   query.Node
	section int32
}

// key is how scopes are compared: tags as values are.
func key(s rule.Scope) rule.Scope {
	switch s.Kind {
	case rule.Everywhere:
		s.Value = ""
	case rule.FeedTag:
		s.Value = folded(s.Value)
	}
	return s
}

// query makes the scope of a rule, which is a query, that of a section.
func (c *compiler) query(r *rule.Rule, section int32) {
	where, err := query.ParseScope(r.Scope.Value)
	switch {
	case err != nil:
		c.fault(r.Pos, "the scope of the rule is no query: "+err.Error())
	case len(c.queries) == maxQueries:
		c.fault(r.Pos, fmt.Sprintf("the rule is the first of a scope that is one query too many: a set has %d at most, so put rules together, or use feed-tag: and feed:", maxQueries))
	}
	c.queries = append(c.queries, scopeQuery{where, section})
}

// ask lets the sections take part whose queries ask for the document.
func (f *firing) ask(d *Document) {
	if len(f.rules.queries) == 0 {
		return
	}
	asked := d.asked()
	for _, q := range f.rules.queries {
		if query.Matches(q.where, asked) {
			f.join(q.section)
		}
	}
}

// asked returns what of the document the queries of scopes ask for. Its words are
// split when a query first asks for words.
func (d *Document) asked() *query.Document {
	return &query.Document{
		Title: d.Title, Author: d.Author, Text: d.Text, Tags: d.Tags[:min(len(d.Tags), maxTags)],
		Feed: d.FeedID, Language: folded(d.Language), URL: d.URL, Published: d.Published,
	}
}
