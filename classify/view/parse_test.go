package view_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"feedmesh/classify/expression"
	"feedmesh/classify/view"
)

const hour = view.Duration(time.Hour)

// texts are views with their canonical text; empty: the same.
var texts = []struct {
	text, canonical string
	want            view.View
}{
	{
		`view security-ru = from tag:Хабр, view:it-news where category:security lang:ru once story window 24h`,
		`view security-ru = from tag:Хабр, view:it-news where category:security lang:ru once story window 1d`,
		view.View{
			Name: "security-ru", From: []view.Source{{Kind: view.Tag, Value: "Хабр"}, {Kind: view.Other, Value: "it-news"}},
			Where: "category:security lang:ru", Once: view.PerStory, Window: 24 * hour,
		},
	},
	{`view a = from all`, "", view.View{Name: "a"}},
	{
		`view a "A title" for everyone = from tag:"two words", feed:f1, host:example.org join view:b within 3d where "once upon" -once (sort OR limit) ` +
			`once duplicate unique 60% window 2w sort best limit 50 prefix "[A] " labels later, "to read"`, "",
		view.View{
			Name: "a", Title: "A title", Readers: view.Everyone,
			From:  []view.Source{{Kind: view.Tag, Value: "two words"}, {Kind: view.Feed, Value: "f1"}, {Kind: view.Host, Value: "example.org"}},
			Join:  &view.Join{View: "b", Within: 72 * hour},
			Where: `"once upon" -once (sort OR limit)`, Once: view.PerDuplicate, Unique: 60, Window: 14 * 24 * hour, Sort: view.Best, Limit: 50,
			Set: view.Set{Prefix: "[A] ", Labels: []string{"later", "to read"}},
		},
	},
	{"view a=from\n all\tsort newest where  go :( limit 5", "view a = from all where go :( limit 5", view.View{Name: "a", Where: "go :(", Limit: 5}},
	{`view a = from all where (limit OR "x y" )`, "", view.View{Name: "a", Where: `(limit OR "x y" )`}},
}

func TestParse_Views(t *testing.T) {
	t.Parallel()
	for _, c := range texts {
		got, err := view.Parse(c.text)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s\ngot  %+v, %v\nwant %+v", c.text, got, err, c.want)
		}
		want := c.canonical
		if want == "" {
			want = c.text
		}
		if got.String() != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestView_TextAndJSONDescribeTheSameView(t *testing.T) {
	t.Parallel()
	for _, c := range texts {
		again, err := view.Parse(c.want.String())
		if err != nil || !reflect.DeepEqual(again, c.want) {
			t.Errorf("%s: got %+v, %v", c.want, again, err)
		}
		document, err := json.Marshal(c.want)
		if err != nil {
			t.Fatal(err)
		}
		var decoded view.View
		if err := json.Unmarshal(document, &decoded); err != nil || !reflect.DeepEqual(decoded, c.want) {
			t.Errorf("%s: got %+v, %v", document, decoded, err)
		}
	}
	const want = `{"name":"a","from":["tag:\"two words\""],"window":"1d","set":{"prefix":"x"}}`
	v := view.View{Name: "a", From: []view.Source{{Kind: view.Tag, Value: "two words"}}, Window: 24 * hour, Set: view.Set{Prefix: "x"}}
	if got, err := json.Marshal(v); string(got) != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}

func TestParse_ErrorsStateTheRemedy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, want string
		offset     int
	}{
		{"", "a view begins with", 0},
		{"feed a = from all", "a view begins with", 0},
		{"view Ä = from all", "no name of a view", 5},
		{`view a "` + strings.Repeat("x", 201) + `" = from all`, "at most 200 characters", 7},
		{"view a from all", "stands =", 7},
		{"view a for me = from all", "people or everyone", 11},
		{"view a = where go", "the sources are missing", 17},
		{"view a = from all from all", "from once", 18},
		{"view a = from", "no source", 13},
		{"view a = from go", "no source", 14},
		{"view a = from site:x", "no source", 14},
		{"view a = from host:www.example.org", "without www.", 14},
		{"view a = from tag:x,", "no source", 20},
		{"view a = from view:B", "no name of a view", 14},
		{"view a = from all and", `"and" is no clause`, 18},
		{"view a = from all where", "stands a condition", 23},
		{"view a = from all where  lang:english", "two-letter code", 30},
		{"view a = from all where is:unread", "depends on the person", 24},
		{"view a = from all where label:x", "depends on the person", 24},
		{"view a = from all where \"x", "not closed", 24},
		{"view a = from all where x once upon a time", "use quotes", 31},
		{"view a = from all window 1", "hours, days or weeks", 25},
		{"view a = from all window 9999w", "at most 520w", 25},
		{"view a = from all unique 101%", "from 1 to 100", 25},
		{"view a = from all limit 0", "from 1 to", 24},
		{"view a = from all join tag:x", "join takes a view", 23},
		{"view a = from all labels ,", "text in quotes", 25},
		{`view a = from all prefix "x`, "not closed", 25},
		{"view a = from all labels \"" + strings.Repeat("x", 300) + `"`, "is no label", 25},
		{`view a = from all prefix "` + strings.Repeat("x", 201) + `"`, "at most 200 characters", 25},
	} {
		_, err := view.Parse(c.text)
		var syntaxErr *expression.SyntaxError
		if !errors.As(err, &syntaxErr) || !strings.Contains(err.Error(), c.want) || c.offset != 0 && syntaxErr.Offset != c.offset {
			t.Errorf("%s: got %v %+v; want %s at %d", c.text, err, syntaxErr, c.want, c.offset)
		}
	}
}

func TestSource_RejectsOtherText(t *testing.T) {
	t.Parallel()
	for _, document := range []string{`{"from":["x"]}`, `{"from":["tag:a b"]}`, `{"window":"1"}`, `{"window":"1d 2d"}`} {
		if err := json.Unmarshal([]byte(document), new(view.View)); err == nil {
			t.Errorf("%s: want an error", document)
		}
	}
}

func TestOrder_ReadViewsComeFirst(t *testing.T) {
	t.Parallel()
	parse := func(texts ...string) (views []view.View) {
		for _, text := range texts {
			v, err := view.Parse("view " + text)
			if err != nil {
				t.Fatal(err)
			}
			views = append(views, v)
		}
		return views
	}
	sorted, err := view.Order(parse("a = from view:c", "b = from all", "c = from view:d, view:b, view:d", "d = from all join view:b"))
	var names []string
	for _, v := range sorted {
		names = append(names, v.Name)
	}
	if want := "b d c a"; err != nil || strings.Join(names, " ") != want {
		t.Errorf("got %s, %v; want %s", names, err, want)
	}
	_, err = view.Order(parse("a = from view:b", "b = from all join view:c", "c = from view:d", "d = from view:b"))
	if want := "a view cannot read itself: b > c > d > b"; err == nil || err.Error() != want {
		t.Errorf("got %v; want %s", err, want)
	}
	_, err = view.Order(parse("a = from view:b"))
	if want := (&view.MissingError{View: "a", Missing: "b"}); !reflect.DeepEqual(err, want) {
		t.Errorf("got %v; want %v", err, want)
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range texts {
		f.Add(c.text)
	}
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := view.Parse(text)
		if err != nil {
			return
		}
		again, err := view.Parse(v.String())
		if err != nil {
			t.Fatalf("%q printed as %q: %v", text, v.String(), err)
		}
		a, _ := v.Condition(now)
		b, _ := again.Condition(now)
		if v.Where, again.Where = "", ""; !reflect.DeepEqual(a, b) || !reflect.DeepEqual(v, again) {
			t.Fatalf("%q: got %+v %v; want %+v %v", text, again, b, v, a)
		}
	})
}
