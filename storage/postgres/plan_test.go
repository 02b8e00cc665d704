package postgres

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

// The store has few items yet, where reading all of them would cost least.
func TestHotStatementsUseIndexes(t *testing.T) {
	ctx := t.Context()
	url := emptySchema(t)
	s := open(t, url)
	feedID := addFeed(t, s)
	exec(t, url, `ALTER TABLE items SET (autovacuum_enabled = off)`)
	exec(t, url, `INSERT INTO feeds (id, url, title, site, language, added) SELECT n, n, '', '', '', now() FROM generate_series(1, 3000) n`)
	if _, err := s.PutItems(ctx, benchBatch(feedID, 0, 3000)); err != nil {
		t.Fatal(err)
	}
	exec(t, url, `INSERT INTO spam SELECT changed, 1, feed, id, NULL FROM items`)
	exec(t, url, `INSERT INTO corrections SELECT changed, id, '' FROM items`)
	exec(t, url, `INSERT INTO kept_labels SELECT 'job ' || n % 3, id, '{}' FROM items, generate_series(1, 3) n`)
	first := benchItem(feedID, 0)
	ids := make([]string, 20)
	for n := range ids {
		ids[n] = benchItem(feedID, 100*n).ID
	}
	day := storage.Day(first.FirstSeen)
	statements := []struct {
		name, statement, index string
		inOrder                bool
		args                   []any
	}{
		{"list feeds", feedsByURL, "feeds_url_key", true, []any{"1", 100}},
		{"known", knownItems, "items_pkey", false, []any{ids}},
		{"items by ID", itemsByID, "items_pkey", false, []any{ids}},
		{"put", itemsToPut, "items_pkey", false, []any{ids}},
		{"feed to put", feedToPut, "feeds_id_key", false, []any{feedID}},
		{"items since", itemsSince, "items_by_lane", true, []any{"en", first.FirstSeen, first.ID, 50}},
		{"items since in a lane that is not there", itemsSince, "items_by_lane", false, []any{"xx", first.FirstSeen, "", 50}},
		{"stamps", stampsOfDay, "items_by_day", true, []any{day, first.ID, 100}},
		{"repeat", repeatItems, "items_pkey", false, []any{ids, ids}},
		{"drop", dropItems, "items_pkey", false, []any{ids, ids}},
		{"rename", renameItems, "items_pkey", false, []any{ids, ids, 2}},
		{"spam", newestSpam, "spam_by_judged", true, []any{day, first.ID, 50}},
		{"newest spam", newestSpam, "spam_by_judged", true, []any{nil, "", 50}},
		{"spam of a feed", newestSpamOf, "spam_by_feed", true, []any{day, first.ID, 50, feedID}},
		{"corrections", correctionsByTime, "corrections_by_time", true, []any{day, first.ID, 50}},
		{"labels", openLabels, "items_pkey", false, []any{ids}},
		{"lock items", lockItems, "items_pkey", false, []any{ids}},
		{"lock their feeds", shareFeedsOf, "items_pkey", false, []any{ids}},
		{"kept labels", keptLabels, "kept_labels_pkey", true, []any{"job 1", 50}},
		{"kept labels of moved items", renameKept, "kept_labels_by_item", false, []any{ids[:2], ids[:2]}},
		{"kept labels of dropped items", dropKeptOf, "kept_labels_by_item", false, []any{ids[:2], ids[:2]}},
		{"kept labels of no items", dropStray, "kept_labels_by_item", false, []any{ids[:2], ids[:2]}},
		{"last item", `SELECT max(published) FROM items WHERE feed = $1`, "items_by_feed", false, []any{1}},
	}
	for _, when := range []string{"before statistics", "with statistics"} {
		for _, test := range statements {
			plan := explainPlan(t, s, test.statement, test.args...)
			if !strings.Contains(plan, test.index) || strings.Contains(plan, "Seq Scan on items") {
				t.Errorf("%s, %s: the plan is\n%s\nwant it to use %s", when, test.name, plan, test.index)
			}
			if when == "with statistics" && test.inOrder && strings.Contains(plan, "Sort") {
				t.Errorf("%s: the plan is\n%s\nwant it to end when the page is full", test.name, plan)
			}
		}
		exec(t, url, `VACUUM ANALYZE items, feeds, spam, corrections, kept_labels`)
	}
	// Before there are statistics, all items are taken for duplicates.
	for _, plan := range []string{explainPlan(t, s, freeDuplicates, 2), explainPlan(t, s, repeatsOf, 2)} {
		if !strings.Contains(plan, "items_by_first") {
			t.Errorf("the plan for duplicates is\n%s\nwant it to use items_by_first", plan)
		}
	}
	for _, plan := range []string{explainPlan(t, s, countByDay), explainPlan(t, s, stampsOfDay, day, first.ID, 100)} {
		if !strings.Contains(plan, "Index Only Scan using items_by_day") {
			t.Errorf("the plan for a comparison is\n%s\nwant it to read the index alone", plan)
		}
	}
}

func explainPlan(t *testing.T, s *Store, statement string, args ...any) string {
	t.Helper()
	lines, err := collect(t.Context(), s.pool, pgx.RowTo[string], `EXPLAIN `+statement, args...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}
