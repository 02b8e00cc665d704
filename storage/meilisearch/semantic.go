package meilisearch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"time"

	upstream "github.com/meilisearch/meilisearch-go"

	"feedmesh/classify/query"
	"feedmesh/storage"
)

// embedderName is the name of our embedder. People may add others for the dashboard.
const embedderName = "feedmesh"

// defaultTemplate is the text of a document whose meaning an embedder gets. Meilisearch cuts it, by default to 400 bytes.
const defaultTemplate = "{{doc.title}}\n{{doc.text}}"

// An Embedder is an embedder as in Meilisearch's settings: any source that Meilisearch calls itself.
type Embedder map[string]any

// ParseEmbedder parses the settings of an embedder, a JSON object. Without a template for documents it gets the title and
// the beginning of the text.
func ParseEmbedder(text string) (Embedder, error) {
	var e Embedder
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return nil, fmt.Errorf("the embedder is no JSON object: %w", err)
	}
	switch source, _ := e["source"].(string); source {
	case "":
		return nil, errors.New(`the embedder has no "source", such as ollama or rest`)
	case "userProvided":
		return nil, errors.New("vectors of users would be lost with each change of an item: choose a source that Meilisearch calls, such as ollama or rest")
	}
	if e["documentTemplate"] == nil {
		e["documentTemplate"] = defaultTemplate
	}
	return e, nil
}

// isApplied reports whether the settings of an index have the embedder. Meilisearch does not return keys of APIs, so one with a key
// has to be applied at each start.
func (e Embedder) isApplied(settings set) bool {
	applied := embedderIn(settings)
	for name, value := range e {
		if name == "apiKey" || !reflect.DeepEqual(applied[name], value) {
			return false
		}
	}
	return true
}

// embedderIn returns our embedder in the settings of an index, nil if there is none.
func embedderIn(settings set) map[string]any {
	all, _ := settings["embedders"].(map[string]any)
	own, _ := all[embedderName].(map[string]any)
	return own
}

// cacheTime is the time for which it is cached whether the index has an embedder.
const cacheTime = time.Minute

// An embedderCache caches whether an index has our embedder.
type embedderCache struct {
	mu   sync.Mutex
	has  bool
	read time.Time
}

// HasEmbedder implements [storage.EmbeddingIndex].
func (r reader) HasEmbedder(ctx context.Context) bool {
	e := &r.embedders
	e.mu.Lock()
	defer e.mu.Unlock()
	if time.Since(e.read) < cacheTime {
		return e.has
	}
	within, cancel := context.WithTimeout(ctx, searchTimeout)
	defer cancel()
	var settings set
	all, err := r.readParts(within)
	if err == nil {
		err = r.requestSettings(within, http.MethodGet, all.last().name, nil, &settings)
	}
	if err != nil && ctx.Err() != nil { // the client has left
		return e.has
	}
	e.has, e.read = embedderIn(settings) != nil, time.Now()
	return e.has
}

// embeddingFailed is the code of Meilisearch for an embedder that does not answer, or not as expected.
const embeddingFailed = "vector_embedding_error"

// noEmbedder is the code of Meilisearch for an index without an embedder.
const noEmbedder = "invalid_search_embedder"

// isSemantic reports whether the results of a query match by their meaning too.
func isSemantic(q storage.Query) bool { return q.Semantic > 0 && q.Scored() }

// semantic runs a semantic search: the requests of the branches, and one for the items that are most similar in meaning, whose scores
// are weighed against each other.
func (s *search) semantic(ctx context.Context) (*findings, error) {
	words, beside, err := meaningOf(s.query.Where)
	if err != nil {
		return nil, err
	}
	byMeaning := &upstream.SearchRequest{
		Query: words, Filter: allOf(found(s.query), allOf(conditionsOf(beside)...)).request(),
		AttributesToRetrieve: hitAttributes, ShowRankingScore: true,
		Hybrid: &upstream.SearchRequestHybrid{Embedder: embedderName, SemanticRatio: 1},
	}
	similar := float64(s.query.Semantic) / 100
	lists, err := s.weighted(ctx, similar, byMeaning)
	if err != nil {
		return nil, err
	}
	if similar < 1 {
		byWords, err := s.weighted(ctx, 1-similar, s.pages()...)
		if err != nil {
			return nil, err
		}
		lists = append(lists, byWords...)
	}
	f := &findings{hits: s.merged(lists, storage.MaxSemantic)}
	if s.query.Facets { // of the items with the words: all others are similar to some degree
		whole, err := s.whole(ctx)
		if err != nil {
			return nil, err
		}
		f.facets = whole.facets
	}
	f.total = int64(len(f.hits))
	return f, nil
}

// weighted returns the hits of requests, ranked by their scores with a weight.
func (s *search) weighted(ctx context.Context, weight float64, requests ...*upstream.SearchRequest) ([]hitList, error) {
	lists, err := s.lists(ctx, s.in, requests, storage.MaxSemantic)
	for _, l := range lists {
		for i := range l.hits {
			l.hits[i].rank *= weight
		}
	}
	return lists, err
}

// meaningOf separates a query into its words and the conditions beside them. The error is a [*query.SyntaxError] if it has others.
func meaningOf(n query.Node) (words string, beside []query.Node, err error) {
	all, is := n.(query.And)
	if !is {
		all = query.And{n}
	}
	var texts []string
	for _, n := range all {
		switch t, is := n.(query.Text); {
		case is:
			texts = append(texts, t.Words)
		case hasWords(n):
			return "", nil, &query.SyntaxError{Message: "a semantic search takes words and conditions without words; leave out OR between words, and - before them"}
		case n != nil:
			beside = append(beside, n)
		}
	}
	return strings.Join(texts, " "), beside, nil
}
