package eval

import (
	"bytes"
	"compress/gzip"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/classify"
	"feedmesh/classify/model"
)

func counted(cases ...Case) Metrics {
	var c Counter
	for _, k := range cases {
		c.Add(k)
	}
	return c.Metrics()
}

func TestCounter_Shares(t *testing.T) {
	got := counted(
		Case{Gold: []string{"a", "b"}, Predicted: []string{"b", "c"}, MostLikely: "b", Duration: 2},
		Case{Gold: []string{"a"}, Predicted: []string{"c"}, MostLikely: "c", Duration: 4},
		Case{Gold: []string{"a"}, MostLikely: "a"},
		Case{Gold: []string{"c"}, MostLikely: ""},
		Case{Predicted: []string{"a"}, MostLikely: "a", Duration: time.Hour}, // without a label
	)
	if got.Items != 4 || got.Coverage != 0.5 || got.Precision != 0.5 || got.Top1 != 0.5 || got.Accuracy != 0.25 || got.PerItem != 1 {
		t.Errorf("got %+v", got)
	}
	if want := (Score{1.0 / 3, 1.0 / 5, 2.0 / 8}); got.Micro != want {
		t.Errorf("got micro %+v, want %+v", got.Micro, want)
	}
	want := []Category{
		{Name: "a", Gold: 3, Labelled: 2}, {"b", 1, 1, 1, 1, Score{1, 1, 1}}, {Name: "c", Gold: 1, Predicted: 2},
	}
	if !reflect.DeepEqual(got.Categories, want) {
		t.Errorf("got %+v, want %+v", got.Categories, want)
	}
	if math.Abs(got.Macro.F1-1.0/3) > 1e-9 {
		t.Errorf("got macro %+v", got.Macro)
	}
	if want := []Confusion{{"a", "c", 1}}; !reflect.DeepEqual(got.Confusions, want) {
		t.Errorf("got %+v, want %+v", got.Confusions, want)
	}
}

func TestCounter_NoCases(t *testing.T) {
	if got := counted(); got.Items != 0 || got.Top1 != 0 || got.Micro != (Score{}) {
		t.Errorf("got %+v", got)
	}
}

func TestCounter_ConfusionsMostFrequentFirst(t *testing.T) {
	wrong := func(gold, predicted string) Case { return Case{Gold: []string{gold}, Predicted: []string{predicted}} }
	got := counted(wrong("a", "b"), wrong("c", "d"), wrong("c", "d"), wrong("a", "a")).Confusions
	if want := []Confusion{{"c", "d", 2}, {"a", "b", 1}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestSpamMetrics_Add(t *testing.T) {
	var s SpamMetrics
	for i := range 10 {
		s.Add(i < 4, i < 3 || i == 9)
	}
	if want := (Score{0.75, 0.75, 0.75}); s.Score() != want || s.FalsePositiveRate() != 1.0/6 {
		t.Errorf("got %+v and %v", s.Score(), s.FalsePositiveRate())
	}
}

func TestTitleTopics_Add(t *testing.T) {
	for _, c := range []struct {
		title, label, why string
		items, found      int
	}{
		{"Visual Studio add-ins", "visual-studio", `topic visual-studio: "visual studio" in title (a.rules:1)`, 1, 1},
		{"Visual studios", "visual-studio", "", 0, 0},
		{"On C++ and C", "c++", `topic cpp: "c++" in title (a.rules:1)`, 1, 1},
		{"How to use LINQ", "linq", `category databases: "linq" in title (a.rules:1)`, 1, 0},
		{"A note", "", "", 0, 0},
	} {
		var n TitleTopics
		n.Add(c.title, []string{c.label}, []string{c.why})
		if n.Items != c.items || n.Found != c.found {
			t.Errorf("%s, %s: got %+v, want %d and %d", c.title, c.label, n, c.items, c.found)
		}
	}
}

func TestPart_PartsAreComplete(t *testing.T) {
	train := 0
	for _, id := range strings.Fields("lo-R3jTIa lo-bkeYe9 lo-I2dMZB so-00000 so-00003 so-00006 habr-848650 habr-849868") {
		if Train.Contains(id) == Test.Contains(id) || !All.Contains(id) {
			t.Errorf("%s is in both parts, or in none", id)
		}
		if Train.Contains(id) {
			train++
		}
	}
	if train != 6 {
		t.Errorf("got %d of 8 in the train part: the split has changed", train)
	}
}

func TestExample_GeneralMixedAndUnlabelledRecords(t *testing.T) {
	const title = "PostgreSQL vacuum explained"
	for _, c := range []struct {
		title      string
		categories []string
		want       []string
		labels     bool // from rules, as features
	}{
		{title, []string{"devops", "other"}, []string{"devops"}, true},
		{title, []string{"society", "sports"}, []string{model.General}, true},
		{title, []string{"society", "science"}, []string{"society", "science"}, true},
		{title, []string{"technology"}, []string{"databases"}, false},
		{title, nil, []string{"databases"}, false},
		{"A note", nil, nil, false},
	} {
		got := example(classify.ShippedRules(), Record{ID: "1", Title: c.title, Language: "en", Categories: c.categories})
		if !slices.Equal(got.Categories, c.want) || len(got.Document.Labels) > 0 != c.labels {
			t.Errorf("%s %v: got %+v, want %v", c.title, c.categories, got, c.want)
		}
	}
}

const lines = `{"id":"1","title":"Helm 4","body":"b","lang":"en","url":"https://helm.sh/","author":"A","feed":"F","tags":["x"],"category":"devops","label":"ham"}

{"id":"2","host":"example.com","category":["a","","b"],"label":"spam"}
{"id":"3","category":""}
`

func TestRecords_Reads(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(lines))
	z.Close()
	no, yes := false, true
	want := []Record{
		{ID: "1", Title: "Helm 4", Body: "b", Language: "en", URL: "https://helm.sh/", Author: "A", FeedTitle: "F", Labels: []string{"x"}, Categories: []string{"devops"}, Spam: &no},
		{ID: "2", URL: "https://example.com/", Categories: []string{"a", "b"}, Spam: &yes},
		{ID: "3"},
	}
	for _, text := range []string{lines, packed.String()} {
		var got []Record
		for r, err := range Records(strings.NewReader(text)) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, r)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

func TestRecords_ErrorsHaveLine(t *testing.T) {
	for text, want := range map[string]string{
		"{\"id\":\"1\"}\n{":                     "line 2: unexpected end",
		`{"category":7}`:                        "line 1: want a name or a list of names",
		`{"id":1}`:                              "line 1: json: cannot unmarshal number",
		"\x1f\x8bx":                             "unexpected EOF",
		"\n\n" + strings.Repeat("x", maxLine+1): "line 3: bufio.Scanner: token too long",
	} {
		var got error
		for _, err := range Records(strings.NewReader(text)) {
			got = err
		}
		if got == nil || !strings.Contains(got.Error(), want) {
			t.Errorf("%.20q: got %v, want %s", text, got, want)
		}
	}
}

func FuzzRecords(f *testing.F) {
	f.Add(lines)
	f.Fuzz(func(t *testing.T, text string) {
		for r := range Records(strings.NewReader(text)) {
			r.Document()
		}
	})
}

func TestPrint_RemovesControlCharacters(t *testing.T) {
	r := Report{Metrics: counted(Case{Gold: []string{"a\x1b[31m"}, Predicted: []string{"b\u202e"}, MostLikely: "b"})}
	r.Spam.Add(true, true)
	r.TitleTopics.Items = 1
	r.General.add(true)
	var out strings.Builder
	r.Print(&out, "rules alone")
	for _, want := range []string{"rules alone: 1 items", "coverage 100.0 %", "top-1 accuracy", "most often confused: b\ufffd for a\ufffd[31m 1", "spam: 1 of 1", "general news: 100.0 % of 1 items", "of 1\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	if strings.ContainsAny(out.String(), "\x1b\u202e") {
		t.Errorf("a control character is in %q", out.String())
	}
}
