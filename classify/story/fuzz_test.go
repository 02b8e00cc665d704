package story

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// FuzzClusters does what bytes say to small Clusters, whose items repeat each other,
// expire and come again, and looks after each step whether all is in its place.
func FuzzClusters(f *testing.F) {
	f.Add([]byte{0, 1, 2, 0, 2, 2, 0, 3, 9, 3, 0, 0, 4, 1, 3, 3, 0, 0, 5, 1, 0, 3, 0, 0, 6, 2, 0, 7, 0, 0, 3, 0, 0})
	f.Add([]byte{0, 1, 2, 0, 2, 66, 6, 1, 0, 2, 250, 0, 0, 1, 2, 4, 1, 2, 5, 2, 0, 4, 1, 2, 3, 0, 0})
	f.Add([]byte{0, 1, 1, 1, 2, 1, 1, 3, 1, 6, 1, 0, 6, 2, 0, 6, 3, 0, 4, 1, 2, 4, 2, 3, 7, 0, 0, 5, 2, 0})
	f.Fuzz(func(t *testing.T, steps []byte) {
		limits := Limits{Events: 8, Items: 16, Window: 72 * time.Hour}
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
				if err := c.Split(eventOf(c, a)); err != ErrAlone && err != ErrUnknown {
					t.Fatalf("the second split of one event: got %v", err)
				}
			case 6:
				c.SplitItem(items[a])
				if _, err := c.SplitItem(items[a]); err != ErrAlone && err != ErrUnknown {
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
				if got, again := c.Place(item), c.Place(item); got.EventID != again.EventID || got.StoryID != again.StoryID {
					t.Fatalf("item %s is placed %+v, then %+v", a, got, again)
				}
			}
			inPlace(t, c)
		}
	})
}

// eventOf returns the event of an item, "" if that is not remembered.
func eventOf(c *Clusters, item string) string {
	if m, ok := c.member(item); ok {
		return c.idOf(m.slot)
	}
	return ""
}

// made is an item of which a byte chooses the words, the host, and what it repeats.
func made(id string, choice byte, now time.Time) Item {
	told := append(slices.Clone(quake), rocket...)[choice%7]
	item := Item{ID: id, Title: told.Title, Language: "en", Host: fmt.Sprint(choice >> 3 & 3), Seen: now}
	if choice&32 != 0 {
		item.Text = "The " + told.Title + ", officials said on Tuesday."
	}
	if choice&64 != 0 {
		item.Repeats = fmt.Sprint("i", choice%24)
	}
	return item
}

// takenBack are Clusters that were told what others know.
func takenBack(t *testing.T, c *Clusters, limits Limits, items map[string]Item, order []string) *Clusters {
	again := New(Default(), limits, IDs{})
	for _, id := range order {
		if m, ok := c.member(id); ok {
			again.Remember(items[id], c.placement(m.slot, Why{}))
		}
	}
	for _, h := range c.Hands() {
		again.Hold(h)
	}
	if got, want := fmt.Sprint(again.Hands()), fmt.Sprint(c.Hands()); got != want {
		t.Fatalf("got hands %s, want %s", got, want)
	}
	again.index.build()
	a, b, d := c.Len()
	if x, y, z := again.Len(); a != x || b != y || d != z {
		t.Fatalf("got %d items, %d events, %d stories; want %d, %d, %d", x, y, z, a, b, d)
	}
	return again
}

// listed reports whether the event in a slot is among those that have a term.
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

// inPlace fails if something is in two places, or in none, or where a hand said
// that it must not be.
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
		about := c.index.vector(slot).terms()
		for i, term := range about {
			terms[term]++
			if !listed(&c.index, term, slot) {
				t.Fatalf("event %s is not found by a term that it has", id)
			}
			if i > 0 && about[i-1] >= term {
				t.Fatalf("the terms of event %s are out of order", id)
			}
		}
	}
	for k, number := range c.stories {
		g := c.group(number)
		id, slots, undo := c.room.text(g.id), c.eventsOf(g), len(c.undo[number])
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
		if number != c.stories[keyOf(c.room.text(c.group(number).id))] {
			t.Fatalf("what a story was made of outlives it")
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
	for _, h := range c.Hands() {
		a, b := c.placement(c.byID[keyOf(h.A)], Why{}), c.placement(c.byID[keyOf(h.B)], Why{})
		if (a.StoryID == b.StoryID) != h.Together {
			t.Fatalf("events %s and %s are in stories %s and %s, hands said together: %v", h.A, h.B, a.StoryID, b.StoryID, h.Together)
		}
	}
}
