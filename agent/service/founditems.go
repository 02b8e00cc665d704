package service

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"feedmesh/agent/role/cluster/placement"
	"feedmesh/agent/wire"
	"feedmesh/classify/query"
	"feedmesh/classify/story"
	"feedmesh/classify/text"
	"feedmesh/classify/unique"
	"feedmesh/storage"
)

// passageLength is the length of the passage of an item's text in a search, in characters.
const passageLength = 240

// foundItems returns the stored items of the hits, in the same order. Items removed since they were indexed
// are skipped.
func (s *Search) foundItems(ctx context.Context, hits []storage.Hit, titles func(string) string, m *highlighter, texts map[string]string) ([]wire.FoundItem, error) {
	ids := make([]string, len(hits))
	scores := make(map[string]float64, len(hits))
	for i, h := range hits {
		ids[i], scores[h.ID] = h.ID, h.Score
	}
	items, err := s.Store.Items(ctx, ids...)
	if err != nil {
		return nil, fmt.Errorf("read the items found: %w", err)
	}
	coverage, err := s.coverage(ctx, items)
	if err != nil {
		return nil, err
	}
	found := make([]wire.FoundItem, len(items))
	for i, item := range items {
		plain := text.PlainText(item.HTML)
		item.HTML = ""
		if texts != nil {
			texts[item.ID] = plain
		}
		found[i] = wire.FoundItem{
			Item: item, FeedTitle: titles(item.FeedID), Score: scores[item.ID],
			TitleSpans: highlight(item.Title, m, len(item.Title)),
			TextSpans:  highlight(plain, m, passageLength),
			Coverage:   coverage[item.StoryID],
		}
	}
	return found, nil
}

// highlight returns the part of a text with the most matching words.
func highlight(plain string, m *highlighter, max int) []wire.Span {
	var spans []wire.Span
	for _, s := range text.Highlight(plain, m.matcher(plain), max) {
		spans = append(spans, wire.Span(s))
	}
	return spans
}

// coverage returns the coverage of the items' stories by story ID; stories of a single publisher are absent.
func (s *Search) coverage(ctx context.Context, items []storage.Item) (map[string]*wire.StoryCoverage, error) {
	var ids []string
	for _, item := range items {
		if item.StoryID != "" {
			ids = append(ids, item.StoryID)
		}
	}
	stories, err := s.Store.StoriesByID(ctx, ids...)
	if err != nil {
		return nil, fmt.Errorf("read the stories of the results: %w", err)
	}
	coverage := make(map[string]*wire.StoryCoverage, len(stories))
	for id, story := range stories {
		coverage[id] = &wire.StoryCoverage{Items: story.Items, Sources: story.Sources}
	}
	return coverage, nil
}

// A highlighter finds the words of a text that match a query.
type highlighter struct {
	stems    map[string]bool
	prefixes []string     // of prefix terms
	fuzzy    []query.Word // matched with typing errors
}

// newHighlighter returns a highlighter for a query; nearly allows typing errors.
func newHighlighter(where query.Node, nearly bool) *highlighter {
	m := &highlighter{stems: map[string]bool{}}
	for _, t := range query.Texts(where) {
		words := t.QueryWords()
		for i, w := range words {
			m.stems[w.Stem] = true
			goesOn := t.Form == query.Prefix && i == len(words)-1
			if nearly && t.Form != query.Phrase && !goesOn && query.MaxEdits(w.Text) > 0 {
				m.fuzzy = append(m.fuzzy, w)
			}
		}
		if t.Form == query.Prefix {
			begin, ends := query.PrefixStems(t.Words)
			m.prefixes = append(m.prefixes, begin)
			for _, stem := range ends {
				m.stems[stem] = true
			}
		}
	}
	return m
}

// matcher returns a function that reports whether a word of the text s matches.
func (m *highlighter) matcher(s string) func(text.Word) bool {
	if len(m.stems) == 0 {
		return func(text.Word) bool { return false }
	}
	var hits []query.Word
	matched := map[string]bool{}
	for _, w := range query.Words(s) {
		is, seen := matched[w.Stem]
		if !seen {
			is = m.matches(w.Stem)
			matched[w.Stem] = is
		}
		if is {
			hits = append(hits, w)
		}
	}
	// In languages indexed by pairs of characters, a character matches with every pair that contains it.
	return func(w text.Word) bool {
		i, _ := slices.BinarySearchFunc(hits, w.Start, func(hit query.Word, start int) int { return cmp.Compare(hit.End, start+1) })
		return i < len(hits) && hits[i].Start < w.End
	}
}

func (m *highlighter) matches(stem string) bool {
	return m.stems[stem] ||
		slices.ContainsFunc(m.prefixes, func(begin string) bool { return strings.HasPrefix(stem, begin) }) ||
		slices.ContainsFunc(m.fuzzy, func(w query.Word) bool { return query.WithinEdits(w.Stem, stem, query.MaxEdits(w.Text)) })
}

// A cursor is a position in search results. All pages are evaluated at the time of the first: "age:<2d" and
// freshness count from it.
type cursor struct {
	at      time.Time // whole minutes
	engine  string    // cursor of the index or the store; empty: the first page
	byStore bool
}

// maxSkew is the tolerated clock difference of nodes that serve pages of one search.
const maxSkew = time.Hour

func (c cursor) String() string {
	if c.engine == "" {
		return ""
	}
	kind := ""
	if c.byStore {
		kind = wire.ByStore
	}
	return strconv.FormatInt(c.at.Unix()/60, 36) + "." + kind + "." + c.engine
}

// readCursor parses a cursor; an empty cursor starts a search now. It returns [storage.ErrBadCursor] if it is
// invalid.
func readCursor(s string, now time.Time) (cursor, error) {
	if s == "" {
		return cursor{at: now.UTC().Truncate(time.Minute)}, nil
	}
	at, rest, _ := strings.Cut(s, ".")
	kind, engine, _ := strings.Cut(rest, ".")
	minutes, err := strconv.ParseInt(at, 36, 32)
	c := cursor{at: time.Unix(minutes*60, 0).UTC(), engine: engine, byStore: kind == wire.ByStore}
	if err != nil || minutes < 0 || c.at.After(now.Add(maxSkew)) || engine == "" || kind != "" && kind != wire.ByStore {
		return cursor{}, storage.ErrBadCursor
	}
	return c, nil
}

// digest returns sentences of different publishers that summarize the results of a search with words; plain is the text
// of each by item ID. A sentence has one of the words.
func digest(items []wire.FoundItem, plain map[string]string, where query.Node) []wire.Quote {
	words := newHighlighter(where, false)
	if len(words.stems) == 0 && len(words.prefixes) == 0 {
		return nil
	}
	var subject []string
	for _, text := range query.Texts(where) {
		subject = append(subject, text.Words)
	}
	documents := make([]story.Document, len(items))
	byID := map[string]wire.FoundItem{}
	for i, item := range items {
		byID[item.ID] = item
		documents[i] = story.Document{
			ItemID: item.ID, Title: item.Title, Text: plain[item.ID], Language: item.Language, Source: placement.Publisher(item.Item), Duplicate: item.DuplicateOf != "",
		}
	}
	about := func(sentence string) bool {
		return slices.ContainsFunc(query.Words(sentence), func(w query.Word) bool { return words.matches(w.Stem) })
	}
	var quotes []wire.Quote
	for _, line := range story.Digest(documents, strings.Join(subject, " "), about) {
		item := byID[line.ItemID]
		quotes = append(quotes, wire.Quote{Text: line.Text, Item: briefOf(item.Item, func(string) string { return item.FeedTitle })})
	}
	return quotes
}

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
