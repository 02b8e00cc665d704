package meilisearch

import (
	"strings"
	"testing"
	"unicode/utf8"

	"feedmesh/classify/query"
	"feedmesh/storage"
)

var injections = []string{
	`"`, `\`, `\"`, `\\"`, `\\\"`, `"" OR spam = true`, `" OR spam = true OR feed = "`, `x" OR spam = "true`,
	`\" OR spam = true OR feed = \"`, `\\" OR spam = true OR feed = "`, `x\`, "x\n\" OR spam = true\n", `' OR spam = true OR feed = '`,
	`" ) OR (spam = true`, `feed" EXISTS OR "feed`, `x" OR feed EXISTS OR feed = "`, "\u201d OR spam = true OR feed = \u201d",
	"\uff02 OR spam = true", "\x00\" OR spam = true OR feed = \"", "\xff\" OR spam = true OR feed = \"", `*`, `%`, `a AND b`, `IS EMPTY`,
	`x" OR _geoRadius(1,1,1) OR feed="`, `{"spam":true}`, `x" OR id IN ["a"] OR feed="`, `x") OR NOT (feed = "x`, `-"word`, `"word" -"`, `["spam = true"]`, strings.Repeat(`"`, 1000), strings.Repeat(`\`, 1001),
}

// wantNoMatch fails if a condition on the value matches an item of the index.
func wantNoMatch(t *testing.T, x *Index, value string) {
	t.Helper()
	is := func(f query.Field) query.Node { return query.FieldEquals{Field: f, Value: value} }
	word, none := query.Text{Words: "word"}, query.FieldEquals{Field: query.Feed, Value: "none"}
	for _, where := range []query.Node{
		is(query.Feed), is(query.Category), is(query.Topic), is(query.Flag), is(query.Language), is(query.Host), is(query.Story),
		query.And{word, is(query.Feed)}, query.And{query.FieldEquals{Field: query.Feed, Value: "feed"}, is(query.Category)},
		query.Or{is(query.Feed), is(query.Category)}, query.Or{query.And{word, is(query.Topic)}, query.And{word, is(query.Host)}},
		query.Not{Node: query.Not{Node: is(query.Feed)}}, query.Not{Node: query.Or{query.Not{Node: is(query.Story)}, none}},
		query.And{query.Text{Words: value}, none}, query.And{query.Text{Words: value, Form: query.Phrase}, none},
		query.And{query.Text{Words: value, Form: query.Prefix}, none}, query.And{query.Text{Words: value, In: query.Title}, none},
		query.And{query.Not{Node: query.Text{Words: value}}, none},
	} {
		for _, newest := range []bool{false, true} {
			results, err := x.Search(t.Context(), storage.Query{Where: where, Newest: newest, Facets: newest})
			if err != nil || results.Total != 0 || len(results.Hits) != 0 {
				t.Errorf("%+v: got %v, %v, want no items", where, results, err)
			}
		}
	}
	if stamps, err := x.Stamps(t.Context(), noon, "~"+value, 100); err != nil || len(stamps) != 5 {
		t.Errorf("got stamps %v after %q, %v, want 5", stamps, value, err) // ~ sorts before a and after 0
	}
	if _, err := x.Suggest(t.Context(), value, 10); err != nil {
		t.Errorf("suggest for %q: %v", value, err)
	}
}

// indexWithItems returns an index whose items must not match an injected filter.
func indexWithItems(t testing.TB) *Index {
	x := open(t, newOptions(t))
	items := words("0a", "a", "b", "c", "d", "e")
	items[1].Spam, items[2].Language, items[3].DuplicateOf = true, "en", "a"
	items[4].Categories = []string{"ai"}
	if err := x.Put(t.Context(), items...); err != nil {
		t.Fatal(err)
	}
	return x
}

// A value matches the items that have it; FuzzFilter tests that it matches no others.
func TestFilter_EscapesValues(t *testing.T) {
	x := indexWithItems(t)
	items := words("odd")
	for _, value := range injections {
		if value != strings.ToLower(value) || value != strings.TrimSpace(value) || !utf8.ValidString(value) || strings.Contains(value, "\x00") || len(value) > 400 {
			continue
		}
		items[0].FeedID = value
		if err := x.Put(t.Context(), items...); err != nil {
			t.Fatal(err)
		}
		if results, err := x.Search(t.Context(), storage.Query{Where: query.FieldEquals{Field: query.Feed, Value: value}}); err != nil || results.Total != 1 {
			t.Errorf("feed %q: got %v, %v, want one item", value, results, err)
		}
	}
}

func FuzzFilter(f *testing.F) {
	needServer(f)
	for _, value := range injections {
		f.Add(value)
	}
	x := indexWithItems(f)
	f.Fuzz(func(t *testing.T, value string) {
		switch strings.ToLower(strings.TrimSpace(value)) {
		case "", "feed", "en", "ai":
			return
		}
		wantNoMatch(t, x, value)
	})
}

func TestKeyOf_RoundTrip(t *testing.T) {
	for _, id := range []string{"", "a", storage.ItemID("feed", "key"), "A_b", "_", "__", "c++", "é", "\x00\xff", "a-b", "_41"} {
		key := keyOf(id)
		if got := idOf(key); got != id {
			t.Errorf("got key %[2]q for %[1]q, which decodes to %[3]q", id, key, got)
		}
	}
	if id := storage.ItemID("feed", "key"); keyOf(id) != id {
		t.Errorf("got key %q, want the ID %q", keyOf(id), id)
	}
}
