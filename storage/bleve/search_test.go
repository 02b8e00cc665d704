package bleve_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/classify/query"
	"feedmesh/storage"
	"feedmesh/storage/bleve"
)

// noon is the time at which queries are parsed.
var noon = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

// phrases are the texts of generated items.
var phrases = []string{
	"Kubernetes clusters running in production", "running a database in a cluster", "Базы данных и Kubernetes", "база данных работает",
	"数据库管理入门", "Vol de l'avion", "C++ and node.js", "Größere Häuser am Fluss", "to be or not to be", "the database of a cluster",
	"Programming languages", "programs of the 1990s",
}

// madeItem returns the i-th generated item. Items differ in every field that queries use.
func madeItem(i int) storage.IndexItem {
	pick := func(n int) string { return phrases[(i*7+n*5+i/11)%len(phrases)] }
	it := storage.IndexItem{Item: storage.Item{
		ID: fmt.Sprintf("%03d", i), FeedID: fmt.Sprint("feed", i%5), Title: pick(0), Author: strings.Fields(pick(1))[0],
		URL: fmt.Sprintf("https://www.%s/%d", []string{"example.org", "news.example.org", "example.com"}[i%3], i), Tags: []string{pick(2), pick(3)},
		Language: []string{"en", "ru", "de", ""}[i%4], Categories: []string{"ai", "go"}[:i%3%2+1], Topics: []string{"SQL", "sql", "k8s"}[i%3 : i%3+1],
		Published: noon.Add(-time.Duration(i/3) * 7 * time.Hour), FirstSeen: noon, Changed: noon, Spam: i%9 == 0, Score: float64(i % 13),
	}, Text: strings.Repeat(pick(4)+". ", i%4), Sources: i % 6}
	if i%7 == 0 {
		it.DuplicateOf = "000"
	}
	if i%8 == 0 {
		it.Flags = []string{"muted", "starred"}
	}
	if i%2 == 0 {
		it.StoryID = fmt.Sprint("story", i%12)
	}
	return it
}

// library returns an index of generated items, in several segments with updates and deletions, and a model
// with the same contents.
func library(t testing.TB) (*bleve.Index, model) {
	t.Helper()
	x, m := open(t, filepath.Join(t.TempDir(), "index")), model{}
	t.Cleanup(func() { x.Close() })
	for first := range 9 {
		var items []storage.IndexItem
		for i := first * 20; i < first*20+25; i++ { // five of them again in the next batch
			items = append(items, madeItem(i))
		}
		if err := x.Put(t.Context(), items...); err != nil {
			t.Fatal(err)
		}
		m.put(items...)
	}
	deleted := []string{"004", "050", "051", "099", "183"}
	if err := x.Delete(t.Context(), deleted...); err != nil {
		t.Fatal(err)
	}
	for _, id := range deleted {
		delete(m, id)
	}
	return x, m
}

// all returns the IDs of all pages.
func all(t testing.TB, x storage.Index, q storage.Query) (ids []string, first storage.Results) {
	t.Helper()
	for page := 0; page == 0 || q.Cursor != ""; page++ {
		results, err := x.Search(t.Context(), q)
		if err != nil {
			t.Fatalf("search %v: %v", q.Where, err)
		}
		if page == 0 {
			first = results
		}
		for _, hit := range results.Hits {
			ids = append(ids, hit.ID)
		}
		q.Cursor = results.Next
	}
	return ids, first
}

// texts are queries that use the whole language.
var texts = []string{
	"", "kubernetes", "running cluster", "базы", "数据库", "数据", "管", `"数据库管理"`, `"库数据"`, `"running in production"`, `"production running"`, `"be or not"`, `"to be" -"not to"`,
	`"de l'avion"`, `"vol avion"`, `"cluster programming"`, `"production base"`, `"languages the"`, `"entry programs"`, "avion", "c++", "node.js", "hauser", "häuser", `title:"database in"`, "title:cluster", "author:kubernetes", "author:cluster", `author:"kubernetes clusters"`,
	"kub*", "run data*", "programm*", "programmi*", "дан*", "title:prog*", "数*", "ho*", "fluss OR avion", "kubernetes OR (cluster -database)", "-kubernetes", "-(kubernetes OR базы)",
	"-kubernetes -running", "feed:feed1", "cat:go", "cat:go cluster", "topic:sql", "topic:K8S", "lang:ru", "-lang:ru", "host:example.org", "host:news.example.org", "host:org", "is:duplicate", "is:spam",
	"is:starred", "is:muted -is:starred", "-is:duplicate", "story:story4", "story:story4 OR story:story6", "after:2026-03-01", "before:2026-03-01", "after:2026-03-01 before:2026-03-05 cluster",
	"age:<2d", "age:>3w OR kubernetes", "kubernets", "kubrenetes", "databse runing", "programing lnguages", "title:kubernets", "kubernets OR missing", "xubernetes", "kubernets -running", "kubernets*",
	`"kubernets clusters"`, "kubernets missing", "19900s", "progra 1*", "missing", "...", `"..."`, "-...", "a OR -a", "(a OR b) (c OR to)",
}

func TestSearch_AgreesWithModel(t *testing.T) {
	x, m := library(t)
	for _, text := range texts {
		node, err := query.Parse(text, noon)
		if err != nil {
			t.Fatalf("parse %q: %v", text, err)
		}
		for _, q := range []storage.Query{
			{Limit: 19}, {Newest: true, Limit: 80}, {Spam: true, Newest: true}, {Duplicates: true, Muted: true, Limit: 80}, {OnePerStory: true, Newest: true, Limit: 19},
		} {
			q.Where, q.Facets = node, true
			compareWithModel(t, x, m, text, q)
		}
	}
}

// compareWithModel fails unless the query returns the items of the model, in the same order if sorted by time.
func compareWithModel(t testing.TB, x *bleve.Index, m model, text string, q storage.Query) {
	t.Helper()
	want, facets, fuzzy := m.search(q)
	got, first := all(t, x, q)
	if q.Scored() {
		slices.Sort(want)
		slices.Sort(got)
	}
	if !slices.Equal(got, want) || first.Fuzzy != fuzzy {
		t.Errorf("%q (%+v) found %v, forgiven %v; want %v, %v", text, q, got, first.Fuzzy, want, fuzzy)
	}
	if fmt.Sprint(first.Facets) != fmt.Sprint(facets) {
		t.Errorf("%q (%+v) counted %v, want %v", text, q, first.Facets, facets)
	}
}

func TestSearch_OnePerStory(t *testing.T) {
	x, _ := library(t)
	for _, text := range []string{"", "kubernetes", "cluster OR базы", "running", "kub*"} {
		node, err := query.Parse(text, noon)
		if err != nil {
			t.Fatal(err)
		}
		for _, limit := range []int{1, 3, 100} {
			q := storage.Query{Where: node, Now: noon, Limit: limit}
			everything, _ := all(t, x, q)
			var want []string
			storyDoc := make(map[string]bool)
			for _, id := range everything {
				var i int
				if _, err := fmt.Sscan(strings.TrimLeft(id, "0")+" ", &i); err != nil && id != "000" {
					t.Fatal(err)
				}
				story := madeItem(i).StoryID
				if story == "" || !storyDoc[story] {
					want = append(want, id)
				}
				storyDoc[story] = true
			}
			q.OnePerStory = true
			if got, _ := all(t, x, q); !slices.Equal(got, want) {
				t.Errorf("%q in pages of %d shows %v, want %v", text, limit, got, want)
			}
		}
	}
}

func TestSearch_FreshAndProminentItemsComeFirst(t *testing.T) {
	x := open(t, filepath.Join(t.TempDir(), "index"))
	defer x.Close()
	made := func(id string, age time.Duration, sources int) storage.IndexItem {
		return storage.IndexItem{Item: storage.Item{ID: id, Title: "word", Published: noon.Add(-age), FirstSeen: noon}, Sources: sources}
	}
	if err := x.Put(t.Context(), made("old", 1000*time.Hour, 0), made("told", 1000*time.Hour, 50), made("new", 0, 0), made("newer but later", -time.Hour, 0)); err != nil {
		t.Fatal(err)
	}
	q := storage.Query{Where: query.Text{Words: "word"}, Limit: 1}
	if got, _ := all(t, x, q); !slices.Equal(got, []string{"told", "newer but later", "new", "old"}) {
		t.Errorf("without a time the order is %v", got)
	}
	q.Now = noon
	if got, _ := all(t, x, q); !slices.Equal(got, []string{"newer but later", "new", "told", "old"}) {
		t.Errorf("with it: got %v", got)
	}
	first, err := x.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	q.Cursor, q.Now = first.Next, noon.AddDate(1, 0, 0)
	second, err := x.Search(t.Context(), q)
	if err != nil || len(second.Hits) != 1 || second.Hits[0].ID != "new" {
		t.Errorf("second page a year later: got %v, %v, want the order of the first page's time: new", second.Hits, err)
	}
}

func TestSearch_PrefixMatchesMostFrequentWords(t *testing.T) {
	x := open(t, filepath.Join(t.TempDir(), "index"))
	defer x.Close()
	var items []storage.IndexItem
	for i := range 300 {
		items = append(items, storage.IndexItem{Item: storage.Item{ID: fmt.Sprint("rare", i), Title: fmt.Sprintf("ab%03d", i)}})
	}
	for i := range 3 {
		items = append(items, storage.IndexItem{Item: storage.Item{ID: fmt.Sprint("often", i), Title: "abzzz"}})
	}
	if err := x.Put(t.Context(), items...); err != nil {
		t.Fatal(err)
	}
	found, _ := all(t, x, storage.Query{Where: query.Text{Words: "ab", Form: query.Prefix}, Limit: 100})
	if len(found) != 102 || !slices.Contains(found, "often0") || !slices.Contains(found, "rare98") || slices.Contains(found, "rare99") {
		t.Errorf("found %d, want those with the 100 most frequent words: %v", len(found), found)
	}
	words, err := x.Suggest(t.Context(), "AB", 2)
	if err != nil || !slices.Equal(words, []storage.FacetCount{{Value: "abzzz", Count: 3}, {Value: "ab000", Count: 1}}) {
		t.Errorf("suggestions are %v, %v", words, err)
	}
}

// FuzzSearch executes each valid query and compares the results with the model.
func FuzzSearch(f *testing.F) {
	for _, text := range texts {
		f.Add(text, uint8(0))
		f.Add(text, uint8(255))
	}
	x, m := library(f)
	f.Fuzz(func(t *testing.T, text string, flags uint8) {
		node, err := query.Parse(text, noon)
		if err != nil {
			t.Skip()
		}
		compareWithModel(t, x, m, text, storage.Query{
			Where: node, Limit: int(flags % 32), Newest: flags&32 > 0, Duplicates: flags&64 > 0, Muted: flags&128 > 0, Facets: true,
		})
	})
}
