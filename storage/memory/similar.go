package memory

import (
	"cmp"
	"context"
	"slices"

	"feedmesh/storage"
)

// alike is from what [storage.Likeness] on two items are about the same.
const alike = 0.1

// Similar implements [storage.Index]: by the cosine of the items' words, each
// weighed by how rare it is.
func (x *Index) Similar(ctx context.Context, item storage.Indexed, limit int) ([]storage.Hit, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	to := indexItem(item)
	rarity := map[string]float64{}
	for stem := range to.about {
		rarity[stem] = rarityIn(x.items, stem)
	}
	var hits []storage.Hit
	for _, it := range x.items {
		if it.id == item.ID || !(storage.Query{}).Admits(it.doc) {
			continue
		}
		if score := storage.Likeness(to.about, it.about, rarity); score >= alike {
			hits = append(hits, storage.Hit{ID: it.id, Score: score})
		}
	}
	slices.SortFunc(hits, func(a, b storage.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	return first(hits, limit), nil
}
