package meilisearch

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	upstream "github.com/meilisearch/meilisearch-go"

	"feedmesh/storage"
)

// Days implements [storage.StampReader].
func (r reader) Days(ctx context.Context) (map[time.Time]int64, error) {
	days := make(map[time.Time]int64)
	for after := ""; ; {
		page, err := r.daysAfter(ctx, after)
		if err != nil {
			return nil, r.failed(ctx, "count indexed items by day", err)
		}
		for day, n := range page {
			t, err := time.Parse(time.DateOnly, day)
			if err != nil {
				return nil, fmt.Errorf("count indexed items by day: %w", err)
			}
			days[t] += n
			after = max(after, day)
		}
		if len(page) < maxFacetValues {
			return days, nil
		}
	}
}

// daysAfter returns the number of documents per day after a day, for the first maxFacetValues days.
func (r reader) daysAfter(ctx context.Context, day string) (map[string]int64, error) {
	only := ofThisForm
	if day != "" {
		only = allOf(only, compare(attrDay, ">", day))
	}
	request := branch{only: only}.request(r.name)
	request.HitsPerPage, request.Facets = new(int64), names(attrDay)
	found, err := r.find(ctx, request)
	if err != nil || found == nil {
		return nil, err
	}
	var counts map[attribute]map[string]int64
	if err := json.Unmarshal(found[0].FacetDistribution, &counts); err != nil {
		return nil, err
	}
	return counts[attrDay], nil
}

// ofThisForm is the condition that a document has the current form. Documents of another form are not
// counted, so the reconciler misses them, compares their stamps, and puts them again.
var ofThisForm = compare(attrForm, "=", strconv.Itoa(form))

// Stamps implements [storage.StampReader]. Documents of an older form get a zero time of change.
func (r reader) Stamps(ctx context.Context, day time.Time, after string, limit int) ([]storage.Stamp, error) {
	if limit <= 0 {
		return nil, ctx.Err()
	}
	only := compare(attrDay, "=", dayOf(day))
	if after != "" {
		only = allOf(only, compare(attrID, ">", keyOf(after)))
	}
	found, err := r.fetch(ctx, &upstream.DocumentsQuery{
		Filter: only.request(), Sort: []string{string(attrID) + ":asc"}, Limit: int64(limit), Fields: names(attrID, attrChanged, attrForm),
	})
	if hasCode(err, "invalid_document_sort") {
		// An index that never had a document rejects the sort, as one without settings does.
		if stats, failed := r.stats(ctx); failed == nil && stats.NumberOfDocuments == 0 {
			return nil, nil
		}
	}
	if err != nil {
		return nil, r.failed(ctx, "list stamps of indexed items", err)
	}
	var docs []struct {
		ID      string `json:"id"`
		Changed int64  `json:"changed"`
		Form    int    `json:"form"`
	}
	if err := found.Results.DecodeInto(&docs); err != nil {
		return nil, fmt.Errorf("list stamps of indexed items: %w", err)
	}
	var stamps []storage.Stamp
	for _, d := range docs {
		if d.Form != form {
			d.Changed = 0
		}
		stamps = append(stamps, storage.Stamp{ID: idOf(d.ID), Changed: time.UnixMicro(d.Changed).UTC()})
	}
	return stamps, nil
}

// Count implements [storage.Index]. It counts documents of the current form only: see ofThisForm.
func (r reader) Count(ctx context.Context) (int64, error) {
	request := branch{only: ofThisForm}.request(r.name)
	request.HitsPerPage = new(int64)
	found, err := r.find(ctx, request)
	if err != nil {
		return 0, r.failed(ctx, "count indexed items", err)
	}
	if found == nil {
		return 0, nil
	}
	return found[0].TotalHits, nil
}
