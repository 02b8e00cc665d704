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

// A ledger compares what the farm served with what came to the store, which it
// asks directly.
type ledger struct {
	farm *farm
	url  string // of the database, for its superuser

	mu     sync.Mutex
	stored map[string]time.Time // by link: when it was first seen in the store
	events map[string]string    // by link: the event it was in then
}

func newLedger(f *farm, url string) *ledger {
	return &ledger{farm: f, url: url, stored: map[string]time.Time{}, events: map[string]string{}}
}

// watch notes what comes to the store until ctx ends. While the store is away it
// sees nothing come.
func (l *ledger) watch(ctx context.Context) {
	for ; ctx.Err() == nil; time.Sleep(time.Second) {
		conn, err := pgx.Connect(ctx, l.url)
		if err != nil {
			continue
		}
		for err == nil {
			err = l.look(ctx, conn, time.Now().Add(-3*time.Minute))
			time.Sleep(250 * time.Millisecond)
		}
		conn.Close(context.WithoutCancel(ctx))
	}
}

// catchUp notes the items that were seen first after a time, however late they came
// to the store.
func (l *ledger) catchUp(ctx context.Context, after time.Time) error {
	conn, err := pgx.Connect(ctx, l.url)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return l.look(ctx, conn, after)
}

// look notes the items that were seen first after a time.
func (l *ledger) look(ctx context.Context, conn *pgx.Conn, after time.Time) error {
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

// An entry is one that a feed published while the farm ran.
type entry struct {
	simulate.Entry
	stored time.Time // zero if it is not
}

// entries returns those that were published in a time.
func (l *ledger) entries(from, to time.Time) []entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []entry
	for e := range l.farm.Entries() {
		if e.Published.Before(from) || e.Published.After(to) {
			continue
		}
		list = append(list, entry{e, l.stored[simulate.Link(e.Feed, e.Seq)]})
	}
	return list
}

// lag returns the time within which 95 of 100 entries published in a time came to
// the store; those that are not there yet count as they stand now.
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

// absent returns how many entries published in a time are not in the store: of
// those that were served at all, and of those that two complete polls showed.
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

// share is how much of what was published may be late: one in so many.
const share = 20

// stand returns how many entries published in a time are stored, and how many not.
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

// delay returns the time from the end of a fault until most of what was published
// during it was stored; what then came within the usual lag was not late.
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

// twice returns how many rows of the store are of an entry that another row is of.
func (l *ledger) twice(ctx context.Context) (n int, err error) {
	conn, err := pgx.Connect(ctx, l.url)
	if err != nil {
		return 0, err
	}
	defer conn.Close(ctx)
	err = conn.QueryRow(ctx, `SELECT coalesce(sum(n - 1), 0) FROM (SELECT count(*) n FROM items GROUP BY feed, url) rows`).Scan(&n)
	return n, err
}

// itemsOf returns how many items of a feed are in the store.
func (l *ledger) itemsOf(ctx context.Context, feed string) (n int, err error) {
	conn, err := pgx.Connect(ctx, l.url)
	if err != nil {
		return 0, err
	}
	defer conn.Close(ctx)
	err = conn.QueryRow(ctx, `SELECT count(*) FROM items WHERE feed = (SELECT num FROM feeds WHERE url = $1)`, feed).Scan(&n)
	return n, err
}

// difference returns how many items are in the store but not in the index, and
// how many documents are in the index but not in the store.
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

// A politeness says how requests came in a time.
type politeness struct {
	requests  int
	overlaps  int           // requests to a host while another of another process was under way
	extra     int           // most early requests that one feed had
	forgotten int           // feeds that had no request for long
	gap       time.Duration // longest time without one for a feed
}

// early is the time between two requests for a feed that is too short: less than
// the interval with its jitter, and with what the later may be quicker on its way.
const early = interval * 8 / 10

// polite looks at the requests from one time to another. A feed is forgotten if it
// had none for longer than patience.
func (l *ledger) polite(from, to time.Time, patience time.Duration) politeness {
	var p politeness
	last := map[int]simulate.Request{}
	busy := map[int]time.Time{} // until when, by host
	extra := map[int]int{}
	gaps := map[int]time.Duration{}
	log := l.farm.Log()
	slices.SortFunc(log, func(a, b simulate.Request) int { return a.Start.Compare(b.Start) })
	for _, r := range log {
		if r.Start.After(to) {
			break
		}
		before, known := last[r.Feed]
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
		if !known {
			continue
		}
		gap := r.Start.Sub(before.Start)
		gaps[r.Feed] = max(gaps[r.Feed], gap)
		if gap < early {
			extra[r.Feed]++
			p.extra = max(p.extra, extra[r.Feed])
		}
	}
	for feed := range l.farm.feeds {
		gap := max(gaps[feed], to.Sub(last[feed].Start))
		p.gap = max(p.gap, gap)
		if gap > patience {
			p.forgotten++
		}
	}
	return p
}

func (p politeness) String() string {
	return fmt.Sprintf("%d requests, %d overlap, at most %d extra, longest gap %v", p.requests, p.overlaps, p.extra, p.gap.Round(time.Second))
}
