package near

import (
	"fmt"
	"testing"
	"time"
)

// FuzzIndex applies operations to a small index whose items are edited, evicted
// and restored, and checks the invariants after each step.
func FuzzIndex(f *testing.F) {
	f.Add([]byte{0, 1, 2, 0, 2, 2, 0, 3, 2, 6, 1, 2, 0, 4, 2, 7, 1, 3, 5, 0, 0, 0, 1, 9})
	f.Add([]byte{0, 1, 1, 7, 2, 1, 4, 200, 0, 0, 2, 1, 0, 1, 5, 6, 1, 2, 0, 2, 9})
	f.Add([]byte{7, 1, 2, 7, 3, 1, 7, 2, 3, 0, 1, 1, 0, 2, 1, 0, 3, 1, 6, 1, 2, 5, 0, 0})
	s := Default()
	s.Window, s.MaxItems, s.MaxOverrides, s.MinBodyWords = 24*time.Hour, 12, 8, 8
	f.Fuzz(func(t *testing.T, steps []byte) {
		x, now := NewIndex(s), noon
		signatures := make(map[string]Signature) // as they were placed last
		for ; len(steps) >= 3; steps = steps[3:] {
			a, b := fmt.Sprint(steps[1]%20), fmt.Sprint(steps[2]%20)
			switch steps[0] % 8 {
			case 4:
				now = now.Add(time.Duration(steps[1]) * time.Hour / 4)
			case 5:
				x = rebuilt(t, x, s, signatures)
			case 6:
				for _, id := range x.Split(a, b) {
					if id != a && id != b {
						t.Fatalf("split of %s and %s changed %s", a, b, id)
					}
				}
				if got := x.Split(a, b); got != nil && len(x.Overrides()) < s.MaxOverrides {
					t.Fatalf("split of %s and %s again changed %v", a, b, got)
				}
			case 7:
				x.Join(a, b)
				if got := x.Join(a, b); got != nil && len(x.Overrides()) < s.MaxOverrides { // else another is evicted
					t.Fatalf("join of %s and %s again changed %v", a, b, got)
				}
			default:
				m := fuzzed(&s, a, steps[2], now)
				if _, ok := x.find(a); !ok {
					signatures[a] = m
				}
				if got, repeated := x.Place(m), x.Place(m); got != repeated {
					t.Fatalf("item %s is placed %+v, then %+v", a, got, repeated)
				}
			}
			sound(t, x)
		}
	})
}

// fuzzed returns an item whose title, text, address and feed are chosen by a byte.
func fuzzed(s *Settings, id string, choice byte, now time.Time) Signature {
	title := []string{
		oil, oil + " - Reuters", "Oil price falls as stocks in Asia rise for a third day", "Day 2 of the trial of a mayor begins", "Day 21 of the trial of a mayor begins", "",
	}[choice%6]
	text := ""
	if choice&16 != 0 {
		text = news(uint64(choice>>5) & 1)
	}
	m := signature(s, id, fmt.Sprint(choice>>3&1), title, text)
	if choice&64 != 0 {
		m.URLKey = fmt.Sprint("example.org/", choice>>4&1)
	}
	m.Seen = now
	return m
}

// rebuilt returns a new index restored from the items and overrides of x.
func rebuilt(t *testing.T, x *Index, s Settings, signatures map[string]Signature) *Index {
	restored := NewIndex(s)
	for i := range x.items.len {
		restored.Restore(signatures[x.id(i)], x.storedMatch(i))
	}
	for _, h := range x.Overrides() {
		restored.AddOverride(h)
		restored.AddOverride(h)
	}
	if got, want := fmt.Sprint(restored.Overrides()), fmt.Sprint(x.Overrides()); got != want {
		t.Fatalf("got overrides %s, want %s", got, want)
	}
	if restored.Len() != x.Len() {
		t.Fatalf("got %d items, want %d", restored.Len(), x.Len())
	}
	return restored
}

// sound checks the invariants of an index.
func sound(t *testing.T, x *Index) {
	t.Helper()
	if x.Len() > x.settings.MaxItems || len(x.Overrides()) > x.settings.MaxOverrides {
		t.Fatalf("%d items and %d overrides are stored", x.Len(), len(x.Overrides()))
	}
	repeats := 0
	for i := range x.items.len {
		id, of := x.id(i), x.duplicateOf(i)
		if of == id {
			t.Fatalf("item %s repeats itself", id)
		}
		if at, ok := x.find(id); !ok || at != i {
			t.Fatalf("item %s is stored twice", id)
		}
		if of == "" {
			continue
		}
		repeats++
		if first, ok := x.find(of); ok && x.duplicateOf(first) != "" {
			t.Fatalf("item %s repeats %s, which repeats %s", id, of, x.duplicateOf(first))
		}
		if x.overrides.split(id, of) {
			t.Fatalf("item %s repeats %s, from which an override split it", id, of)
		}
	}
	counted := 0
	for _, n := range x.duplicates {
		counted += n
	}
	if counted != repeats {
		t.Fatalf("%d items are counted that repeat others, of %d", counted, repeats)
	}
}
