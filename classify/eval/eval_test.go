package eval

import (
	"bytes"
	"compress/gzip"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

func counted(cases ...Case) Table {
	var c Counter
	for _, k := range cases {
		c.Add(k)
	}
	return c.Table()
}

func TestSharesAreOfWhatTheyShouldBeOf(t *testing.T) {
	got := counted(
		Case{Gold: []string{"a", "b"}, Said: []string{"b", "c"}, First: "b", Took: 2},
		Case{Gold: []string{"a"}, Said: []string{"c"}, First: "c", Took: 4},
		Case{Gold: []string{"a"}, First: "a"},
		Case{Gold: []string{"c"}, First: ""},
		Case{Said: []string{"a"}, First: "a", Took: time.Hour}, // nobody knows what it is about
	)
	if got.Items != 4 || got.Coverage != 0.5 || got.Precision != 0.5 || got.Top1 != 0.5 || got.Answered != 0.25 || got.Each != 1 {
		t.Errorf("got %+v", got)
	}
	if want := (Score{1.0 / 3, 1.0 / 5, 2.0 / 8}); got.Micro != want {
		t.Errorf("got micro %+v, want %+v", got.Micro, want)
	}
	want := []Category{
		{Name: "a", Gold: 3}, {"b", 1, 1, 1, Score{1, 1, 1}}, {Name: "c", Gold: 1, Said: 2},
	}
	if !reflect.DeepEqual(got.Categories, want) {
		t.Errorf("got %+v, want %+v", got.Categories, want)
	}
	if math.Abs(got.Macro.F1-1.0/3) > 1e-9 {
		t.Errorf("got macro %+v", got.Macro)
	}
	if want := []Pair{{"a", "c", 1}}; !reflect.DeepEqual(got.Confused, want) {
		t.Errorf("got %+v, want %+v", got.Confused, want)
	}
}

func TestNoCasesAreNoFigures(t *testing.T) {
	if got := counted(); got.Items != 0 || got.Top1 != 0 || got.Micro != (Score{}) {
		t.Errorf("got %+v", got)
	}
}

func TestConfusedPairsComeCommonestFirst(t *testing.T) {
	wrong := func(gold, said string) Case { return Case{Gold: []string{gold}, Said: []string{said}} }
	got := counted(wrong("a", "b"), wrong("c", "d"), wrong("c", "d"), wrong("a", "a")).Confused
	if want := []Pair{{"c", "d", 2}, {"a", "b", 1}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestSpamFigures(t *testing.T) {
	var s Spam
	for i := range 10 {
		s.Add(i < 4, i < 3 || i == 9)
	}
	if want := (Score{0.75, 0.75, 0.75}); s.Score() != want || s.FalsePositives() != 1.0/6 {
		t.Errorf("got %+v and %v", s.Score(), s.FalsePositives())
	}
}

func TestNamedLabels(t *testing.T) {
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
		var n Named
		n.Add(c.title, []string{c.label}, []string{c.why})
		if n.Items != c.items || n.Found != c.found {
			t.Errorf("%s, %s: got %+v, want %d and %d", c.title, c.label, n, c.items, c.found)
		}
	}
}

func TestPartsAreAWhole(t *testing.T) {
	train := 0
	for _, id := range strings.Fields("lo-R3jTIa lo-bkeYe9 lo-I2dMZB so-00000 so-00003 so-00006 habr-848650 habr-849868") {
		if Train.Has(id) == Test.Has(id) || !All.Has(id) {
			t.Errorf("%s is in both parts, or in none", id)
		}
		if Train.Has(id) {
			train++
		}
	}
	if train != 6 {
		t.Errorf("got %d of 8 in the train part: the rule that splits has changed", train)
	}
}

const lines = `{"id":"1","title":"Helm 4","body":"b","lang":"en","url":"https://helm.sh/","author":"A","feed":"F","tags":["x"],"category":"devops","label":"ham"}

{"id":"2","host":"example.com","category":["a","","b"],"label":"spam"}
{"id":"3","category":""}
`

func TestRecordsAreRead(t *testing.T) {
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

func TestFaultsOfRecordsNameTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"{\"id\":\"1\"}\n{":                     "line 2: unexpected end",
		`{"category":7}`:                        "line 1: it is neither a name nor a list of names",
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

func TestReportsPrintNoControlCharacters(t *testing.T) {
	r := Report{Table: counted(Case{Gold: []string{"a\x1b[31m"}, Said: []string{"b\u202e"}, First: "b"})}
	r.Spam.Add(true, true)
	r.Named.Items = 1
	var out strings.Builder
	r.Print(&out, "rules alone")
	for _, want := range []string{"rules alone: 1 items", "coverage 100.0 %", "top-1 accuracy", "most often confused: b\ufffd for a\ufffd[31m 1", "spam: 1 of 1", "of 1\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	if strings.ContainsAny(out.String(), "\x1b\u202e") {
		t.Errorf("a control character is in %q", out.String())
	}
}
