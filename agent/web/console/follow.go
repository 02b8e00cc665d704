package console

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"feedmesh/agent/service"
	"feedmesh/agent/web/locale"
	"feedmesh/agent/web/output"
)

// A follow contains the output URLs of a search or list.
type follow struct {
	RSS, Atom, JSON string // URLs for feed readers
	View            string // URL of the editor with a view of what is found; empty for other lists
}

// follow returns the output URLs of the search's first page, without prefix matching of a word being typed.
func (s state) follow() *follow {
	values := s.output()
	f := followed("search", values)
	f.View = viewEditor("my-view", s["q"], values)
	return f
}

// viewEditor returns the URL of the editor with the view of a search, whose values are the parameters of GET /api/search.
func viewEditor(name, title string, values url.Values) string {
	return "/views/edit?" + url.Values{"definition": {service.ViewOfSearch(name, title, values).String()}}.Encode()
}

// follow returns the output URLs of the list of stories.
func (l listing) follow() *follow {
	values := url.Values{}
	for _, name := range []string{"language", "category", "topic", "sort"} {
		if l[name] != "" {
			values.Set(name, l[name])
		}
	}
	return followed("stories", values)
}

func followed(what string, values url.Values) *follow {
	address := func(format string) string {
		return strings.TrimSuffix(output.Path+what+"."+format+"?"+values.Encode(), "?")
	}
	return &follow{RSS: address("rss"), Atom: address("atom"), JSON: address("json")}
}

// output returns the state as parameters of GET /api/search. Relative times become part of the query.
func (s state) output() url.Values {
	values := url.Values{}
	for _, name := range []string{"category", "topic", "feed", "language", "unique", "semantic", "sort"} {
		if s[name] != "" {
			values.Set(name, s[name])
		}
	}
	q := s["q"]
	switch days := daysOf[s["time"]]; {
	case s["day"] != "":
		after, before := s.between(time.Time{})
		values.Set("after", after.Format(time.RFC3339))
		values.Set("before", before.Format(time.RFC3339))
	case days > 0 && q != "":
		q = fmt.Sprintf("(%s) age:<%dd", q, days)
	case days > 0:
		q = fmt.Sprintf("age:<%dd", days)
	}
	if q != "" {
		values.Set("q", q)
	}
	switch s["show"] {
	case "":
		if s.once() {
			values.Set("once", "true")
		}
	case "spam", "duplicates":
		values.Set(s["show"], "true")
	default:
		values.Set("duplicates", "true")
		values.Set("flag", s["show"])
	}
	return values
}

// links returns the formats as links for the page's head.
func (f *follow) links(title locale.Text) []feedLink {
	return []feedLink{
		{Title: locale.T("%s (Atom)", title), Kind: "application/atom+xml", URL: f.Atom},
		{Title: locale.T("%s (RSS)", title), Kind: "application/rss+xml", URL: f.RSS},
		{Title: locale.T("%s (JSON Feed)", title), Kind: "application/feed+json", URL: f.JSON},
	}
}
