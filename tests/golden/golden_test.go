package golden

import (
	"cmp"
	"log/slog"
	"maps"
	"math"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/classify/query"
	"feedmesh/storage"
	"feedmesh/storage/bleve"
	"feedmesh/storage/meilisearch"
	"feedmesh/tests/corpus"
	"feedmesh/tests/engines"
)

// A golden query is a query as users type it, with a definition of the relevant items that is independent of
// search: a pattern in their lower-case titles, and a condition.
type golden struct {
	kind, typed string
	title       string                  // required in the title
	not         string                  // excluded from the title, if not empty
	is          func(storage.Item) bool // further condition; nil: none
}

func hosted(host string) func(storage.Item) bool {
	return func(i storage.Item) bool {
		u, err := url.Parse(i.URL)
		return err == nil && (u.Host == host || strings.HasSuffix(u.Host, "."+host))
	}
}

func labelled(category string) func(storage.Item) bool {
	return func(i storage.Item) bool { return slices.Contains(i.Categories, category) }
}

func written(language string) func(storage.Item) bool {
	return func(i storage.Item) bool { return i.Language == language }
}

func since(day string) func(storage.Item) bool {
	at, _ := time.Parse(time.DateOnly, day)
	return func(i storage.Item) bool { return !i.Published.Before(at) }
}

var goldens = []golden{
	{"word", "kubernetes", `\bkubernetes\b`, "", nil},
	{"word", "docker", `\bdocker\b`, "", nil},
	{"word", "databases", `\bdatabases?\b`, "", nil},
	{"word", "haskell", `\bhaskell\b`, "", nil},
	{"word", "erlang", `\berlang\b`, "", nil},
	{"word", "C++", `\bc\+\+`, "", nil},
	{"word", "node.js", `\bnode\.js\b`, "", nil},
	{"word", "browsers", `\bbrowsers?\b`, "", nil},
	{"words", "garbage collection", `\bgarbage\b.*\bcollect(ion|ions|or|ors)?\b`, "", nil},
	{"words", "linux kernel", `\blinux\b.*\bkernels?\b|\bkernels?\b.*\blinux\b`, "", nil},
	{"words", "openbsd security", `\bopenbsd\b.*\bsecur(ity|e)\b|\bsecur(ity|e)\b.*\bopenbsd\b`, "", nil},
	{"words", "functional programming", `\bfunctional\b.*\bprogram(s|ming|mer|mers)?\b|\bprogram(s|ming|mer|mers)?\b.*\bfunctional\b`, "", nil},
	{"words", "type systems", `\btypes?\b.*\bsystems?\b|\bsystems?\b.*\btypes?\b`, "", nil},
	{"words", "operating system", `\boperat(ing|e|es|ion|ions|or|ors)\b.*\bsystems?\b|\bsystems?\b.*\boperat(ing|e|es|ion|ions|or|ors)\b`, "", nil},
	{"words", "rust language", `\brust\b.*\blanguages?\b|\blanguages?\b.*\brust\b`, "", nil},
	{"words", "password hashing", `\bpasswords?\b.*\bhash(es|ing|ed)?\b|\bhash(es|ing|ed)?\b.*\bpasswords?\b`, "", nil},
	{"words", "distributed systems", `\bdistribut(ed|ing|e|ion)\b.*\bsystems?\b|\bsystems?\b.*\bdistribut(ed|ing|e|ion)\b`, "", nil},
	{"words ru", "нейросети", `(^|[^а-я])нейросет`, "", nil},
	{"words ru", "данные", `(^|[^а-я])данны`, "", nil},
	{"words ru", "тестирование", `(^|[^а-я])тестировани`, "", nil},
	{"words ru", "игры", `(^|[^а-я])игр(а|ы|у|е|ой|ах|ам|ами)?([^а-я]|$)`, "", nil},
	{"words ru", "алгоритм", `(^|[^а-я])алгоритм`, "", nil},
	{"words ru", "СЕРВЕРЫ", `(^|[^а-я])сервер(а|ы|ов|у|ом|е|ам|ами|ах)?([^а-я]|$)`, "", nil},
	{"words ru", "процессоры", `(^|[^а-я])процессор(а|ы|ов|у|ом|е|ам|ами|ах)?([^а-я]|$)`, "", nil},
	{"words ru", "уязвимость", `(^|[^а-я])уязвимост`, "", nil},
	{"words ru", "баз данных", `(^|[^а-я])баз(а|ы|у|е|ой|ах|ам|ами)? данн`, "", nil},
	{"typo", "kubernets", `\bkubernetes\b`, "", nil},
	{"typo", "postgersql", `\bpostgresql\b`, "", nil},
	{"typo", "javascrpit", `\bjavascript\b`, "", nil},
	{"typo", "haskel", `\bhaskell\b`, "", nil},
	{"typo", "cryptograhpy", `\bcryptograph(y|ic|ers?)\b`, "", nil},
	{"typo", "kerenl", `\bkernels?\b`, "", nil},
	{"typo", "databse", `\bdatabases?\b`, "", nil},
	{"typo ru", "алгоритмм", `(^|[^а-я])алгоритм`, "", nil},
	{"typo ru", "тестировние", `(^|[^а-я])тестировани`, "", nil},
	{"phrase", `"machine learning"`, `\bmachine learning\b`, "", nil},
	{"phrase", `"open source"`, `\bopen[ -]source`, "", nil},
	{"phrase", `"garbage collector"`, `\bgarbage collectors?\b`, "", nil},
	{"phrase", `"how to"`, `\bhow to\b`, "", nil},
	{"phrase", `"the state of"`, `\bthe state of\b`, "", nil},
	{"phrase", `"considered harmful"`, `\bconsidered harmful\b`, "", nil},
	{"phrase", `"linux kernel"`, `\blinux kernels?\b`, "", nil},
	{"prefix", "postgres*", `\bpostgres`, "", nil},
	{"prefix", "openb*", `\bopenb`, "", nil},
	{"prefix", "crypto*", `\bcrypto`, "", nil},
	{"prefix ru", "нейро*", `(^|[^а-я])нейро`, "", nil},
	{"not", "docker -kubernetes", `\bdocker\b`, `\bkubernetes\b`, nil},
	{"not", `emacs -vim`, `\bemacs\b`, `\bvim\b`, nil},
	{"or", "erlang OR elixir", `\berlang\b|\belixir\b`, "", nil},
	{"or", `(vim OR emacs) plugin`, `\b(vim|emacs)\b.*\bplugins?\b|\bplugins?\b.*\b(vim|emacs)\b`, "", nil},
	{"field", "title:sqlite", `\bsqlite\b`, "", nil},
	{"field", "rust host:github.com", `\brust\b`, "", hosted("github.com")},
	{"field", "linux host:arstechnica.com", `\blinux\b`, "", hosted("arstechnica.com")},
	{"facet", "security cat:languages", `\bsecur(ity|e)\b`, "", labelled("languages")},
	{"facet", "python cat:databases", `\bpython\b`, "", labelled("databases")},
	{"facet", "git cat:security", `\bgit\b`, "", labelled("security")},
	{"facet", "javascript -cat:frontend", `\bjavascript\b`, "", func(i storage.Item) bool { return !labelled("frontend")(i) }},
	{"facet", "python lang:ru", `\bpython\b`, "", written("ru")},
	{"facet", "rust after:2016-06-01", `\brust\b`, "", since("2016-06-01")},
	{"facet", "openbsd after:2016-01-01 -host:undeadly.org", `\bopenbsd\b`, "", func(i storage.Item) bool { return since("2016-01-01")(i) && !hosted("undeadly.org")(i) }},
}

// goldenItems are real items: titles and links of four years in English, and articles in Russian.
func goldenItems(t *testing.T) []storage.IndexItem {
	if testing.Short() {
		t.Skip("skipped by -short: it indexes 12,500 items in two engines")
	}
	type post struct {
		ID, Title, Body, Lang, URL, Published string
		Tags, Category                        []string
	}
	folder := corpus.Folder(t, "categories")
	posts := corpus.Lines[post](t, filepath.Join(folder, "lobsters.jsonl.gz"))[:12_000]
	posts = append(posts, corpus.Lines[post](t, filepath.Join(folder, "habr-ru-labelled.jsonl.gz"))...)
	posts = append(posts, corpus.Lines[post](t, filepath.Join(folder, "habr-ru-unlabelled.jsonl.gz"))...)
	items := make([]storage.IndexItem, len(posts))
	for i, p := range posts {
		published, _ := time.Parse(time.RFC3339, p.Published)
		items[i] = storage.IndexItem{Text: p.Body, Item: storage.Item{
			ID: p.ID, FeedID: "feed", Title: p.Title, URL: p.URL, Language: p.Lang, Categories: p.Category, Tags: p.Tags,
			Published: published, FirstSeen: published, Changed: published,
		}}
	}
	return items
}

// relevant returns the IDs of the relevant items of a query.
func (g golden) relevant(items []storage.IndexItem) map[string]bool {
	title, not := regexp.MustCompile(g.title), regexp.MustCompile(cmp.Or(g.not, `^\z.`))
	ids := map[string]bool{}
	for _, it := range items {
		small := strings.ReplaceAll(strings.ToLower(it.Title), "ё", "е")
		if title.MatchString(small) && !not.MatchString(small) && (g.is == nil || g.is(it.Item)) {
			ids[it.ID] = true
		}
	}
	return ids
}

// ndcg scores the first ten results, 0 to 1: it is 1 if all of them are relevant, or all relevant items are
// among them.
//
// Source: K. Järvelin, J. Kekäläinen, Cumulated gain-based evaluation of IR techniques, 2002; with binary
// relevance.
func ndcg(found []storage.Hit, relevant map[string]bool) float64 {
	got, best := 0.0, 0.0
	for i := range 10 {
		gain := 1 / math.Log2(float64(i)+2)
		if i < len(found) && relevant[found[i].ID] {
			got += gain
		}
		if i < len(relevant) {
			best += gain
		}
	}
	return got / best
}

func TestGolden_QueriesReachTheirScores(t *testing.T) {
	items := goldenItems(t)
	eachEngine(t, items, func(t *testing.T, x storage.Index) { measureGolden(t, x, items) })
}

// eachEngine fills an index of each engine with the items, and runs a measurement.
func eachEngine(t *testing.T, items []storage.IndexItem, measure func(*testing.T, storage.Index)) {
	run := func(name string, open func(*testing.T) (storage.Index, error)) {
		t.Run(name, func(t *testing.T) {
			x, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { x.Close() })
			for chunk := range slices.Chunk(items, 2000) {
				if err := x.Put(t.Context(), chunk...); err != nil {
					t.Fatal(err)
				}
			}
			measure(t, x)
		})
	}
	run("bleve", func(t *testing.T) (storage.Index, error) {
		return bleve.Open(filepath.Join(t.TempDir(), "index"), slog.New(slog.DiscardHandler))
	})
	run("meilisearch", func(t *testing.T) (storage.Index, error) {
		server := engines.NewMeilisearch(t)
		return meilisearch.Open(t.Context(), meilisearch.Options{URL: server.URL(), Key: server.Key()})
	})
}

// measureGolden prints the scores of an index, by kinds of queries.
func measureGolden(t *testing.T, x storage.Index, items []storage.IndexItem) {
	byKind := map[string][]float64{}
	all := 0.0
	for _, g := range goldens {
		where, err := query.Parse(g.typed, time.Now())
		if err != nil {
			t.Fatalf("%q: %v", g.typed, err)
		}
		relevant := g.relevant(items)
		if len(relevant) == 0 {
			t.Errorf("%q: no item is relevant, so the query measures nothing", g.typed)
			continue
		}
		found, err := x.Search(t.Context(), storage.Query{Where: where, Limit: 10})
		if err != nil {
			t.Fatalf("%q: %v", g.typed, err)
		}
		score := ndcg(found.Hits, relevant)
		if score < 0.9 {
			t.Logf("%-10s %-40s %.2f: %d found, %d wanted", g.kind, g.typed, score, found.Total, len(relevant))
		}
		byKind[g.kind] = append(byKind[g.kind], score)
		all += score
	}
	for _, kind := range slices.Sorted(maps.Keys(byKind)) {
		scores, sum := byKind[kind], 0.0
		for _, s := range scores {
			sum += s
		}
		t.Logf("%-10s %2d queries, nDCG@10 %.3f", kind, len(scores), sum/float64(len(scores)))
	}
	mean := all / float64(len(goldens))
	t.Logf("all        %2d queries, nDCG@10 %.3f", len(goldens), mean)
	if mean < 0.9 {
		t.Errorf("nDCG@10 is %.3f, want 0.90", mean)
	}
}
