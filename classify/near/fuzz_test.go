package near

import (
	"fmt"
	"testing"
	"time"
)

// FuzzIndex does what bytes say to a small index, whose items are edited, forgotten
// and come again, and looks after each step whether what it says can be.
func FuzzIndex(f *testing.F) {
	f.Add([]byte{0, 1, 2, 0, 2, 2, 0, 3, 2, 6, 1, 2, 0, 4, 2, 7, 1, 3, 5, 0, 0, 0, 1, 9})
	f.Add([]byte{0, 1, 1, 7, 2, 1, 4, 200, 0, 0, 2, 1, 0, 1, 5, 6, 1, 2, 0, 2, 9})
	f.Add([]byte{7, 1, 2, 7, 3, 1, 7, 2, 3, 0, 1, 1, 0, 2, 1, 0, 3, 1, 6, 1, 2, 5, 0, 0})
	s := Default()
	s.Window, s.Max, s.Held, s.MinBody = 24*time.Hour, 12, 8, 8
	f.Fuzz(func(t *testing.T, steps []byte) {
		x, now := NewIndex(s), noon
		marks := make(map[string]Mark) // as they were placed last
		for ; len(steps) >= 3; steps = steps[3:] {
			a, b := fmt.Sprint(steps[1]%20), fmt.Sprint(steps[2]%20)
			switch steps[0] % 8 {
			case 4:
				now = now.Add(time.Duration(steps[1]) * time.Hour / 4)
			case 5:
				x = rebuilt(t, x, s, marks)
			case 6:
				for _, id := range x.Split(a, b) {
					if id != a && id != b {
						t.Fatalf("split of %s and %s changed %s", a, b, id)
					}
				}
				if got := x.Split(a, b); got != nil && len(x.Hands()) < s.Held {
					t.Fatalf("split of %s and %s again changed %v", a, b, got)
				}
			case 7:
				x.Join(a, b)
				if got := x.Join(a, b); got != nil && len(x.Hands()) < s.Held { // else another is forgotten
					t.Fatalf("join of %s and %s again changed %v", a, b, got)
				}
			default:
				m := fuzzed(&s, a, steps[2], now)
				if _, ok := x.find(a); !ok {
					marks[a] = m
				}
				if got, again := x.Place(m), x.Place(m); got != again {
					t.Fatalf("item %s is placed %+v, then %+v", a, got, again)
				}
			}
			sound(t, x)
		}
	})
}

// fuzzed is an item whose title, text, address and feed a byte chooses.
func fuzzed(s *Settings, id string, choice byte, now time.Time) Mark {
	title := []string{
		oil, oil + " - Reuters", "Oil price falls as stocks in Asia rise for a third day", "Day 2 of the trial of a mayor begins", "Day 21 of the trial of a mayor begins", "",
	}[choice%6]
	text := ""
	if choice&16 != 0 {
		text = news(uint64(choice>>5) & 1)
	}
	m := told(s, id, fmt.Sprint(choice>>3&1), title, text)
	if choice&64 != 0 {
		m.URLKey = fmt.Sprint("example.org/", choice>>4&1)
	}
	m.Seen = now
	return m
}

// rebuilt is an index that was told what another one knows.
func rebuilt(t *testing.T, x *Index, s Settings, marks map[string]Mark) *Index {
	again := NewIndex(s)
	for i := range x.items.len {
		again.Remember(marks[x.id(i)], x.placed(i))
	}
	for _, h := range x.Hands() {
		again.Hold(h)
		again.Hold(h)
	}
	if got, want := fmt.Sprint(again.Hands()), fmt.Sprint(x.Hands()); got != want {
		t.Fatalf("got hands %s, want %s", got, want)
	}
	if again.Len() != x.Len() {
		t.Fatalf("got %d items, want %d", again.Len(), x.Len())
	}
	return again
}

// sound fails if the answers of an index cannot be.
func sound(t *testing.T, x *Index) {
	t.Helper()
	if x.Len() > x.settings.Max || len(x.Hands()) > x.settings.Held {
		t.Fatalf("%d items and %d hands are remembered", x.Len(), len(x.Hands()))
	}
	repeats := 0
	for i := range x.items.len {
		id, of := x.id(i), x.of(i)
		if of == id {
			t.Fatalf("item %s repeats itself", id)
		}
		if at, ok := x.find(id); !ok || at != i {
			t.Fatalf("item %s is remembered twice", id)
		}
		if of == "" {
			continue
		}
		repeats++
		if first, ok := x.find(of); ok && x.of(first) != "" {
			t.Fatalf("item %s repeats %s, which repeats %s", id, of, x.of(first))
		}
		if x.hand.split(id, of) {
			t.Fatalf("item %s repeats %s, from which a hand split it", id, of)
		}
	}
	counted := 0
	for _, n := range x.repeats {
		counted += n
	}
	if counted != repeats {
		t.Fatalf("%d items are counted that repeat others, of %d", counted, repeats)
	}
}
