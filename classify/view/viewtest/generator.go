// Package viewtest generates views and items for tests of what evaluates views.
package viewtest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"feedmesh/classify/query"
	"feedmesh/classify/view"
)

// A Generator generates views and items with few values, so that views often match. Equal seeds generate equal ones.
type Generator struct {
	*rand.Rand
	noon time.Time
}

// New returns a generator of items that were published in the three days before noon.
func New(seed uint64, noon time.Time) Generator {
	return Generator{rand.New(rand.NewPCG(seed, 1)), noon}
}

func (g Generator) one(of ...string) string { return of[g.IntN(len(of))] }

// Views returns n views, each after those that it reads.
func (g Generator) Views(n int) []view.View {
	views := make([]view.View, n)
	for i := range views {
		v := view.View{Name: fmt.Sprintf("v%03d", i), Where: g.Condition(3)}
		for range g.IntN(4) {
			s := view.Source{Kind: view.Kind(g.one("feed", "tag", "host")), Value: g.one("a.example", "b.example", "x.a.example")}
			if i > 0 && g.IntN(2) == 0 {
				s = view.Source{Kind: view.Other, Value: views[g.IntN(i)].Name}
			}
			v.From = append(v.From, s)
		}
		if g.IntN(4) == 0 {
			v.Once = view.PerStory
		}
		views[i] = v
	}
	return views
}

// Condition returns a condition of at most the given depth.
func (g Generator) Condition(depth int) string {
	if depth > 0 && g.IntN(2) == 0 {
		parts := []string{g.Condition(depth - 1), g.Condition(depth - 1)}
		if g.IntN(3) == 0 {
			parts = append(parts, g.Condition(depth-1))
		}
		return "(" + strings.Join(parts, g.one(" ", " OR ")) + ")"
	}
	not := ""
	if g.IntN(4) == 0 {
		not = "-"
	}
	return not + g.one("go", "rust", "databases", "title:go", "author:ann", `"go databases"`, `title:"new go"`, "data*", "databas*", "author:a*", "lang:en", "cat:ai",
		"topic:SQL", "feed:a.example", "host:a.example", "is:spam", "is:starred", "story:s", "age:<2d", "age:>1d", "after:2026-02-28", "数据", "数*", "running")
}

// Document returns an item with an ID, and the tags of its feed.
func (g Generator) Document() (d *query.Document, feedTags []string) {
	d = &query.Document{
		ID: fmt.Sprintf("%016x", g.Uint64()), Title: g.words(4), Text: g.words(6), Author: g.one("", "Ann", "Bob"), Tags: g.some("go databases", "rust"),
		Feed: g.one("a.example", "b.example", "c"), URL: "https://" + g.one("a.example", "x.a.example", "c.example") + "/1", Language: g.one("en", "ru"), Story: g.one("", "s"),
		Categories: g.some("ai", "cloud"), Topics: g.some("sql", "Go"), Flags: g.some("spam", "starred", "duplicate", "muted"),
		Published: g.noon.Add(-time.Duration(g.IntN(72)) * time.Hour),
	}
	return d, g.some("a.example", "b.example")
}

func (g Generator) words(fewer int) string {
	var all []string
	for range g.IntN(fewer) {
		all = append(all, g.one("go", "Go", "rust", "new", "database", "databases", "数据库", "run", "ann"))
	}
	return strings.Join(all, " ")
}

// some returns each value with a probability of a quarter.
func (g Generator) some(of ...string) (kept []string) {
	for _, s := range of {
		if g.IntN(4) == 0 {
			kept = append(kept, s)
		}
	}
	return kept
}
