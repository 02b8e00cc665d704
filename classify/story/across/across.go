// Package across finds stories in another language about the same happening. It compares titles in Russian and
// English by what both languages write alike: names in Latin letters, names in Cyrillic letters by their sound,
// numbers, versions and amounts, and by a short dictionary of the words of technology news.
//
// [Read] prepares a title, [Compare] decides whether two titles are about one happening, and [Title.SearchWords]
// returns the words by which a search finds candidates. The package keeps no state: it does not depend on storage,
// queues or the clock, and its functions may be called concurrently.
package across

import (
	"math"
	"slices"
	"strings"
)

// Languages are the languages that can be compared, as ISO 639-1 codes.
var Languages = []string{"en", "ru"}

// Other returns the language to compare with, or "" if lang is not one of [Languages].
func Other(lang string) string {
	switch lang {
	case "ru":
		return "en"
	case "en":
		return "ru"
	}
	return ""
}

// MaxTitle bounds the bytes of a title that are read.
const MaxTitle = 512

// A Title is a title that was prepared for comparison. It is immutable.
type Title struct {
	language string
	terms    []term
}

// A Match is the result of a comparison.
type Match struct {
	Same   bool
	Odds   float64  // logarithm of the odds that both are about one happening; Same from 0 on
	Shared []string // terms of the first title that the second has too, heaviest first
}

// evidence is the input of the decision.
type evidence struct {
	Cosine   float64 // weight of shared terms, by the weights of both titles
	Covered  float64 // weight of shared terms, by the weight of the lighter title
	Weight   float64 // of shared terms
	Names    float64 // weight of shared names
	Opposed  bool    // one title has a concept, and the other only its opposite
	Conflict bool    // another version of one product, or other amounts of one unit
}

// Weights of the decision, set by hand on the half of the labelled pairs that is for tuning. The bias leaves a margin for
// pairs of similar happenings, of which the half has few.
const (
	bias        = -6.8
	perCosine   = 5.0
	perCovered  = 3.0
	perWeight   = 0.9
	ifOpposed   = 2.5
	leastNames  = 0.35 // weight of shared names without which nothing matches
	leastWeight = 1.2
)

// Compare decides whether two titles in different languages are about one happening. Titles that name different
// versions of one product, or other amounts of money, are not.
func Compare(a, b Title) Match { return decide(a, b, false) }

// CompareLinked is [Compare] for titles of texts that link to the same page of another site.
func CompareLinked(a, b Title) Match { return decide(a, b, true) }

// linkOdds is added to the odds if two texts link to the same page of another site, which two happenings rarely share.
const linkOdds = 2

func decide(a, b Title, linked bool) Match {
	e, shared := compare(a, b)
	m := Match{Odds: bias + perCosine*e.Cosine + perCovered*e.Covered + perWeight*min(e.Weight, 3), Shared: shared}
	if e.Opposed {
		m.Odds -= ifOpposed
	}
	if linked {
		m.Odds += linkOdds
	}
	m.Same = m.Odds >= 0 && !e.Conflict && e.Names >= leastNames && (linked || e.Weight >= leastWeight)
	return m
}

// compare pairs the terms of two titles, the heaviest first, each with at most one of the other.
func compare(a, b Title) (e evidence, shared []string) {
	taken := make([]bool, len(b.terms))
	type pair struct {
		text   string
		weight float64
	}
	var pairs []pair
	for _, t := range a.terms {
		best, most := -1, 0.0
		for j, u := range b.terms {
			if w := t.shared(u); !taken[j] && w > most {
				best, most = j, w
			}
		}
		if best < 0 {
			continue
		}
		taken[best] = true
		pairs = append(pairs, pair{t.text, most})
		e.Weight += most
		if t.names(b.terms[best]) {
			e.Names += most
		}
	}
	slices.SortStableFunc(pairs, func(p, q pair) int {
		if p.weight > q.weight {
			return -1
		} else if p.weight < q.weight {
			return 1
		}
		return 0
	})
	for _, p := range pairs {
		shared = append(shared, p.text)
	}
	x, y := a.weight(), b.weight()
	if x > 0 && y > 0 {
		e.Cosine, e.Covered = e.Weight/math.Sqrt(x*y), e.Weight/min(x, y)
	}
	e.Opposed, e.Conflict = opposed(a, b), conflict(a, b)
	return e, shared
}

// names reports whether two shared terms identify something.
func (t term) names(u term) bool {
	if t.text == u.text {
		return t.kind.isName() || u.kind.isName()
	}
	return t.kind.isName() && u.kind.isName()
}

// weight returns the sum of the weights of a title's terms.
func (t Title) weight() (sum float64) {
	for _, x := range t.terms {
		sum += x.weight
	}
	return sum
}

// conflict reports whether the titles name other versions of one product, or other amounts of one unit.
func conflict(a, b Title) bool {
	versions := func(t Title, product func(term) bool) (list []string) {
		for _, x := range t.terms {
			if x.product != nil && product(*x.product) {
				list = append(list, x.text)
			}
		}
		return list
	}
	for _, x := range a.terms {
		if x.product == nil {
			continue
		}
		of := func(p term) bool { return x.product.shared(p) > 0 }
		if other := versions(b, of); len(other) > 0 && disjoint(versions(a, of), other) {
			return true
		}
	}
	for _, unit := range []string{"money", "percent", "people"} {
		amounts := func(t Title) (list []string) {
			for _, x := range t.terms {
				if x.unit == unit {
					list = append(list, x.text)
				}
			}
			return list
		}
		if x, y := amounts(a), amounts(b); len(x) > 0 && len(y) > 0 && disjoint(x, y) {
			return true
		}
	}
	return false
}

func disjoint(a, b []string) bool {
	return !slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// maxSearchWords bounds the words of [Title.SearchWords].
const maxSearchWords = 12

// SearchWords returns the words by which a search in the other language finds titles about the same happening, the
// most specific first, at most 12: names, in the letters of both languages, and the translations of other words.
func (t Title) SearchWords() []string {
	order := slices.Clone(t.terms)
	slices.SortStableFunc(order, func(a, b term) int {
		switch x, y := a.searchWeight(), b.searchWeight(); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	var words []string
	for _, x := range order {
		for _, w := range x.searchWords(Other(t.language)) {
			if len(words) < maxSearchWords && w != "" && !slices.Contains(words, w) {
				words = append(words, w)
			}
		}
	}
	return words
}

// String returns the terms, for logs and tests.
func (t Title) String() string {
	var b strings.Builder
	for i, x := range t.terms {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(x.text)
	}
	return b.String()
}
