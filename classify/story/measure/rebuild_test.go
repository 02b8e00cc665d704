package measure

import (
	"testing"
	"time"

	"feedmesh/classify/story"
)

// kept is an item and where it was put.
type kept struct {
	item    story.Item
	eventID string
}

// rebuild places half of the records, lets others take back what lives, as it would be
// stored, and both place the rest. Taken back is what came in so many windows, or
// all of the live events if that is 0. It returns how many items came after, and how
// many of them are in another event, or else in another story; early are those that
// were taken back and are older than the window.
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
	last := make(map[string]int) // by event, its last item
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
		if k.item.Repeats = ""; after.Needs(k.item, placed) {
			k.item.Read = w.Read(k.item)
		}
		after.Remember(k.item, placed)
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

// TestARebuildChangesNoAnswer counts the answers that differ after a rebuild. None
// is in another event where all items of the live events are taken back; stories may
// be others, for they forgot what they were made of.
func TestARebuildChangesNoAnswer(t *testing.T) {
	var headlines []Record
	if !testing.Short() {
		for i, day := range days(half(t, "uci-headlines").Records) {
			if i >= 20 && i < 30 { // ten days, so that some expire
				headlines = append(headlines, day...)
			}
		}
	}
	for _, set := range []struct {
		name    string
		records []Record
	}{{"headlines", headlines}, {"texts", half(t, "ecb-plus").Records}, {"texts of years", half(t, "basil").Records}} {
		if len(set.records) == 0 {
			continue
		}
		rest, events, stories, early := rebuild(t, set.records, 0)
		t.Logf("%s: of %d items after a rebuild %d are in another event, %d in another story; %d items taken back were older than the window",
			set.name, rest, events, stories, early)
		if events > 0 || stories*1000 > 2*rest {
			t.Errorf("%s: got %d and %d of %d answers that differ, want 0 and at most 2 in a thousand", set.name, events, stories, rest)
		}
		for windows := 1; windows <= 2; windows++ { // and what expired is taken back too
			rest, events, stories, early := rebuild(t, set.records, windows)
			t.Logf("%s: where what came in %d windows is taken back, %d of them older than one, %d are in another event, %d in another story",
				set.name, windows, early, events, stories)
			if most := []int{rest / 4, rest / 50}[windows-1]; events+stories > most {
				t.Errorf("%s, %d windows: got %d and %d of %d answers that differ, want %d at most", set.name, windows, events, stories, rest, most)
			}
		}
	}
}
