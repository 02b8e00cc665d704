package meilisearch

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/classify/query"
	"feedmesh/storage"
	"feedmesh/storage/enginetest"
)

// commonWords are the words of generated queries and items; the list is short so that queries match.
var commonWords = strings.Fields("red blue car cars boat boating database datatype c++ 22 база базы данных данные 東京 東京都 京都 qu queen qa don't")

// someItems returns generated items with words of the list.
func someItems(r *rand.Rand, n int) []storage.IndexItem {
	some := func(n int) string {
		var all []string
		for range n {
			all = append(all, commonWords[r.IntN(len(commonWords))])
		}
		return strings.Join(all, " ")
	}
	items := words(make([]string, n)...)
	for i := range items {
		it := &items[i]
		it.ID = fmt.Sprintf("%03d", i)
		it.Title, it.Text, it.Author, it.Tags = some(r.IntN(4)), some(r.IntN(9)), some(r.IntN(2)), []string{some(1), some(2)}
		it.FeedID, it.Language = fmt.Sprint("feed", r.IntN(3)), []string{"en", "ru", ""}[r.IntN(3)]
		it.Categories, it.Topics = []string{fmt.Sprint("cat", r.IntN(3))}, []string{fmt.Sprint("topic", r.IntN(3))}
		it.URL = []string{"", "https://example.org/x", "https://www.blog.example.org/", "http://other.com:80/"}[r.IntN(4)]
		it.StoryID = []string{"", "", "s1", "s2", "s3"}[r.IntN(5)]
		it.Spam = r.IntN(10) == 0
		if r.IntN(8) == 0 {
			it.DuplicateOf = "000"
		}
		if r.IntN(8) == 0 {
			it.Flags = []string{storage.FlagMuted}
		}
		it.Published = noon.Add(time.Duration(r.IntN(10)) * time.Hour)
	}
	return items
}

// someTree returns a random query tree of at most depth levels.
func someTree(r *rand.Rand, depth int) query.Node {
	switch n := r.IntN(10); {
	case depth > 0 && n < 2:
		return query.And{someTree(r, depth-1), someTree(r, depth-1)}
	case depth > 0 && n < 4:
		return query.Or{someTree(r, depth-1), someTree(r, depth-1)}
	case depth > 0 && n < 5:
		return query.Not{Node: someTree(r, depth-1)}
	case n < 6:
		return []query.Node{
			query.FieldEquals{Field: query.Feed, Value: "feed1"}, query.FieldEquals{Field: query.Category, Value: "cat1"},
			query.FieldEquals{Field: query.Topic, Value: "topic2"}, query.FieldEquals{Field: query.Language, Value: "ru"},
			query.FieldEquals{Field: query.Host, Value: "example.org"}, query.FieldEquals{Field: query.Story, Value: "s1"},
			query.FieldEquals{Field: query.Flag, Value: "spam"}, query.FieldEquals{Field: query.Flag, Value: "duplicate"},
			query.FieldEquals{Field: query.Flag, Value: "muted"}, query.TimeRange{From: noon.Add(3 * time.Hour)},
			query.TimeRange{From: noon.Add(time.Hour), Until: noon.Add(6 * time.Hour)}, query.And{}, query.Or{},
		}[r.IntN(13)]
	}
	text := query.Text{
		In: []query.Part{query.Anywhere, query.Anywhere, query.Title, query.Author}[r.IntN(4)], Form: query.Form(r.IntN(3)),
		Words: commonWords[r.IntN(len(commonWords))],
	}
	if r.IntN(2) == 0 {
		text.Words += " " + commonWords[r.IntN(len(commonWords))]
	}
	if text.Form == query.Phrase && len(query.QueryWords(text.Words)) > 2 {
		text.Form = query.AllWords // longer phrases match approximately: see addPairs
	}
	if text.Form == query.Prefix {
		text.Words = string([]rune(text.Words)[:1+r.IntN(len([]rune(text.Words)))])
	}
	return text
}

func TestSearch_QueryTreesMatchBleve(t *testing.T) {
	x, reference := open(t, newOptions(t)), enginetest.Index(t)
	r := rand.New(rand.NewPCG(2, 2))
	items := someItems(r, 300)
	if err := errors.Join(x.Put(t.Context(), items...), reference.Put(t.Context(), items...)); err != nil {
		t.Fatal(err)
	}
	found := 0
	for range 400 {
		q := storage.Query{
			Where: someTree(r, 3), Newest: r.IntN(2) == 0, Facets: true, Limit: storage.MaxLimit,
			Spam: r.IntN(8) == 0, Duplicates: r.IntN(2) == 0, Muted: r.IntN(2) == 0,
		}
		got, err := x.Search(t.Context(), q)
		if err != nil {
			t.Fatalf("%s: %v", q.Where, err)
		}
		want, err := reference.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if got.Fuzzy || want.Fuzzy {
			continue // engines correct typos differently
		}
		found += int(want.Total)
		if a, b := hitIDs(got), hitIDs(want); got.Total != want.Total || want.Total <= storage.MaxLimit && !slices.Equal(a, b) {
			t.Errorf("%+v (%s): got %d, %v, want %d, %v", q, q.Where, got.Total, a, want.Total, b)
		}
		if a, b := fmt.Sprint(got.Facets), fmt.Sprint(want.Facets); a != b {
			t.Errorf("%+v (%s): got facets %s, want %s", q, q.Where, a, b)
		}
	}
	if found < 1000 {
		t.Errorf("the queries match %d items in all, want at least 1000 for a meaningful comparison", found)
	}
}

// hitIDs returns the IDs found, in order.
func hitIDs(results storage.Results) []string {
	var ids []string
	for _, h := range results.Hits {
		ids = append(ids, h.ID)
	}
	slices.Sort(ids)
	return ids
}

func TestSearch_PagesOfAlternativesHaveNoDuplicates(t *testing.T) {
	x := open(t, newOptions(t))
	r := rand.New(rand.NewPCG(3, 3))
	if err := x.Put(t.Context(), someItems(r, 300)...); err != nil {
		t.Fatal(err)
	}
	where := query.Or{query.Text{Words: "red"}, query.Text{Words: "boat", In: query.Title}, query.Not{Node: query.Text{Words: "blue"}}}
	for _, q := range []storage.Query{{}, {Newest: true}, {OnePerStory: true}, {OnePerStory: true, Newest: true}} {
		q.Where, q.Limit, q.Facets = where, storage.MaxLimit, true
		var want []string
		for page := 0; page == 0 || q.Cursor != ""; page++ {
			want, q.Cursor = addPage(t, x, q, want)
		}
		sorted := slices.Sorted(slices.Values(want))
		if len(slices.Compact(sorted)) != len(want) || len(want) < 50 {
			t.Fatalf("%+v: got %d hits, want at least 50 without duplicates", q, len(want))
		}
		var got []string
		q.Limit = 7
		for page := 0; page == 0 || q.Cursor != ""; page++ {
			got, q.Cursor = addPage(t, x, q, got)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v by pages of 7: got %v, want %v", q, got, want)
		}
	}
}

// addPage appends the IDs of a page, and returns the cursor of the next.
func addPage(t *testing.T, x *Index, q storage.Query, to []string) ([]string, string) {
	t.Helper()
	results, err := x.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range results.Hits {
		to = append(to, h.ID)
	}
	return to, results.Next
}

// A text that parses is executed, or rejected with a syntax error.
func TestSearch_AcceptsEveryParsedQuery(t *testing.T) {
	x := open(t, newOptions(t))
	if err := x.Put(t.Context(), someItems(rand.New(rand.NewPCG(4, 4)), 50)...); err != nil {
		t.Fatal(err)
	}
	texts := append(slices.Clone(injections),
		`a -b "c d" e*`, `(a OR b) (c OR d) (e OR f) (g OR h)`, `-(a OR (b -c)) OR d*`, `title:"a b" OR author:c* -x*`, `a* b* c*`, `-a* -b*`,
		strings.Repeat("a OR ", 63)+"b", `after:2026-01-01 before:2026-12-31 age:<2d`, `is:spam OR is:duplicate`, `host:example.org -lang:en`,
		strings.Repeat("word ", 2000), strings.Repeat("-x ", 60), `"`+strings.Repeat("a b c d e f ", 100)+`"`, "qqv", "ъъ", "q*", "ъ*", "5*", "東*", "-東")
	for _, text := range texts {
		for _, parse := range []func(string, time.Time) (query.Node, error){query.Parse, query.ParsePartial} {
			where, err := parse(text, noon)
			if err != nil {
				continue // rejected by the parser
			}
			_, err = x.Search(t.Context(), storage.Query{Where: where, OnePerStory: true, Facets: true})
			if err != nil && !errors.As(err, new(*query.SyntaxError)) {
				t.Errorf("%.80q: %v", text, err)
			}
		}
	}
	var product query.And
	for range 8 {
		product = append(product, query.Or{query.Text{Words: "a"}, query.Text{Words: "b"}, query.Text{Words: "c"}})
	}
	if _, err := x.Search(context.Background(), storage.Query{Where: product}); !errors.As(err, new(*query.SyntaxError)) {
		t.Errorf("6,561 alternatives: got %v, want a query.SyntaxError", err)
	}
}
