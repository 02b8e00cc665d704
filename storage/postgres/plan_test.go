package postgres

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

// The store contains few items, for which table scans would be cheapest.
func TestPlans_HotStatementsUseIndexes(t *testing.T) {
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
	exec(t, url, `INSERT INTO untold (due, story_id) SELECT now(), story_id FROM items`)
	exec(t, url, `INSERT INTO kept_labels SELECT 'job ' || n % 3, id, '{}' FROM items, generate_series(1, 3) n`)
	exec(t, url, `INSERT INTO view_members SELECT id, v, 1, now(), published, false, false, '', '' FROM items, generate_series(1, 10) v`)
	first := benchItem(feedID, 0)
	ids := make([]string, 20)
	for n := range ids {
		ids[n] = benchItem(feedID, 100*n).ID
	}
	day := storage.Day(first.FirstSeen)
	listFeeds, listArgs := findFeeds(storage.FeedQuery{After: storage.FeedPosition{Text: "1"}, Limit: 100})
	slot := storage.HostSlot("https://other.example/")
	ofSlot, ofSlotArgs := findFeeds(storage.FeedQuery{Slot: &slot, After: storage.FeedPosition{Text: "1"}, Limit: 100})
	own, ownArgs := findFeeds(storage.FeedQuery{WithRequest: true, After: storage.FeedPosition{Text: "1"}, Limit: 100})
	statements := []struct {
		name, statement, index string
		inOrder                bool
		args                   []any
	}{
		{"list feeds", listFeeds, "feeds_url_key", true, listArgs},
		{"feeds of a slot", ofSlot, "feeds_host_slot", true, ofSlotArgs},
		{"feeds with a request", own, "feeds_request", true, ownArgs},
		{"item hashes", itemHashes, "items_pkey", false, []any{ids}},
		{"items by ID", itemsByID, "items_pkey", false, []any{ids}},
		{"put", itemsToPut, "items_pkey", false, []any{ids}},
		{"feed to put", feedToPut, "feeds_id_key", false, []any{feedID}},
		{"items since", itemsByTime, "items_by_lane", true, []any{"en", first.FirstSeen, first.ID, nil, nil, 50}},
		{"items since in a missing partition", itemsByTime, "items_by_lane", false, []any{"xx", first.FirstSeen, "", nil, nil, 50}},
		{"stamps", stampsOfDay, "items_by_day", true, []any{day, first.ID, 100}},
		{"repeat", setDuplicatesOf, "items_pkey", false, []any{ids, ids}},
		{"drop", deleteItems, "items_pkey", false, []any{ids, ids}},
		{"rename", renameItems, "items_pkey", false, []any{ids, ids, 2}},
		{"spam", newestSpam, "spam_by_judged", true, []any{day, first.ID, 50}},
		{"newest spam", newestSpam, "spam_by_judged", true, []any{nil, "", 50}},
		{"spam of a feed", newestSpamOf, "spam_by_feed", true, []any{day, first.ID, 50, feedID}},
		{"corrections", correctionsByTime, "corrections_by_time", true, []any{day, first.ID, 50}},
		{"labels", uncorrectedLabels, "items_pkey", false, []any{ids}},
		{"members of items", membersOfItems, "view_members_pkey", false, []any{ids[:2]}},
		{"newest members", newestMembers, "view_members_by_time", true, []any{1, nil, day, first.ID, 50}},
		{"oldest members", oldestMembers, "view_members_by_time", true, []any{1, nil, day, first.ID, 50}},
		{"lock items", lockItems, "items_pkey", false, []any{ids}},
		{"lock the items' feeds", shareFeedsOf, "items_pkey", false, []any{ids}},
		{"saved labels", savedLabels, "kept_labels_pkey", true, []any{"job 1", 50}},
		{"saved labels of moved items", renameSavedLabels, "kept_labels_by_item", false, []any{ids[:2], ids[:2]}},
		{"saved labels of deleted items", deleteSavedLabelsOfDeleted, "kept_labels_by_item", false, []any{ids[:2], ids[:2]}},
		{"saved labels of missing items", deleteStrayLabels, "kept_labels_by_item", false, []any{ids[:2], ids[:2]}},
		{"items of a story", storyTotals, "items_by_story", false, []any{first.StoryID}},
		{"newest items of a story", newestOfStory, "items_by_story", false, []any{first.StoryID, 50}},
		{"duplicates of an item", duplicatesOfItem, "items_by_first", false, []any{first.ID, 50}},
		{"rearrange", placeItems, "items_pkey", false, placementColumns([]storage.Placement{{ItemID: first.ID}})},
		{"stories that new items join", storiesWithoutItems, "items_by_story", false, []any{ids}},
		{"click", addClicks, "items_pkey", false, []any{first.ID, 1}},
		{"sightings", sightings, "items_by_lane", false, []any{first.FirstSeen, first.ID, first.FirstSeen.Add(time.Hour), 50}},
		{"feed coverage of a day", feedCoverageOfDay, "items_by_day", false, []any{day.AddDate(0, 0, -1), day, 3}},
		{"marks", dirtyStories, "untold_pkey", true, []any{50}},
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
		exec(t, url, `VACUUM ANALYZE items, feeds, spam, corrections, kept_labels, untold, view_members`)
	}
	// Without statistics the planner overestimates the items of an event, see disableTableScans.
	for _, statement := range []string{shareFeedsToRearrange, lockToRearrange} {
		plan := explainPlan(t, s, statement, ids, ids)
		if !strings.Contains(plan, "items_by_event") || !strings.Contains(plan, "items_pkey") {
			t.Errorf("the plan to rearrange is\n%s\nwant it to use items_by_event and items_pkey", plan)
		}
	}
	// Without statistics the planner assumes that all items are duplicates.
	for _, plan := range []string{explainPlan(t, s, freeDuplicates, 2), explainPlan(t, s, duplicatesOfFeed, 2)} {
		if !strings.Contains(plan, "items_by_first") {
			t.Errorf("the plan for duplicates is\n%s\nwant it to use items_by_first", plan)
		}
	}
	// Without statistics the planner underestimates the members of a view.
	for _, plan := range []string{explainPlan(t, s, membersOfStories, ids[:2], []int64{1}), explainPlan(t, s, membersOfOriginals, ids[:2], []int64{1})} {
		if !strings.Contains(plan, "view_members_pkey") {
			t.Errorf("the plan for related members is\n%s\nwant it to use view_members_pkey", plan)
		}
	}
	for _, plan := range []string{explainPlan(t, s, countByDay), explainPlan(t, s, stampsOfDay, day, first.ID, 100)} {
		if !strings.Contains(plan, "Index Only Scan using items_by_day") {
			t.Errorf("the plan for a comparison is\n%s\nwant it to read the index alone", plan)
		}
	}
}

// In a large store some topics have few stories, and others many.
func TestPlans_ListStoriesUsesIndexes(t *testing.T) {
	url := emptySchema(t)
	s := open(t, url)
	exec(t, url, `
		INSERT INTO stories (first_seen, last_seen, told, heat, rank, clicks, items, events, sources, burst, id, lane, headline, title, listed_under)
		SELECT at, at + interval '6 hours', at, 1, n + n * 7919 % 5000, 0, 3, 2, 2 + n % 5, false, md5(n::text), lane, '', 'A title of middle length',
			array['lane:' || lane, 'category:' || n % 20, 'topic:' || n % 100, 'topic:rare-' || n / 20]
		FROM generate_series(1, 20000) n,
			LATERAL (SELECT timestamptz '2026-01-01 UTC' + n * interval '1 minute', CASE WHEN n % 1000 = 0 THEN 'ja' ELSE 'en' END) t (at, lane)`)
	exec(t, url, `VACUUM ANALYZE stories`)
	for _, test := range []struct {
		query          storage.StoryQuery
		byRank, newest string
		sorted         bool
	}{
		{storage.StoryQuery{}, "stories_by_rank", "stories_by_time", false},
		{storage.StoryQuery{Partition: "en", Sources: 2}, "stories_by_rank", "stories_by_time", false},
		{storage.StoryQuery{Category: "7"}, "stories_by_rank", "stories_by_time", false},
		{storage.StoryQuery{Topic: "rare-100"}, "stories_listed", "stories_listed", true},
		{storage.StoryQuery{Topic: "nothing"}, "stories_listed", "stories_listed", true},
		{storage.StoryQuery{Partition: "ja", Topic: "rare-100"}, "stories_listed", "stories_listed", true},
	} {
		for _, newest := range []bool{false, true} {
			index := test.byRank
			if test.query.Newest = newest; newest {
				index = test.newest
			}
			for _, page := range []string{"first", "next"} {
				test.query.Cursor = ""
				if page == "next" {
					middle := storage.Story{ID: "7", Rank: 10_000, LastSeen: time.Date(2026, 1, 8, 0, 0, 0, 0, time.UTC)}
					test.query.Cursor = test.query.PositionOf(middle).Cursor()
				}
				statement, args, err := listStatement(test.query)
				if err != nil {
					t.Fatal(err)
				}
				plan := explainPlan(t, s, statement, args...)
				if !strings.Contains(plan, index) || strings.Contains(plan, "Sort") != test.sorted {
					t.Errorf("%+v: the plan of the %s page is\n%s\nwant it to use %s, sorted: %v", test.query, page, plan, index, test.sorted)
				}
			}
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
