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
	telling    = 15 // words that a document is judged by: those that tell most
	fewClues   = 5  // words from which these count in full
	leastSeen  = 3  // messages that a word must have been in
	smoothing  = 2  // messages that each word is thought to have been in besides
	hostPrefix = "host:"

	learnedOfRest = 0.6     // of what else was found in an item, at most
	hostSmoothing = 0.5     // reports, and releases, that each host is thought to have had
	sums          = "words" // what the line with the sums begins with
)

// A count is how many messages of a kind had something.
type count struct{ spam, ham int }

// Lessons are what learned.txt has: in how many messages each word was, by stem,
// and how many items of each host people told of.
type lessons struct {
	all   count // of words, of all messages
	words map[string]count
}

// lesson reads a line of learned.txt: a word, in how many messages it was that
// are spam, and in how many that are not. "words" is how many words these had.
func (b *builder) lesson(line string) error {
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
	if err := b.once("learned " + f[0]); err != nil {
		return err
	}
	l := &b.filter.lessons
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
		return 0, fmt.Errorf("%q is no count", s)
	}
	return n, nil
}

// odds returns how much likelier a word is in spam, as a logarithm. A word is
// thought to have been in some messages besides, of either kind alike.
func (l *lessons) odds(c count) float64 {
	spam, ham := float64(max(1, l.all.spam)), float64(max(1, l.all.ham))
	return math.Log((float64(c.spam)/spam + smoothing/(spam+ham)) / (float64(c.ham)/ham + smoothing/(spam+ham)))
}

// Clues are the words that were seen often enough, by number: those that tell most
// first, and then by name.
type clues struct {
	words table.Table
	odds  []float64 // as many
}

func cluesOf(l *lessons) *clues {
	type clue struct {
		word string
		odds float64
	}
	var list []clue
	for word, c := range l.words {
		if c.spam+c.ham >= leastSeen {
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

// learned weighs what messages with these words were, and items of this host. The
// words are naive Bayes', so that they agree with one another too much: of items
// they say less than the lists and looks do, or a little.
//
// Source: P. Graham, A plan for spam, 2002, for judging by the most telling words.
func (s *scales) learned() {
	found := s.clues()
	found = found[:min(len(found), telling)]
	sum := 0.0
	for _, n := range found {
		sum += s.filter.clues.odds[n]
	}
	sum *= min(1, float64(len(found))/fewClues)
	w := &s.filter.weights
	limit, part := max(w[learnedLeast], min(w[learnedMost], learnedOfRest*s.found)), w[learnedShare]
	if s.message {
		limit, part = w[learnedMessageCap], w[learnedMessageShare]
	}
	if sum = max(-w[learnedHamCap], min(limit, part*sum)); sum != 0 {
		s.evidence = append(s.evidence, evidence{kind: "learned", what: "from " + s.filter.clues.quoted(found), points: math.Round(sum*1000) / 1000})
	}
	if c, ok := s.filter.lessons.words[hostPrefix+s.doc.host()]; ok {
		limit = s.filter.weights[taughtHostCap]
		odds := s.filter.weights[taughtHost] * math.Log((float64(c.spam)/lessonWorth+hostSmoothing)/(float64(c.ham)/lessonWorth+hostSmoothing))
		s.evidence = append(s.evidence, evidence{kind: "taught", what: "by people about " + s.doc.host(), points: math.Round(1000*max(-limit, min(limit, odds))) / 1000})
	}
}

// clues returns the numbers of the clues that the document has, in order.
func (s *scales) clues() []int32 {
	var found []int32
	for word := range s.features() {
		if n := s.filter.clues.words.Find(word); n >= 0 {
			found = append(found, n)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// quoted returns the first of some clues in words.
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
