package near

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// signature returns the signature of an item with words, seen at noon.
func signature(s *Settings, item, feed, title, body string) Signature {
	return Signature{ItemID: item, FeedID: feed, TextHash: TextHash(title, body), Seen: noon, Sketch: s.Sketch(title, body)}
}

// news returns a body of 80 words that depends on the seed.
func news(seed uint64) string {
	return strings.Join(prose(rand.New(rand.NewPCG(seed, 1)), 80), " ")
}

const oil = "Oil prices fall as stocks in Asia rise for a third day"

func TestIndex_Place(t *testing.T) {
	s := Default()
	type step struct {
		mark Signature
		of   string
		by   string
		why  string // begins like this
	}
	for _, test := range []struct {
		name  string
		steps []step
	}{
		{"nothing in common", []step{
			{signature(&s, "1", "a", oil, news(1)), "", "", ""},
			{signature(&s, "2", "b", "Court clears the way for a merger of banks", news(2)), "", "", ""},
		}},
		{"a publisher's tail", []step{
			{signature(&s, "1", "a", oil, ""), "", "", ""},
			{signature(&s, "2", "b", oil+" - Reuters", ""), "1", "title", "same title but for the publisher's tail"},
			{signature(&s, "3", "c", "UPDATE 1-"+strings.Replace(oil, "prices", "price", 1), ""), "1", "title", "similar titles; 87 % of 4-grams"},
		}},
		{"one word replaced by one that is not rare, in another feed", []step{
			{signature(&s, "1", "a", oil, ""), "", "", ""},
			{signature(&s, "2", "b", "The second Monday of the month", ""), "", "", ""},
			{signature(&s, "3", "b", "A second chance for old laptops", ""), "", "", ""},
			{signature(&s, "4", "b", "Why second opinions are worth it", ""), "", "", ""},
			{signature(&s, "5", "b", strings.Replace(oil, "third", "second", 1), ""), "1", "title", "similar titles; "},
		}},
		{"one pattern, another subject", []step{
			{signature(&s, "1", "a", "Weather forecast for Brest and its region today", ""), "", "", ""},
			{signature(&s, "2", "b", "Weather forecast for Gomel and its region today", ""), "", "", ""},
			{signature(&s, "3", "b", "Weather forecast for Brest and its region, today", ""), "1", "title", "same title"},
		}},
		{"other numbers", []step{
			{signature(&s, "1", "a", "Quake of magnitude 7.1 hits the coast of Chile", news(1)), "", "", ""},
			{signature(&s, "2", "b", "Quake of magnitude 7.3 hits the coast of Chile", news(1)), "", "", ""},
		}},
		{"another title, the same text with another end", []step{
			{signature(&s, "1", "a", oil, news(1)), "", "", ""},
			{signature(&s, "2", "b", "What the markets did today", news(1)+" and that was all"), "1", "body", "almost the same text"},
		}},
		{"a teaser with another title, before and after the full text", []step{
			{signature(&s, "1", "a", "Markets today", strings.Join(strings.Fields(news(1))[:45], " ")+" read more"), "", "", ""},
			{signature(&s, "2", "b", oil, news(1)), "1", "body", "one text is part of the other; about"},
			{signature(&s, "3", "c", "What happened", strings.Join(strings.Fields(news(1))[:50], " ")), "1", "body", ""},
		}},
		{"one feed, equal titles, other texts", []step{
			{signature(&s, "1", "a", "What we read this week in the papers", news(1)), "", "", ""},
			{signature(&s, "2", "a", "What we read this week in the papers", news(2)), "", "", ""},
			{signature(&s, "3", "b", "What we read this week in the papers", news(2)), "2", "text", "same text"},
		}},
		{"two words are too few", []step{
			{signature(&s, "1", "a", "Open thread", news(1)), "", "", ""},
			{signature(&s, "2", "b", "Open thread", news(2)), "", "", ""},
			{signature(&s, "3", "c", "Open thread", ""), "", "", ""},
		}},
		{"equal addresses", []step{
			{mark("1", "a", "u", ""), "", "", ""},
			{mark("2", "a", "v", ""), "", "", ""},
			{mark("3", "b", "u", ""), "1", "url", "same address"},
		}},
		{"no words", []step{
			{signature(&s, "1", "a", "", ""), "", "", ""},
			{signature(&s, "2", "b", "", ""), "", "", ""},
			{signature(&s, "3", "b", "!!!", ""), "", "", ""},
		}},
	} {
		x := NewIndex(s)
		for _, step := range test.steps {
			got := x.Place(step.mark)
			if got.DuplicateOf != step.of || got.By != step.by || !strings.HasPrefix(got.Reason, step.why) || (got.DuplicateOf == "") != (got.Reason == "") {
				t.Errorf("%s: item %s is placed %+v, want %q by %q: %q", test.name, step.mark.ItemID, got, step.of, step.by, step.why)
			}
			if repeated := x.Place(step.mark); repeated != got {
				t.Errorf("%s: item %s is placed %+v, then %+v", test.name, step.mark.ItemID, got, repeated)
			}
		}
	}
}

// TestIndex_WithoutSketchesAgreesWithExact uses signatures without body sketches.
func TestIndex_WithoutSketchesAgreesWithExact(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	s := Default()
	s.Window, s.MaxItems = time.Hour, 50
	e, x := NewExact(s.Window, s.MaxItems), NewIndex(s)
	for i := range 20_000 {
		m := mark(fmt.Sprint(random.IntN(3000)), fmt.Sprint(random.IntN(5)), fmt.Sprint(random.IntN(200)), fmt.Sprint(random.IntN(200)))
		m.Seen = noon.Add(time.Duration(i) * 30 * time.Second)
		want, got := e.Place(m), x.Place(m)
		if got.DuplicateOf != want.DuplicateOf || got.By != want.By {
			t.Fatalf("step %d: got %+v, want %+v", i, got, want)
		}
		if x.Len() != e.Len() {
			t.Fatalf("step %d: %d items, want %d", i, x.Len(), e.Len())
		}
	}
}

func TestIndex_EvictsByAgeAndCount(t *testing.T) {
	s := Default()
	s.Window, s.MaxItems = time.Hour, 3000
	x := NewIndex(s)
	for i := range 12_000 {
		m := signature(&s, fmt.Sprint(i), fmt.Sprint(i%7), fmt.Sprintf("Title %d of %d things", i, i*i), news(uint64(i%5000)))
		m.Seen = noon.Add(time.Duration(i) * time.Second / 4)
		x.Place(m)
		if x.Len() > 3000 || x.titleItems.len > 3000 || x.storedBodies.len > 3000 || x.titles.len() > 3000 || len(x.texts) > 5 {
			t.Fatalf("after %d items: %d are stored, %d titles, %d bodies, %d buffers", i+1, x.Len(), x.titleItems.len, x.storedBodies.len, len(x.texts))
		}
	}
	if got, want := x.Span(), 3000*time.Second/4; got < want-time.Second || got > want+time.Second { // times are stored in seconds
		t.Errorf("got a span of %v, want %v, the time in which 3000 items come", got, want)
	}
	late := signature(&s, "late", "b", oil, "")
	late.Seen = noon.Add(3 * time.Hour)
	if x.Place(late); x.Len() != 1 {
		t.Errorf("hours later %d items are stored, want the new one", x.Len())
	}
	if got := x.Span(); got != time.Hour {
		t.Errorf("hours later the span is %v, want the whole window", got)
	}
	if x.titleItems.len != 1 || x.storedBodies.len != 0 || x.titles.len() != 1 || x.bodies.len() != 0 {
		t.Errorf("hours later %d titles and %d bodies are stored, want one title", x.titleItems.len, x.storedBodies.len)
	}
}

func TestIndex_EqualItemsAreIndexedOnce(t *testing.T) {
	s := Default()
	x, items := NewIndex(s), 10_000
	if testing.Short() {
		items = 1_000
	}
	for i := range items {
		m := signature(&s, fmt.Sprint(i), "broken", oil, news(1))
		if i%2 == 1 { // a counter in the text makes other hashes
			m.TextHash = fmt.Sprint(i)
		}
		if got := x.Place(m); i > 0 && got.DuplicateOf != "0" {
			t.Fatalf("item %d: got %+v, want a duplicate of the first", i, got)
		}
	}
	if x.titleItems.len != 1 || x.storedBodies.len != 1 {
		t.Errorf("%d titles and %d bodies are indexed, want one of each", x.titleItems.len, x.storedBodies.len)
	}
}

func TestIndex_ShortTitlesDoNotFillOneBand(t *testing.T) {
	s := Default()
	x := NewIndex(s)
	for i := range 10_000 {
		if got := x.Place(signature(&s, fmt.Sprint(i), "broken", "Untitled", "")); got != (Match{}) {
			t.Fatalf("item %d: got %+v, want an original", i, got)
		}
	}
	var r lookup
	x.titles.find(&r, s.Sketch("Untitled", "").Bands, 10_000)
	if most := slices.Max(r.counts); most > s.MaxPostings+1 {
		t.Errorf("%d items are compared in one band, want at most %d", most, s.MaxPostings+1)
	}
}

func TestIndex_RestoreGivesEqualAnswers(t *testing.T) {
	s := Default()
	random := rand.New(rand.NewPCG(9, 9))
	var signatures []Signature
	for i := range 2000 {
		seed := uint64(random.IntN(600))
		title := strings.Join(prose(rand.New(rand.NewPCG(seed, 2)), 8), " ")
		if random.IntN(2) == 0 {
			title += " - Reuters"
		}
		m := signature(&s, fmt.Sprint(i), fmt.Sprint(random.IntN(9)), title, news(seed))
		m.URLKey = fmt.Sprint(random.IntN(4000))
		signatures = append(signatures, m)
	}
	whole, half := NewIndex(s), NewIndex(s)
	for i, m := range signatures {
		match := whole.Place(m)
		if i < 1000 {
			half.Restore(m, match)
			half.Restore(m, match)
		}
	}
	restored := NewIndex(s)
	for i, m := range signatures {
		want := whole.Place(m)
		if got := half.Place(m); got != want {
			t.Fatalf("item %d: got %+v, want %+v as before", i, got, want)
		}
		if got := restored.Place(m); got != want {
			t.Fatalf("item %d: an equal sequence got %+v, then %+v", i, want, got)
		}
	}
}

func TestIndex_RestoreIndexesEqualItemsOnce(t *testing.T) {
	s := Default()
	x, restored := NewIndex(s), NewIndex(s)
	for i := range 2000 {
		m := signature(&s, fmt.Sprint(i), "broken", oil, news(1))
		if i%2 == 1 { // a counter in the text makes other hashes
			m.TextHash = fmt.Sprint(i)
		}
		restored.Restore(m, x.Place(m))
	}
	if restored.titleItems.len != x.titleItems.len || restored.storedBodies.len != x.storedBodies.len {
		t.Errorf("%d titles and %d bodies are indexed, want %d and %d as before", restored.titleItems.len, restored.storedBodies.len, x.titleItems.len, x.storedBodies.len)
	}
}

func TestSketch_ReadsTheFirstMaxTextBytes(t *testing.T) {
	s := Default()
	long := strings.Repeat(news(1)+" ", 100)
	if a, b := s.Sketch(oil, long), s.Sketch(oil, long[:MaxText]); !reflect.DeepEqual(a, b) {
		t.Error("two texts that have an equal beginning but different sketches")
	}
}

func TestIndex_DailyCopyKeepsItsOriginal(t *testing.T) {
	s := Default()
	x := NewIndex(s)
	for day := range 30 {
		m := signature(&s, fmt.Sprint(day), "a", oil, "")
		m.Seen = noon.Add(time.Duration(day) * 24 * time.Hour)
		if got := x.Place(m); day > 0 && got.DuplicateOf != "0" {
			t.Fatalf("day %d: got %+v, want a duplicate of the first day's", day, got)
		}
	}
}
