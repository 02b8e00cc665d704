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
	minGuess            = 0.6 // minimum probability of a guessed category: see the curve in model/default.md
	minGuessBesideRules = 0.8 // minimum where rules are certain of another category
	maxGuesses          = 2
	minPointsShare      = 0.7 // of the highest points: minimum for a second or third category by rules

	// minEvidence is the evidence in nats that words and address must contribute to a guess, apart from the
	// category's frequency, the feed's history and uncertain rules. The model has no features for a text in a
	// language that it was not trained on; such a text gets no guess.
	minEvidence = 1.0

	// Frequencies in the training set need not hold here, and rules cover subjects that the training set
	// lacks. Both values were measured on held-out sets.
	biasShare    = 0.5  // share of the model's bias used for ranking
	natsPerPoint = 0.15 // nats added to the rank for each point from rules

	// fullVocabularyShare is the share of a title's words that must be in the model's vocabulary for the
	// model to count in full. Titles in the training language exceed it, titles in other languages do not.
	fullVocabularyShare = 0.4
	minModelShare       = 0.1 // model's share if it recognizes no word

	// minGeneral is the minimum probability at which a document is general, not about IT: it gets no guess, and
	// no category by built-in rules, because these find single words of IT in any long text. Of general news that
	// was held out from training, 6 % have a category at 0.4, 8 % at 0.5, 11 % at 0.6 and 15 % at 0.7; lower
	// values lose more news of science.
	minGeneral = 0.5

	maxHistory       = 1.0 // nats that a feed's history may add or subtract
	halfHistoryItems = 20  // items of a feed at which its history counts half
	usualCategories  = 30  // categories: without history each is expected in one item of so many
)

// A candidate is a category considered for a document.
type candidate struct {
	name    string
	label   Label        // from rules; zero if rules gave no points
	guess   *model.Guess // nil: no model
	history float64      // nats that the feed's history adds
	items   float64      // recent items of the feed with this category
	odds    float64      // natural logarithm of p/(1-p), all evidence included
	rank    float64      // sort key, in nats
}

// isCertain reports whether rules gave enough points.
func (k *candidate) isCertain() bool { return k.label.Points >= Threshold }

// isAccepted reports whether the candidate is assigned after before others. most is the highest number of
// points that rules gave any candidate.
func (k *candidate) isAccepted(most float64, before int) bool {
	p := model.Probability(k.odds)
	switch {
	case k.isCertain():
		return before == 0 || k.label.Points >= minPointsShare*most
	case k.ownEvidence() < minEvidence:
		return false
	case most >= Threshold:
		return p >= minGuessBesideRules
	}
	return before < maxGuesses && p >= minGuess
}

// ownEvidence returns the evidence from the document itself, in nats.
func (k *candidate) ownEvidence() float64 {
	if k.guess != nil {
		return k.guess.ContentOdds
	}
	return k.label.Points // a point from rules is about a nat
}

// A prediction is the model's part in the decision about a document.
type prediction struct {
	guesses []model.Guess // nil: no model, or not trained on the language
	share   float64       // weight of the model in the rank of categories
	general *model.Guess  // not nil: the document is general, not about IT
}

// predict runs the model if it was trained on the language.
func (c *Classifier) predict(d Document, outcome Outcome) prediction {
	if c.Model == nil {
		return prediction{}
	}
	coversLanguage, coversGeneral := c.Model.CoversLanguage(d.Language), c.Model.CoversGeneral(d.Language)
	if !coversLanguage && !coversGeneral {
		return prediction{}
	}
	input := newModelDocument(d, modelLabels(outcome))
	guesses := c.Model.Predict(input)
	if i := slices.IndexFunc(guesses, func(g model.Guess) bool { return g.Category == model.General }); i >= 0 {
		g := guesses[i]
		if coversGeneral && model.Probability(g.Odds) >= minGeneral {
			return prediction{general: &g}
		}
		guesses = slices.Delete(guesses, i, i+1)
	}
	if !coversLanguage {
		return prediction{}
	}
	return prediction{guesses: guesses, share: max(min(1, c.Model.VocabularyShare(input)/fullVocabularyShare), minModelShare)}
}

// withoutBuiltIn returns the labels without the categories that only built-in rules gave points.
func withoutBuiltIn(labels []Label) []Label {
	return slices.DeleteFunc(slices.Clone(labels), func(l Label) bool {
		return !l.Topic && !slices.ContainsFunc(l.Matches, func(m RuleMatch) bool { return !m.isBuiltIn() })
	})
}

// rankCandidates returns all categories with any evidence: first those that rules are certain of, then the
// others, each in descending order of rank.
//
// The log-odds of a category are the model's, which was trained to weigh the rules' labels, plus the feed's
// history. A category that rules are certain of is never dropped or ranked below a guess. The odds decide the
// order of several such categories, weighted by the share of the title's words in the model's vocabulary.
func rankCandidates(d Document, labels []Label, p prediction) []candidate {
	list := make([]candidate, 0, len(labels)+len(p.guesses))
	for _, l := range labels {
		if !l.Topic {
			odds := oddsOf(l.Points)
			list = append(list, candidate{name: l.Name, label: l, odds: odds, rank: odds})
		}
	}
	ruled := len(list)
	for n := range p.guesses {
		g := &p.guesses[n]
		i := slices.IndexFunc(list[:ruled], func(k candidate) bool { return k.name == g.Category })
		if i < 0 {
			list = append(list, candidate{name: g.Category})
			i = len(list) - 1
		}
		k := &list[i]
		k.guess, k.odds = g, g.Odds
		k.rank = p.share*(g.Odds-(1-biasShare)*g.Bias+natsPerPoint*k.label.Points) + (1-p.share)*oddsOf(k.label.Points)
	}
	h := newCategoryHistory(d.FeedCategories)
	for i := range list {
		k := &list[i]
		k.history, k.items = h.adjustment(k.name)
		k.odds, k.rank = rounded(k.odds+k.history), rounded(k.rank+k.history)
	}
	slices.SortFunc(list, func(a, b candidate) int { // names are unique
		return cmp.Or(compareTrueFirst(a.isCertain(), b.isCertain()), cmp.Compare(b.rank, a.rank), cmp.Compare(a.name, b.name))
	})
	return list
}

// rounded removes differences in floating-point rounding between machines.
func rounded(nats float64) float64 { return math.Round(nats*4096) / 4096 }

// compareTrueFirst orders true before false.
func compareTrueFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// oddsOf returns the log-odds of a category that rules give points, without a model: even odds at the
// threshold.
func oddsOf(points float64) float64 { return points - Threshold }

func newModelDocument(d Document, labels []model.Label) model.Document {
	d.stem()
	return model.Document{
		Title: d.Title, URL: d.URL, Author: d.Author, FeedTitle: d.FeedTitle,
		Language: d.Language, TitleStems: d.TitleStems, Stems: d.Stems, Tags: d.Tags, Labels: labels,
	}
}

// A categoryHistory counts the categories of a feed's recent items.
type categoryHistory struct {
	items map[string]float64
	sum   float64
}

func newCategoryHistory(items map[string]float64) categoryHistory {
	h := categoryHistory{items: items}
	for _, n := range items {
		if n > 0 { // the order does not matter: sums of whole numbers are exact
			h.sum += n
		}
	}
	return h
}

// adjustment returns the nats that a feed's history adds to the log-odds of a category, and the number of its
// items in it: how much more frequent the category is in the feed than by chance, reduced if few items were
// counted.
func (h categoryHistory) adjustment(category string) (nats, times float64) {
	if h.sum == 0 {
		return 0, 0
	}
	n := max(h.items[category], 0)
	usual := (n + 1) / (h.sum + usualCategories)
	nats = logit(usual) - logit(1.0/usualCategories)
	nats = min(max(nats*h.sum/(h.sum+halfHistoryItems), -maxHistory), maxHistory)
	return nats, n
}

func logit(p float64) float64 { return math.Log(p / (1 - p)) }

// generalReason explains why built-in rules give a document no category.
func (c *Classifier) generalReason(general model.Guess, d Document, outcome Outcome) string {
	from := c.Model.Explain(newModelDocument(d, modelLabels(outcome)), model.General)
	return fmt.Sprintf("no category: general, not IT, guessed from %s (%.0f %%)", strings.Join(from, ", "), 100*model.Probability(general.Odds))
}

// guessReasons explains a guess, for example `category devops: guessed from "helm", "cluster" (82 %)`,
// followed by the rules that matched below the threshold.
func (c *Classifier) guessReasons(k candidate, d Document, outcome Outcome) []string {
	from := []string{"a weak rule"}
	if k.guess != nil {
		from = c.Model.Explain(newModelDocument(d, modelLabels(outcome)), k.name)
	}
	if k.history > 0 && k.items > 0 {
		from = append(from, fmt.Sprintf("%.0f of the feed's recent items", k.items))
	}
	why := fmt.Sprintf("category %s: guessed from %s (%.0f %%)", k.name, strings.Join(from, ", "), 100*model.Probability(k.odds))
	return append([]string{why}, k.label.reasons()...)
}
