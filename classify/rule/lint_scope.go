package rule

import "feedmesh/classify/query"

// scopes warns of scopes without rules, and of queries that say what is said already.
func (l *linter) scopes() {
	first := make(map[Scope]scoped) // queries, by file
	file := ""
	for _, s := range l.set.scopes {
		if s.pos.File != file {
			file = s.pos.File
			clear(first)
		}
		if s.Kind != Everywhere && s.rules == 0 {
			l.warn(s.pos, "no rule follows %q: write one, or remove the line", s.Scope)
			continue
		}
		if s.Kind != Query {
			continue
		}
		if at, ok := first[s.Scope]; ok {
			l.warn(s.pos, "the scope is that of %s again: put the rules of both together", at.pos)
			continue
		}
		first[s.Scope] = s
		if feed := onlyFeed(s.Value); feed != "" {
			l.warn(s.pos, "%q says the same, and costs nothing", Scope{Feed, feed})
		}
	}
}

// onlyFeed returns the feed that is all that a query asks for, or "".
func onlyFeed(text string) string {
	where, err := query.ParseScope(text)
	if is, ok := where.(query.Is); err == nil && ok && is.Field == query.Feed {
		return is.Value
	}
	return ""
}
