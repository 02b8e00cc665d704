package sqlite

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestStories_UseIndexes(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	page := []any{1, "a", 10, "", 0, 0, 1, "", "", "", ""}
	for statement, test := range map[string]struct {
		index string
		args  []any
	}{
		addDirtyStories:       {"items USING COVERING INDEX items_by_story (story_id=?)", []any{`["a"]`}},
		addDirtyStoryOfItem:   {"items USING COVERING INDEX items_by_story (story_id=?)", []any{"a"}},
		addDirtyStoriesOfFeed: {"items USING COVERING INDEX items_by_story (story_id=?)", []any{"a"}},
		eventsOf:              {"items USING INDEX items_by_story (story_id=?)", []any{"a"}},
		storyTotals:           {"items USING INDEX items_by_story (story_id=?)", []any{"a"}},
		newestOfStory:         {"items USING INDEX items_by_story (story_id=?)", []any{"a", 1}},
		itemsOfStories:        {"items USING COVERING INDEX items_by_story (story_id=?)", []any{`["a"]`, 1}},
		duplicatesOfItem:      {"items USING INDEX items_by_first (duplicate_of=?)", []any{"a", 1}},
		sightings:             {"items USING INDEX items_by_lane (lane=? AND (first_seen,id)>(?,?) AND first_seen<?)", []any{1, "a", 2, 10}},
		feedCoverage:          {"items USING COVERING INDEX items_by_arrival (first_seen>?)", []any{1, 2}},
		storiesOfMoved:        {"m USING PRIMARY KEY (event_id=?)", []any{"[]"}},
		deleteOldMoves:        {"moved_events_by_time (at<?)", []any{1}},
		deleteEventStories:    {"event_stories USING PRIMARY KEY (event_id=?)", []any{"a"}},
		deleteDirtyStories:    {"untold USING INTEGER PRIMARY KEY", []any{"[]"}},
		deleteStories:         {"sqlite_autoindex_stories_1 (id=?)", []any{"[]"}},
		storiesByRank:         {"stories USING INDEX stories_by_rank (rank<?)", page},
		newestStories:         {"stories USING INDEX stories_by_time (last_seen>? AND last_seen<?)", page},
	} {
		plan := s.plan(t, statement, test.args...)
		sorts := strings.Contains(plan, "TEMP B-TREE FOR ORDER BY") && strings.Contains(plan, "SEARCH stories")
		if !strings.Contains(plan, test.index) || strings.Contains(plan, "SCAN items") || strings.Contains(plan, "SCAN stories") || sorts {
			t.Errorf("the plan of %s is\n%s\nwant it to use %s, in its order", statement, plan, test.index)
		}
	}
}

// plan returns the query plan of a statement, one step a line.
func (s *Store) plan(t *testing.T, statement string, args ...any) string {
	t.Helper()
	rows, err := s.readers.QueryContext(t.Context(), `EXPLAIN QUERY PLAN `+statement, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var steps []string
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, step)
	}
	return strings.Join(steps, "\n")
}
