package near

import "strings"

// A Likeness is how alike two items are, and what follows.
type Likeness struct {
	Title       float64 // Jaccard of the 4-grams of the titles
	Matrix      float64 // similarity by the word matrix; 0 if nobody asked
	Resemblance float64 // of the bodies; 0 if one has none
	Containment float64 // of the shorter body in the longer one

	By       string  // "title" or "body": what makes them the same; "" if they are not
	Score    float64 // of that, 0 to 1
	stripped bool    // a title lost a head or a tail
	bodies   bool    // both have one
}

// Compare says how alike two items are; sameFeed, that one feed has both.
func (s *Settings) Compare(a, b *Sketch, sameFeed bool) Likeness {
	var set gramSet
	set.fill(a.Title)
	j := judge{Settings: s, sketch: a, set: &set, doubts: s.Doubtful}
	return j.compare(candidate{b.Title, b.Grams, b.Stripped, &b.Body}, sameFeed, true)
}

// A judge compares one item with others.
type judge struct {
	*Settings
	sketch *Sketch
	set    *gramSet // of the sketch's title
	doubts int      // word matrices it may still make
}

// A candidate is what is remembered of an item it may repeat.
type candidate struct {
	title    string
	grams    int
	stripped bool
	body     *Body // nil or empty: none
}

// near reports whether a title of n different 4-grams can be near enough.
func (j *judge) near(n int) bool {
	return float64(min(n, j.sketch.Grams)) >= j.Doubt*float64(max(n, j.sketch.Grams))
}

// compare says how alike the item and a candidate are. It looks at the bodies if
// asked to, and where the titles give reason to.
func (j *judge) compare(c candidate, sameFeed, bodies bool) Likeness {
	l := Likeness{stripped: j.sketch.Stripped || c.stripped}
	if numbersDiffer(j.sketch.Title, c.title) {
		return l
	}
	l.Title = j.set.jaccard(c.title, c.grams)
	bodies = bodies || l.Title >= j.Doubt
	if l.bodies = bodies && j.sketch.Shingles > 0 && c.body != nil && c.body.Shingles > 0; l.bodies {
		l.Resemblance = j.sketch.resemblance(c.body)
		l.Containment = c.body.containment(&j.sketch.Body, j.sketch.Firsts, l.Resemblance)
	}
	switch {
	case j.sameTitle(&l, c, sameFeed):
		l.By, l.Score = "title", max(l.Title, l.Matrix)
	case j.sameBody(&l, sameFeed):
		l.By, l.Score = "body", max(l.Resemblance, l.Containment)
	}
	return l
}

// sameBody reports whether the bodies say the same. One feed may give all its items
// the same words around their own: if the titles have nothing in common the
// bodies must have more.
func (j *judge) sameBody(l *Likeness, sameFeed bool) bool {
	least := j.Resemblance
	if sameFeed && l.Title < j.Stranger {
		least = j.Template
	}
	return l.bodies && (l.Resemblance >= least || l.Containment >= max(least, j.Containment))
}

// sameTitle reports whether the titles say enough to tell that the items are the
// same.
func (j *judge) sameTitle(l *Likeness, c candidate, sameFeed bool) bool {
	if min(j.sketch.Grams, c.grams) < j.MinGrams || min(words(j.sketch.Title), words(c.title)) < j.MinTitle {
		return l.Title == 1 && !sameFeed && max(l.Resemblance, l.Containment) >= j.Backed
	}
	if sameFeed {
		if l.bodies && max(l.Resemblance, l.Containment) < j.Contradict {
			return false
		}
		if !l.bodies && l.Title < j.SameFeed {
			return false
		}
	}
	return l.Title >= j.Title || l.Title >= j.Doubt && j.confirmed(l, c)
}

// confirmed asks the word matrix.
func (j *judge) confirmed(l *Likeness, c candidate) bool {
	if j.doubts == 0 || matrixBound(j.sketch.Title, c.title) < j.Matrix {
		return false
	}
	j.doubts--
	l.Matrix = MatrixSimilarity(strings.Fields(j.sketch.Title), strings.Fields(c.title), matrixCut)
	return l.Matrix >= j.Matrix
}

// matrixCut is the word similarity that source 3 takes for none.
const matrixCut = 0.2

func words(title string) int { return 1 + strings.Count(title, " ") }
