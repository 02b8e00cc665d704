package bleve

import (
	"github.com/blevesearch/bleve/v2/search"
	bleveindex "github.com/blevesearch/bleve_index_api"

	"feedmesh/storage"
)

// A withinSearcher passes on what another finds, if it was published within
// the bounds. It looks at the date of each match: an index of dates would be
// dearer to keep than this is to ask.
type withinSearcher struct {
	search.Searcher
	dates    bleveindex.DocValueReader
	from, to string // bounds of orderOf, both inclusive; empty is no bound
}

// within restricts what s finds to the query's After and Before.
func within(s search.Searcher, reader bleveindex.IndexReader, q storage.Query) (search.Searcher, error) {
	if q.After.IsZero() && q.Before.IsZero() {
		return s, nil
	}
	dates, err := reader.DocValueReader([]string{fieldOrder})
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	w := &withinSearcher{Searcher: s, dates: dates}
	if !q.Before.IsZero() {
		w.from = orderOf(q.Before.Add(-1e3)) // the last microsecond before it
	}
	if !q.After.IsZero() {
		w.to = orderOf(q.After)
	}
	return w, nil
}

func (w *withinSearcher) Next(ctx *search.SearchContext) (*search.DocumentMatch, error) {
	found, err := w.Searcher.Next(ctx)
	return w.filter(ctx, found, err)
}

func (w *withinSearcher) Advance(ctx *search.SearchContext, id bleveindex.IndexInternalID) (
	*search.DocumentMatch, error) {
	found, err := w.Searcher.Advance(ctx, id)
	return w.filter(ctx, found, err)
}

// filter returns the first match within the bounds, from found on.
func (w *withinSearcher) filter(ctx *search.SearchContext, found *search.DocumentMatch, err error) (
	*search.DocumentMatch, error) {
	for err == nil && found != nil {
		var ok bool
		err = w.dates.VisitDocValues(found.IndexInternalID, func(_ string, order []byte) {
			date := order[:min(16, len(order))]
			ok = string(date) >= w.from && (w.to == "" || string(date) <= w.to)
		})
		if ok && err == nil {
			return found, nil
		}
		ctx.DocumentMatchPool.Put(found)
		if err == nil {
			found, err = w.Searcher.Next(ctx)
		}
	}
	return nil, err
}
