package rule

import "feedmesh/classify/query"

// scopes warns of scopes without rules and of redundant queries.
func (l *linter) scopes() {
	first := make(map[Scope]scopeLine) // queries, by file
	file := ""
	for _, s := range l.set.scopes {
		if s.pos.File != file {
			file = s.pos.File
			clear(first)
		}
		if s.Kind != Everywhere && s.rules == 0 {
			l.warn(s.pos, "no rule follows %q: add one, or remove the line", s.Scope)
			continue
		}
		if s.Kind != Query {
			continue
		}
		if at, ok := first[s.Scope]; ok {
			l.warn(s.pos, "the scope repeats %s: merge the rules of both", at.pos)
			continue
		}
		first[s.Scope] = s
		if feed := onlyFeed(s.Value); feed != "" {
			l.warn(s.pos, "use %q instead: it has the same effect at no cost", Scope{Feed, feed})
		}
	}
}

// onlyFeed returns the feed if the query consists of that condition alone, else "".
func onlyFeed(text string) string {
	where, err := query.ParseScope(text)
	if is, ok := where.(query.FieldEquals); err == nil && ok && is.Field == query.Feed {
		return is.Value
	}
	return ""
}
