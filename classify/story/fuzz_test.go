package story

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// FuzzClusters applies operations to small Clusters whose items duplicate each other,
// expire and are restored, and checks the invariants after each step.
func FuzzClusters(f *testing.F) {
	f.Add([]byte{0, 1, 2, 0, 2, 2, 0, 3, 9, 3, 0, 0, 4, 1, 3, 3, 0, 0, 5, 1, 0, 3, 0, 0, 6, 2, 0, 7, 0, 0, 3, 0, 0})
	f.Add([]byte{0, 1, 2, 0, 2, 66, 6, 1, 0, 2, 250, 0, 0, 1, 2, 4, 1, 2, 5, 2, 0, 4, 1, 2, 3, 0, 0})
	f.Add([]byte{0, 1, 1, 1, 2, 1, 1, 3, 1, 6, 1, 0, 6, 2, 0, 6, 3, 0, 4, 1, 2, 4, 2, 3, 7, 0, 0, 5, 2, 0})
	f.Fuzz(func(t *testing.T, steps []byte) {
		limits := Limits{Events: 8, Items: 16, Window: 72 * time.Hour, Reach: 72 * time.Hour}
		c, now := New(Default(), limits, IDs{}), noon
		items := make(map[string]Item) // as they were placed last
		var order []string
		for ; len(steps) >= 3; steps = steps[3:] {
			a, b := fmt.Sprint("i", steps[1]%24), fmt.Sprint("i", steps[2]%24)
			now = now.Add(time.Duration(steps[1]) * time.Second)
			switch steps[0] % 8 {
			case 2:
				now = now.Add(time.Duration(steps[1]) * time.Hour)
			case 3:
				c.Tick(now)
			case 4:
				c.Join(eventOf(c, a), eventOf(c, b))
			case 5:
				c.Split(eventOf(c, a))
				if err := c.Split(eventOf(c, a)); err != ErrNothingToSplit && err != ErrNotFound {
					t.Fatalf("the second split of one event: got %v", err)
				}
			case 6:
				c.SplitItem(items[a])
				if _, err := c.SplitItem(items[a]); err != ErrNothingToSplit && err != ErrNotFound {
					t.Fatalf("the second split of one item: got %v", err)
				}
			case 7:
				c = takenBack(t, c, limits, items, order)
			default:
				item := made(a, steps[2], now)
				if _, ok := c.member(a); !ok {
					items[a] = item
					order = append(slices.DeleteFunc(order, func(id string) bool { return id == a }), a)
				}
				if got, repeated := c.Place(item), c.Place(item); got.EventID != repeated.EventID || got.StoryID != repeated.StoryID {
					t.Fatalf("item %s is placed %+v, then %+v", a, got, repeated)
				}
			}
			inPlace(t, c)
		}
	})
}

// eventOf returns the event of an item, or "" if the item is not stored.
func eventOf(c *Clusters, item string) string {
	if m, ok := c.member(item); ok {
		return c.idOf(m.slot)
	}
	return ""
}

// made returns an item whose words, host and original are chosen by a byte.
func made(id string, choice byte, now time.Time) Item {
	report := append(slices.Clone(quake), rocket...)[choice%7]
	item := Item{ID: id, Title: report.Title, Language: "en", Host: fmt.Sprint(choice >> 3 & 3), Seen: now}
	if choice&32 != 0 {
		item.Text = "The " + report.Title + ", officials said on Tuesday."
	}
	if choice&64 != 0 {
		item.DuplicateOf = fmt.Sprint("i", choice%24)
	}
	return item
}

// takenBack returns Clusters restored from c.
func takenBack(t *testing.T, c *Clusters, limits Limits, items map[string]Item, order []string) *Clusters {
	restored := New(Default(), limits, IDs{})
	for _, id := range order {
		if m, ok := c.member(id); ok {
			restored.Restore(items[id], c.placement(m.slot, Reason{}))
		}
	}
	for _, h := range c.Overrides() {
		restored.AddOverride(h)
	}
	if got, want := fmt.Sprint(restored.Overrides()), fmt.Sprint(c.Overrides()); got != want {
		t.Fatalf("got overrides %s, want %s", got, want)
	}
	restored.index.build()
	a, b, d := c.Len()
	if x, y, z := restored.Len(); a != x || b != y || d != z {
		t.Fatalf("got %d items, %d events, %d stories; want %d, %d, %d", x, y, z, a, b, d)
	}
	return restored
}

// listed reports whether the postings of a term contain the event in a slot.
func listed(x *index, term, slot uint32) bool {
	r := x.find(term)
	if r == nil || x.stale {
		return x.stale
	}
	if r.at < several {
		return r.at == slot
	}
	return slices.Contains(x.posts.slots(ref(r.at-several)), slot)
}

// inPlace checks that each item is in exactly one event, and that no override is violated.
func inPlace(t *testing.T, c *Clusters) {
	t.Helper()
	items, events, terms := 0, 0, make(map[uint32]uint32)
	for k, slot := range c.byID {
		e, id := &c.events[slot], c.idOf(slot)
		if keyOf(id) != k || !slices.Contains(c.eventsOf(c.storyOf(slot)), slot) {
			t.Fatalf("event %s is in no story", id)
		}
		at := e.newest
		for range e.items {
			m, ok := c.items[at]
			if !ok || m.slot != slot {
				t.Fatalf("an item of event %s is elsewhere", id)
			}
			items, at = items+1, m.older
		}
		sumWith := c.index.vector(slot).terms()
		for i, term := range sumWith {
			terms[term]++
			if !listed(&c.index, term, slot) {
				t.Fatalf("event %s is not found by one of its terms", id)
			}
			if i > 0 && sumWith[i-1] >= term {
				t.Fatalf("the terms of event %s are out of order", id)
			}
		}
	}
	for k, number := range c.stories {
		g := c.group(number)
		id, slots, undo := c.arena.text(g.id), c.eventsOf(g), len(c.undo[number])
		events += len(slots)
		if keyOf(id) != k || len(slots) == 0 || undo > maxUndo {
			t.Fatalf("story %s has %d events and %d lines of undo", id, len(slots), undo)
		}
		for _, slot := range slots {
			if c.storyOf(slot) != g {
				t.Fatalf("event %s of story %s is elsewhere", c.idOf(slot), id)
			}
		}
	}
	for number := range c.undo {
		if number != c.stories[keyOf(c.arena.text(c.group(number).id))] {
			t.Fatalf("the parts of a removed story are still stored")
		}
	}
	if items != len(c.items) || events != len(c.byID) || items > c.limits.Items || events > c.limits.Events {
		t.Fatalf("got %d of %d items in events, %d of %d events in stories", items, len(c.items), events, len(c.byID))
	}
	if len(terms) != c.index.terms.len {
		t.Fatalf("the index has %d terms of %d", c.index.terms.len, len(terms))
	}
	for term, have := range terms {
		if got := c.index.have(term); got != have {
			t.Fatalf("a term is counted in %d events, and is in %d", got, have)
		}
	}
	for _, h := range c.Overrides() {
		a, b := c.placement(c.byID[keyOf(h.A)], Reason{}), c.placement(c.byID[keyOf(h.B)], Reason{})
		if (a.StoryID == b.StoryID) != h.Together {
			t.Fatalf("events %s and %s are in stories %s and %s, overrides together: %v", h.A, h.B, a.StoryID, b.StoryID, h.Together)
		}
	}
}
