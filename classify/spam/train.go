package spam

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/tools/txtar"

	"feedmesh/classify/stem"
)

const (
	maxLearned      = 20_000    // words in learned.txt
	maxSum          = 4_000_000 // total words of all messages
	maxExampleWords = 400       // distinct words counted per example
	maxWord         = 60        // bytes
)

// An Example is a document labeled as spam or not.
type Example struct {
	Document
	Spam bool
}

// AddExamples returns the archive with a learned.txt updated by the corrections of users: items that they
// released or reported. It counts their words and hosts; each example weighs as much as ten messages of the
// original training set. Other files of the archive stay unchanged, and the result is at most about 400 KB
// longer. The result does not depend on the order of the examples. The error is that of [Parse] for the
// archive.
func AddExamples(archive []byte, examples []Example) ([]byte, error) {
	f, err := Parse(archive)
	if err != nil {
		return nil, err
	}
	l := wordCounts{all: f.learned.all, words: maps.Clone(f.learned.words)}
	for _, e := range examples {
		l.addExample(e, correctionWeight)
	}
	l.shrink()
	a := txtar.Parse(archive)
	head := leadingComment(shippedFile("learned.txt"))
	i := slices.IndexFunc(a.Files, func(f txtar.File) bool { return f.Name == "learned.txt" })
	if i < 0 {
		i = len(a.Files)
		a.Files = append(a.Files, txtar.File{Name: "learned.txt"})
	} else {
		head = leadingComment(a.Files[i].Data)
	}
	a.Files[i].Data = append(head, l.format()...)
	return txtar.Format(a), nil
}

// Train returns a learned.txt from the examples alone, below the comment head, with the words that occur in
// at least three messages and are significant.
func Train(head string, examples []Example) []byte {
	l := wordCounts{words: make(map[string]count)}
	for _, e := range examples {
		l.addExample(e, 1)
	}
	maps.DeleteFunc(l.words, func(word string, c count) bool {
		odds := l.odds(c)
		return c.spam+c.ham < minSeen || odds > -0.7 && odds < 0.7 || strings.HasPrefix(word, hostPrefix)
	})
	l.shrink()
	return append([]byte(head), l.format()...)
}

// leadingComment returns the comment at the beginning of a list.
func leadingComment(list []byte) []byte {
	end := 0
	for line := range bytes.Lines(list) {
		if !bytes.HasPrefix(line, []byte("#")) {
			break
		}
		end += len(line)
	}
	return slices.Clip(list[:end:end])
}

// addExample counts an example with the weight times.
func (l *wordCounts) addExample(e Example, times int) {
	if l.words == nil {
		l.words = make(map[string]count)
	}
	add := func(c count) count {
		if e.Spam {
			return count{c.spam + times, c.ham}
		}
		return count{c.spam, c.ham + times}
	}
	shorten(&e.Document)
	had := make(map[string]bool)
	s := scorer{doc: &e.Document, message: e.isMessage()}
	s.title, s.text = stem.Words(e.Title, e.Language), stem.Words(e.Text, e.Language)
	for word := range learnedFeatures(&s) {
		isNumber := word[0] >= '0' && word[0] <= '9'
		if !isNumber && word != sums && isPlain(word) && !had[word] && len(had) < maxExampleWords {
			had[word] = true
			l.words[word], l.all = add(l.words[word]), add(l.all)
		}
	}
	if host := e.host(); isPlain(host) {
		l.words[hostPrefix+host] = add(l.words[hostPrefix+host])
	}
}

// isPlain reports whether a word can be stored in learned.txt.
func isPlain(word string) bool {
	return word != "" && len(word) <= maxWord && !strings.ContainsFunc(word, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || r == '#' || r == unicode.ReplacementChar
	})
}

// shrink halves all counts while the total is too large, so that old examples fade, and drops the rarest
// words beyond the limit.
func (l *wordCounts) shrink() {
	for l.all.spam+l.all.ham > maxSum {
		l.all = count{l.all.spam / 2, l.all.ham / 2}
		for word, c := range l.words {
			l.words[word] = count{c.spam / 2, c.ham / 2}
		}
	}
	words := l.sorted()
	for _, word := range words[min(len(words), maxLearned):] {
		delete(l.words, word)
	}
}

// sorted returns the words in descending order of their counts.
func (l *wordCounts) sorted() []string {
	return slices.SortedFunc(maps.Keys(l.words), func(a, b string) int {
		x, y := l.words[a], l.words[b]
		return cmp.Or(cmp.Compare(y.spam+y.ham, x.spam+x.ham), cmp.Compare(a, b))
	})
}

// format returns the contents of learned.txt, sorted by word.
func (l *wordCounts) format() []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "%s %d %d\n", sums, l.all.spam, l.all.ham)
	for _, word := range slices.Sorted(maps.Keys(l.words)) {
		if c := l.words[word]; c.spam+c.ham > 0 {
			fmt.Fprintf(&out, "%s %d %d\n", word, c.spam, c.ham)
		}
	}
	return out.Bytes()
}
