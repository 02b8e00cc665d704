package indextest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/classify/query"
	"feedmesh/storage"
)

func allWordsByStem(t *testing.T, x storage.Index) {
	put(t, x,
		item("en", "A day at the run", "Databases were migrated"),
		item("ru", "Как выбрать базу данных", "Ёлка и зелёный чай"),
		item("both", "PostgreSQL: базы данных", "running fast"),
	)
	for words, want := range map[string][]string{
		"running":              {"en", "both"},
		"RUN":                  {"en", "both"},
		"run database":         {"en"},
		"migrating running":    {"en"},
		"базы данных":          {"ru", "both"},
		"БАЗАМИ данные":        {"ru", "both"},
		"база run":             {"both"},
		"елка":                 {"ru"},
		"Зеленый чай":          {"ru"},
		"зелёные базы":         {"ru"},
		"run run running":      {"en", "both"},
		"run missing":          nil,
		"postgresql databases": nil,
	} {
		wantFound(t, x, storage.Query{Where: wordsOf(words)}, want...)
	}
}

func wordsInAllFields(t *testing.T, x storage.Index) {
	put(t, x, changed(item("a", "title", "text"), func(it *storage.IndexItem) {
		it.Author = "Ada Lovelace"
		it.Tags = []string{"machine learning", "go"}
		it.URL = "https://example.org/address"
		it.Excerpt = "excerpt"
	}))
	for _, words := range []string{"title", "text", "ada", "lovelace", "machines", "go", "title text ada learning"} {
		wantFound(t, x, storage.Query{Where: wordsOf(words)}, "a")
	}
	for _, words := range []string{"example", "address", "excerpt", "feed"} {
		wantFound(t, x, storage.Query{Where: wordsOf(words)})
	}
}

func wordsWithSigns(t *testing.T, x storage.Index) {
	put(t, x,
		item("c++", "Modern C++, explained", ""), item("c", "C for all", ""),
		item("node", "Node.js 22.1 is out.", ""), item("c#", "", "Why C# won"))
	wantFound(t, x, storage.Query{Where: wordsOf("c++")}, "c++")
	wantFound(t, x, storage.Query{Where: wordsOf("C#")}, "c#")
	wantFound(t, x, storage.Query{Where: wordsOf("c")}, "c")
	wantFound(t, x, storage.Query{Where: wordsOf("node.js")}, "node")
	wantFound(t, x, storage.Query{Where: wordsOf("NODE.JS), 22.1!")}, "node")
}

func stopWords(t *testing.T, x storage.Index) {
	put(t, x, item("en", "To be or not to be", ""), item("ru", "Что и как", ""))
	wantFound(t, x, storage.Query{Where: wordsOf("to be or not to be")}, "en")
	wantFound(t, x, storage.Query{Where: wordsOf("и")}, "ru")
}

func harmlessText(t *testing.T, x storage.Index) {
	put(t, x, item("a", "plain words", "more plain text"))
	for _, text := range []string{
		`+plain`, `"plain words"`, `plain*`, `words:plain`, `(plain)`, `plain)`, `\plain`, `plain~`, `plain AND more`, `plain(words)`,
		`plain^`, `/plain/`, `plain && words || text`, "plain\x00words", "plain\xffwords", `{more:plain}`, " ", "\t\n", `plain - more`,
		`plain OR missing`, `-missing`, strings.Repeat("plain words ", query.MaxBytes/12),
	} {
		wantFound(t, x, parsed(t, text), "a")
	}
	for _, text := range []string{
		`+ - * : \ ~ ^ /`, "...", "*", `""`, "\x00", "\xff\xfe", "—", "title:more", "-plain", "--missing", `is:spam`, `feed:"\" OR feed = \"feed"`,
		strings.Repeat("x", query.MaxBytes),
	} {
		wantFound(t, x, parsed(t, text))
	}
}

func titleRanksFirst(t *testing.T, x storage.Index) {
	put(t, x,
		item("text", "Something else", "kubernetes kubernetes kubernetes"),
		item("title", "Kubernetes and many other words that make it quite a long title", "Something else"),
		item("both", "Kubernetes", "kubernetes"),
		changed(item("author", "", ""), func(it *storage.IndexItem) { it.Author = "Kubernetes Team" }),
	)
	results := search(t, x, storage.Query{Where: wordsOf("kubernetes")})
	if got := ids(results); len(got) != 4 || got[0] != "both" || got[1] != "title" {
		t.Errorf("found %v, want both, title, then the others", got)
	}
	for i, hit := range results.Hits {
		if hit.Score <= 0 || i > 0 && hit.Score > results.Hits[i-1].Score {
			t.Errorf("scores %v do not descend to above 0", results.Hits)
			break
		}
	}
}

func equalScores(t *testing.T, x storage.Index) {
	put(t, x, item("b", "word", ""), item("c", "word", ""), item("a", "word", ""),
		changed(item("d", "word", ""), func(it *storage.IndexItem) { it.Published = noon.Add(time.Microsecond) }))
	wantOrder(t, x, storage.Query{Where: wordsOf("word")}, "d", "a", "b", "c")
}

func spamOnRequest(t *testing.T, x storage.Index) {
	put(t, x, item("ham", "word", ""),
		changed(item("spam", "word", ""), func(it *storage.IndexItem) { it.Spam = true }),
		changed(item("again", "word", ""), func(it *storage.IndexItem) { it.Spam, it.DuplicateOf = true, "spam" }))
	for _, words := range []string{"", "word"} {
		wantFound(t, x, storage.Query{Where: wordsOf(words)}, "ham")
		wantFound(t, x, storage.Query{Where: wordsOf(words), Duplicates: true}, "ham")
		wantFound(t, x, storage.Query{Where: wordsOf(words), Spam: true}, "spam")
		wantFound(t, x, storage.Query{Where: wordsOf(words), Spam: true, Duplicates: true}, "spam", "again")
	}
}

func duplicatesOnRequest(t *testing.T, x storage.Index) {
	put(t, x, item("first", "word", ""),
		changed(item("second", "word", ""), func(it *storage.IndexItem) { it.DuplicateOf = "first" }))
	for _, words := range []string{"", "word"} {
		wantFound(t, x, storage.Query{Where: wordsOf(words)}, "first")
		wantFound(t, x, storage.Query{Where: wordsOf(words), Duplicates: true}, "first", "second")
	}
}

func mutedOnRequest(t *testing.T, x storage.Index) {
	flagged := func(id string, flags ...string) storage.IndexItem {
		return changed(item(id, "word", ""), func(it *storage.IndexItem) { it.Flags = flags })
	}
	shownDuplicate := changed(flagged("again", "muted"), func(it *storage.IndexItem) { it.DuplicateOf = "muted" })
	spam := changed(flagged("spam", "muted"), func(it *storage.IndexItem) { it.Spam = true })
	put(t, x, flagged("plain"), flagged("starred", "starred"), flagged("muted", "muted"), flagged("both", "muted", "starred"), shownDuplicate, spam)
	for _, words := range []string{"", "word"} {
		wantFound(t, x, storage.Query{Where: wordsOf(words)}, "plain", "starred")
		wantFound(t, x, storage.Query{Where: wordsOf(words), Muted: true}, "plain", "starred", "muted", "both")
		wantFound(t, x, storage.Query{Where: all(wordsOf(words), is(query.Flag, "starred"))}, "starred")
		wantFound(t, x, storage.Query{Where: all(wordsOf(words), is(query.Flag, "starred")), Muted: true}, "starred", "both")
		wantFound(t, x, storage.Query{Where: all(wordsOf(words), is(query.Flag, "muted"))}, "muted", "both")
		wantFound(t, x, storage.Query{Where: all(wordsOf(words), is(query.Flag, "muted")), Duplicates: true}, "muted", "both", "again")
		wantFound(t, x, storage.Query{Where: all(wordsOf(words), is(query.Flag, "sponsored")), Muted: true})
		wantFound(t, x, storage.Query{Where: wordsOf(words), Spam: true})
		wantFound(t, x, storage.Query{Where: wordsOf(words), Spam: true, Muted: true}, "spam")
	}
	if got := search(t, x, storage.Query{Facets: true}).Facets["feed"]; !reflect.DeepEqual(got, []storage.FacetCount{{Value: "feed", Count: 2}}) {
		t.Errorf("got facets %v without muted items, want 2 items", got)
	}
	put(t, x, flagged("muted"), flagged("plain", "muted")) // with changed flags
	wantFound(t, x, storage.Query{}, "muted", "starred")
}

// A set may change between two pages: a client opens items, which are then read.
func itemSets(t *testing.T, x storage.Index) {
	put(t, x, item("a", "word", ""), item("b", "word", ""), item("c", "other", ""), item("d", "word other", ""))
	set := func(ids ...string) query.ItemSet {
		return query.ItemSet{Of: query.FieldEquals{Field: query.Flag, Value: "unread"}, IDs: ids}
	}
	for _, words := range []string{"", "word"} {
		wantFound(t, x, storage.Query{Where: all(wordsOf(words), set("a", "missing", "d"))}, "a", "d")
		wantFound(t, x, storage.Query{Where: all(wordsOf(words), set("b"))}, "b")
		wantFound(t, x, storage.Query{Where: all(wordsOf(words), set())})
		wantFound(t, x, storage.Query{Where: all(wordsOf(words), query.Not{Node: set("a", "c")})}, "b", "d")
	}
	wantFound(t, x, storage.Query{Where: query.Or{wordsOf("other"), set("a")}}, "a", "c", "d")
	first := search(t, x, storage.Query{Where: all(wordsOf("word"), set("a", "b", "d")), Limit: 1})
	if len(first.Hits) != 1 || first.Next == "" {
		t.Fatalf("got %+v, want a page of one of three", first)
	}
	left := slices.DeleteFunc([]string{"a", "b", "d"}, func(id string) bool { return id == first.Hits[0].ID })
	second := search(t, x, storage.Query{Where: all(wordsOf("word"), set(left...)), Limit: 1, Cursor: first.Next})
	if len(second.Hits) != 1 || second.Hits[0].ID == first.Hits[0].ID {
		t.Errorf("got %+v after %s, want another of %v", second.Hits, first.Hits[0].ID, left)
	}
}

func topicsAreFound(t *testing.T, x storage.Index) {
	about := func(id string, topics ...string) storage.IndexItem {
		return changed(item(id, "word", ""), func(it *storage.IndexItem) {
			it.Topics, it.Categories = topics, []string{"databases"}
		})
	}
	put(t, x, about("1", "postgresql", "postgresql administration"), about("2", "postgresql"), about("3", "c++", "CSS selectors"), about("4"))
	for _, words := range []string{"", "word"} {
		wantFound(t, x, storage.Query{Where: all(wordsOf(words), is(query.Topic, "postgresql"))}, "1", "2")
		wantFound(t, x, storage.Query{Where: all(wordsOf(words), is(query.Topic, "postgresql administration"), is(query.Category, "databases"))}, "1")
		wantFound(t, x, storage.Query{Where: all(wordsOf(words), is(query.Topic, "c++"))}, "3")
		wantFound(t, x, storage.Query{Where: all(wordsOf(words), is(query.Topic, "CSS selectors"))}, "3")
		wantFound(t, x, storage.Query{Where: all(wordsOf(words), is(query.Topic, "administration"))})
		wantFound(t, x, storage.Query{Where: all(wordsOf(words), is(query.Topic, "databases"))})
	}
}

func filtersCombine(t *testing.T, x storage.Index) {
	// All combinations of two feeds, two categories, two languages and two days.
	for i := range 16 {
		put(t, x, changed(item(fmt.Sprintf("%04b", i), "word", ""), func(it *storage.IndexItem) {
			it.FeedID = []string{"feed-a", "feed-b"}[i>>3&1]
			it.Categories = [][]string{{"ai", "go"}, {"databases and more", "ai"}}[i>>2&1]
			it.Language = []string{"en", "ru"}[i>>1&1]
			it.Published = noon.AddDate(0, 0, i&1)
		}))
	}
	wantFound(t, x, storage.Query{Where: all(is(query.Feed, "feed-a"), is(query.Category, "go"), is(query.Language, "ru"), query.TimeRange{From: noon.Add(time.Hour)})}, "0011")
	wantFound(t, x, storage.Query{Where: all(wordsOf("word"), is(query.Feed, "feed-b"), is(query.Category, "databases and more"))},
		"1100", "1101", "1110", "1111")
	wantFound(t, x, storage.Query{Where: all(wordsOf("word"), is(query.Language, "en"), is(query.Category, "go")), Newest: true},
		"0000", "0001", "1000", "1001")
	wantFound(t, x, storage.Query{Where: all(is(query.Feed, "feed-a"), is(query.Language, "en"), is(query.Category, "ai"), query.TimeRange{Until: noon.Add(time.Hour)})},
		"0000", "0100")
	wantFound(t, x, storage.Query{Where: is(query.Category, "databases")})
	wantFound(t, x, storage.Query{Where: is(query.Feed, "feed")})
	wantFound(t, x, storage.Query{Where: is(query.Language, "EN")})
	wantFound(t, x, storage.Query{Where: all(wordsOf("other"), is(query.Feed, "feed-a"))})
}

func publishedBounds(t *testing.T, x storage.Index) {
	at := func(id string, published time.Time) storage.IndexItem {
		return changed(item(id, "word", ""), func(it *storage.IndexItem) { it.Published = published })
	}
	put(t, x, at("ancient", time.Date(1969, 7, 20, 20, 17, 40, 0, time.UTC)),
		at("before", noon.Add(-time.Microsecond)), at("noon", noon), at("after", noon.Add(time.Microsecond)))
	there := time.FixedZone("there", 3*60*60)
	for _, words := range []string{"", "word"} {
		for _, newest := range []bool{false, true} {
			wantFound(t, x, storage.Query{Where: all(wordsOf(words), query.TimeRange{From: noon}), Newest: newest}, "noon", "after")
			wantFound(t, x, storage.Query{Where: all(wordsOf(words), query.TimeRange{From: noon.In(there)}), Newest: newest}, "noon", "after")
			wantFound(t, x, storage.Query{Where: all(wordsOf(words), query.TimeRange{Until: noon}), Newest: newest}, "ancient", "before")
			wantFound(t, x, storage.Query{Where: all(wordsOf(words), query.TimeRange{Until: noon.In(there)}), Newest: newest}, "ancient", "before")
			wantFound(t, x, storage.Query{Where: all(wordsOf(words), query.TimeRange{From: noon, Until: noon}), Newest: newest})
			wantFound(t, x, storage.Query{Where: all(wordsOf(words), query.TimeRange{From: time.Unix(-1e9, 0), Until: time.Unix(0, 0)}), Newest: newest}, "ancient")
		}
	}
}

func facetsCount(t *testing.T, x storage.Index) {
	with := func(id, feed, language string, categories ...string) storage.IndexItem {
		return changed(item(id, "word", ""), func(it *storage.IndexItem) {
			it.FeedID, it.Language, it.Categories = feed, language, categories
		})
	}
	about := func(id string, sentiment float64, topics ...string) storage.IndexItem {
		return changed(item(id, "word", ""), func(it *storage.IndexItem) { it.FeedID, it.Sentiment, it.Topics = "f4", sentiment, topics })
	}
	put(t, x, with("1", "f1", "en", "go", "ai"), with("2", "f2", "en", "ai"), with("3", "f2", "ru", "db"),
		with("4", "f3", ""), item("5", "other", ""), about("7", -0.26), about("8", 0.251), about("9", 1), about("10", -1), about("11", 0.25, "sql", "go"),
		about("12", -0.001, "sql"), about("13", 0, "C++ & co"),
		changed(with("6", "f1", "en", "go"), func(it *storage.IndexItem) { it.Spam = true }))
	want := map[string][]storage.FacetCount{
		"category":  {{Value: "ai", Count: 2}, {Value: "db", Count: 1}, {Value: "go", Count: 1}},
		"topic":     {{Value: "sql", Count: 2}, {Value: "C++ & co", Count: 1}, {Value: "go", Count: 1}},
		"sentiment": {{Value: "negative", Count: 2}, {Value: "neutral", Count: 2}, {Value: "positive", Count: 2}},
		"feed":      {{Value: "f4", Count: 7}, {Value: "f2", Count: 2}, {Value: "f1", Count: 1}, {Value: "f3", Count: 1}},
		"language":  {{Value: "en", Count: 2}, {Value: "ru", Count: 1}},
		"day":       {{Value: "2026-03-01", Count: 11}},
	}
	first := search(t, x, storage.Query{Where: wordsOf("word"), Facets: true, Limit: 1})
	second := search(t, x, storage.Query{Where: wordsOf("word"), Facets: true, Limit: 1, Cursor: first.Next})
	newest := search(t, x, storage.Query{Where: wordsOf("word"), Facets: true, Newest: true})
	for _, got := range []storage.Results{first, second, newest} {
		if !reflect.DeepEqual(got.Facets, want) {
			t.Errorf("facets are %v, want %v", got.Facets, want)
		}
	}
	if got := search(t, x, storage.Query{Where: wordsOf("word")}).Facets; got != nil {
		t.Errorf("facets that were not requested are %v, want nil", got)
	}
	for _, words := range []string{"missing", "***"} {
		got := search(t, x, storage.Query{Where: wordsOf(words), Facets: true}).Facets
		for _, name := range storage.FacetNames {
			if counts, ok := got[name]; !ok || counts == nil || len(counts) != 0 {
				t.Errorf("got facets %v without matches, want empty facets", got)
			}
		}
	}
}

func facetsAreCut(t *testing.T, x storage.Index) {
	var items []storage.IndexItem
	for i := range storage.MaxFacet + 5 {
		items = append(items, changed(item(fmt.Sprint(i), "word", ""), func(it *storage.IndexItem) {
			it.FeedID = fmt.Sprintf("feed%02d", i)
		}))
	}
	put(t, x, items...)
	feeds := search(t, x, storage.Query{Facets: true}).Facets["feed"]
	if len(feeds) != storage.MaxFacet || feeds[0].Value != "feed00" || feeds[19].Value != "feed19" {
		t.Errorf("%d feeds are counted: %v, want the first %d", len(feeds), feeds, storage.MaxFacet)
	}
}
