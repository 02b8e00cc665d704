package meilisearch

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	upstream "github.com/meilisearch/meilisearch-go"

	"feedmesh/storage"
)

// Days implements [storage.StampReader]. Documents in another part than theirs do not count.
func (r reader) Days(ctx context.Context) (map[time.Time]int64, error) {
	all, err := r.readParts(ctx)
	if err == nil {
		var days map[time.Time]int64
		if days, err = r.days(ctx, all.filled()); err == nil {
			return days, nil
		}
	}
	return nil, r.failed(ctx, "count indexed items by day", err)
}

// days returns the number of documents of parts by day.
func (c *connection) days(ctx context.Context, in parts) (map[time.Time]int64, error) {
	days := map[time.Time]int64{}
	for _, p := range in {
		for after, more := "", true; more; {
			page, err := c.daysAfter(ctx, p, after)
			if err != nil {
				return nil, err
			}
			for text, n := range page {
				day, err := time.Parse(time.DateOnly, text)
				if err != nil {
					return nil, err
				}
				if p.has(day) {
					days[day] += n
				}
				after = max(after, text)
			}
			more = len(page) == maxFacetValues
		}
	}
	return days, nil
}

// daysAfter returns the number of documents of a part per day after a day, for the first maxFacetValues days.
func (c *connection) daysAfter(ctx context.Context, p part, day string) (map[string]int64, error) {
	only := ofThisForm
	if day != "" {
		only = allOf(only, compare(attrDay, ">", day))
	}
	request := counted(branch{only: only})
	request.Facets = names(attrDay)
	found, err := c.findIn(ctx, parts{p}, request)
	if err != nil || found == nil {
		return nil, err
	}
	return found[0].facets[string(attrDay)], nil
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
	all, err := r.searched(ctx)
	if err != nil {
		return nil, r.failed(ctx, "list stamps of indexed items", err)
	}
	if all = slices.DeleteFunc(all, func(p part) bool { return !p.has(storage.Day(day)) }); len(all) == 0 {
		return nil, nil
	}
	found, err := r.fetch(ctx, all[0].name, &upstream.DocumentsQuery{
		Filter: only.request(), Sort: []string{string(attrID) + ":asc"}, Limit: int64(limit), Fields: names(attrID, attrChanged, attrForm),
	})
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

// Count implements [storage.Index]. It counts documents of the current form only, in their own parts: see ofThisForm, [reader.Days].
func (r reader) Count(ctx context.Context) (int64, error) {
	all, err := r.readParts(ctx)
	if err != nil {
		return 0, r.failed(ctx, "count indexed items", err)
	}
	sum := int64(0)
	for _, p := range all.filled() {
		found, err := r.findIn(ctx, parts{p}, counted(branch{only: allOf(ofThisForm, p.own())}))
		if err != nil {
			return 0, r.failed(ctx, "count indexed items", err)
		}
		if found != nil {
			sum += found[0].total
		}
	}
	return sum, nil
}
