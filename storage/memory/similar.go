package memory

import (
	"cmp"
	"context"
	"slices"

	"feedmesh/storage"
)

// minSimilarity is the [storage.Similarity] of items about the same subject.
const minSimilarity = 0.1

// Similar implements [storage.Index] by the cosine of the items' words, weighted by rarity.
func (x *Index) Similar(ctx context.Context, item storage.IndexItem, limit int) ([]storage.Hit, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	to := newIndexEntry(item)
	rarity := map[string]float64{}
	for stem := range to.subjectWeights {
		rarity[stem] = rarityIn(x.items, stem)
	}
	var hits []storage.Hit
	for _, it := range x.items {
		if it.id == item.ID || !(storage.Query{}).Admits(it.doc) {
			continue
		}
		if score := storage.Similarity(to.subjectWeights, it.subjectWeights, rarity); score >= minSimilarity {
			hits = append(hits, storage.Hit{ID: it.id, Score: score})
		}
	}
	slices.SortFunc(hits, func(a, b storage.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	return first(hits, limit), nil
}
