package spam

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"feedmesh/classify/table"
)

const (
	maxCount   = 1_000_000_000
	maxClues   = 15 // words used per document, the strongest first
	fullClues  = 5  // words from which the learned score counts in full
	minSeen    = 3  // messages that must contain a word
	smoothing  = 2  // pseudo-count of messages for each word
	hostPrefix = "host:"

	correctionWeight = 10 // messages of the training set that one correction by a person counts for

	learnedOfRest = 0.6     // of the other evidence in an item: upper limit of the learned score
	hostSmoothing = 0.5     // pseudo-count of reports, and of releases, for each host
	sums          = "words" // key of the line with the totals
)

// A count is the number of spam and ham messages with a feature.
type count struct{ spam, ham int }

// wordCounts are the contents of learned.txt: the number of messages with each stem, and of reported and
// released items of each host.
type wordCounts struct {
	all   count // total words of all messages
	words map[string]count
}

// parseLearnedWord parses a line of learned.txt: a word and the number of spam and ham messages that contain it.
// The line "words" has the totals.
func parseLearnedWord(b *listParser, line string) error {
	f := strings.Fields(line)
	if len(f) != 3 {
		return errors.New("want a word and two counts")
	}
	spam, err := parseCount(f[1])
	if err != nil {
		return err
	}
	ham, err := parseCount(f[2])
	if err != nil {
		return err
	}
	if err := b.addUnique("learned " + f[0]); err != nil {
		return err
	}
	l := &b.filter.learned
	if l.words == nil {
		l.words = make(map[string]count)
	}
	if f[0] == sums {
		l.all = count{spam, ham}
		return nil
	}
	l.words[f[0]] = count{spam, ham}
	return nil
}

func parseCount(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > maxCount {
		return 0, fmt.Errorf("%q is not a count", s)
	}
	return n, nil
}

// odds returns the log-likelihood ratio of a word for spam. A pseudo-count of messages, divided evenly
// between both kinds, smooths it.
func (l *wordCounts) odds(c count) float64 {
	spam, ham := float64(max(1, l.all.spam)), float64(max(1, l.all.ham))
	return math.Log((float64(c.spam)/spam + smoothing/(spam+ham)) / (float64(c.ham)/ham + smoothing/(spam+ham)))
}

// clues are the words seen often enough, by number: in descending order of strength, then by name.
type clues struct {
	words table.Table
	odds  []float64 // by number
}

func cluesOf(l *wordCounts) *clues {
	type clue struct {
		word string
		odds float64
	}
	var list []clue
	for word, c := range l.words {
		if c.spam+c.ham >= minSeen {
			list = append(list, clue{word, math.Round(l.odds(c)*1000) / 1000})
		}
	}
	slices.SortFunc(list, func(a, b clue) int {
		return cmp.Or(cmp.Compare(math.Abs(b.odds), math.Abs(a.odds)), cmp.Compare(a.word, b.word))
	})
	c := new(clues)
	for _, k := range list {
		c.words.Add(k.word)
		c.odds = append(c.odds, k.odds)
	}
	c.words.Fit()
	return c
}

// scoreLearned scores the document's words and host by the learned counts. The words form a naive Bayes
// classifier, which overestimates because words are not independent. For items its score is therefore limited
// by the score of lists and style, with a small minimum.
//
// Source: P. Graham, A plan for spam, 2002, for using only the strongest words.
func (s *scorer) scoreLearned() {
	found := s.clues()
	found = found[:min(len(found), maxClues)]
	sum := 0.0
	for _, n := range found {
		sum += s.filter.clues.odds[n]
	}
	sum *= min(1, float64(len(found))/fullClues)
	w := &s.filter.weights
	limit, part := max(w[learnedLeast], min(w[learnedMost], learnedOfRest*s.subtotal)), w[learnedShare]
	if s.message {
		limit, part = w[learnedMessageCap], w[learnedMessageShare]
	}
	if sum = max(-w[learnedHamCap], min(limit, part*sum)); sum != 0 {
		s.evidence = append(s.evidence, evidence{kind: "learned", text: "from " + s.filter.clues.quoted(found), points: math.Round(sum*1000) / 1000})
	}
	if c, ok := s.filter.learned.words[hostPrefix+s.doc.host()]; ok {
		limit = s.filter.weights[taughtHostCap]
		odds := s.filter.weights[taughtHost] * math.Log((float64(c.spam)/correctionWeight+hostSmoothing)/(float64(c.ham)/correctionWeight+hostSmoothing))
		s.evidence = append(s.evidence, evidence{kind: "taught", text: "user corrections for " + s.doc.host(), points: math.Round(1000*max(-limit, min(limit, odds))) / 1000})
	}
}

// clues returns the numbers of the clues in the document, in order.
func (s *scorer) clues() []int32 {
	var found []int32
	for word := range learnedFeatures(s) {
		if n := s.filter.clues.words.Find(word); n >= 0 {
			found = append(found, n)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// quoted returns the first clues as quoted words.
func (c *clues) quoted(list []int32) string {
	var words []string
	for _, n := range list[:min(len(list), 4)] {
		words = append(words, strconv.Quote(string(c.words.Word(n))))
	}
	return strings.Join(words, ", ")
}

// host returns the host of the document, or "".
func (d *Document) host() string {
	if d.Host != "" {
		return strings.TrimPrefix(strings.ToLower(d.Host), "www.")
	}
	return hostOf(strings.ToLower(d.URL))
}
