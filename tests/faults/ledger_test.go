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
	"feedmesh/storage/meilisearch"
)

// A ledger compares the served entries with the database, which it queries directly.
type ledger struct {
	feedServer *feedServer
	url        string // of the database, for its superuser

	reading sync.Mutex // held during a read of the store, so that no older read overwrites a newer one

	mu     sync.Mutex
	stored map[string]time.Time // by link: when it was first seen in the store
	events map[string]string    // by link: its event at that time
}

func newLedger(f *feedServer, url string) *ledger {
	return &ledger{feedServer: f, url: url, stored: map[string]time.Time{}, events: map[string]string{}}
}

// readAllEvery is the interval at which all items are read: those of an agent with a wrong clock are not among
// the newest.
const readAllEvery = 10 * time.Second

// watch records the items of the store until ctx ends. It pauses while the store is unavailable.
func (l *ledger) watch(ctx context.Context) {
	for ; ctx.Err() == nil; time.Sleep(time.Second) {
		conn, err := pgx.Connect(ctx, l.url)
		if err != nil {
			continue
		}
		for all := (time.Time{}); err == nil; time.Sleep(250 * time.Millisecond) {
			if time.Since(all) < readAllEvery {
				err = l.recordNew(ctx, conn)
				continue
			}
			err, all = l.recordAll(ctx, conn), time.Now()
		}
		conn.Close(context.WithoutCancel(ctx))
	}
}

// catchUp records all items of the store.
func (l *ledger) catchUp(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, l.url)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return l.recordAll(ctx, conn)
}

// recordNew records the newest items.
func (l *ledger) recordNew(ctx context.Context, conn *pgx.Conn) error {
	l.reading.Lock()
	defer l.reading.Unlock()
	return l.record(ctx, conn, nil, "SELECT url, event_id FROM items WHERE first_seen > $1", time.Now().Add(-3*time.Minute))
}

// recordAll records all items. Those that the store no longer has count as not stored.
func (l *ledger) recordAll(ctx context.Context, conn *pgx.Conn) error {
	found := map[string]bool{}
	l.reading.Lock()
	defer l.reading.Unlock()
	if err := l.record(ctx, conn, func(url string) { found[url] = true }, "SELECT url, event_id FROM items"); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for url := range l.stored {
		if !found[url] {
			delete(l.stored, url)
			delete(l.events, url)
		}
	}
	return nil
}

// record records the items of a query, and calls seen for each if it is not nil.
func (l *ledger) record(ctx context.Context, conn *pgx.Conn, seen func(url string), query string, arguments ...any) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	rows, err := conn.Query(ctx, query, arguments...)
	if err != nil {
		return err
	}
	now := time.Now()
	var url, event string
	_, err = pgx.ForEachRow(rows, []any{&url, &event}, func() error {
		if seen != nil {
			seen(url)
		}
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
	list, err := allIDs(ctx, index)
	ids := map[string]bool{}
	for _, id := range list {
		ids[id] = true
	}
	return ids, err
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
