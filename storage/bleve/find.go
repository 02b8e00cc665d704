package bleve

import (
	"context"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"feedmesh/storage"
)

// found contains the documents that a plan finds.
type found struct {
	total int64
	parts []foundPart
}

// A foundPart contains the documents of one segment that a plan finds.
type foundPart struct {
	*segment
	docs   []uint32  // ascending
	scores []float64 // of each document; nil if ordered by time
}

// find finds and scores all matching documents.
func (p *plan) find(ctx context.Context, segs []*segment) (*found, error) {
	all := &found{}
	for _, s := range segs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		docs, err := p.parts.within(ctx, s, s.live.Clone())
		if err != nil {
			return nil, err
		}
		if docs.IsEmpty() {
			continue
		}
		part := foundPart{segment: s, docs: docs.ToArray()}
		if p.query.Scored() {
			if err := p.score(ctx, &part, docs); err != nil {
				return nil, err
			}
		}
		all.total += int64(len(part.docs))
		all.parts = append(all.parts, part)
	}
	return all, nil
}

func (p *plan) score(ctx context.Context, part *foundPart, docs *roaring.Bitmap) error {
	part.scores = make([]float64, len(part.docs))
	for _, w := range p.words {
		if err := w.score(ctx, part.segment, docs, part.docs, part.scores); err != nil {
			return err
		}
	}
	for i, doc := range part.docs {
		boost := p.query.Boost(time.UnixMicro(part.published[doc]), int(part.prominence[doc]))
		part.scores[i] = round(part.scores[i] * boost)
	}
	return nil
}

// place returns the place of the i-th document.
func (p *foundPart) place(i int) place {
	doc := p.docs[i]
	at := place{published: p.published[doc], story: p.story[doc], segment: p.segment, doc: doc}
	if p.scores != nil {
		at.score = p.scores[i]
	}
	return at
}

// first returns the first size places after the cursor, if it is not nil.
func (f *found) first(ctx context.Context, size int, after *cursor, once bool) ([]place, error) {
	t := &top{size: size, after: after}
	if once {
		t.shown = make(map[uint64]bool)
	}
	if once && after != nil {
		err := f.each(ctx, func(p place) {
			if p.story != 0 && !p.isAfter(after) {
				t.shown[p.story] = true
			}
		})
		if err != nil {
			return nil, err
		}
	}
	err := f.each(ctx, t.offer)
	return t.sorted(), err
}

// each calls do with each place. A segment's newest documents are usually its last; visited first, they are
// displaced least often.
func (f *found) each(ctx context.Context, do func(place)) error {
	for part := range f.parts {
		for i := len(f.parts[part].docs) - 1; i >= 0; i-- {
			if i%checkEvery == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			do(f.parts[part].place(i))
		}
	}
	return nil
}

// results returns the page after the cursor. page contains the values that all pages share.
func (p *plan) results(ctx context.Context, columns *columnCache, all *found, page cursor) (storage.Results, error) {
	results := storage.Results{Total: all.total, Fuzzy: page.Fuzzy}
	var after *cursor
	if p.query.Cursor != "" {
		after = &page
	}
	limit := p.query.PageSize()
	places, err := all.first(ctx, limit+1, after, p.query.OnePerStory) // one more, to detect a next page
	if err != nil {
		return storage.Results{}, err
	}
	if len(places) > limit {
		places = places[:limit]
		last := &places[limit-1]
		next := cursor{
			Query: p.query.Key(), Score: last.score, Published: last.published, ID: last.id(), Now: page.Now, Fuzzy: page.Fuzzy,
		}
		for _, w := range p.words {
			next.Weights = append(next.Weights, w.weight)
		}
		results.Next = next.String()
	}
	for i := range places {
		results.Hits = append(results.Hits, storage.Hit{ID: places[i].id(), Score: places[i].score})
	}
	if p.query.Facets {
		counts := columns.newFacets()
		for i := range all.parts {
			if err := ctx.Err(); err != nil {
				return storage.Results{}, err
			}
			counts.add(all.parts[i].segment, all.parts[i].docs)
		}
		results.Facets = counts.results()
	}
	return results, nil
}
