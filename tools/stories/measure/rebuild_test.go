package measure

import (
	"testing"
	"time"

	"feedmesh/classify/story"
)

// kept is an item and its placement.
type kept struct {
	item    story.Item
	eventID string
}

// rebuild places half of the records, restores the stored items in new Clusters, and places the rest in both.
// Restored are the items of so many windows, or all items of the events in the window if windows is 0. It
// returns the number of later items, and how many of them are in another event or, in the same event, in
// another story; early counts restored items older than the window.
func rebuild(t *testing.T, records []Record, windows int) (rest, events, stories, early int) {
	t.Helper()
	c := story.New(story.Default(), story.DefaultLimits(), story.IDs{})
	before := grouping{Clusters: c, story: make(map[string]string)}
	var list []kept
	place := func(g *grouping, item story.Item) string {
		placed := g.Place(item)
		g.story[placed.EventID] = placed.StoryID
		g.tick(item.Seen)
		return placed.EventID
	}
	middle := len(records) / 2
	for _, r := range records[:middle] {
		list = append(list, kept{r.Item, place(&before, r.Item)})
	}
	w := story.Default()
	after := grouping{Clusters: story.New(w, story.DefaultLimits(), story.IDs{}), story: make(map[string]string)}
	now := records[middle-1].Seen
	last := make(map[string]int) // the last item of each event
	for i, k := range list {
		last[k.eventID] = i
	}
	for _, k := range list {
		window := story.DefaultLimits().Window
		if windows == 0 && now.Sub(list[last[k.eventID]].item.Seen) > window {
			continue // its event expired
		}
		if windows > 0 && now.Sub(k.item.Seen) > time.Duration(windows)*window {
			continue
		}
		if now.Sub(k.item.Seen) > window {
			early++
		}
		placed := story.Placement{EventID: k.eventID, StoryID: before.story[k.eventID]}
		if k.item.DuplicateOf = ""; after.NeedsText(k.item, placed) {
			k.item.Features = w.Extract(k.item)
		}
		after.Restore(k.item, placed)
		after.story[k.eventID] = placed.StoryID
	}
	before.tick(now.Add(1))
	after.tick(now.Add(1))
	a, b, d := before.Len()
	if x, y, z := after.Len(); windows == 0 && (a != x || b != y || d != z) {
		t.Errorf("got %d items, %d events, %d stories, want %d, %d, %d", x, y, z, a, b, d)
	}
	type where struct{ before, after string }
	var placed []where
	for _, r := range records[middle:] {
		placed = append(placed, where{place(&before, r.Item), place(&after, r.Item)})
	}
	for _, p := range placed {
		if p.before != p.after {
			events++
		} else if before.story[p.before] != after.story[p.after] {
			stories++
		}
	}
	return len(placed), events, stories, early
}

// TestRestore_ChangesNoAnswer counts the differences after a rebuild. If all items of the events in the
// window are restored, no item is in another event. Stories may differ, because their history is not
// restored.
func TestRestore_ChangesNoAnswer(t *testing.T) {
	var headlines []Record
	if !testing.Short() {
		for i, day := range days(read(t, "uci-headlines", Test).Records) {
			if i >= 20 && i < 30 { // ten days, so that some expire
				headlines = append(headlines, day...)
			}
		}
	}
	for _, set := range []struct {
		name    string
		records []Record
	}{{"headlines", headlines}, {"texts", read(t, "ecb-plus", Test).Records}, {"texts of years", read(t, "basil", Test).Records}} {
		if len(set.records) == 0 {
			continue
		}
		rest, events, stories, early := rebuild(t, set.records, 0)
		t.Logf("%s: of %d items after a rebuild %d are in another event, %d in another story; %d restored items were older than the window",
			set.name, rest, events, stories, early)
		if events > 0 || stories*1000 > 2*rest {
			t.Errorf("%s: got %d and %d of %d answers that differ, want 0 and at most 2 in a thousand", set.name, events, stories, rest)
		}
		for windows := 1; windows <= 2; windows++ { // expired items are restored too
			rest, events, stories, early := rebuild(t, set.records, windows)
			t.Logf("%s: with the items of %d windows restored, %d of them older than one, %d are in another event, %d in another story",
				set.name, windows, early, events, stories)
			if most := []int{rest / 4, rest / 50}[windows-1]; events+stories > most {
				t.Errorf("%s, %d windows: got %d and %d of %d answers that differ, want %d at most", set.name, windows, events, stories, rest, most)
			}
		}
	}
}
