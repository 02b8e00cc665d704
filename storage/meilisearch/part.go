package meilisearch

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	upstream "github.com/meilisearch/meilisearch-go"

	"feedmesh/storage"
)

// The search index consists of parts, each an index in Meilisearch, because every task takes Meilisearch longer the larger its index is:
// it writes the bitmaps of frequent words and the words of prefixes again. A part contains the items first seen from its first day
// up to that of the next part. The names of the parts are the only record of these days.

// A part is an index in Meilisearch.
type part struct {
	name      string
	since     time.Time // first day of its items, in UTC; zero of the first part, which contains all earlier items
	until     time.Time // first day of the next part; zero of the last
	documents int64
}

// has reports whether the items first seen on a day belong to the part.
func (p part) has(day time.Time) bool {
	return !day.Before(p.since) && (p.until.IsZero() || day.Before(p.until))
}

// itemsOf returns the items that belong to the part.
func (p part) itemsOf(items []storage.IndexItem) (own []storage.IndexItem) {
	if p.since.IsZero() && p.until.IsZero() {
		return items
	}
	for _, it := range items {
		if p.has(storage.Day(it.FirstSeen)) {
			own = append(own, it)
		}
	}
	return own
}

// own returns the condition that a document belongs to the part, which all do if there is no other.
func (p part) own() condition {
	var since, before condition
	if !p.since.IsZero() {
		since = compare(attrDay, ">=", dayOf(p.since))
	}
	if !p.until.IsZero() {
		before = compare(attrDay, "<", dayOf(p.until))
	}
	return allOf(since, before)
}

// parts are all parts of an index, by day. There is always a first one, which may not exist yet.
type parts []part

// partsOf returns the parts of the index with a name among all indexes of a server.
func partsOf(name string, indexes map[string]upstream.StatsIndex) parts {
	all := parts{{name: name, documents: indexes[name].NumberOfDocuments}}
	for _, other := range slices.Sorted(maps.Keys(indexes)) {
		first, is := strings.CutPrefix(other, name+"-")
		if !is {
			continue
		}
		if since, err := time.Parse(time.DateOnly, first); err == nil { // else an index of someone else
			all[len(all)-1].until = since
			all = append(all, part{name: other, since: since, documents: indexes[other].NumberOfDocuments})
		}
	}
	return all
}

// partSince returns the name of the part of an index with a first day.
func partSince(name string, day time.Time) string { return name + "-" + day.Format(time.DateOnly) }

// last returns the part of new items.
func (all parts) last() part { return all[len(all)-1] }

// filled returns the parts with documents, the latest first. Meilisearch rejects searches of an index that never had one.
func (all parts) filled() parts {
	var filled parts
	for _, p := range slices.Backward(all) {
		if p.documents > 0 {
			filled = append(filled, p)
		}
	}
	return filled
}

// recentParts is the number of parts that are searched for similar items and suggestions, so that their time does not grow with the age of
// the index.
const recentParts = 4

// recent returns the first of filled parts.
func (all parts) recent() parts { return all[:min(len(all), recentParts)] }

func (all parts) names() []string {
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = p.name
	}
	return names
}

// partsTime is the time for which the parts are cached for searches while all have documents. A new part has none at first.
const partsTime = 10 * time.Second

// A partsCache caches the parts of an index.
type partsCache struct {
	mu   sync.Mutex
	all  parts
	read time.Time
}

// statsAttempts bounds the repetitions of a request for the statistics of all indexes, which fails if one of them is deleted meanwhile.
const statsAttempts = 10

// readParts returns the parts as they are now.
func (c *connection) readParts(ctx context.Context) (parts, error) {
	stats, err := c.server.GetStatsWithContext(ctx, nil)
	for range statsAttempts {
		if !isMissing(err) {
			break
		}
		stats, err = c.server.GetStatsWithContext(ctx, nil)
	}
	if err != nil {
		return nil, err
	}
	all := partsOf(c.name, stats.Indexes)
	c.known.mu.Lock()
	defer c.known.mu.Unlock()
	c.known.all, c.known.read = all, time.Now()
	return all, nil
}

// searched returns the parts to search.
func (c *connection) searched(ctx context.Context) (parts, error) {
	c.known.mu.Lock()
	all, read := c.known.all, c.known.read
	c.known.mu.Unlock()
	if len(all.filled()) < len(all) || time.Since(read) >= partsTime {
		var err error
		if all, err = c.readParts(ctx); err != nil {
			return nil, err
		}
	}
	return all.filled(), nil
}

// lastParts returns the parts as they were read last.
func (c *connection) lastParts() parts {
	c.known.mu.Lock()
	defer c.known.mu.Unlock()
	return c.known.all
}

// PartSize is the number of documents from which on a part gets no further days. Up to this size an item is found within seconds.
const PartSize = 250_000

// Divide implements [storage.DividedIndex]. It creates a part for days that no part has documents of, where the part before is full;
// deletes parts without items; and deletes documents that are in another part than theirs, which count as missing: see [reader.Days].
func (w *writer) Divide(ctx context.Context, stored map[time.Time]int64, now time.Time) error {
	if err := w.divide(ctx, stored, now); err != nil {
		return w.failed(ctx, "divide the search index", err)
	}
	return nil
}

func (w *writer) divide(ctx context.Context, stored map[time.Time]int64, now time.Time) error {
	all, err := w.readParts(ctx)
	if err != nil {
		return err
	}
	for _, p := range all {
		if err := w.clear(ctx, p, stored); err != nil {
			return err
		}
	}
	indexed, err := w.days(ctx, all.filled())
	if err != nil {
		return err
	}
	for _, day := range all.divided(daysUntil(stored, now), stored, indexed, w.partSize) {
		name := partSince(w.name, day)
		if err := w.applySettings(ctx, name); err != nil {
			return err
		}
		w.log.Info("the search index is large: items of later days get an index of their own", "index", name)
	}
	return nil
}

// lastMinutes is the time before midnight in which no part for the next day is created: an item of the next day may be on its way to
// the present part, from an agent whose clock is a little ahead.
const lastMinutes = 10 * time.Minute

// daysUntil returns the days of stored items up to today, in order, and the next one unless it begins soon.
func daysUntil(stored map[time.Time]int64, now time.Time) []time.Time {
	tomorrow := storage.Day(now).Add(24 * time.Hour)
	days := slices.DeleteFunc(slices.SortedFunc(maps.Keys(stored), time.Time.Compare), func(d time.Time) bool { return !d.Before(tomorrow) })
	if now.Before(tomorrow.Add(-lastMinutes)) {
		days = append(days, tomorrow)
	}
	return days
}

// divided returns the first days of parts to create: the days on which the part that has them is full, by the numbers of stored items.
// It must have no document of that day or a later one, unless the index is built anew from the store.
func (all parts) divided(days []time.Time, stored, indexed map[time.Time]int64, full int64) (first []time.Time) {
	var latest time.Time // of an indexed item
	if 2*sumOf(indexed) >= sumOf(stored) {
		for day := range indexed {
			if day.After(latest) {
				latest = day
			}
		}
	}
	for _, p := range all {
		sum := int64(0)
		for _, day := range days {
			if !p.has(day) {
				continue
			}
			if sum >= full && day.After(latest) {
				first, sum = append(first, day), 0
			}
			sum += stored[day]
		}
	}
	return first
}

func sumOf(counts map[time.Time]int64) (sum int64) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

// clear deletes the documents of a part that belong to another one, or the part if it is neither the first nor the last and the store
// has no items for it.
func (w *writer) clear(ctx context.Context, p part, stored map[time.Time]int64) error {
	if p.documents == 0 {
		if p.since.IsZero() || p.until.IsZero() {
			return nil
		}
		for day, n := range stored {
			if n > 0 && p.has(day) {
				return nil
			}
		}
		w.log.Info("a part of the search index has no items, it is deleted", "index", p.name)
		return w.run(ctx, func() (*upstream.TaskInfo, error) { return w.server.DeleteIndexWithContext(ctx, p.name) })
	}
	only := not(p.own()) // no document if there is one part
	found, err := w.findIn(ctx, parts{p}, counted(branch{only: only}))
	if err != nil || found == nil || found[0].total == 0 {
		return err
	}
	w.log.Warn("documents are in a part of the search index that is not theirs, they are deleted there", "index", p.name, "documents", found[0].total)
	return w.run(ctx, func() (*upstream.TaskInfo, error) {
		return w.server.Index(p.name).DeleteDocumentsByFilterWithContext(ctx, only.request(), nil)
	})
}
