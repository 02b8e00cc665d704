package classify

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/classify/rule"
	"feedmesh/classify/stem"
)

func TestEvaluate_RespectsScopes(t *testing.T) {
	r := compile(t, `
score +1 when go
for feed-tag:"Jobs"
score +10 when go
fact job when go
for feed:f1
score +20 when go
for all
score +50 when fact:job`)
	for _, test := range []struct {
		doc  Document
		want float64
	}{
		{Document{Title: "go"}, 1},
		{Document{Title: "go", FeedTags: []string{"x", "jobs", "JOBS"}}, 61},
		{Document{Title: "go", FeedID: "f1"}, 21},
		{Document{Title: "go", FeedID: "f1", FeedTags: []string{"Jobs"}}, 81},
		{Document{Title: "go", FeedID: "F1"}, 1},
	} {
		for range 2 {
			if got := r.Evaluate(test.doc).Score; got != test.want {
				t.Errorf("%+v: got %v, want %v", test.doc, got, test.want)
			}
		}
	}
}

func TestEvaluate_QueryScopes(t *testing.T) {
	r := compile(t, `
for query:"host:example.org lang:ru -title:jobs"
score +1 when go
fact ours when go
for query:'"zero day" OR author:torvalds'
score +10 when go
for query:"feed:f1 after:2026-03-01 tagset*"
score +20 when go
for all
score +50 when fact:ours`)
	day := func(n int) time.Time { return time.Date(2026, 3, n, 0, 0, 0, 0, time.UTC) }
	for _, test := range []struct {
		doc  Document
		want float64
	}{
		{Document{Title: "go"}, 0},
		{Document{Title: "go", URL: "https://news.Example.org/a", Language: "RU"}, 51},
		{Document{Title: "go: jobs", URL: "https://news.example.org/a", Language: "ru"}, 0},
		{Document{Title: "go", URL: "https://example.org/a", Language: "ru", Text: "a zero day for jobs"}, 61},
		{Document{Title: "go", Text: "zero one day"}, 0},
		{Document{Title: "go", Author: "Linus Torvalds"}, 10},
		{Document{Title: "go", FeedID: "f1", Tags: []string{"tagging", "tags"}, Published: day(1)}, 0},
		{Document{Title: "go", FeedID: "f1", Tags: []string{"a", "tagsets"}, Published: day(1)}, 20},
		{Document{Title: "go", FeedID: "f1", Tags: []string{"tagsets"}, Published: day(1).Add(-1)}, 0},
		{Document{Title: "go", FeedID: "f1", Tags: []string{"tagsets"}}, 0},
		{Document{Title: "go", FeedID: "f1", Tags: append(slices.Repeat([]string{"a"}, maxTags), "tagsets"), Published: day(1)}, 0},
		{Document{Title: "go", FeedID: "f2", Tags: []string{"tagsets"}, Published: day(1)}, 0},
	} {
		for range 2 {
			if got := r.Evaluate(test.doc).Score; got != test.want {
				t.Errorf("%+v: got %v, want %v", test.doc, got, test.want)
			}
		}
	}
}

func TestCompile_RejectsMoreThan64Queries(t *testing.T) {
	var b strings.Builder
	for i := range 64 {
		fmt.Fprintf(&b, "for query:q%d\nstar when x\nmute when y\n", i)
	}
	for text, want := range map[string]string{
		"for query:\"(q0)\"\nmute when z\n":         "",
		"for feed:f\nmute when z\n":                 "",
		"for query:q64\nmute when z\nstar when z\n": "a.rules:194:1: a set has at most 64 query scopes",
	} {
		set, err := rule.ParseFiles([]rule.File{{Name: "a.rules", Text: b.String() + text}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = Compile(set); (err == nil) != (want == "") || err != nil && (!strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

// BenchmarkFireWithQueries evaluates the shipped rules and some with query scopes, none of which matches the
// document, although each must be evaluated to its end.
func BenchmarkFireWithQueries(b *testing.B) {
	d := Document{
		Title: "PostgreSQL 17: faster vacuum, incremental backups", URL: "https://www.example.org/news/postgresql-17", Language: "en",
		Text: strings.Repeat("The release improves memory management of vacuum; replication and JSON in SQL got faster. ", 20),
	}
	d.Stems = stem.Words(d.Text, d.Language)
	for _, ask := range []struct {
		name, query string
		n           int
	}{{"none", "", 0}, {"20 hosts", "lang:en host:h%d.example", 20}, {"20 words", "release missing%d", 20}, {"64 words", "release missing%d", 64}} {
		b.Run(ask.name, func(b *testing.B) {
			var text strings.Builder
			for i := range ask.n {
				fmt.Fprintf(&text, "for query:%q\nstar when release\n", fmt.Sprintf(ask.query, i))
			}
			set, err := rule.ParseFiles(append(slices.Clone(shippedFiles()), rule.File{Name: "own.rules", Text: text.String()}))
			if err != nil {
				b.Fatal(err)
			}
			r, err := Compile(set)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				r.Evaluate(d)
			}
		})
	}
}
