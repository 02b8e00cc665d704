package output

import (
	"cmp"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
	"time"

	"feedmesh/storage"
)

// A story is the part of the API's story that is shown.
type story struct {
	ID         string    `json:"id"`
	Title      string    `json:"title"`
	URL        string    `json:"url"`
	Publishers []string  `json:"publishers"`
	Items      int       `json:"items"`
	Sources    int       `json:"sources"`
	Categories []string  `json:"categories"`
	Topics     []string  `json:"topics"`
	FirstSeen  time.Time `json:"first_seen"`
	LastSeen   time.Time `json:"last_seen"`
}

// stories returns the stories of several publishers.
func (o *outputs) stories(r *http.Request, query url.Values) (document, error) {
	var page struct {
		Stories []story `json:"stories"`
	}
	d := document{Title: "feedmesh: stories", Description: "Stories covered by several publishers.", Home: baseURL(r) + "/stories"}
	if len(r.URL.RawQuery) > 0 {
		d.Home += "?" + r.URL.Query().Encode()
	}
	if err := o.callREST(r, "/api/stories", query, &page); err != nil {
		return d, err
	}
	for _, s := range page.Stories {
		coverage := fmt.Sprintf("%d items from %d publishers", s.Items, s.Sources)
		if len(s.Publishers) > 0 {
			coverage += ", including " + strings.Join(s.Publishers, ", ")
		}
		d.add(entry{ID: urn("story", s.ID), URL: storage.WebURL(s.URL), Title: cmp.Or(s.Title, "Untitled"), Author: cmp.Or(append(s.Publishers, "feedmesh")...),
			Summary: coverage, HTML: "<p>" + html.EscapeString(coverage) + "</p>", Published: s.FirstSeen, Updated: s.LastSeen,
			Tags: append(s.Categories, s.Topics...)})
	}
	return d, nil
}
