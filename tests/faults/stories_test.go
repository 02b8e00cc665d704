//go:build linux

package faults

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// clusterEvery is the interval of kills of the active clusterer's agent.
	clusterEvery = 10 * time.Second

	// clusterBack limits the time without an active clusterer after a kill.
	clusterBack = 15 * time.Second
)

// killCluster kills the agent with the active clusterer of English, and logs the time until another takes
// over.
func killCluster(m *mesh, r *run) {
	for next := time.Now().Add(clusterEvery); r.left(time.Until(next)); next = next.Add(clusterEvery) {
		a := m.holder("cluster-en")
		if a == nil {
			r.miss("no agent reports that it places items")
			return
		}
		m.logf("kill %s, which places items", a.Name)
		r.hits.Add(1)
		began := time.Now()
		before := m.takeOvers()
		a.end(syscall.SIGKILL)
		err := eventually(2*clusterBack, func() error {
			if m.takeOvers() <= before {
				return fmt.Errorf("no agent took over from %s", a.Name)
			}
			return nil
		})
		elapsed := time.Since(began)
		m.logf("another places items %v later (%v)", elapsed.Round(100*time.Millisecond), err)
		if err != nil || elapsed > clusterBack {
			r.late("%v until another agent placed items", elapsed.Round(100*time.Millisecond))
		}
	}
}

// takeOvers returns the number of takeovers of clustering in English.
func (m *mesh) takeOvers() (n int) {
	for _, a := range m.agents[:2] {
		a.readLog()
		n += a.journal.count("cluster active en")
	}
	return n
}

// A belonging compares items, events and stories.
type belonging struct {
	alone        int // items without an event or a story
	torn         int // events in two stories
	false        int // story summaries that differ from the items
	unsummarized int // stories of several items without a summary
	moved        int // items that left their event without an edit
	stories      int // with a summary
	together     int // items in them
}

// belongs compares the items, events and stories of the store.
func (l *ledger) belongs(ctx context.Context) (b belonging, err error) {
	conn, err := pgx.Connect(ctx, l.url)
	if err != nil {
		return b, err
	}
	defer conn.Close(ctx)
	for query, into := range map[string]*int{
		`SELECT count(*) FROM items WHERE event_id = '' OR story_id = ''`:                                                       &b.alone,
		`SELECT count(*) FROM (SELECT FROM items GROUP BY event_id HAVING count(DISTINCT story_id) > 1) torn`:                   &b.torn,
		`SELECT count(*) FROM stories s WHERE s.items <> (SELECT count(*) FROM items i WHERE i.story_id = s.id AND NOT i.spam)`: &b.false,
		`SELECT count(*) FROM (SELECT story_id FROM items WHERE NOT spam GROUP BY story_id HAVING count(*) > 1
			EXCEPT SELECT id FROM stories) untold`: &b.unsummarized,
		`SELECT count(*) FROM stories`:                         &b.stories,
		`SELECT coalesce(sum(items), 0)::integer FROM stories`: &b.together,
	} {
		if err := conn.QueryRow(ctx, query).Scan(into); err != nil {
			return b, err
		}
	}
	b.moved, err = l.left(ctx, conn)
	return b, err
}

// left returns the number of items that are no longer in their first event. The test makes no manual edits.
func (l *ledger) left(ctx context.Context, conn *pgx.Conn) (n int, err error) {
	rows, err := conn.Query(ctx, `SELECT url, event_id FROM items`)
	if err != nil {
		return 0, err
	}
	var url, event string
	_, err = pgx.ForEachRow(rows, []any{&url, &event}, func() error {
		l.mu.Lock()
		defer l.mu.Unlock()
		if before, seen := l.events[url]; seen && before != event {
			n++
		}
		return nil
	})
	return n, err
}

// logUnsummarized logs the items and dirty marks of the stories without a summary.
func (m *mesh) logUnsummarized() {
	conn, err := pgx.Connect(m.ctx, m.ledger.url)
	if err != nil {
		m.logf("%v", err)
		return
	}
	defer conn.Close(m.ctx)
	rows, err := conn.Query(m.ctx, `SELECT i.story_id, string_agg(i.url || ' of ' || i.event_id || ' changed ' || i.changed || ' flags ' || coalesce(i.flags::text, ''), '; '),
			(SELECT string_agg(due::text, ', ') FROM untold u WHERE u.story_id = i.story_id)
		FROM items i WHERE NOT spam GROUP BY story_id HAVING count(*) > 1 AND NOT EXISTS (SELECT FROM stories s WHERE s.id = i.story_id)`)
	if err != nil {
		m.logf("%v", err)
		return
	}
	var id, items string
	var marks *string
	if _, err := pgx.ForEachRow(rows, []any{&id, &items, &marks}, func() error {
		due := "none"
		if marks != nil {
			due = *marks
		}
		m.logf("story %s has no summary: %s; marks due %s", id, items, due)
		return nil
	}); err != nil {
		m.logf("%v", err)
	}
}

// storiesAgree checks that each item is in one story, and that the summaries match the items.
func (m *mesh) storiesAgree(e *end) {
	var err error
	for began := time.Now(); time.Since(began) < e.summaryTimeout; time.Sleep(2 * time.Second) {
		e.belonging, err = m.ledger.belongs(m.ctx)
		if err == nil && e.false == 0 && e.unsummarized == 0 {
			break
		}
	}
	b := e.belonging
	if err != nil || b.alone > 0 || b.torn > 0 || b.false > 0 || b.unsummarized > 0 || b.moved > 0 {
		e.miss("stories: %d items without one, %d events in two, %d with a wrong summary, %d without a summary, %d items left their event (%v)",
			b.alone, b.torn, b.false, b.unsummarized, b.moved, err)
		m.logUnsummarized()
	}
	if b.stories == 0 {
		e.miss("no two items belong together: nothing was put to the test")
	}
}
