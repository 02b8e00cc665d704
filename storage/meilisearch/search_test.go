package meilisearch

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	upstream "github.com/meilisearch/meilisearch-go"

	"feedmesh/classify/query"
	"feedmesh/storage"
	"feedmesh/storage/enginetest"
)

// unusualWords are words that Meilisearch would split or fold by default.
var unusualWords = strings.Fields(`c c++ c# f# node.js node js 22 22.1 1 don't don ipv6 0abc3def 0abc 1e5 0x1f camelCase
	café cafe naïve straße strasse мой мои й и ёлка елка їжак ижак 東京 京都 東 タワー 한국어 한국 สวัสดี สวัส العربية
	ﬁle file Ⅷ ① ½ x86 x8 qaaaaaaaaaaaaaaaa ` + strings.Repeat("long", 80) + ` ` + strings.Repeat("long", 81) + ` databases database
	running run run's и́ е́ æther aether ĳ ij ß ss Ελλάδα ελλαδα İstanbul istanbul ıstanbul i̇ ﷺ 🎉ok ok a_b a-b a`)

func TestSearch_MatchesWordsLikeBleve(t *testing.T) {
	x, reference := open(t, newOptions(t)), enginetest.Index(t)
	r := rand.New(rand.NewPCG(1, 1))
	some := func(n int) string {
		var all []string
		for range n {
			all = append(all, unusualWords[r.IntN(len(unusualWords))])
		}
		return strings.Join(all, " ")
	}
	var items []storage.IndexItem
	for i := range 400 {
		it := words(fmt.Sprint(i))[0]
		it.Title, it.Text, it.Author, it.Tags = some(r.IntN(3)), some(r.IntN(12)), some(r.IntN(2)), []string{some(1), some(1)}
		items = append(items, it)
	}
	for i, word := range unusualWords {
		items = append(items, words(fmt.Sprint("only ", i))[0])
		items[len(items)-1].Title = word
	}
	if err := x.Put(t.Context(), items...); err != nil {
		t.Fatal(err)
	}
	if err := reference.Put(t.Context(), items...); err != nil {
		t.Fatal(err)
	}
	queries := slices.Clone(unusualWords)
	for range 300 {
		queries = append(queries, some(1+r.IntN(4)))
	}
	for _, it := range items[:50] { // up to 20 words of the item, shuffled
		all := strings.Fields(strings.Join(append(it.Tags, it.Title, it.Text, it.Author), " "))
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		queries = append(queries, strings.Join(all, " "), strings.Join(all, " ")+" missing")
	}
	for _, words := range queries {
		q := storage.Query{Where: query.Text{Words: words}}
		got, err := x.Search(t.Context(), q)
		if err != nil {
			t.Fatalf("search %q: %v", words, err)
		}
		want, err := reference.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if got.Fuzzy || want.Fuzzy {
			got.Total, want.Total = 0, 0 // engines correct typos differently
		}
		if got.Total != want.Total {
			t.Errorf("%q: got %d items, want %d", words, got.Total, want.Total)
		}
	}
}

func TestSearch_RequiresAllOfManyWords(t *testing.T) {
	x := open(t, newOptions(t))
	var all []string
	for i := range 26 {
		all = append(all, strings.Repeat(string(rune('a'+i)), 3))
	}
	items := words("all", "title", "but c", "but z")
	items[0].Text, items[1].Title = strings.Join(all, " "), strings.Join(all, " ")
	items[2].Text = strings.Join(slices.Concat(all[:2], all[3:]), " ")
	items[3].Text = strings.Join(all[:25], " ")
	if err := x.Put(t.Context(), items...); err != nil {
		t.Fatal(err)
	}
	for n := range len(all) {
		want := []string{"title", "all"}
		if n+1 < 26 {
			want = append(want, "but z")
		}
		if n+1 < 3 {
			want = append(want, "but c")
		}
		results, err := x.Search(t.Context(), storage.Query{Where: query.Text{Words: strings.Join(all[:n+1], " ")}})
		if err != nil || results.Total != int64(len(want)) || results.Hits[0].ID != "title" {
			t.Errorf("%d words: got %v, %v, want %v", n+1, results, err, want)
		}
	}
}

// A page begins after the last hit of the previous one, also if that hit's position has changed.
func TestSearch_NextPageFollowsTheLastHit(t *testing.T) {
	x := open(t, newOptions(t))
	var items []storage.IndexItem
	for i := range 40 {
		it := words(fmt.Sprintf("%02d", i))[0]
		it.Published = noon.Add(-time.Duration(i) * time.Hour)
		items = append(items, it)
	}
	if err := x.Put(t.Context(), items...); err != nil {
		t.Fatal(err)
	}
	q := storage.Query{Where: query.Text{Words: "word"}, Limit: 10}
	var got []string
	for page := range 4 {
		results, err := x.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range results.Hits {
			got = append(got, h.ID)
		}
		q.Cursor = results.Next
		for n := range 9 { // newer items precede
			it := words(fmt.Sprint("new", page, n))[0]
			it.Published = noon.Add(time.Hour)
			if err := x.Put(t.Context(), it); err != nil {
				t.Fatal(err)
			}
		}
		if err := x.Delete(t.Context(), got[len(got)-3]); err != nil {
			t.Fatal(err)
		}
	}
	if q.Cursor != "" {
		t.Error("got a next page after the last")
	}
	if len(got) != 40 || !slices.IsSorted(got) {
		t.Errorf("got pages %v, want 00 to 39", got)
	}
}

func TestSearch_PlainWordsWorkWithoutFeedmesh(t *testing.T) {
	x := open(t, newOptions(t))
	items := words("a", "b")
	items[0].Title, items[0].Text = "PostgreSQL 18 is out", "Databases were migrated with C++ tools"
	items[1].Title, items[1].Text = "Всё о базах данных", "зелёный чай"
	if err := x.Put(t.Context(), items...); err != nil {
		t.Fatal(err)
	}
	for words, want := range map[string]string{
		"postgresql": "a", "postg": "a", "postgersql": "a", "databases": "a", "databse": "a", "migr": "a", "c++": "a",
		"базах": "b", "база": "b", "зеленый": "b", "данны": "b",
	} {
		found, err := x.server.Index(x.name).Search(words, &upstream.SearchRequest{})
		if err != nil || len(found.Hits) == 0 {
			t.Errorf("%q: got %v, %v, want %s", words, found, err, want)
			continue
		}
		var first hit
		if err := found.Hits[0].DecodeInto(&first); err != nil || first.ID != want {
			t.Errorf("%q: got %v first, %v, want %s", words, first, err, want)
		}
	}
}

func TestDays_CombinesSeveralFacetLists(t *testing.T) {
	x := open(t, newOptions(t))
	var items []storage.IndexItem
	const n = 2*maxFacetValues + 1
	for i := range n {
		it := words(fmt.Sprint(i))[0]
		it.FirstSeen = noon.AddDate(0, 0, -i)
		items = append(items, it)
	}
	if err := x.Put(t.Context(), append(items, words("another")...)...); err != nil {
		t.Fatal(err)
	}
	days, err := x.Days(t.Context())
	if err != nil || len(days) != n || days[storage.Day(noon)] != 2 || days[storage.Day(noon.AddDate(0, 0, 1-n))] != 1 {
		t.Errorf("got %d days, %v, want %d", len(days), err, n)
	}
}
