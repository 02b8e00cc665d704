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
	// clusterEvery is how often the agent is killed that places items.
	clusterEvery = 10 * time.Second

	// clusterBack is how long nobody may place items then.
	clusterBack = 15 * time.Second
)

// killCluster kills the agent that places items in English, and says how long it
// takes until another does.
func killCluster(m *mesh, r *run) {
	for next := time.Now().Add(clusterEvery); r.left(time.Until(next)); next = next.Add(clusterEvery) {
		a := m.holder("cluster-en")
		if a == nil {
			r.miss("nobody says that it places items")
			return
		}
		m.say("kill %s, which places items", a.Name)
		r.hits.Add(1)
		began := time.Now()
		before := m.takeOvers()
		a.end(syscall.SIGKILL)
		err := eventually(2*clusterBack, func() error {
			if m.takeOvers() <= before {
				return fmt.Errorf("nobody took over from %s", a.Name)
			}
			return nil
		})
		took := time.Since(began)
		m.say("another places items %v later (%v)", took.Round(100*time.Millisecond), err)
		if err != nil || took > clusterBack {
			r.late("%v until another agent placed items", took.Round(100*time.Millisecond))
		}
	}
}

// takeOvers returns how often agents have read back what there is in English.
func (m *mesh) takeOvers() (n int) {
	for _, a := range m.agents[:2] {
		a.hear()
		n += a.heard.count("cluster is active en")
	}
	return n
}

// A belonging is what store and stories say of one another.
type belonging struct {
	alone    int // items without an event or a story
	torn     int // events in two stories
	false    int // stories told of that are not as told
	untold   int // stories with several items that nobody told of
	moved    int // items that left their event, though nobody said so
	stories  int // that are told
	together int // items in them
}

// belongs looks at what belongs together.
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
			EXCEPT SELECT id FROM stories) untold`: &b.untold,
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

// left returns how many items are no longer in the event that they were first seen
// in. Nobody splits an event by hand here.
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

// storiesAgree looks whether each item belongs to one story, and stories are told
// as they are.
func (m *mesh) storiesAgree(e *end) {
	var err error
	for began := time.Now(); time.Since(began) < e.toldIn; time.Sleep(2 * time.Second) {
		e.belonging, err = m.ledger.belongs(m.ctx)
		if err == nil && e.false == 0 && e.untold == 0 {
			break
		}
	}
	b := e.belonging
	if err != nil || b.alone > 0 || b.torn > 0 || b.false > 0 || b.untold > 0 || b.moved > 0 {
		e.miss("stories: %d items without one, %d events in two, %d not as told, %d not told, %d items left their event (%v)",
			b.alone, b.torn, b.false, b.untold, b.moved, err)
	}
	if b.stories == 0 {
		e.miss("no two items belong together: nothing was put to the test")
	}
}
