package bleve

import (
	"context"
	"math"

	"github.com/blevesearch/bleve/v2/search"
	bleveindex "github.com/blevesearch/bleve_index_api"

	"feedmesh/storage"
)

// wordFields are the fields that have words, with how much a word counts there.
var wordFields = [...]struct {
	name  string
	texts func(*storage.Indexed) []string
	boost float64
	usual float64 // words it usually has; 0 if its length says nothing
}{
	{"title", func(it *storage.Indexed) []string { return []string{it.Title} }, 4, 0},
	{"tags", func(it *storage.Indexed) []string { return it.Tags }, 2, 0},
	{"author", func(it *storage.Indexed) []string { return []string{it.Author} }, 1.5, 0},
	{"text", func(it *storage.Indexed) []string { return []string{it.Text} }, 1, 300},
}

// A wordSearcher finds the documents that have a word in any of the wordFields
// and scores them.
//
// It stands in for bleve's own searchers because their scores depend on how
// many documents there are and how long they are, and so change with each Put,
// which makes paging by score skip and repeat items. Here a score depends on
// the document and the weights of the words alone, and those a cursor keeps.
type wordSearcher struct {
	weight float64
	count  uint64
	parts  []*wordPart
	begun  bool
}

// A wordPart is a word in one field.
type wordPart struct {
	reader       bleveindex.TermFieldReader
	at           *bleveindex.TermFieldDoc // nil at the end
	room         bleveindex.TermFieldDoc  // what at points to
	boost, usual float64
}

func newWordSearcher(ctx context.Context, reader bleveindex.IndexReader, stem string) (*wordSearcher, error) {
	docs, err := reader.DocCount()
	if err != nil {
		return nil, err
	}
	w := &wordSearcher{}
	var most uint64
	for _, field := range wordFields {
		r, err := reader.TermFieldReader(ctx, []byte(stem), field.name, true, true, false)
		if err != nil {
			_ = w.Close()
			return nil, err
		}
		if r.Count() == 0 {
			_ = r.Close()
			continue
		}
		w.parts = append(w.parts, &wordPart{reader: r, boost: field.boost, usual: field.usual})
		w.count += r.Count()
		most = max(most, r.Count())
	}
	w.weight = rarity(docs, most)
	return w, nil
}

// rarity weighs a word that some of all documents have: 1 if all have it, and
// some 12 if one of 100,000 has.
//
// Source: S. Robertson, H. Zaragoza, The Probabilistic Relevance Framework:
// BM25 and Beyond, 2009; 1 is added so that no word counts for nothing.
func rarity(all, some uint64) float64 {
	have, lack := float64(some), float64(max(all, some)-some)
	return 1 + math.Log(1+(lack+0.5)/(have+0.5))
}

// score rates the word's occurrences in the part's document, from 0 to boost:
// the more of them, and the shorter the text, the higher, by the saturation of
// BM25 with its usual parameters.
func (p *wordPart) score() float64 {
	const k, b = 1.2, 0.75
	length := 1.0 // relative to the usual
	if p.usual > 0 {
		words := 1 / (p.at.Norm * p.at.Norm)
		length = 1 - b + b*words/p.usual
	}
	freq := float64(p.at.Freq)
	return p.boost * freq / (freq + k*length)
}

// Next implements [search.Searcher].
func (w *wordSearcher) Next(ctx *search.SearchContext) (*search.DocumentMatch, error) {
	if !w.begun {
		w.begun = true
		for _, p := range w.parts {
			if err := p.next(); err != nil {
				return nil, err
			}
		}
	}
	return w.take(ctx)
}

// Advance implements [search.Searcher].
func (w *wordSearcher) Advance(ctx *search.SearchContext, id bleveindex.IndexInternalID) (
	*search.DocumentMatch, error) {
	for _, p := range w.parts {
		if w.begun && (p.at == nil || p.at.ID.Compare(id) >= 0) {
			continue
		}
		var err error
		if p.at, err = p.reader.Advance(id, p.room.Reset()); err != nil {
			return nil, err
		}
	}
	w.begun = true
	return w.take(ctx)
}

func (p *wordPart) next() (err error) {
	p.at, err = p.reader.Next(p.room.Reset())
	return err
}

// take returns the first document that any part is at, and moves those parts on.
func (w *wordSearcher) take(ctx *search.SearchContext) (*search.DocumentMatch, error) {
	var first bleveindex.IndexInternalID
	for _, p := range w.parts {
		if p.at != nil && (first == nil || p.at.ID.Compare(first) < 0) {
			first = p.at.ID
		}
	}
	if first == nil {
		return nil, nil
	}
	found := ctx.DocumentMatchPool.Get()
	found.IndexInternalID = bleveindex.NewIndexInternalIDFrom(found.IndexInternalID, first)
	var sum float64
	for _, p := range w.parts {
		if p.at == nil || !p.at.ID.Equals(found.IndexInternalID) {
			continue
		}
		sum += p.score()
		if err := p.next(); err != nil {
			return nil, err
		}
	}
	// A conjunction adds up its words in an order of its own. Multiples of a
	// power of two have the same sum in any order, to the last bit.
	const unit = 1 << 20
	found.Score = math.Round(sum*w.weight*unit) / unit
	return found, nil
}

// Close implements [search.Searcher].
func (w *wordSearcher) Close() error {
	for _, p := range w.parts {
		if err := p.reader.Close(); err != nil {
			return err
		}
	}
	return nil
}

func (w *wordSearcher) Count() uint64              { return w.count }
func (w *wordSearcher) Min() int                   { return 0 }
func (w *wordSearcher) DocumentMatchPoolSize() int { return 1 }
func (w *wordSearcher) Size() int                  { return 0 } // for statistics
func (w *wordSearcher) Weight() float64            { return 0 } // of bleve's own scores
func (w *wordSearcher) SetQueryNorm(float64)       {}           // for bleve's own scores
