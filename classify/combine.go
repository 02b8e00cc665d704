package classify

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"feedmesh/classify/model"
)

const (
	leastGuess  = 0.6 // probability from which a category is guessed: see the curve in model/default.md
	leastBeside = 0.8 // from which one stands beside what rules are sure of
	maxGuesses  = 2
	leastShare  = 0.7 // of the most points, that rules must give what is to stand second or third

	// leastEvidence is what words and the address must say for a guess, in nats,
	// besides how common the category is, what the feed is used to, and rules that
	// are unsure. A text in a language that the model has not learned says nothing
	// to it, and is to get no guess.
	leastEvidence = 1.0

	// What is common where the model learned need not be common here, and rules
	// know what it could not learn. Measured on sets that it had not learned from.
	biasShare   = 0.5  // of the model's bias that counts in the order
	pointsWorth = 0.15 // nats that a point of the rules counts in the order

	// enough is the share of a title's words that the model must know to have its
	// full say. Of titles in its language it knows more, of those in others less.
	enough = 0.4
	little = 0.1 // of its say is left where it knows none

	maxHabit  = 1.0 // nats that a feed's habits may add or take
	manyItems = 20  // of a feed, after which its habits count half of what they may
	inUse     = 30  // categories: without habits, one item in so many has each
)

// A candidate is a category that a document may have.
type candidate struct {
	name  string
	label Label        // of rules; none has no points
	guess *model.Guess // nil: the model has none
	habit float64      // nats that the feed's habits add
	times float64      // how many of the feed's last items have it
	odds  float64      // logarithm of p/(1-p), all in all
	rank  float64      // what it is ordered by, in nats
}

// sure reports whether rules decided on it.
func (k *candidate) sure() bool { return k.label.Points >= Threshold }

// given reports whether it is sure enough to be given after so many others, where
// rules give the one that they are surest of most points.
func (k *candidate) given(most float64, before int) bool {
	p := model.Probability(k.odds)
	switch {
	case k.sure():
		return before == 0 || k.label.Points >= leastShare*most
	case k.evidence() < leastEvidence:
		return false
	case most >= Threshold:
		return p >= leastBeside
	}
	return before < maxGuesses && p >= leastGuess
}

// evidence returns what the document itself says for it, in nats.
func (k *candidate) evidence() float64 {
	if k.guess != nil {
		return k.guess.Own
	}
	return k.label.Points // a point of the rules is about a nat
}

// weigh returns the categories that something speaks for, the likeliest first:
// those that rules are sure of, then all others.
//
// The log-odds of a category are the model's, which has learned how far to trust
// what rules said, and what the feed's habits add. What rules are sure of is not
// left out for that, nor does a guess come before it; but which of several comes
// first is the odds' to say, as far as the model knows the words of the title.
func (c *Classifier) weigh(d Document, fired Outcome) []candidate {
	var guesses []model.Guess
	say := 0.0
	if c.Model != nil {
		shown := modelDocument(d, modelLabels(fired))
		say = max(min(1, c.Model.Knows(shown)/enough), little)
		guesses = c.Model.Predict(shown)
	}
	list := make([]candidate, 0, len(fired.Labels)+len(guesses))
	for _, l := range fired.Labels {
		if !l.Topic {
			odds := oddsOf(l.Points)
			list = append(list, candidate{name: l.Name, label: l, odds: odds, rank: odds})
		}
	}
	ruled := len(list)
	for n := range guesses {
		g := &guesses[n]
		i := slices.IndexFunc(list[:ruled], func(k candidate) bool { return k.name == g.Category })
		if i < 0 {
			list = append(list, candidate{name: g.Category})
			i = len(list) - 1
		}
		k := &list[i]
		k.guess, k.odds = g, g.Odds
		k.rank = say*(g.Odds-(1-biasShare)*g.Bias+pointsWorth*k.label.Points) + (1-say)*oddsOf(k.label.Points)
	}
	h := habitsOf(d.FeedCategories)
	for i := range list {
		k := &list[i]
		k.habit, k.times = h.of(k.name)
		k.odds, k.rank = rounded(k.odds+k.habit), rounded(k.rank+k.habit)
	}
	slices.SortFunc(list, func(a, b candidate) int { // no two have one name
		return cmp.Or(firstOf(a.sure(), b.sure()), cmp.Compare(b.rank, a.rank), cmp.Compare(a.name, b.name))
	})
	return list
}

// rounded makes sums that machines round apart the same again.
func rounded(nats float64) float64 { return math.Round(nats*4096) / 4096 }

// firstOf compares a and b so that what holds comes first.
func firstOf(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// oddsOf are the log-odds of a category that rules give points, where there is no
// model: even at the threshold.
func oddsOf(points float64) float64 { return points - Threshold }

func modelDocument(d Document, labels []model.Label) model.Document {
	d.stem()
	return model.Document{
		Title: d.Title, URL: d.URL, Author: d.Author, FeedTitle: d.FeedTitle,
		Language: d.Language, TitleStems: d.TitleStems, Stems: d.Stems, Tags: d.Tags, Labels: labels,
	}
}

// Habits are what categories the last items of a feed have.
type habits struct {
	items map[string]float64
	sum   float64
}

func habitsOf(items map[string]float64) habits {
	h := habits{items: items}
	for _, n := range items {
		if n > 0 { // in whatever order: whole numbers add up alike
			h.sum += n
		}
	}
	return h
}

// of returns what a feed's habits add to the log-odds of a category, in nats, and
// how many items have it: how much commoner it is there than it would be by
// chance, the less the fewer items are known.
func (h habits) of(category string) (nats, times float64) {
	if h.sum == 0 {
		return 0, 0
	}
	n := max(h.items[category], 0)
	usual := (n + 1) / (h.sum + inUse)
	nats = logit(usual) - logit(1.0/inUse)
	nats = min(max(nats*h.sum/(h.sum+manyItems), -maxHabit), maxHabit)
	return nats, n
}

func logit(p float64) float64 { return math.Log(p / (1 - p)) }

// why says what speaks for a guess, as in
// `category devops: guessed from "helm", "cluster" (82 %)`, and which rules did
// without being sure.
func (c *Classifier) why(k candidate, d Document, fired Outcome) []string {
	from := []string{"a weak rule"}
	if k.guess != nil {
		from = c.Model.Why(modelDocument(d, modelLabels(fired)), k.name)
	}
	if k.habit > 0 && k.times > 0 {
		from = append(from, fmt.Sprintf("%.0f of the feed's last items", k.times))
	}
	why := fmt.Sprintf("category %s: guessed from %s (%.0f %%)", k.name, strings.Join(from, ", "), 100*model.Probability(k.odds))
	return append([]string{why}, k.label.because()...)
}
