package meilisearch

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"

	upstream "github.com/meilisearch/meilisearch-go"

	"feedmesh/classify/query"
	"feedmesh/classify/stem"
	"feedmesh/storage"
)

// Similar searches for an item's heaviest words, and for each pair of the very heaviest; of the results,
// those that share most are compared. Nearly all of its time is spent in these 14 searches.
const (
	soughtWords = 8
	pairedWords = 4
	foundEach   = 40
	compared    = 60
)

// minSimilarity is the [storage.Similarity] from which on two items have the same subject.
const minSimilarity = 0.1

// Similar implements [storage.Index]: of the items with this item's characteristic words, those with the
// highest cosine, weighted by rarity. Meilisearch supports vectors, but does not compute them.
func (r reader) Similar(ctx context.Context, item storage.IndexItem, limit int) ([]storage.Hit, error) {
	if limit <= 0 {
		return nil, ctx.Err()
	}
	within, cancel := context.WithTimeout(ctx, searchTimeout)
	defer cancel()
	hits, err := r.similar(within, item, limit)
	if err != nil {
		return nil, r.failed(ctx, "find similar items", err)
	}
	return hits, nil
}

func (r reader) similar(ctx context.Context, item storage.IndexItem, limit int) ([]storage.Hit, error) {
	a := weightsOf(item)
	only := allOf(found(storage.Query{}), not(compare(attrID, "=", keyOf(item.ID))))
	if item.StoryID != "" {
		only = allOf(only, not(compare(attrStory, "=", item.StoryID)))
	}
	candidates, rarity, err := r.candidates(ctx, a, only)
	if err != nil || len(candidates) == 0 {
		return nil, err
	}
	others, err := r.weights(ctx, candidates, stopTokens(item.Language))
	if err != nil {
		return nil, err
	}
	var hits []storage.Hit
	for key, b := range others {
		if score := storage.Similarity(a, b, rarity); score >= minSimilarity {
			hits = append(hits, storage.Hit{ID: idOf(key), Score: score})
		}
	}
	slices.SortFunc(hits, func(a, b storage.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	return hits[:min(limit, len(hits))], nil
}

// weightsOf returns the weights of an item's tokens, without stop words.
func weightsOf(item storage.IndexItem) map[string]float64 {
	weights, stops := map[string]float64{}, stopTokens(item.Language)
	for _, p := range wordParts {
		var all tokenList
		for _, words := range wordsOf(p.texts(&item)...) {
			all.addStems(anyStem, words)
		}
		for _, token := range all.tokens() {
			if !stops[token] {
				weights[token] += p.weight
			}
		}
	}
	return weights
}

// stopTokens returns the tokens of stop words.
func stopTokens(language string) map[string]bool {
	tokens := map[string]bool{}
	for _, l := range []string{"en", "ru", language} {
		for word := range stem.StopWords(l) {
			tokens[tokenOf(anyStem, query.StemOf(word))] = true
		}
	}
	return tokens
}

// heaviest returns the n heaviest tokens. Of equal weights the longest come first, since they are more
// specific.
func heaviest(weights map[string]float64, n int) []string {
	tokens := slices.SortedFunc(maps.Keys(weights), func(a, b string) int {
		return cmp.Or(cmp.Compare(weights[b], weights[a]), cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	return tokens[:min(n, len(tokens))]
}

// candidates returns the documents that share most with an item's tokens, according to searches
// for the heaviest tokens and pairs of them, and the rarity of the tokens.
func (r reader) candidates(ctx context.Context, weights map[string]float64, only condition) ([]hit, map[string]float64, error) {
	tokens := heaviest(weights, soughtWords)
	if len(tokens) == 0 {
		return nil, nil, nil
	}
	terms := [][]term{nil} // all documents, for their number
	for _, token := range tokens {
		terms = append(terms, []term{{token: token}})
	}
	for i, token := range tokens[:min(pairedWords, len(tokens))] {
		for _, other := range tokens[:i] {
			terms = append(terms, []term{{token: token}, {token: other}})
		}
	}
	requests := make([]*upstream.SearchRequest, len(terms))
	for i, must := range terms {
		requests[i] = branch{must: must, only: only}.request()
		requests[i].Limit = foundEach
	}
	in, err := r.searched(ctx)
	if err != nil {
		return nil, nil, err
	}
	found, err := r.findIn(ctx, in.recent(), requests...)
	if err != nil || found == nil {
		return nil, nil, err
	}
	rarity := rarityOf(weights, tokens, found)
	return mostShared(terms[1:], found[1:], tokens, weights, rarity), rarity, nil
}

// rarityOf weighs each token by the number of documents with it, from the totals of the searches; the first
// is for all documents. Tokens without a search count as the most frequent.
//
// Source: S. Robertson, H. Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond, 2009; 1 is added
// so that every word counts.
func rarityOf(weights map[string]float64, tokens []string, found []answer) map[string]float64 {
	rarity, least := map[string]float64{}, math.Inf(1)
	for i, token := range tokens {
		all, have := float64(found[0].total), float64(found[i+1].total)
		rarity[token] = 1 + math.Log(1+max(all-have+0.5, 0)/(have+0.5))
		least = min(least, rarity[token])
	}
	for token := range weights {
		if rarity[token] == 0 {
			rarity[token] = least
		}
	}
	return rarity
}

// mostShared returns the documents with the greatest total weight of tokens, from the answers to searches for terms.
func mostShared(terms [][]term, found []answer, tokens []string, weights, rarity map[string]float64) []hit {
	hits, shared := map[string]hit{}, map[string]map[string]bool{} // by key; the tokens found in the document
	for i, must := range terms {
		for _, h := range found[i].hits {
			if shared[h.ID] == nil {
				hits[h.ID], shared[h.ID] = h, map[string]bool{}
			}
			for _, t := range must {
				shared[h.ID][t.token] = true
			}
		}
	}
	sums := map[string]float64{}
	for key, has := range shared {
		for _, token := range tokens { // in a fixed order, or equal items might differ in the last bit
			if has[token] {
				sums[key] += weights[token] * rarity[token]
			}
		}
	}
	most := slices.SortedFunc(maps.Values(hits), func(a, b hit) int {
		return cmp.Or(cmp.Compare(sums[b.ID], sums[a.ID]), cmp.Compare(a.ID, b.ID))
	})
	return most[:min(compared, len(most))]
}

// weights returns the weights of the tokens of documents, by key, without stop words.
func (r reader) weights(ctx context.Context, of []hit, stops map[string]bool) (map[string]map[string]float64, error) {
	docs, err := r.documents(ctx, of, stemAttributes...)
	if err != nil {
		return nil, err
	}
	all := map[string]map[string]float64{}
	for _, d := range docs {
		all[d.ID] = d.weights(stops)
	}
	return all, nil
}

// weights returns the weights of the document's tokens, without stop words. Tokens of the text alone cannot
// be separated from those that also occur elsewhere.
func (d *document) weights(stops map[string]bool) map[string]float64 {
	weights := map[string]float64{}
	for _, p := range wordParts {
		for _, token := range strings.Fields(strings.Join(*p.tokens(d), " ")) {
			if isStem(token) && !stops[token] {
				weights[token] += p.weight
			}
		}
	}
	return weights
}
