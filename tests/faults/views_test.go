package faults

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
)

// addView adds the view of all items, which must have each of them after all faults.
func (m *mesh) addView() {
	m.t.Helper()
	in := wire.SaveViewRequest{Name: "all", Body: wire.ViewSetting{Definition: "view all = from all"}}
	err := eventually(startTimeout, func() error {
		return m.request(func(ctx context.Context, c *client.Client) error {
			_, err := client.Call(ctx, c, wire.SaveView, in)
			return err
		})
	})
	if err != nil {
		m.t.Fatalf("add a view: %v", err)
	}
}

// viewAgrees checks that the view of all items has each that it selects, and no other.
func (m *mesh) viewAgrees(e *end) {
	var missing, surplus int
	var err error
	for began := time.Now(); time.Since(began) < settleTime; time.Sleep(2 * time.Second) {
		if missing, surplus, err = m.ledger.viewDifference(m.ctx); err == nil && missing == 0 && surplus == 0 {
			return
		}
	}
	m.logMissingMembers()
	e.miss("the view of all items lacks %d, and has %d that it does not select (%v)", missing, surplus, err)
}

// logMissingMembers logs when the items that the view lacks were seen.
func (m *mesh) logMissingMembers() {
	conn, err := pgx.Connect(m.ctx, m.ledger.url)
	if err != nil {
		m.logf("members: %v", err)
		return
	}
	defer conn.Close(m.ctx)
	rows, err := conn.Query(m.ctx, `
		SELECT to_char(first_seen AT TIME ZONE 'UTC', 'HH24:MI:SS') || ' ' || to_char(changed AT TIME ZONE 'UTC', 'HH24:MI:SS') || ' ' || url FROM items i
		WHERE NOT spam AND duplicate_of = '' AND NOT EXISTS (SELECT FROM view_members m WHERE m.item_id = i.id AND NOT m.absent) ORDER BY first_seen LIMIT 20`)
	if err == nil {
		var lacking []string
		lacking, err = pgx.CollectRows(rows, pgx.RowTo[string])
		m.logf("first seen, changed, items that the view lacks: %q", lacking)
	}
	if err != nil {
		m.logf("members: %v", err)
	}
}

// viewDifference returns the number of items that the only view lacks, and of its present members that it does not select.
func (l *ledger) viewDifference(ctx context.Context) (missing, surplus int, err error) {
	conn, err := pgx.Connect(ctx, l.url)
	if err != nil {
		return 0, 0, err
	}
	defer conn.Close(ctx)
	err = conn.QueryRow(ctx, `
		WITH selected AS (SELECT id FROM items WHERE NOT spam AND duplicate_of = '' AND NOT coalesce(flags ? 'muted', false)),
		present AS (SELECT item_id AS id FROM view_members WHERE NOT absent)
		SELECT (SELECT count(*) FROM (SELECT id FROM selected EXCEPT SELECT id FROM present) s),
			(SELECT count(*) FROM (SELECT id FROM present EXCEPT SELECT id FROM selected) s)`).Scan(&missing, &surplus)
	return missing, surplus, err
}
