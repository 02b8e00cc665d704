package measure

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/classify/story"
)

func TestCompare(t *testing.T) {
	all := strings.Fields
	for _, test := range []struct {
		name              string
		stories, clusters []string
		want              Figures
	}{
		{"equal clusters", all("a a b b"), all("1 1 2 2"), Figures{
			Items: 4, Stories: 2, Clusters: 2, BCubed: Score{1, 1, 1}, Pairs: Score{1, 1, 1}, ARI: 1, Messages: Score{1, 1, 1}, First: Score{1, 1, 1},
		}},
		{"one cluster", all("a a b b"), all("1 1 1 1"), Figures{
			Items: 4, Stories: 2, Clusters: 1, BCubed: Score{0.5, 1, 2. / 3}, Pairs: Score{1. / 3, 1, 0.5}, ARI: 0,
			Messages: Score{0.5, 0.5, 0.5}, Missed: 2, Foreign: 2, First: Score{1, 0.5, 2. / 3},
		}},
		{"single items", all("a a b b"), all("1 2 3 4"), Figures{
			Items: 4, Stories: 2, Clusters: 4, BCubed: Score{1, 0.5, 2. / 3}, Messages: Score{1, 0.5, 2. / 3}, Missed: 2,
			First: Score{0.5, 1, 2. / 3},
		}},
		// One item of b is in the event with three of a; the fourth of a is with the rest of b.
		{"two unrelated items", all("a a a b a b b"), all("1 1 1 1 2 2 2"), Figures{
			Items: 7, Stories: 2, Clusters: 2,
			BCubed: Score{(9./4 + 1./4 + 1./3 + 4./3) / 7, (9./4 + 1./4 + 1./3 + 4./3) / 7, (9./4 + 1./4 + 1./3 + 4./3) / 7},
			Pairs:  Score{4. / 9, 4. / 9, 4. / 9}, ARI: (4 - 81./21) / (9 - 81./21),
			Messages: Score{5. / 7, 5. / 7, 5. / 7}, Missed: 2, Foreign: 2, First: Score{0.5, 0.5, 0.5},
		}},
		{"nothing", nil, nil, Figures{}},
	} {
		got := Compare(test.stories, test.clusters)
		if !nearlyEqual(reflect.ValueOf(got), reflect.ValueOf(test.want)) {
			t.Errorf("%s: got %+v, want %+v", test.name, got, test.want)
		}
	}
}

// nearlyEqual reports whether figures are equal but for rounding.
func nearlyEqual(a, b reflect.Value) bool {
	if a.Kind() == reflect.Float64 {
		return math.Abs(a.Float()-b.Float()) < 1e-9
	}
	if a.Kind() != reflect.Struct {
		return a.Int() == b.Int()
	}
	for i := range a.NumField() {
		if !nearlyEqual(a.Field(i), b.Field(i)) {
			return false
		}
	}
	return true
}

// record returns an item with a title only.
func record(title string) Record {
	return Record{Item: story.Item{Title: title, Language: "en", Seen: undated}}
}

func TestVectors_FormulaOfSource3(t *testing.T) {
	var c counter
	c.vector(record("copper falls"))
	c.vector(record("gold falls"))
	got := c.vector(record("silver silver gold"))
	// Of three items one has silver and two have gold; silver occurs most often.
	want := map[int]float64{c.ids["silver"]: 1 * math.Log(3), c.ids["gold"]: 0.75 * math.Log(1.5)}
	if len(got) != 2 {
		t.Fatalf("got %v, want two terms", got)
	}
	for _, w := range got {
		if math.Abs(w.weight-want[w.term]) > 1e-12 {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

func TestRun_MethodsSeparateClearStories(t *testing.T) {
	var items []Record
	for i, title := range []string{
		"weather stays mild", "earthquake strikes aceh coast", "rocket explodes texas pad",
		"earthquake strikes aceh coast again", "rocket explodes texas pad damaged", "aceh earthquake strikes coast",
	} {
		r := record(title)
		r.ID, r.Story, r.Host = title, strings.Fields("w q r q r q")[i], title
		items = append(items, r)
	}
	spread(items)
	for _, method := range Methods() {
		for i, r := range Run(method, story.Default(), items) {
			if i == 1 && method == "single-pass" {
				break // its first message has no idf; in ours it is the idf of a story
			}
			if r.Clusters != 3 || r.BCubed.F1 < 1 {
				t.Errorf("%s, %s: got %d clusters, B-cubed F1 %v; want 3 and 1", method, r.Order, r.Clusters, r.BCubed.F1)
			}
		}
	}
}

func TestRun_ComponentsChain(t *testing.T) {
	items := []Record{record("a1 a2 a3 b1"), record("a2 a3 b1 b2"), record("a3 b1 b2 b3"), record("b1 b2 b3 b4"), record("x y z w"), record("p q r s")}
	if got := components(items); got[0] != got[3] || got[0] == got[4] {
		t.Errorf("got %v, want the first four in one component: each is close to the next", got)
	}
}

func TestReadSplitsByStory(t *testing.T) {
	file := `{"id": "1", "title": "A", "story": "s1", "published": "2026-01-03"}
{"id": "2", "title": "B", "story": "s1", "published": "2026-01-02 10:00:00"}

{"id": "3", "title": "C", "story": "s2", "host": "H.Example"}
{"id": "4", "title": "no story"}
{"id": "p", "label": "OK", "lang": "ru", "a": {"title": "A"}, "b": {"title": "B"}}
`
	read := func(half Half) Set {
		set, err := Read(strings.NewReader(file), half, nil)
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	all, train, test := read(All), read(Train), read(Test)
	var ids []string
	for _, r := range all.Records {
		ids = append(ids, r.ID)
	}
	if !slices.Equal(ids, []string{"3", "2", "1"}) || len(all.Pairs) != 1 || !all.Pairs[0].Same || all.Pairs[0].A.Language != "ru" {
		t.Errorf("got records %q and pairs %+v, want them by day, and a pair", ids, all.Pairs)
	}
	if at := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC); !all.Records[1].Seen.Equal(at) || all.Records[0].Host != "h.example" {
		t.Errorf("got %+v, want the day as its time", all.Records)
	}
	if n := len(train.Records) + len(test.Records); n != 3 || len(train.Pairs)+len(test.Pairs) != 1 {
		t.Errorf("got %d records in both halves, want each once", n)
	}
	if len(train.Records) == 2 && train.Records[0].Story != train.Records[1].Story {
		t.Error("got a story in both halves")
	}
}

func TestRead_ErrorContainsTheLine(t *testing.T) {
	if _, err := Read(strings.NewReader("{}\n{\n"), All, nil); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("got %v, want it to name line 2", err)
	}
}
