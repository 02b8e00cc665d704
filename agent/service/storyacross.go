package service

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"feedmesh/agent/wire"
	"feedmesh/classify/query"
	"feedmesh/classify/story/across"
	"feedmesh/storage"
)

const (
	// acrossTimeout bounds the search for stories in another language: without an answer in time a story has no links.
	acrossTimeout = 300 * time.Millisecond

	// acrossReach is the longest time between a story and an item of the linked one.
	acrossReach = 72 * time.Hour

	// Of a story, acrossTitles are compared; acrossWords words are searched for; of acrossCandidates stories at most
	// acrossLinks are linked.
	acrossTitles     = 5
	acrossWords      = 12
	acrossCandidates = 40
	acrossLinks      = 3
)

// across returns stories in another language about the same happening, most similar first. items are the newest items
// of the story. Nothing is stored, so links are never stale. Failures of the index or the store are logged and yield
// no links, since a story is readable without them.
func (s *Stories) across(ctx context.Context, of storage.Story, items []storage.Item) []wire.StoryLink {
	if across.Other(of.Partition) == "" || s.Index == nil {
		return nil
	}
	within, cancel := context.WithTimeout(ctx, acrossTimeout)
	defer cancel()
	links, err := s.findAcross(within, of, acrossItems(of, items))
	if err != nil {
		s.Log.Debug("stories across languages unavailable", "story_id", of.ID, "err", err)
		return nil
	}
	return links
}

// acrossItems returns the items of a story that are compared: the headline's, then the newest with other titles.
func acrossItems(of storage.Story, items []storage.Item) (chosen []storage.Item) {
	add := func(i storage.Item) {
		same := func(other storage.Item) bool { return other.Title == i.Title }
		if i.Title != "" && len(chosen) < acrossTitles && !slices.ContainsFunc(chosen, same) {
			chosen = append(chosen, i)
		}
	}
	if at := slices.IndexFunc(items, func(i storage.Item) bool { return i.ID == of.Headline }); at >= 0 {
		add(items[at])
	}
	for _, i := range items {
		add(i)
	}
	return chosen
}

// findAcross searches candidates by the words of the items' titles, and compares them.
func (s *Stories) findAcross(ctx context.Context, of storage.Story, items []storage.Item) ([]wire.StoryLink, error) {
	var words []string
	titles := make([]across.Title, len(items))
	for n, i := range items {
		titles[n] = across.Read(i.Title, of.Partition)
		for _, w := range titles[n].SearchWords() {
			if len(words) < acrossWords && !slices.Contains(words, w) {
				words = append(words, w)
			}
		}
	}
	if len(words) == 0 {
		return nil, nil
	}
	language := across.Other(of.Partition)
	found, err := s.Index.Search(ctx, storage.Query{
		Where: query.And{
			query.FieldEquals{Field: query.Language, Value: language},
			query.TimeRange{From: of.FirstSeen.Add(-acrossReach), Until: of.LastSeen.Add(acrossReach)},
			query.Or(convert(words, func(w string) query.Node { return query.Text{In: query.Title, Words: w} })),
		},
		OnePerStory: true, Limit: acrossCandidates,
	})
	if err != nil || len(found.Hits) == 0 || found.Fuzzy {
		return nil, err
	}
	candidates, err := s.Store.Items(ctx, convert(found.Hits, func(h storage.Hit) string { return h.ID })...)
	if err != nil {
		return nil, err
	}
	stories, err := s.Store.StoriesByID(ctx, convert(candidates, func(i storage.Item) string { return i.StoryID })...)
	if err != nil {
		return nil, err
	}
	own, err := s.Store.Items(ctx, convert(items, func(i storage.Item) string { return i.ID })...) // with their HTML
	if err != nil {
		return nil, err
	}
	return linksAcross(titles, pagesOf(own), candidates, stories, language), nil
}

// linksAcross compares titles with candidates and returns the most similar stories. pages are those that the story's
// texts link to, stories the summaries of the candidates' stories.
func linksAcross(titles []across.Title, pages map[string]bool, candidates []storage.Item, stories map[string]storage.Story, language string) []wire.StoryLink {
	type link struct {
		wire.StoryLink
		odds float64
	}
	var links []link
	seen := map[string]bool{}
	for _, c := range candidates {
		if c.StoryID == "" || seen[c.StoryID] || c.Language != language {
			continue
		}
		seen[c.StoryID] = true
		compare := across.Compare
		if sharesPage(pages, c) {
			compare = across.CompareLinked
		}
		made := link{StoryLink: wire.StoryLink{ID: c.StoryID, Language: language, Title: c.Title, Items: 1, LastSeen: c.Time()}}
		theirs := []across.Title{across.Read(c.Title, language)}
		if summary, ok := stories[c.StoryID]; ok {
			made.Title, made.Items, made.LastSeen = summary.Title, summary.Items, summary.LastSeen
			theirs = append(theirs, across.Read(summary.Title, language))
		}
		for _, a := range titles {
			for _, b := range theirs {
				if m := compare(a, b); m.Same && (made.Why == "" || m.Odds > made.odds) {
					made.odds, made.Why = m.Odds, "both name "+strings.Join(m.Shared[:min(5, len(m.Shared))], ", ")
				}
			}
		}
		if made.Why != "" {
			links = append(links, made)
		}
	}
	slices.SortStableFunc(links, func(a, b link) int { return cmp.Or(cmp.Compare(b.odds, a.odds), cmp.Compare(a.ID, b.ID)) })
	return convert(links[:min(acrossLinks, len(links))], func(l link) wire.StoryLink { return l.StoryLink })
}

// maxPages bounds the links of an item that are read.
const maxPages = 50

// pagesOf returns the pages of other sites that items link to.
func pagesOf(items []storage.Item) map[string]bool {
	pages := map[string]bool{}
	for _, i := range items {
		eachPage(i, func(page string) bool { pages[page] = true; return false })
	}
	return pages
}

// sharesPage reports whether an item links to one of the pages.
func sharesPage(pages map[string]bool, i storage.Item) (shares bool) {
	if len(pages) > 0 {
		eachPage(i, func(page string) bool { shares = pages[page]; return shares })
	}
	return shares
}

// eachPage calls a function with host and path of the links of an item's HTML to pages of other sites, until it
// returns true. Start pages are no pages.
func eachPage(i storage.Item, stop func(page string) bool) {
	own := query.Hosts(i.URL)
	rest := i.HTML
	for range maxPages {
		_, after, found := strings.Cut(rest, `href="`)
		if !found {
			return
		}
		address, next, _ := strings.Cut(after, `"`)
		rest = next
		u, err := url.Parse(address)
		if err != nil || len(strings.Trim(u.Path, "/")) < 4 {
			continue
		}
		hosts := query.Hosts(address)
		if len(hosts) == 0 || len(own) > 0 && slices.Contains(hosts, own[len(own)-1]) {
			continue
		}
		if stop(hosts[0] + strings.TrimSuffix(u.Path, "/")) {
			return
		}
	}
}
