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

// Days implements [storage.Stamped].
func (x *Index) Days(ctx context.Context) (map[time.Time]int64, error) {
	days := make(map[time.Time]int64)
	for after := ""; ; {
		page, err := x.daysAfter(ctx, after)
		if err != nil {
			return nil, x.failed(ctx, "count indexed items by day", err)
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

// daysAfter returns how many documents there are of each day after the given
// one, of the first maxFacetValues days.
func (x *Index) daysAfter(ctx context.Context, day string) (map[string]int64, error) {
	only := ofThisForm
	if day != "" {
		only = allOf(only, compare(attrDay, ">", day))
	}
	r := x.request(branch{only: only})
	r.HitsPerPage, r.Facets = new(int64), names(attrDay)
	found, err := x.find(ctx, r)
	if err != nil || found == nil {
		return nil, err
	}
	var counts map[attribute]map[string]int64
	if err := json.Unmarshal(found[0].FacetDistribution, &counts); err != nil {
		return nil, err
	}
	return counts[attrDay], nil
}

// ofThisForm is the condition that a document is of the form that we give it.
// Others do not count: the reconciler, to which they are missing, then looks at
// each of them, learns from Stamps that it is not as it should be, and puts it again.
var ofThisForm = compare(attrForm, "=", strconv.Itoa(form))

// Stamps implements [storage.Stamped]. Documents of an older form have never
// changed.
func (x *Index) Stamps(ctx context.Context, day time.Time, after string, limit int) ([]storage.Stamp, error) {
	if limit <= 0 {
		return nil, ctx.Err()
	}
	only := compare(attrDay, "=", dayOf(day))
	if after != "" {
		only = allOf(only, compare(attrID, ">", keyOf(after)))
	}
	found, err := x.fetch(ctx, &upstream.DocumentsQuery{
		Filter: only.request(), Sort: []string{string(attrID) + ":asc"}, Limit: int64(limit), Fields: names(attrID, attrChanged, attrForm),
	})
	if err != nil {
		return nil, x.failed(ctx, "list stamps of indexed items", err)
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

// fetch returns the documents asked for, or none if there is no index.
func (x *Index) fetch(ctx context.Context, query *upstream.DocumentsQuery) (*upstream.DocumentsResult, error) {
	found := new(upstream.DocumentsResult)
	if err := x.index.GetDocumentsWithContext(ctx, query, found); err != nil && !isMissing(err) {
		return nil, err
	}
	return found, nil
}
