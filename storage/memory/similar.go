package memory

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	"feedmesh/storage"
)

// alike is from what likeness on two items are about the same.
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
		if score := likeness(to.about, it.about, rarity); score >= alike {
			hits = append(hits, storage.Hit{ID: it.id, Score: score})
		}
	}
	slices.SortFunc(hits, func(a, b storage.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	return first(hits, limit), nil
}

// likeness returns the cosine of a and of what b shares with it, over the length of
// all of b: 0 to 1. Sums go by stem in order, or equal items might differ in the
// last bit.
func likeness(a, b, rarity map[string]float64) float64 {
	shared, ofA, ofB := 0.0, 0.0, 0.0
	for _, stem := range slices.Sorted(maps.Keys(a)) {
		x, y := a[stem]*rarity[stem], b[stem]*rarity[stem]
		shared, ofA = shared+x*y, ofA+x*x
	}
	for _, stem := range slices.Sorted(maps.Keys(b)) {
		y := b[stem] * max(rarity[stem], 1)
		ofB += y * y
	}
	if shared == 0 {
		return 0
	}
	return shared / math.Sqrt(ofA*ofB)
}
