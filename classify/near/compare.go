package near

import "strings"

// A Similarity describes how similar two items are, and whether they are duplicates.
type Similarity struct {
	Title       float64 // Jaccard of the 4-grams of the titles
	Matrix      float64 // similarity by the word matrix; 0 if not computed
	Resemblance float64 // of the bodies; 0 if one item has none
	Containment float64 // share of the shorter body in the longer one

	By       string  // "title" or "body": evidence that they are duplicates; "" if they are not
	Score    float64 // strength of that evidence, 0 to 1
	stripped bool    // a prefix or suffix was removed from a title
	bodies   bool    // both have a body
}

// Compare returns the similarity of two items. sameFeed states that both are in one feed. An [Index]
// knows the rare words of titles too, and separates titles of one pattern about different subjects.
func (s *Settings) Compare(a, b *Sketch, sameFeed bool) Similarity {
	var set gramSet
	set.fill(a.Title)
	j := comparer{Settings: s, sketch: a, set: &set, matricesLeft: s.MaxMatrices, rare: func(string) bool { return false }}
	return j.compare(candidate{b.Title, b.Grams, b.Stripped, &b.Body}, sameFeed, true)
}

// A comparer compares one item with others.
type comparer struct {
	*Settings
	sketch       *Sketch
	set          *gramSet               // of the sketch's title
	matricesLeft int                    // word matrices that may still be computed
	rare         func(word string) bool // whether few titles contain a word
}

// A candidate is the stored state of a possible original.
type candidate struct {
	title    string
	grams    int
	stripped bool
	body     *Body // nil or empty: none
}

// near reports whether a title of n distinct 4-grams can be similar enough.
func (j *comparer) near(n int) bool {
	return float64(min(n, j.sketch.Grams)) >= j.UncertainJaccard*float64(max(n, j.sketch.Grams))
}

// compare returns the similarity of the item and a candidate. It compares bodies if bodies is set or the
// titles are similar.
func (j *comparer) compare(c candidate, sameFeed, bodies bool) Similarity {
	l := Similarity{stripped: j.sketch.Stripped || c.stripped}
	if numbersDiffer(j.sketch.Title, c.title) {
		return l
	}
	l.Title = j.set.jaccard(c.title, c.grams)
	bodies = bodies || l.Title >= j.UncertainJaccard
	if l.bodies = bodies && j.sketch.Shingles > 0 && c.body != nil && c.body.Shingles > 0; l.bodies {
		l.Resemblance = j.sketch.resemblance(c.body)
		l.Containment = c.body.containment(&j.sketch.Body, j.sketch.LeadShingles, l.Resemblance)
	}
	switch {
	case j.sameTitle(&l, c, sameFeed):
		l.By, l.Score = "title", max(l.Title, l.Matrix)
	case j.sameBody(&l, sameFeed):
		l.By, l.Score = "body", max(l.Resemblance, l.Containment)
	}
	return l
}

// sameBody reports whether the bodies are similar enough. A feed may repeat a template around all its items:
// if the titles are unrelated, a higher threshold applies.
func (j *comparer) sameBody(l *Similarity, sameFeed bool) bool {
	least := j.Resemblance
	if sameFeed && l.Title < j.UnrelatedJaccard {
		least = j.SameFeedBody
	}
	return l.bodies && (l.Resemblance >= least || l.Containment >= max(least, j.Containment))
}

// sameTitle reports whether the titles are sufficient evidence.
func (j *comparer) sameTitle(l *Similarity, c candidate, sameFeed bool) bool {
	if min(j.sketch.Grams, c.grams) < j.MinGrams || min(wordCount(j.sketch.Title), wordCount(c.title)) < j.MinTitleWords {
		return l.Title == 1 && !sameFeed && max(l.Resemblance, l.Containment) >= j.ShortTitleBody
	}
	if sameFeed {
		if l.bodies && max(l.Resemblance, l.Containment) < j.ContradictingBody {
			return false
		}
		if !l.bodies && l.Title < j.SameFeedJaccard {
			return false
		}
	}
	if l.Title < 1 && (!l.bodies || max(l.Resemblance, l.Containment) < j.ShortTitleBody) && otherInstance(j.sketch.Title, c.title, j.rare) {
		return false
	}
	return l.Title >= j.TitleJaccard || l.Title >= j.UncertainJaccard && j.confirmed(l, c)
}

// confirmed compares the titles by the word matrix.
func (j *comparer) confirmed(l *Similarity, c candidate) bool {
	if j.matricesLeft == 0 || matrixBound(j.sketch.Title, c.title) < j.MatrixScore {
		return false
	}
	j.matricesLeft--
	l.Matrix = MatrixSimilarity(strings.Fields(j.sketch.Title), strings.Fields(c.title), matrixCut)
	return l.Matrix >= j.MatrixScore
}

// matrixCut is the word similarity below which source 3 counts 0.
const matrixCut = 0.2

func wordCount(title string) int { return 1 + strings.Count(title, " ") }
