package bleve

import (
	"cmp"
	"context"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"feedmesh/classify/query"
	"feedmesh/classify/stem"
	"feedmesh/storage"
)

const (
	maxTopicWords = 25  // words that represent an item
	maxWeighed    = 400 // words of it that are considered, most frequent first
	leastShared   = 0.3 // share of the weight of those words that a similar item needs
	tooCommon     = 0.2 // share of all items above which a word is ignored
)

// similarIn returns at most limit items about the subject of the given one.
func similarIn(ctx context.Context, segs []*segment, item storage.IndexItem, limit int) ([]storage.Hit, error) {
	own, err := ownDocs(segs, item.ID)
	if err != nil {
		return nil, err
	}
	words, err := topicWordsOf(segs, own, &item)
	if err != nil {
		return nil, err
	}
	all := &found{}
	for i, s := range segs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		part, err := words.find(s, own[i])
		if err != nil {
			return nil, err
		}
		all.parts = append(all.parts, part)
	}
	var hits []storage.Hit
	for _, at := range all.first(limit, nil, false) {
		hits = append(hits, storage.Hit{ID: at.id(), Score: at.score})
	}
	return hits, nil
}

// ownDocs returns the documents of the item by segment: at most one each.
func ownDocs(segs []*segment, id string) ([]*roaring.Bitmap, error) {
	var own []*roaring.Bitmap
	for _, s := range segs {
		docs, err := s.snapshot.DocNumbers([]string{id})
		if err != nil {
			return nil, err
		}
		own = append(own, docs)
	}
	return own, nil
}

// A topicWord is a characteristic word: frequent in the given item and rare in the index.
type topicWord struct {
	stem   string
	some   uint64 // other items with the word
	weight float64
}

// topicWordList is characteristic words, rarest first.
type topicWordList []topicWord

// topicWordsOf returns the characteristic words of an item, by their frequency in the item and their rarity
// in the index. Words of the title count three times.
func topicWordsOf(segs []*segment, own []*roaring.Bitmap, item *storage.IndexItem) (topicWordList, error) {
	var docs, self uint64
	for i, s := range segs {
		docs += s.live.GetCardinality()
		self += own[i].GetCardinality()
	}
	var list topicWordList
	for _, w := range frequentWords(item) {
		var most uint64
		for _, field := range topicFields {
			some, err := countIn(segs, field, w.stem)
			if err != nil {
				return nil, err
			}
			most = max(most, some)
		}
		if w.some = most - min(most, self); w.some == 0 || float64(w.some) > max(tooCommon*float64(docs), 5) {
			continue
		}
		w.weight = round(w.weight / (w.weight + 1.2) * rarity(docs, w.some))
		list = append(list, w)
	}
	slices.SortFunc(list, func(a, b topicWord) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.stem, b.stem))
	})
	list = list[:min(len(list), maxTopicWords)]
	slices.SortFunc(list, func(a, b topicWord) int { return cmp.Or(cmp.Compare(a.some, b.some), cmp.Compare(a.stem, b.stem)) })
	return list, nil
}

// topicFields are the fields with characteristic words.
var topicFields = []string{"title", "tags", "text"}

// frequentWords returns the words of an item, weighted by frequency, most frequent first, without stop words.
func frequentWords(item *storage.IndexItem) topicWordList {
	often := make(map[string]float64)
	count := func(text string, times float64) {
		for _, w := range query.QueryWords(text) {
			if !stem.StopWords("en")[w.Text] && !stem.StopWords("ru")[w.Text] && !stem.StopWords(item.Language)[w.Text] {
				often[w.Stem] += times
			}
		}
	}
	count(item.Title, 3)
	for _, tag := range item.Tags {
		count(tag, 1)
	}
	count(item.Text, 1)
	var list topicWordList
	for one, n := range often {
		list = append(list, topicWord{stem: one, weight: n})
	}
	slices.SortFunc(list, func(a, b topicWord) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.stem, b.stem))
	})
	return list[:min(len(list), maxWeighed)]
}

// find returns the documents of a segment that share enough of the words, and the shared weight as score;
// words in their titles count twice.
func (l topicWordList) find(s *segment, own *roaring.Bitmap) (foundPart, error) {
	docs, err := l.candidates(s, own)
	if err != nil {
		return foundPart{}, err
	}
	part := foundPart{segment: s, docs: docs.ToArray(), scores: make([]float64, docs.GetCardinality())}
	shared := make([]float64, len(part.docs))
	for _, w := range l {
		has := roaring.New()
		for _, field := range topicFields {
			if err := s.add(has, field, w.stem); err != nil {
				return foundPart{}, err
			}
		}
		has.And(docs)
		addTo(shared, w.weight, part.docs, has)
		if has, err = s.having("title", w.stem); err != nil {
			return foundPart{}, err
		}
		has.And(docs)
		addTo(part.scores, w.weight, part.docs, has)
	}
	least, n := leastShared*l.weight(), 0
	for i := range part.docs {
		if shared[i] >= least {
			part.docs[n], part.scores[n] = part.docs[i], part.scores[i]+shared[i]
			n++
		}
	}
	part.docs, part.scores = part.docs[:n], part.scores[:n]
	return part, nil
}

// candidates returns the documents with one of the rarer words. The remaining words together weigh too
// little.
func (l topicWordList) candidates(s *segment, own *roaring.Bitmap) (*roaring.Bitmap, error) {
	docs := roaring.New()
	for i, w := range l {
		if l[i:].weight() < leastShared*l.weight() {
			break
		}
		for _, field := range topicFields {
			if err := s.add(docs, field, w.stem); err != nil {
				return nil, err
			}
		}
	}
	docs.And(s.live)
	docs.AndNot(own)
	return anyOf{fieldKind, []string{kindOf(false, false, false)}}.within(s, docs)
}

func (l topicWordList) weight() (sum float64) {
	for _, w := range l {
		sum += w.weight
	}
	return sum
}
