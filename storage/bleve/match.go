package bleve

import (
	"context"

	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/search"
	"github.com/blevesearch/bleve/v2/search/query"
	"github.com/blevesearch/bleve/v2/search/searcher"
	bleveindex "github.com/blevesearch/bleve_index_api"

	"feedmesh/storage"
)

var _ query.Query = (*match)(nil)

// unscored finds documents only, which scorch does on bitmaps where it can.
var unscored = search.SearcherOptions{Score: "none"}

// A match is a [storage.Query] as bleve runs it.
type match struct {
	query   storage.Query
	stems   []string  // all of them must occur
	weights []float64 // of the stems: those of the cursor, or else set by Searcher
	nothing bool      // matches nothing, whatever else it says
}

// scored says whether matches are ordered by score.
func (m *match) scored() bool { return len(m.stems) > 0 && !m.query.Newest }

// Searcher implements [query.Query].
func (m *match) Searcher(ctx context.Context, reader bleveindex.IndexReader, _ mapping.IndexMapping,
	options search.SearcherOptions) (search.Searcher, error) {
	if m.nothing {
		return searcher.NewMatchNoneSearcher(reader)
	}
	all, err := m.filters(ctx, reader)
	if err != nil {
		return nil, err
	}
	if all == nil {
		return searcher.NewMatchNoneSearcher(reader)
	}
	for i := range m.stems {
		word, err := m.word(ctx, reader, i)
		if err != nil {
			all.close()
			return nil, err
		}
		if word == nil { // one word missing is enough to find nothing
			all.close()
			return searcher.NewMatchNoneSearcher(reader)
		}
		all = append(all, word)
	}
	found, err := searcher.NewConjunctionSearcher(ctx, reader, all, options)
	if err != nil {
		all.close()
		return nil, err
	}
	return within(found, reader, m.query)
}

// word returns the searcher of the i-th word, or nil if no document has it.
func (m *match) word(ctx context.Context, reader bleveindex.IndexReader, i int) (search.Searcher, error) {
	if !m.scored() {
		terms := make([]term, len(wordFields))
		for f, field := range wordFields {
			terms[f] = term{field.name, m.stems[i]}
		}
		return anyOf(ctx, reader, terms...)
	}
	word, err := newWordSearcher(ctx, reader, m.stems[i])
	if err != nil || len(word.parts) == 0 {
		return nil, err
	}
	if i < len(m.weights) {
		word.weight = m.weights[i]
	} else {
		m.weights = append(m.weights, word.weight)
	}
	return word, nil
}

// filters returns one searcher for each condition that is not words, at least
// one in all, or nil if no document meets one of them.
func (m *match) filters(ctx context.Context, reader bleveindex.IndexReader) (all searchers, err error) {
	conditions := [][]term{m.kinds()}
	for _, t := range []term{
		{fieldFeed, m.query.FeedID}, {fieldCategory, m.query.Category}, {fieldTopic, m.query.Topic},
		{fieldFlag, m.query.Flag}, {fieldLanguage, m.query.Language},
	} {
		if t.value != "" {
			conditions = append(conditions, []term{t})
		}
	}
	for _, terms := range conditions {
		one, err := anyOf(ctx, reader, terms...)
		if err != nil {
			all.close()
			return nil, err
		}
		if one == nil {
			all.close()
			return nil, nil
		}
		all = append(all, one)
	}
	return all, nil
}

// kinds returns the kinds of items to find.
func (m *match) kinds() []term {
	kinds := []term{{fieldKind, kindOf(m.query.Spam, false, false)}}
	if m.query.Duplicates {
		kinds = append(kinds, term{fieldKind, kindOf(m.query.Spam, true, false)})
	}
	if m.query.FindsMuted() {
		kinds = append(kinds, term{fieldKind, kindOf(m.query.Spam, false, true)})
	}
	if m.query.Duplicates && m.query.FindsMuted() {
		kinds = append(kinds, term{fieldKind, kindOf(m.query.Spam, true, true)})
	}
	return kinds
}

// A term is a value of a field.
type term struct{ field, value string }

// anyOf returns the searcher of documents that have at least one of the terms,
// or nil if none has.
func anyOf(ctx context.Context, reader bleveindex.IndexReader, terms ...term) (search.Searcher, error) {
	var all searchers
	for _, t := range terms {
		one, err := searcher.NewTermSearcher(ctx, reader, t.value, t.field, 1, unscored)
		if err != nil {
			all.close()
			return nil, err
		}
		if one.Count() == 0 {
			_ = one.Close()
			continue
		}
		all = append(all, one)
	}
	if len(all) == 0 {
		return nil, nil
	}
	if len(all) == 1 {
		return all[0], nil
	}
	found, err := searcher.NewDisjunctionSearcher(ctx, reader, all, 1, unscored)
	if err != nil {
		all.close()
	}
	return found, err
}

// searchers are closed by those that are made of them; close is for when it
// does not come to that.
type searchers []search.Searcher

func (all searchers) close() {
	for _, s := range all {
		_ = s.Close() // only returns its buffers
	}
}
