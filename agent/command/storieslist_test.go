package command

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/role/cluster/placement"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// putStories stores n stories of three items each, the second a duplicate of the first, and returns the IDs
// of the items. The titles contain terminal controls.
func (w *testbed) putStories(t *testing.T, n int) (items []string) {
	t.Helper()
	now := time.Now().UTC().Truncate(time.Microsecond)
	var batch storage.Batch
	batch.FeedID = w.feed
	var stories []storage.Story
	for s := range n {
		var of []storage.Item
		for k := range 3 {
			i := storage.Item{
				FeedID: w.feed, Key: fmt.Sprint("s", s, k), Title: fmt.Sprint("Kernel released ", escape, s), URL: fmt.Sprintf("https://h%d.example/%d", k, s),
				Language: "en", Partition: "en", FirstSeen: now.Add(-time.Duration(s+3) * time.Minute), Published: now, StoryReason: "nothing like it was there",
				Excerpt: "It has a new scheduler, which is good for machines with many cores.", Categories: []string{"operating-systems"},
			}
			i.ID, i.Hash = storage.ItemID(w.feed, i.Key), i.Key
			begin := i
			if k > 0 {
				begin = of[0]
			}
			i.EventID = storage.EventID(begin.ID)
			i.StoryID = storage.StoryID(i.EventID)
			if k == 1 {
				i.DuplicateOf, i.DuplicateBy, i.DuplicateScore, i.DuplicateReason = begin.ID, "title", 1, "same title"
			}
			of = append(of, i)
			items = append(items, i.ID)
		}
		batch.Items = append(batch.Items, of...)
	}
	if _, err := w.Store.PutItems(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	for s := range n {
		id := storage.StoryID(storage.EventID(items[3*s]))
		of, err := storage.ItemsOfStory(t.Context(), w.Store, id, placement.MaxItems)
		if err != nil {
			t.Fatal(err)
		}
		story, _ := placement.Summarize(id, of, func(string) float64 { return 1 }, s == 0, now)
		stories = append(stories, story)
	}
	if err := w.Store.PutStories(t.Context(), storage.Fence{}, nil, stories, nil); err != nil {
		t.Fatal(err)
	}
	return items
}

func TestStoriesCommands_OutputAndExitCode(t *testing.T) {
	w := newTestbed(t)
	w.do(t, "stories", "list").check(t, 0, "", "no stories found; --sources 1 includes")
	items := w.putStories(t, 2)
	event := storage.EventID(items[0])
	story := storage.StoryID(event)
	for _, c := range []struct {
		line     string
		code     int
		out, err string
	}{
		{"stories list", 0, "Kernel released �]0;owned�0\n  3 items · h0.example, ", ""},
		{"stories list", 0, " · 3 min ago · operating-systems · burst\n  https://h", ""},
		{"stories list", 0, "  agent stories show " + story + "\n", ""},
		{"stories list --limit 1", 0, "3 items", "more results available; use --limit to show them"},
		{"stories list --json", 0, `{"stories":[{"id":"`, ""},
		{"stories list --language ru", 0, "", "no stories found"},
		{"stories list --category operating-systems --after 1h --sort newest --sources 3", 0, story, ""},
		{"stories list --before 1h", 0, "", "no stories found"},
		{"stories list --language it", 2, "", "--language must be one of"},
		{"stories list --sources 0", 2, "", "--sources: 0 is not positive"},
		{"stories list --limit 0", 2, "", "--limit: 0 is not positive"},
		{"stories show " + story, 0, "items       3 items of 1 event\n", ""},
		{"stories show " + story, 0, "It has a new scheduler, which is good for machines with many cores. (h0.example)", ""},
		{"stories show " + story, 0, "event " + event, ""},
		{"stories show " + story, 0, "reason: nothing like it was there", ""},
		{"stories show " + story, 0, "duplicate from h1.example: same title · agent items " + items[1], ""},
		{"stories show " + story + " --json", 0, `"timeline":[{"id":"` + event, ""},
		{"stories show nope", 1, "", "agent: story nope: not found\n"},
		{"stories split " + story + " --event " + event, 1, "", "nothing to split"},
		{"stories split " + story + " --item " + items[0], 1, "", "item " + items[0] + " has duplicates"},
		{"stories split " + storage.StoryID(storage.EventID(items[3])) + " --event " + event, 0, "items       3 items of 1 event\n", ""}, // split already
		{"stories split " + story, 2, "", "missing flags: --event=ID or --item=ID"},
		{"stories split " + story + " --event a --item b", 2, "", "--event and --item can't be used together"},
		{"stories join " + story + " " + story, 1, "", "a story can't be joined with itself"},
		{"stories join " + story, 2, "", `expected "<other>"`},
		{"items duplicates " + items[1], 0, "duplicate by title, score 1.00: same title", ""},
		{"items duplicates " + items[1] + " --json", 0, `{"first":{"id":"` + items[0], ""},
		{"items duplicates " + items[2], 0, "Kernel released", "the item has no duplicates and is no duplicate"},
		{"items duplicates nope", 1, "", "item nope: not found"},
		{"items explain " + items[0] + " " + items[1], 0, "The second item repeats the first.\n", ""},
		{"items explain " + items[0] + " " + items[3] + " --json", 0, `"same_story":false`, ""},
		{"items explain " + items[0], 2, "", `expected "<with>"`},
		{"items " + items[1], 0, "duplicate of  " + items[0] + ": same title", ""},
	} {
		t.Run(c.line, func(t *testing.T) { w.do(t, strings.Fields(c.line)...).check(t, c.code, c.out, c.err) })
	}
}

func TestStoriesList_RequestsPagesUpToLimit(t *testing.T) {
	w := newTestbed(t)
	w.putStories(t, 130)
	for limit, want := range map[string]int{"120": 120, "1000": 130} {
		var found wire.StoryPage
		if err := json.Unmarshal([]byte(w.do(t, "stories", "list", "--json", "--limit", limit).out), &found); err != nil {
			t.Fatal(err)
		}
		if got := len(found.Stories); got != want {
			t.Errorf("--limit %s prints %d stories, want %d", limit, got, want)
		}
	}
}
