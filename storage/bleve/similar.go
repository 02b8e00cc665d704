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
	rareShare     = 0.7 // share of the weight of those words that the rarer ones have; a similar item has one of them
	leastShared   = 0.2 // share of the weight of those words that a similar item needs if its title has one of them
	leastText     = 0.3 // share that it needs otherwise
	leastWords    = 2   // number of those words that it needs, unless there are less than fewWords
	fewWords      = 4
	tooCommon     = 0.2 // share of all items above which a word is ignored
)

// similarIn returns at most limit items about the subject of the given one.
func similarIn(ctx context.Context, segs []*segment, item storage.IndexItem, limit int) ([]storage.Hit, error) {
	own, err := ownDocs(segs, &item)
	if err != nil {
		return nil, err
	}
	words, err := topicWordsOf(ctx, segs, own, &item)
	if err != nil {
		return nil, err
	}
	all := &found{}
	for i, s := range segs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		part, err := words.find(ctx, s, own[i])
		if err != nil {
			return nil, err
		}
		all.parts = append(all.parts, part)
	}
	places, err := all.first(ctx, limit, nil, false)
	if err != nil {
		return nil, err
	}
	var hits []storage.Hit
	for _, at := range places {
		hits = append(hits, storage.Hit{ID: at.id(), Score: at.score})
	}
	return hits, nil
}

// ownDocs returns the documents of the item and of its story by segment, including deleted documents.
func ownDocs(segs []*segment, item *storage.IndexItem) ([]*roaring.Bitmap, error) {
	var own []*roaring.Bitmap
	for _, s := range segs {
		docs, err := s.snapshot.DocNumbers([]string{item.ID})
		if err != nil {
			return nil, err
		}
		if item.StoryID != "" {
			if err := s.add(docs, fieldStory, item.StoryID); err != nil {
				return nil, err
			}
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
func topicWordsOf(ctx context.Context, segs []*segment, own []*roaring.Bitmap, item *storage.IndexItem) (topicWordList, error) {
	var docs, self uint64
	for i, s := range segs {
		docs += s.live.GetCardinality()
		self += own[i].GetCardinality()
	}
	var list topicWordList
	for _, w := range frequentWords(item) {
		var most uint64
		for _, field := range topicFields {
			some, err := countIn(ctx, segs, field, w.stem)
			if err != nil {
				return nil, err
			}
			if some <= checkedOwn*self {
				if some, err = countOutside(ctx, segs, own, field, w.stem); err != nil {
					return nil, err
				}
			}
			most = max(most, some)
		}
		if w.some = most; w.some == 0 || float64(w.some) > max(tooCommon*float64(docs), 5) {
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

// checkedOwn is the number of documents with a word, per document of the item's story, up to which those outside the
// story are counted exactly: a word of the story alone finds nothing.
const checkedOwn = 4

// countOutside returns the number of documents with a word that are not among own.
func countOutside(ctx context.Context, segs []*segment, own []*roaring.Bitmap, field, word string) (sum uint64, err error) {
	for i, s := range segs {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		docs, err := s.having(field, word)
		if err != nil {
			return 0, err
		}
		docs.And(s.live)
		sum += docs.GetCardinality() - docs.AndCardinality(own[i])
	}
	return sum, nil
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

// find returns the documents of a segment that share enough of the words, less if one of them is in the title, and the
// shared weight as score; words in their titles count twice.
func (l topicWordList) find(ctx context.Context, s *segment, own *roaring.Bitmap) (foundPart, error) {
	docs, err := l.candidates(ctx, s, own)
	if err != nil {
		return foundPart{}, err
	}
	part := foundPart{segment: s, docs: docs.ToArray(), scores: make([]float64, docs.GetCardinality())}
	shared, words := make([]float64, len(part.docs)), make([]float64, len(part.docs))
	for _, w := range l {
		if err := ctx.Err(); err != nil {
			return foundPart{}, err
		}
		has := roaring.New()
		for _, field := range topicFields {
			if err := s.add(has, field, w.stem); err != nil {
				return foundPart{}, err
			}
		}
		has.And(docs)
		addTo(shared, w.weight, part.docs, has)
		addTo(words, 1, part.docs, has)
		if has, err = s.having("title", w.stem); err != nil {
			return foundPart{}, err
		}
		has.And(docs)
		addTo(part.scores, w.weight, part.docs, has)
	}
	all, number, n := l.weight(), float64(leastWords), 0
	if len(l) < fewWords {
		number = 1
	}
	for i := range part.docs {
		inTitle := part.scores[i] > 0 && shared[i] >= leastShared*all
		if words[i] >= number && (inTitle || shared[i] >= leastText*all) {
			part.docs[n], part.scores[n] = part.docs[i], part.scores[i]+shared[i]
			n++
		}
	}
	part.docs, part.scores = part.docs[:n], part.scores[:n]
	return part, nil
}

// candidates returns the documents with one of the rarer words.
func (l topicWordList) candidates(ctx context.Context, s *segment, own *roaring.Bitmap) (*roaring.Bitmap, error) {
	docs := roaring.New()
	for i, w := range l {
		if l[i:].weight() < (1-rareShare)*l.weight() {
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
	return anyOf{fieldKind, []string{kindOf(false, false, false)}}.within(ctx, s, docs)
}

func (l topicWordList) weight() (sum float64) {
	for _, w := range l {
		sum += w.weight
	}
	return sum
}
