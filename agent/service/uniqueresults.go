package service

import (
	"cmp"
	"context"
	"fmt"

	"feedmesh/agent/wire"
	"feedmesh/classify/unique"
	"feedmesh/storage"
)

// maxRefills is the number of further searches for a page with hidden results.
const maxRefills = 4

// A searchedPage reads a page of results and hides those that are not unique enough.
type searchedPage struct {
	*Search
	percent int // 0: all are shown
	titles  func(feedID string) string
	plain   map[string]string // texts of the results, by item ID
}

// uniqueness returns the percentage from which a search hides results: its own, or that of the node. A search that
// includes duplicates shows them unless it states a percentage.
func (s *Search) uniqueness(q wire.Search) int {
	if q.Duplicates {
		return q.Unique
	}
	return cmp.Or(q.Unique, s.Unique)
}

// read returns the page with its items, and the results of the first search.
func (p *searchedPage) read(ctx context.Context, q storage.Query, c cursor) (wire.SearchResults, storage.Results, error) {
	p.plain = map[string]string{}
	found, first, err := p.find(ctx, q, c)
	if err != nil {
		return found, first, err
	}
	list, limit, results := &unique.List{Percent: float64(p.percent)}, q.PageSize(), first
	items := []wire.FoundItem{}
	for refills := 0; ; refills++ {
		some, err := p.foundItems(ctx, results.Hits, p.titles, newHighlighter(q.Where, results.Fuzzy), p.plain)
		if err != nil {
			return found, first, err
		}
		shown, hidden := p.hide(list, some)
		items, found.Hidden = append(items, shown...), append(found.Hidden, hidden...)
		if len(hidden) == 0 || found.Next == "" || refills == maxRefills {
			break
		}
		q.Limit, q.Facets = limit-len(items), false
		next, err := readCursor(found.Next, p.Now())
		if err != nil {
			return found, first, err
		}
		q.Cursor = next.engine
		more, moreResults, err := p.find(ctx, q, next)
		if err != nil {
			return found, first, err
		}
		results, found.Next = moreResults, more.Next
	}
	found.Items = items
	return found, first, nil
}

// hide separates the items that are unique enough from the others.
func (p *searchedPage) hide(list *unique.List, items []wire.FoundItem) (shown []wire.FoundItem, hidden []wire.HiddenItem) {
	if p.percent == 0 {
		return items, nil
	}
	for _, item := range items {
		repeat, repeats := list.Add(item.ID, item.Title+"\n"+p.plain[item.ID], item.Language)
		if !repeats {
			shown = append(shown, item)
			continue
		}
		hidden = append(hidden, wire.HiddenItem{
			ID: item.ID, Title: item.Title, URL: item.URL, Of: repeat.Of, Percent: repeat.Percent,
			Why: fmt.Sprintf("%.0f %% of the runs of %d words are the same", repeat.Percent, repeat.Words),
		})
	}
	return shown, hidden
}
