package meilisearch

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	upstream "github.com/meilisearch/meilisearch-go"

	"feedmesh/classify/query"
	"feedmesh/storage"
)

// An embedderServer is an embedder with the REST protocol that Meilisearch calls. Its vectors have a dimension for each subject.
type embedderServer struct {
	*httptest.Server
	fails atomic.Bool
}

var wordsOfSubjects = [][]string{{"car", "automobile", "vehicle", "engine"}, {"soup", "recipe", "bread", "cooking"}}

func newEmbedder(t *testing.T) *embedderServer {
	e := &embedderServer{}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || e.fails.Load() {
			http.Error(w, "no such model", http.StatusNotFound) // Meilisearch retries after other errors, for minutes
			return
		}
		vectors := make([][]float64, len(in.Input))
		for i, text := range in.Input {
			vectors[i] = []float64{0.1, 0.1, 0.1}
			for _, word := range strings.Fields(strings.ToLower(text)) {
				for subject, words := range wordsOfSubjects {
					if slices.Contains(words, word) {
						vectors[i][subject]++
					}
				}
			}
		}
		json.NewEncoder(w).Encode(map[string]any{"embeddings": vectors})
	}))
	t.Cleanup(e.Close)
	return e
}

// options returns options of a new index with the embedder.
func (e *embedderServer) options(t *testing.T) Options {
	t.Helper()
	options := newOptions(t)
	var err error
	options.Embedder, err = ParseEmbedder(fmt.Sprintf(
		`{"source": "rest", "url": %q, "request": {"input": ["{{text}}", "{{..}}"]}, "response": {"embeddings": ["{{embedding}}", "{{..}}"]}}`, e.URL))
	if err != nil {
		t.Fatal(err)
	}
	return options
}

// titled returns items with titles, whose IDs are their numbers.
func titled(titles ...string) []storage.IndexItem {
	var items []storage.IndexItem
	for i, title := range titles {
		it := words(fmt.Sprint(i))[0]
		it.Title, it.Language = title, "en"
		items = append(items, it)
	}
	return items
}

func idsOf(results storage.Results) (ids []string) {
	for _, h := range results.Hits {
		ids = append(ids, h.ID)
	}
	return ids
}

func TestSemantic_FindsSimilarMeaning(t *testing.T) {
	x := open(t, newEmbedder(t).options(t))
	items := titled("New automobile from Japan", "Soup recipe", "A vehicle with a strong engine", "Automobile museum")
	items[3].Language = "de"
	items[2].Excerpt = "It has four wheels."
	if err := x.Put(t.Context(), items...); err != nil {
		t.Fatal(err)
	}
	english := query.FieldEquals{Field: query.Language, Value: "en"}
	for _, test := range []struct {
		what  string
		q     storage.Query
		first []string // in any order
	}{
		{"words only", storage.Query{Where: query.Text{Words: "car"}}, nil},
		{"meaning only", storage.Query{Where: query.Text{Words: "car"}, Semantic: 100}, []string{"0", "2", "3"}},
		{"both", storage.Query{Where: query.Text{Words: "recipe"}, Semantic: 50}, []string{"1"}},
		{"a condition", storage.Query{Where: query.And{query.Text{Words: "car"}, english}, Semantic: 100}, []string{"0", "2"}},
		{"facets", storage.Query{Where: query.And{query.Text{Words: "automobile"}, english}, Semantic: 40, Facets: true}, []string{"0", "2"}},
	} {
		got, err := x.Search(t.Context(), test.q)
		if err != nil {
			t.Errorf("%s: %v", test.what, err)
			continue
		}
		ids := idsOf(got)
		first := slices.Sorted(slices.Values(ids[:min(len(ids), len(test.first))]))
		if !slices.Equal(first, test.first) || got.Total != int64(len(ids)) || test.q.Semantic == 0 && len(ids) > 0 {
			t.Errorf("%s: got %v of %d, want %v first", test.what, ids, got.Total, test.first)
		}
		if test.q.Facets && (len(got.Facets["language"]) != 1 || got.Facets["language"][0].Count != 1) {
			t.Errorf("%s: got facets %v, want those of the item with the word", test.what, got.Facets)
		}
	}
	// Results in order of time are found by words.
	if got, err := x.Search(t.Context(), storage.Query{Where: query.Text{Words: "car"}, Semantic: 100, Newest: true}); err != nil || len(got.Hits) > 0 {
		t.Errorf("newest first: got %v, %v; want none", idsOf(got), err)
	}
	for _, where := range []query.Node{
		query.And{query.Text{Words: "car"}, query.Not{Node: query.Text{Words: "museum"}}},
		query.Or{query.Text{Words: "car"}, query.Text{Words: "soup"}},
	} {
		if _, err := x.Search(t.Context(), storage.Query{Where: where, Semantic: 100}); !errors.As(err, new(*query.SyntaxError)) {
			t.Errorf("%v: got %v, want a syntax error", where, err)
		}
	}
}

func TestSemantic_Pages(t *testing.T) {
	x := open(t, newEmbedder(t).options(t))
	var titles []string
	for i := range 25 {
		titles = append(titles, fmt.Sprintf("automobile %d", i))
	}
	if err := x.Put(t.Context(), titled(titles...)...); err != nil {
		t.Fatal(err)
	}
	q := storage.Query{Where: query.Text{Words: "car"}, Semantic: 100, Limit: 10}
	seen := map[string]bool{}
	for pages := 1; ; pages++ {
		got, err := x.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range idsOf(got) {
			if seen[id] {
				t.Errorf("page %d repeats %s", pages, id)
			}
			seen[id] = true
		}
		if q.Cursor = got.Next; q.Cursor == "" || pages == 5 {
			break
		}
	}
	if len(seen) != 25 {
		t.Errorf("got %d items on all pages, want 25", len(seen))
	}
}

// Items wait while the embedder fails: none is rejected for it.
func TestSemantic_EmbedderFails(t *testing.T) {
	e := newEmbedder(t)
	options := e.options(t)
	x := open(t, options)
	if err := x.Put(t.Context(), titled("automobile")...); err != nil {
		t.Fatal(err)
	}
	before := x.tasks(t, upstream.TaskTypeSettingsUpdate)
	open(t, options)
	if got := x.tasks(t, upstream.TaskTypeSettingsUpdate); got != before {
		t.Errorf("the second open added %d tasks, want none", got-before)
	}
	e.fails.Store(true)
	if err := x.Put(t.Context(), titled("vehicle", "engine")...); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("put: got %v, want that the embedder is unavailable", err)
	}
	q := storage.Query{Where: query.Text{Words: "car"}, Semantic: 100}
	if _, err := x.Search(t.Context(), q); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("search: got %v, want that the embedder is unavailable", err)
	}
	e.fails.Store(false)
	if err := x.Put(t.Context(), titled("vehicle", "engine")...); err != nil {
		t.Fatal(err)
	}
	if got, err := x.Search(t.Context(), q); err != nil || len(got.Hits) != 2 {
		t.Errorf("got %v, %v; want two items", idsOf(got), err)
	}
}

func TestSemantic_NeedsEmbedder(t *testing.T) {
	options := newOptions(t)
	x := open(t, options)
	if err := x.Put(t.Context(), titled("automobile")...); err != nil {
		t.Fatal(err)
	}
	with := newEmbedder(t).options(t)
	with.name = options.name
	if x.HasEmbedder(t.Context()) {
		t.Error("the index has an embedder, want none")
	}
	defer func() {
		if !open(t, with).HasEmbedder(t.Context()) || !open(t, options).HasEmbedder(t.Context()) {
			t.Error("the index has no embedder, want that of the last agent with one")
		}
	}()
	if _, err := x.Search(t.Context(), storage.Query{Where: query.Text{Words: "car"}, Semantic: 50}); !errors.Is(err, storage.ErrNoEmbedder) {
		t.Errorf("got %v, want that an embedder is missing", err)
	}
}

func TestParseEmbedder_ErrorStatesRemedy(t *testing.T) {
	for text, want := range map[string]string{
		``: "no JSON object", `[]`: "no JSON object", `{"url": "http://127.0.0.1"}`: `no "source"`, `{"source": "userProvided", "dimensions": 3}`: "choose a source",
	} {
		if _, err := ParseEmbedder(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}
