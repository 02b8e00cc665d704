package component

import (
	"fmt"
	"testing"

	"feedmesh/classify"
	"feedmesh/classify/stem"
)

func BenchmarkRules(b *testing.B) {
	documents := madeDocuments(1000)
	stemmed := madeDocuments(1000)
	for i := range stemmed {
		stemmed[i].Stems = stem.Words(stemmed[i].Text, stemmed[i].Language)
	}
	for _, n := range []int{300, 1_000, 10_000} {
		text, _ := newWriter(documents, true).write(n, shuffled(classify.Shipped().Rules))
		_, l, err := load(text)
		if err != nil {
			b.Fatal(err)
		}
		for _, with := range []struct {
			name      string
			documents []classify.Document
		}{{"stems given", stemmed}, {"from text", documents}} {
			b.Run(fmt.Sprintf("%d rules, %s", n, with.name), func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					l.Evaluate(with.documents[i%len(with.documents)])
				}
			})
		}
		b.Run(fmt.Sprintf("%d rules, load", n), func(b *testing.B) {
			for b.Loop() {
				if _, _, err := load(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestWriter_WritesTheRequestedRules(t *testing.T) {
	documents := madeDocuments(100)
	for _, near := range []bool{false, true} {
		text, _ := newWriter(documents, near).write(500, shuffled(classify.Shipped().Rules))
		set, l, err := load(text)
		if err != nil {
			t.Fatal(err)
		}
		matches := 0
		for _, d := range documents {
			matches += len(l.Evaluate(d).Matched)
		}
		if len(set.Rules) != 500 || matches < len(documents) {
			t.Errorf("got %d rules, which fired %d times, want 500 that fire", len(set.Rules), matches)
		}
	}
}

func TestRivalConditions_MatchOurs(t *testing.T) {
	documents := madeDocuments(50)
	text, _ := newWriter(documents, false).write(400, shuffled(classify.Shipped().Rules))
	set, l, err := load(text)
	if err != nil {
		t.Fatal(err)
	}
	phrases := phrasesOf(set)
	want := matchesOf(l.Rules, set, documents)
	for i, d := range documents {
		f := fact(d, phrases)
		var got []int
		for n, r := range set.Rules {
			if translated(r.Condition).holds(f) {
				got = append(got, n)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want[i]) {
			t.Errorf("document %d: got %v, want %v", i, got, want[i])
		}
	}
}

func (c rivalCondition) holds(f map[string][]string) bool {
	for _, part := range c.Or {
		if part.holds(f) {
			return true
		}
	}
	for _, part := range c.And {
		if !part.holds(f) {
			return false
		}
	}
	if c.Not != nil {
		return !c.Not.holds(f)
	}
	if c.Term != "" {
		for _, s := range f[c.Field] {
			if s == c.Term {
				return true
			}
		}
		return false
	}
	return c.And != nil
}
