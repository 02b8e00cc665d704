//go:build linux

package faults

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"feedmesh/agent/simulate"
	"feedmesh/storage"
	"feedmesh/storage/meilisearch"
)

// A ledger compares the served entries with the database, which it queries directly.
type ledger struct {
	feedServer *feedServer
	url        string // of the database, for its superuser

	mu     sync.Mutex
	stored map[string]time.Time // by link: when it was first seen in the store
	events map[string]string    // by link: its event at that time
}

func newLedger(f *feedServer, url string) *ledger {
	return &ledger{feedServer: f, url: url, stored: map[string]time.Time{}, events: map[string]string{}}
}

// watch records new items of the store until ctx ends. It pauses while the store is unavailable.
func (l *ledger) watch(ctx context.Context) {
	for ; ctx.Err() == nil; time.Sleep(time.Second) {
		conn, err := pgx.Connect(ctx, l.url)
		if err != nil {
			continue
		}
		for err == nil {
			err = l.recordItems(ctx, conn, time.Now().Add(-3*time.Minute))
			time.Sleep(250 * time.Millisecond)
		}
		conn.Close(context.WithoutCancel(ctx))
	}
}

// catchUp records the items first seen after a time, including late ones.
func (l *ledger) catchUp(ctx context.Context, after time.Time) error {
	conn, err := pgx.Connect(ctx, l.url)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return l.recordItems(ctx, conn, after)
}

// recordItems records the items first seen after a time.
func (l *ledger) recordItems(ctx context.Context, conn *pgx.Conn, after time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	rows, err := conn.Query(ctx, "SELECT url, event_id FROM items WHERE first_seen > $1", after)
	if err != nil {
		return err
	}
	now := time.Now()
	var url, event string
	_, err = pgx.ForEachRow(rows, []any{&url, &event}, func() error {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.stored[url].IsZero() {
			l.stored[url], l.events[url] = now, event
		}
		return nil
	})
	return err
}

// An entry is an entry published during the test.
type entry struct {
	simulate.Entry
	stored time.Time // zero if it is not stored
}

// entries returns the entries published in a period.
func (l *ledger) entries(from, to time.Time) []entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []entry
	for e := range l.feedServer.Entries() {
		if e.Published.Before(from) || e.Published.After(to) {
			continue
		}
		list = append(list, entry{e, l.stored[simulate.Link(e.Feed, e.Seq)]})
	}
	return list
}

// lag returns the time within which 95 of 100 entries of a period were stored; missing entries count with
// their age.
func (l *ledger) lag(from, to time.Time) time.Duration {
	now := time.Now()
	var lags []time.Duration
	for _, e := range l.entries(from, to) {
		if e.stored.IsZero() {
			e.stored = now
		}
		lags = append(lags, e.stored.Sub(e.Published))
	}
	return percentile95(lags)
}

func percentile95(list []time.Duration) time.Duration {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[len(list)*(share-1)/share]
}

// absent returns the number of entries of a period that are not stored: of all served entries, and of those
// in two completely served documents.
func (l *ledger) absent(from, to time.Time) (served, once, lost int) {
	for _, e := range l.entries(from, to) {
		if e.Served == 0 {
			continue
		}
		served++
		if !e.stored.IsZero() {
			continue
		}
		once++
		if e.Served > 1 {
			lost++
		}
	}
	return served, once, lost
}

// share is the tolerated part of late entries: one in so many.
const share = 20

// stand returns the numbers of stored and missing entries of a period.
func (l *ledger) stand(from, to time.Time) (stored, absent int) {
	for _, e := range l.entries(from, to) {
		if e.stored.IsZero() {
			absent++
		} else {
			stored++
		}
	}
	return stored, absent
}

// delay returns the time from the end of a fault until most of the entries published during it were stored;
// entries within the usual lag count as in time.
func (l *ledger) delay(began, ended time.Time, usual time.Duration) time.Duration {
	now := time.Now()
	var delays []time.Duration
	for _, e := range l.entries(began, ended) {
		if e.stored.IsZero() {
			e.stored = now
		}
		if e.stored.Sub(e.Published) <= usual {
			e.stored = ended
		}
		delays = append(delays, max(0, e.stored.Sub(ended)))
	}
	return percentile95(delays)
}

// twice returns the number of duplicate rows of entries.
func (l *ledger) twice(ctx context.Context) (n int, err error) {
	conn, err := pgx.Connect(ctx, l.url)
	if err != nil {
		return 0, err
	}
	defer conn.Close(ctx)
	err = conn.QueryRow(ctx, `SELECT coalesce(sum(n - 1), 0) FROM (SELECT count(*) n FROM items GROUP BY feed, url) rows`).Scan(&n)
	return n, err
}

// itemsOf returns the number of a feed's stored items.
func (l *ledger) itemsOf(ctx context.Context, feed string) (n int, err error) {
	conn, err := pgx.Connect(ctx, l.url)
	if err != nil {
		return 0, err
	}
	defer conn.Close(ctx)
	err = conn.QueryRow(ctx, `SELECT count(*) FROM items WHERE feed = (SELECT num FROM feeds WHERE url = $1)`, feed).Scan(&n)
	return n, err
}

// difference returns the number of stored items missing in the index, and of documents in the index without
// an item.
func (l *ledger) difference(ctx context.Context, search, key string) (missing, surplus int, err error) {
	conn, err := pgx.Connect(ctx, l.url)
	if err != nil {
		return 0, 0, err
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, "SELECT id FROM items")
	if err != nil {
		return 0, 0, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return 0, 0, err
	}
	indexed, err := indexedIDs(ctx, search, key)
	if err != nil {
		return 0, 0, err
	}
	for _, id := range ids {
		if !indexed[id] {
			missing++
		}
		delete(indexed, id)
	}
	return missing, len(indexed), nil
}

func indexedIDs(ctx context.Context, search, key string) (map[string]bool, error) {
	index, err := meilisearch.Open(ctx, meilisearch.Options{URL: search, Key: key})
	if err != nil {
		return nil, err
	}
	defer index.Close()
	days, err := index.Days(ctx)
	if err != nil {
		return nil, err
	}
	ids := map[string]bool{}
	for day := range days {
		for after := ""; ; {
			var page []storage.Stamp
			if page, err = index.Stamps(ctx, day, after, 1000); err != nil {
				return nil, err
			}
			if len(page) == 0 {
				break
			}
			for _, s := range page {
				ids[s.ID] = true
			}
			after = page[len(page)-1].ID
		}
	}
	return ids, nil
}

// A politeness summarizes the requests of a period.
type politeness struct {
	requests  int
	overlaps  int           // requests to a host during another process's request to it
	extra     int           // maximum of a feed's early requests
	forgotten int           // feeds without a request for too long
	gap       time.Duration // longest time between a feed's requests
}

// early is the time between two requests for a feed below which the second is early: the interval minus its
// jitter and the variation of latency.
const early = interval * 8 / 10

// polite evaluates the requests of a period. A feed counts as forgotten without a request for longer than
// patience.
func (l *ledger) polite(from, to time.Time, maxGap time.Duration) politeness {
	var p politeness
	last := map[int]simulate.Request{}
	busy := map[int]time.Time{} // end of the current request, by host
	extra := map[int]int{}
	gaps := map[int]time.Duration{}
	log := l.feedServer.Log()
	slices.SortFunc(log, func(a, b simulate.Request) int { return a.Start.Compare(b.Start) })
	for _, r := range log {
		if r.Start.After(to) {
			break
		}
		before, found := last[r.Feed]
		last[r.Feed] = r
		host := r.Feed / feedsPerHost
		until := busy[host]
		if r.End.After(until) {
			busy[host] = r.End
		}
		if r.Start.Before(from) {
			continue
		}
		p.requests++
		if r.Start.Before(until) {
			p.overlaps++
		}
		if !found {
			continue
		}
		gap := r.Start.Sub(before.Start)
		gaps[r.Feed] = max(gaps[r.Feed], gap)
		if gap < early {
			extra[r.Feed]++
			p.extra = max(p.extra, extra[r.Feed])
		}
	}
	for feed := range l.feedServer.feeds {
		gap := max(gaps[feed], to.Sub(last[feed].Start))
		p.gap = max(p.gap, gap)
		if gap > maxGap {
			p.forgotten++
		}
	}
	return p
}

func (p politeness) String() string {
	return fmt.Sprintf("%d requests, %d overlap, at most %d extra, longest gap %v", p.requests, p.overlaps, p.extra, p.gap.Round(time.Second))
}
