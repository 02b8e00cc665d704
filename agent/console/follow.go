package console

import (
	"fmt"
	"net/url"
	"strings"
	"time"
)

// A follow is how a search is followed elsewhere.
type follow struct {
	RSS, Atom, JSON string // where it is served for feed readers
	Query           string // to save a search by, for this page and for feed readers; empty for other lists
	Title           string // that it may get
}

// outputsPath is where lists are served for feed readers, package output.
const outputsPath = "/outputs/"

// follow returns how the search is followed, on its first page and with its words
// as they are: nobody goes on typing in a feed reader.
func (s state) follow() *follow {
	values := s.output()
	f := followed("search", values)
	for _, name := range []string{"show", "day", "stories"} { // by which this page shows it again
		if s[name] != "" {
			values.Set(name, s[name])
		}
	}
	f.Query, f.Title = values.Encode(), s["q"]
	return f
}

// follow returns how the list of stories is followed.
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
		return strings.TrimSuffix(outputsPath+what+"."+format+"?"+values.Encode(), "?")
	}
	return &follow{RSS: address("rss"), Atom: address("atom"), JSON: address("json")}
}

// output returns the state as parameters of GET /api/search. Times that move on
// with the clock go into the query.
func (s state) output() url.Values {
	values := url.Values{}
	for _, name := range []string{"category", "topic", "feed", "language", "sort"} {
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

// links returns the formats, for the head of a page with the title.
func (f *follow) links(title string) []feedLink {
	return []feedLink{
		{Title: title + " (Atom)", Kind: "application/atom+xml", URL: f.Atom},
		{Title: title + " (RSS)", Kind: "application/rss+xml", URL: f.RSS},
		{Title: title + " (JSON Feed)", Kind: "application/feed+json", URL: f.JSON},
	}
}
