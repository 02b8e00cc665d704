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

// Of an item's words, those that weigh the most are searched for, and each two of
// the very heaviest; of what they find, what shares the most is compared. Nearly
// all of the time that it takes is that of these 14 searches.
const (
	soughtWords = 8
	pairedWords = 4
	foundEach   = 40
	compared    = 60
)

// alike is from what [storage.Likeness] on two items are about the same.
const alike = 0.1

// The weights of a word by where it stands.
const titleWeight, tagWeight, authorWeight, textWeight = 8, 3, 2, 1

// Similar implements [storage.Index]: of the items that have the words by which
// this one is told from others, those whose words have the highest cosine with its
// own, each weighed by how rare it is. Meilisearch has vectors for that, but makes
// none.
func (x *Index) Similar(ctx context.Context, item storage.Indexed, limit int) ([]storage.Hit, error) {
	if limit <= 0 {
		return nil, ctx.Err()
	}
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	hits, err := x.similar(within, item, limit)
	if err != nil {
		return nil, x.failed(ctx, "find similar items", err)
	}
	return hits, nil
}

func (x *Index) similar(ctx context.Context, item storage.Indexed, limit int) ([]storage.Hit, error) {
	a := weightsOf(item)
	only := allOf(found(storage.Query{}), not(compare(attrID, "=", keyOf(item.ID))))
	keys, rarity, err := x.candidates(ctx, a, only)
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	others, err := x.weights(ctx, keys, stopTokens(item.Language))
	if err != nil {
		return nil, err
	}
	var hits []storage.Hit
	for key, b := range others {
		if score := storage.Likeness(a, b, rarity); score >= alike {
			hits = append(hits, storage.Hit{ID: idOf(key), Score: score})
		}
	}
	slices.SortFunc(hits, func(a, b storage.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	return hits[:min(limit, len(hits))], nil
}

// weightsOf returns what the tokens of an item weigh, without stop words.
func weightsOf(item storage.Indexed) map[string]float64 {
	weights, stops := map[string]float64{}, stopTokens(item.Language)
	add := func(weight float64, texts ...string) {
		for _, token := range unique(tokensOf(anyStem, query.Stems(slices.Concat(wordsOf(texts...)...)))) {
			if !stops[token] {
				weights[token] += weight
			}
		}
	}
	add(titleWeight, item.Title)
	add(tagWeight, item.Tags...)
	add(authorWeight, item.Author)
	add(textWeight, item.Text)
	return weights
}

// stopTokens returns the tokens that say nothing of what a text is about.
func stopTokens(language string) map[string]bool {
	tokens := map[string]bool{}
	for _, l := range []string{"en", "ru", language} {
		for word := range stem.Stop(l) {
			tokens[tokenOf(anyStem, query.StemOf(word))] = true
		}
	}
	return tokens
}

// heaviest returns the n tokens that weigh the most. Of equals the longest come
// first, which are rather about something.
func heaviest(weights map[string]float64, n int) []string {
	tokens := slices.SortedFunc(maps.Keys(weights), func(a, b string) int {
		return cmp.Or(cmp.Compare(weights[b], weights[a]), cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	return tokens[:min(n, len(tokens))]
}

// candidates returns the keys of the documents that share the most with an item of
// such tokens, as far as the heaviest and each two of the first of these find them,
// and how rare the tokens are.
func (x *Index) candidates(ctx context.Context, weights map[string]float64, only condition) ([]string, map[string]float64, error) {
	tokens := heaviest(weights, soughtWords)
	if len(tokens) == 0 {
		return nil, nil, nil
	}
	sought := [][]term{nil} // all documents, to know their number
	for _, token := range tokens {
		sought = append(sought, []term{{token: token}})
	}
	for i, token := range tokens[:min(pairedWords, len(tokens))] {
		for _, other := range tokens[:i] {
			sought = append(sought, []term{{token: token}, {token: other}})
		}
	}
	requests := make([]*upstream.SearchRequest, len(sought))
	for i, must := range sought {
		requests[i] = x.request(branch{must: must, only: only})
		requests[i].Limit = foundEach
	}
	found, err := x.find(ctx, requests...)
	if err != nil || found == nil {
		return nil, nil, err
	}
	shared, err := sharedBy(sought[1:], found[1:])
	if err != nil {
		return nil, nil, err
	}
	rarity := rarityOf(weights, tokens, found)
	return mostShared(shared, tokens, weights, rarity), rarity, nil
}

// rarityOf weighs each token by how few documents have it, which the searches for
// the tokens tell, and first that for all. Those not searched for count as the most
// frequent of them.
//
// Source: S. Robertson, H. Zaragoza, The Probabilistic Relevance Framework: BM25
// and Beyond, 2009; 1 is added so that no word counts for nothing.
func rarityOf(weights map[string]float64, tokens []string, found []upstream.SearchResponse) map[string]float64 {
	rarity, least := map[string]float64{}, math.Inf(1)
	for i, token := range tokens {
		all, have := float64(found[0].EstimatedTotalHits), float64(found[i+1].EstimatedTotalHits)
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

// sharedBy returns which tokens each document has, by key, as far as searches for
// them found it.
func sharedBy(sought [][]term, found []upstream.SearchResponse) (map[string]map[string]bool, error) {
	shared := map[string]map[string]bool{}
	for i, must := range sought {
		var hits []hit
		if err := found[i].Hits.DecodeInto(&hits); err != nil {
			return nil, err
		}
		for _, h := range hits {
			if shared[h.ID] == nil {
				shared[h.ID] = map[string]bool{}
			}
			for _, t := range must {
				shared[h.ID][t.token] = true
			}
		}
	}
	return shared, nil
}

// mostShared returns the documents whose tokens weigh the most in all.
func mostShared(shared map[string]map[string]bool, tokens []string, weights, rarity map[string]float64) []string {
	sums := map[string]float64{}
	for key, has := range shared {
		for _, token := range tokens { // in order, or equal items might differ in the last bit
			if has[token] {
				sums[key] += weights[token] * rarity[token]
			}
		}
	}
	keys := slices.SortedFunc(maps.Keys(sums), func(a, b string) int {
		return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b))
	})
	return keys[:min(compared, len(keys))]
}

// weights returns what the tokens of documents weigh, by key, without stop words.
func (x *Index) weights(ctx context.Context, keys []string, stops map[string]bool) (map[string]map[string]float64, error) {
	docs, err := x.documents(ctx, keys, stemAttributes...)
	if err != nil {
		return nil, err
	}
	all := map[string]map[string]float64{}
	for _, d := range docs {
		all[d.ID] = d.weights(stops)
	}
	return all, nil
}

// weights returns what the document's tokens weigh, without stop words. Of what all
// of it has, what is only in the text can't be told from what is there too.
func (d *document) weights(stops map[string]bool) map[string]float64 {
	weights := map[string]float64{}
	for _, part := range []struct {
		padded []string
		weight float64
	}{{d.TitleStems, titleWeight}, {d.TagStems, tagWeight}, {d.AuthorStems, authorWeight}, {d.Stems, textWeight}} {
		for _, token := range strings.Fields(strings.Join(part.padded, " ")) {
			if isStem(token) && !stops[token] {
				weights[token] += part.weight
			}
		}
	}
	return weights
}
