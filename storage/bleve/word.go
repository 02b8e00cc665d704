package bleve

import (
	"context"
	"math"

	"github.com/RoaringBitmap/roaring/v2"
)

// A word finds and scores documents that contain it, or words near to it, in one of its fields.
//
// The score depends only on the document and the word's weight, which the cursor stores. Bleve's own scores
// depend on the number and length of all documents and so change with each Put, which makes paging by score
// skip and repeat items.
type word struct {
	fields []wordField
	stem   string
	code   uint16 // of the stem
	near   []nearWord
	weight float64 // see rarity
}

// rarity weighs a word that some of all documents contain: 1 if all do, about 12 for one of 100,000.
//
// Source: S. Robertson, H. Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond, 2009; 1 is added
// so that every word counts.
func rarity(all, some uint64) float64 {
	have, lack := float64(some), float64(max(all, some)-some)
	return 1 + math.Log(1+(lack+0.5)/(have+0.5))
}

// weigh sets the word's weight from the number of documents with the word, or with its most frequent near
// word.
func (w *word) weigh(ctx context.Context, segs []*segment) error {
	var all, most uint64
	for _, s := range segs {
		all += s.live.GetCardinality()
	}
	for _, field := range w.fields {
		some, err := countIn(ctx, segs, field.name, w.stem)
		if err != nil {
			return err
		}
		most = max(most, some)
	}
	for _, near := range w.near {
		most = max(most, near.docs)
	}
	w.weight = rarity(all, min(most, all))
	return nil
}

// within implements part.
func (w *word) within(ctx context.Context, s *segment, docs *roaring.Bitmap) (*roaring.Bitmap, error) {
	found := roaring.New()
	for _, field := range w.fields {
		if err := s.add(found, field.name, w.stem); err != nil {
			return nil, err
		}
	}
	near, err := w.nearIn(ctx, s)
	if err != nil {
		return nil, err
	}
	for _, some := range near {
		found.Or(some.docs)
	}
	docs.And(found)
	return docs, nil
}

// A nearGroup is the documents with near words of one likeness in a field.
type nearGroup struct {
	docs  *roaring.Bitmap
	score float64
}

// nearIn returns the documents of a segment with words near to the word, field by field, the best first.
func (w *word) nearIn(ctx context.Context, s *segment) ([]nearGroup, error) {
	if groups, ok := s.near[w]; ok || len(w.near) == 0 {
		return groups, nil
	}
	const once = 0.45 // score of a word that occurs once in a text of usual length
	var groups []nearGroup
	for _, field := range w.fields {
		seen := roaring.New()
		for i := 0; i < len(w.near); {
			group := nearGroup{roaring.New(), field.boost * once * w.near[i].likeness}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			for first := w.near[i]; i < len(w.near) && w.near[i].likeness == first.likeness; i++ {
				if err := s.add(group.docs, field.name, w.near[i].term); err != nil {
					return nil, err
				}
			}
			group.docs.AndNot(seen)
			seen.Or(group.docs)
			groups = append(groups, group)
		}
	}
	s.near[w] = groups
	return groups, nil
}

// score adds the word's score in each document of ids, in ascending order, to sums.
func (w *word) score(ctx context.Context, s *segment, docs *roaring.Bitmap, ids []uint32, sums []float64) error {
	own := make([]float64, len(ids))
	for _, field := range w.fields {
		if err := field.score(ctx, s, w.stem, docs, ids, own); err != nil {
			return err
		}
	}
	if len(w.near) > 0 {
		if err := w.scoreNear(ctx, s, docs, ids, own); err != nil {
			return err
		}
	}
	for i, score := range own {
		sums[i] += round(score * w.weight)
	}
	return nil
}

// round rounds the score to a multiple of a power of two, so that sums are bit-identical in any order.
func round(score float64) float64 {
	const unit = 1 << 20
	return math.Round(score*unit) / unit
}

// score adds the stem's score in each document, from 0 to boost. It rises with frequency and falls with text
// length, by the saturation of BM25 with its usual parameters.
func (f *wordField) score(ctx context.Context, s *segment, stem string, docs *roaring.Bitmap, ids []uint32, sums []float64) error {
	const k, b = 1.2, 0.75
	postings, err := s.postingsIn(f.name, stem, docs)
	if err != nil {
		return err
	}
	at := 0
	for i := 0; ; i++ {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		posting, err := postings.Next()
		if posting == nil || err != nil {
			return err
		}
		doc := uint32(posting.Number())
		if at = seek(ids, at, doc); at == len(ids) {
			return nil
		}
		if ids[at] != doc { // a list of one document is not restricted to docs
			continue
		}
		length := 1.0 // relative to the usual length
		if f.usual > 0 {
			norm := posting.Norm()
			length = 1 - b + b/(norm*norm)/f.usual
		}
		freq := float64(posting.Frequency())
		sums[at] += f.boost * freq / (freq + k*length)
	}
}

// seek returns the index of the first of ids, from an index on, that is not less than doc; len(ids) if none
// is. It gallops: near positions are found fastest.
func seek(ids []uint32, from int, doc uint32) int {
	step := 1
	for from+step < len(ids) && ids[from+step] < doc {
		from += step
		step *= 2
	}
	to := min(from+step, len(ids))
	for from < to {
		middle := (from + to) / 2
		if ids[middle] < doc {
			from = middle + 1
		} else {
			to = middle
		}
	}
	return from
}

// scoreNear raises the scores of documents with near words. It ignores their frequency, since hundreds may
// match.
func (w *word) scoreNear(ctx context.Context, s *segment, docs *roaring.Bitmap, ids []uint32, scores []float64) error {
	groups, err := w.nearIn(ctx, s)
	if err != nil {
		return err
	}
	near := make([]float64, len(ids))
	for _, group := range groups {
		addTo(near, group.score, ids, roaring.And(group.docs, docs))
	}
	for i, score := range near {
		scores[i] = max(scores[i], score)
	}
	return nil
}

// addTo adds the score to the sums of the documents in some.
func addTo(sums []float64, score float64, ids []uint32, some *roaring.Bitmap) {
	at := 0
	for _, doc := range some.ToArray() {
		at = seek(ids, at, doc)
		sums[at] += score
	}
}

// A nearWord is a stem that matches in place of another.
type nearWord struct {
	frequency
	likeness float64 // factor of the score, 0 to 1
}
