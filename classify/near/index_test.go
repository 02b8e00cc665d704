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

// told is a Mark of an item with words, seen at noon.
func told(s *Settings, item, feed, title, body string) Mark {
	return Mark{ItemID: item, FeedID: feed, TextHash: TextHash(title, body), Seen: noon, Sketch: s.Sketch(title, body)}
}

// news is a body of 80 words, another one for each seed.
func news(seed uint64) string {
	return strings.Join(prose(rand.New(rand.NewPCG(seed, 1)), 80), " ")
}

const oil = "Oil prices fall as stocks in Asia rise for a third day"

func TestIndexPlaces(t *testing.T) {
	s := Default()
	type step struct {
		mark Mark
		of   string
		by   string
		why  string // begins like this
	}
	for _, test := range []struct {
		name  string
		steps []step
	}{
		{"nothing in common", []step{
			{told(&s, "1", "a", oil, news(1)), "", "", ""},
			{told(&s, "2", "b", "Court clears the way for a merger of banks", news(2)), "", "", ""},
		}},
		{"a publisher's tail", []step{
			{told(&s, "1", "a", oil, ""), "", "", ""},
			{told(&s, "2", "b", oil+" - Reuters", ""), "1", "title", "same title but for the publisher's tail"},
			{told(&s, "3", "c", "UPDATE 1-"+strings.Replace(oil, "prices", "price", 1), ""), "1", "title", "similar titles; 87 % of 4-grams"},
		}},
		{"one word replaced, in another feed", []step{
			{told(&s, "1", "a", oil, ""), "", "", ""},
			{told(&s, "2", "b", strings.Replace(oil, "third", "second", 1), ""), "1", "title", "similar titles; "},
		}},
		{"other numbers", []step{
			{told(&s, "1", "a", "Quake of magnitude 7.1 hits the coast of Chile", news(1)), "", "", ""},
			{told(&s, "2", "b", "Quake of magnitude 7.3 hits the coast of Chile", news(1)), "", "", ""},
		}},
		{"another title, the same text but for its end", []step{
			{told(&s, "1", "a", oil, news(1)), "", "", ""},
			{told(&s, "2", "b", "What the markets did today", news(1)+" and that was all"), "1", "body", "almost the same text"},
		}},
		{"a teaser under another title, before and after the whole", []step{
			{told(&s, "1", "a", "Markets today", strings.Join(strings.Fields(news(1))[:45], " ")+" read more"), "", "", ""},
			{told(&s, "2", "b", oil, news(1)), "1", "body", "one text is part of the other; about"},
			{told(&s, "3", "c", "What happened", strings.Join(strings.Fields(news(1))[:50], " ")), "1", "body", ""},
		}},
		{"one feed, one title, other texts", []step{
			{told(&s, "1", "a", "What we read this week in the papers", news(1)), "", "", ""},
			{told(&s, "2", "a", "What we read this week in the papers", news(2)), "", "", ""},
			{told(&s, "3", "b", "What we read this week in the papers", news(2)), "2", "text", "the same words"},
		}},
		{"two words say too little", []step{
			{told(&s, "1", "a", "Open thread", news(1)), "", "", ""},
			{told(&s, "2", "b", "Open thread", news(2)), "", "", ""},
			{told(&s, "3", "c", "Open thread", ""), "", "", ""},
		}},
		{"the address", []step{
			{mark("1", "a", "u", ""), "", "", ""},
			{mark("2", "a", "v", ""), "", "", ""},
			{mark("3", "b", "u", ""), "1", "url", "the same address"},
		}},
		{"no words at all", []step{
			{told(&s, "1", "a", "", ""), "", "", ""},
			{told(&s, "2", "b", "", ""), "", "", ""},
			{told(&s, "3", "b", "!!!", ""), "", "", ""},
		}},
	} {
		x := NewIndex(s)
		for _, step := range test.steps {
			got := x.Place(step.mark)
			if got.Of != step.of || got.By != step.by || !strings.HasPrefix(got.Why, step.why) || (got.Of == "") != (got.Why == "") {
				t.Errorf("%s: item %s is placed %+v, want %q by %q: %q", test.name, step.mark.ItemID, got, step.of, step.by, step.why)
			}
			if again := x.Place(step.mark); again != got {
				t.Errorf("%s: item %s is placed %+v, then %+v", test.name, step.mark.ItemID, got, again)
			}
		}
	}
}

// TestIndexAgreesWithExact gives both marks without words.
func TestIndexAgreesWithExact(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	s := Default()
	s.Window, s.Max = time.Hour, 50
	e, x := NewExact(s.Window, s.Max), NewIndex(s)
	for i := range 20_000 {
		m := mark(fmt.Sprint(random.IntN(3000)), fmt.Sprint(random.IntN(5)), fmt.Sprint(random.IntN(200)), fmt.Sprint(random.IntN(200)))
		m.Seen = noon.Add(time.Duration(i) * 30 * time.Second)
		want, got := e.Place(m), x.Place(m)
		if got.Of != want.Of || got.By != want.By {
			t.Fatalf("step %d: got %+v, want %+v", i, got, want)
		}
		if x.Len() != e.Len() {
			t.Fatalf("step %d: %d items, want %d", i, x.Len(), e.Len())
		}
	}
}

func TestIndexForgetsWhatIsOldOrTooMuch(t *testing.T) {
	s := Default()
	s.Window, s.Max = time.Hour, 3000
	x := NewIndex(s)
	for i := range 12_000 {
		m := told(&s, fmt.Sprint(i), fmt.Sprint(i%7), fmt.Sprintf("Title %d of %d things", i, i*i), news(uint64(i%5000)))
		m.Seen = noon.Add(time.Duration(i) * time.Second / 4)
		x.Place(m)
		if x.Len() > 3000 || x.titled.len > 3000 || x.bodied.len > 3000 || x.titles.live() > 3000*16 || len(x.texts) > 5 {
			t.Fatalf("after %d items: %d are remembered, %d titles, %d bodies, %d buffers", i+1, x.Len(), x.titled.len, x.bodied.len, len(x.texts))
		}
	}
	late := told(&s, "late", "b", oil, "")
	late.Seen = noon.Add(3 * time.Hour)
	if x.Place(late); x.Len() != 1 {
		t.Errorf("hours later %d items are remembered, want the new one", x.Len())
	}
	if x.titled.len != 1 || x.bodied.len != 0 || x.titles.live() != 16 || x.bodies.live() != 0 {
		t.Errorf("hours later %d titles and %d bodies are remembered, want one title", x.titled.len, x.bodied.len)
	}
}

func TestManyEqualItemsArePostedOnce(t *testing.T) {
	s := Default()
	x := NewIndex(s)
	for i := range 10_000 {
		m := told(&s, fmt.Sprint(i), "broken", oil, news(1))
		if i%2 == 1 { // a counter in the text makes other hashes
			m.TextHash = fmt.Sprint(i)
		}
		if got := x.Place(m); i > 0 && got.Of != "0" {
			t.Fatalf("item %d: got %+v, want a duplicate of the first", i, got)
		}
	}
	if x.titled.len != 1 || x.bodied.len != 1 {
		t.Errorf("%d titles and %d bodies are posted, want one of each", x.titled.len, x.bodied.len)
	}
}

func TestManyItemsThatSayTooLittleMakeNoCrowd(t *testing.T) {
	s := Default()
	x := NewIndex(s)
	for i := range 10_000 {
		if got := x.Place(told(&s, fmt.Sprint(i), "broken", "Untitled", "")); got != (Placed{}) {
			t.Fatalf("item %d: got %+v, want a first one", i, got)
		}
	}
	var r search
	x.titles.find(&r, s.Sketch("Untitled", "").Bands, 10_000)
	if most := slices.Max(r.counts); most > s.Crowd+1 {
		t.Errorf("%d items are looked at in one band, want at most %d", most, s.Crowd+1)
	}
}

func TestAnIndexIsRebuiltFromItsAnswers(t *testing.T) {
	s := Default()
	random := rand.New(rand.NewPCG(9, 9))
	var marks []Mark
	for i := range 2000 {
		seed := uint64(random.IntN(600))
		title := strings.Join(prose(rand.New(rand.NewPCG(seed, 2)), 8), " ")
		if random.IntN(2) == 0 {
			title += " - Reuters"
		}
		m := told(&s, fmt.Sprint(i), fmt.Sprint(random.IntN(9)), title, news(seed))
		m.URLKey = fmt.Sprint(random.IntN(4000))
		marks = append(marks, m)
	}
	whole, half := NewIndex(s), NewIndex(s)
	for i, m := range marks {
		as := whole.Place(m)
		if i < 1000 {
			half.Remember(m, as)
			half.Remember(m, as)
		}
	}
	again := NewIndex(s)
	for i, m := range marks {
		want := whole.Place(m)
		if got := half.Place(m); got != want {
			t.Fatalf("item %d: got %+v, want %+v as before", i, got, want)
		}
		if got := again.Place(m); got != want {
			t.Fatalf("item %d: an equal sequence got %+v, then %+v", i, want, got)
		}
	}
}

func TestARebuildPostsManyEqualItemsOnce(t *testing.T) {
	s := Default()
	x, again := NewIndex(s), NewIndex(s)
	for i := range 2000 {
		m := told(&s, fmt.Sprint(i), "broken", oil, news(1))
		if i%2 == 1 { // a counter in the text makes other hashes
			m.TextHash = fmt.Sprint(i)
		}
		again.Remember(m, x.Place(m))
	}
	if again.titled.len != x.titled.len || again.bodied.len != x.bodied.len {
		t.Errorf("%d titles and %d bodies are posted, want %d and %d as before", again.titled.len, again.bodied.len, x.titled.len, x.bodied.len)
	}
}

func TestASketchIsOfTheBeginning(t *testing.T) {
	s := Default()
	long := strings.Repeat(news(1)+" ", 100)
	if a, b := s.Sketch(oil, long), s.Sketch(oil, long[:MaxText]); !reflect.DeepEqual(a, b) {
		t.Error("two texts that begin with the same have other sketches")
	}
}

func TestAnEndlessCopyKeepsItsKind(t *testing.T) {
	s := Default()
	x := NewIndex(s)
	for day := range 30 {
		m := told(&s, fmt.Sprint(day), "a", oil, "")
		m.Seen = noon.Add(time.Duration(day) * 24 * time.Hour)
		if got := x.Place(m); day > 0 && got.Of != "0" {
			t.Fatalf("day %d: got %+v, want a duplicate of the first day's", day, got)
		}
	}
}
