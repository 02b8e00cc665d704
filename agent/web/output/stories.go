package output

import (
	"cmp"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"feedmesh/agent/syndication"
	"feedmesh/agent/web/problem"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// stories returns the stories of several publishers.
func (o *outputs) stories(r *http.Request, query url.Values) (syndication.Document, error) {
	d := syndication.Document{Title: "feedmesh: stories", Description: "Stories covered by several publishers.", Home: BaseURL(r) + "/stories"}
	if len(r.URL.RawQuery) > 0 {
		d.Home += "?" + r.URL.Query().Encode()
	}
	in, err := firstPage[wire.StorySearch](query)
	if err != nil {
		return d, err
	}
	page, err := o.Stories.List(r.Context(), in)
	if err != nil {
		return d, problem.Of(err, o.Log)
	}
	for _, s := range page.Stories {
		coverage := fmt.Sprintf("%d items from %d publishers", s.Items, s.Sources)
		if len(s.Publishers) > 0 {
			coverage += ", including " + strings.Join(s.Publishers, ", ")
		}
		d.Add(syndication.Entry{ID: syndication.URN("story", s.ID), URL: storage.WebURL(s.URL), Title: cmp.Or(s.Title, "Untitled"), Author: cmp.Or(slices.Concat(s.Publishers, []string{"feedmesh"})...),
			Summary: coverage, HTML: "<p>" + html.EscapeString(coverage) + "</p>", Published: s.FirstSeen, Updated: s.LastSeen,
			Tags: slices.Concat(s.Categories, s.Topics)})
	}
	return d, nil
}
