package interest

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// A Candidate is an item that may be suggested.
type Candidate struct {
	Features         []Key
	Publisher, Story string        // empty: none
	Age              time.Duration // since it was published
}

// A Suggestion is a candidate with the reason for its rank.
type Suggestion struct {
	Index   int      // of the candidate
	Because []string // names of the features that contributed most, best first; at most maxBecause
	New     bool     // listed regardless of the interests, for its age only
}

const (
	smoothing  = 10.0 // weight of the background frequency of a feature, in items
	agePenalty = 0.1  // of the score, a day
	maxBecause = 3
	newEvery   = 5 // each fifth suggestion is a New one
	// At most a fifth of a list, and at least two items, are of one publisher, as long as there are others.
	publisherShare = 5
)

// kindWeights are the weights of the kinds of features. The sums of words and topics grow with the length of a title:
// they are divided by the root of their number.
var kindWeights = [featureKinds]float64{Word: 1, Topic: 1, Category: 1, Publisher: 0.5}

// A scorer has the weights of all features that were learned and that a candidate has.
type scorer struct {
	weights map[Key]float64
	names   map[Key]count
}

// newScorer returns the weights for candidates. The weight of a feature is the logarithm of how much more frequent it is
// among liked items than among those passed over. Both frequencies are smoothed towards that among the candidates, so
// that few signals change little, and so that items liked are compared with the candidates while none was passed over.
func (m *Model) newScorer(candidates []Candidate) scorer {
	among := make(map[Key]int, len(m.counts))
	for _, c := range candidates {
		for _, f := range c.Features {
			if _, is := m.counts[f]; is {
				among[f]++
			}
		}
	}
	s := scorer{make(map[Key]float64, len(among)), m.counts}
	for key, n := range among {
		c, background := m.counts[key], (float64(n)+0.5)/(float64(len(candidates))+1)
		liked := (c.liked + smoothing*background) / (m.liked + smoothing)
		other := (c.other + smoothing*background) / (m.other + smoothing)
		s.weights[key] = math.Log(liked / other)
	}
	return s
}

// A contribution is the part of a score that a feature has.
type contribution struct {
	key   Key
	value float64
}

// contributions appends the parts of the score of a candidate.
func (s scorer) contributions(list []contribution, c Candidate) []contribution {
	var numbers [featureKinds]int
	for _, f := range c.Features {
		numbers[f.Kind()]++
	}
	for _, f := range c.Features {
		if w, is := s.weights[f]; is {
			list = append(list, contribution{f, w * kindWeights[f.Kind()] / math.Sqrt(float64(numbers[f.Kind()]))})
		}
	}
	return list
}

// because returns the names of the largest contributions.
func (s scorer) because(c Candidate) []string {
	list := slices.DeleteFunc(s.contributions(nil, c), func(c contribution) bool { return c.value < 0.1 || s.names[c.key].name == "" })
	slices.SortFunc(list, func(a, b contribution) int { return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.key, b.key)) })
	var names []string
	for _, c := range list {
		if name := s.names[c.key].name; len(names) < maxBecause && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Rank returns at most limit suggestions, best first. Candidates must be ordered by age, newest first: those of equal score
// keep that order, which is the whole order as long as nothing was learned. The list has one item of a story, and a
// limited number of items of a publisher. Each fifth is the newest that is not listed yet.
func (m *Model) Rank(candidates []Candidate, limit int) []Suggestion {
	s := m.newScorer(candidates)
	scores, order := make([]float64, len(candidates)), make([]int, len(candidates))
	var parts []contribution
	for n, c := range candidates {
		order[n] = n
		scores[n] = -agePenalty * c.Age.Hours() / 24
		parts = s.contributions(parts[:0], c)
		for _, p := range parts {
			scores[n] += p.value
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	l := list{candidates: candidates, limit: limit, listed: make([]bool, len(candidates)), stories: map[string]bool{}, publishers: map[string]int{}}
	l.fill(order, m.liked > 0)
	for n := range l.suggestions {
		if g := &l.suggestions[n]; !g.New {
			g.Because = s.because(candidates[g.Index])
		}
	}
	return l.suggestions
}

// A list is filled with suggestions within the bounds of stories and publishers.
type list struct {
	candidates  []Candidate
	limit       int
	listed      []bool
	stories     map[string]bool
	publishers  map[string]int
	suggestions []Suggestion
	newest      int // candidates before it are listed, or exceed a bound
}

// fill lists candidates in their order; mixed, with those that are newest. A full list has no place for those of a
// publisher that exceed its share; a short one has.
func (l *list) fill(order []int, mixed bool) {
	share := max(2, l.limit/publisherShare)
	for _, within := range []int{share, len(l.candidates)} {
		for _, n := range order {
			if mixed && within == share && len(l.suggestions)%newEvery == newEvery-1 {
				l.addNewest(within)
			}
			if len(l.suggestions) >= l.limit {
				return
			}
			l.add(n, within, false)
		}
	}
}

// addNewest lists the newest candidate that is not listed.
func (l *list) addNewest(within int) {
	for ; l.newest < len(l.candidates); l.newest++ {
		if l.add(l.newest, within, true) {
			return
		}
	}
}

func (l *list) add(n, within int, isNew bool) bool {
	c := l.candidates[n]
	if l.listed[n] || len(l.suggestions) >= l.limit || l.stories[c.Story] || c.Publisher != "" && l.publishers[c.Publisher] >= within {
		return false
	}
	if c.Story != "" {
		l.stories[c.Story] = true
	}
	l.listed[n] = true
	l.publishers[c.Publisher]++
	l.suggestions = append(l.suggestions, Suggestion{Index: n, New: isNew})
	return true
}
