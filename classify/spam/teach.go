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
	maxLearned  = 20_000    // words that learned.txt has
	maxSum      = 4_000_000 // words of all messages
	maxTaught   = 400       // distinct words of an example that are learned
	maxWord     = 60        // bytes
	lessonWorth = 10        // messages of the training set that one lesson of a person counts for
)

// An Example is a document and whether it is spam.
type Example struct {
	Document
	Spam bool
}

// Teach returns archive with a learned.txt that has learned from what people
// said: items that they released or reported. It learns their words and hosts;
// each example counts for ten messages of the set it was first trained with. The
// other files of archive stay as they are; the result is never more than some
// 400 KB longer. Equal calls have equal results, in whatever order the examples
// are. The error is [Parse]'s of archive.
func Teach(archive []byte, examples []Example) ([]byte, error) {
	f, err := Parse(archive)
	if err != nil {
		return nil, err
	}
	l := lessons{all: f.lessons.all, words: maps.Clone(f.lessons.words)}
	for _, e := range examples {
		l.learn(e, lessonWorth)
	}
	l.shrink()
	a := txtar.Parse(archive)
	head := headOf(shippedFile("learned.txt"))
	i := slices.IndexFunc(a.Files, func(f txtar.File) bool { return f.Name == "learned.txt" })
	if i < 0 {
		i = len(a.Files)
		a.Files = append(a.Files, txtar.File{Name: "learned.txt"})
	} else {
		head = headOf(a.Files[i].Data)
	}
	a.Files[i].Data = append(head, l.format()...)
	return txtar.Format(a), nil
}

// Train returns what learned.txt says after the examples alone, below the comment
// head, of those words that were seen three times and tell something.
func Train(head string, examples []Example) []byte {
	l := lessons{words: make(map[string]count)}
	for _, e := range examples {
		l.learn(e, 1)
	}
	maps.DeleteFunc(l.words, func(word string, c count) bool {
		odds := l.odds(c)
		return c.spam+c.ham < leastSeen || odds > -0.7 && odds < 0.7 || strings.HasPrefix(word, hostPrefix)
	})
	l.shrink()
	return append([]byte(head), l.format()...)
}

// headOf returns the comment that a list begins with.
func headOf(list []byte) []byte {
	end := 0
	for line := range bytes.Lines(list) {
		if !bytes.HasPrefix(line, []byte("#")) {
			break
		}
		end += len(line)
	}
	return slices.Clip(list[:end:end])
}

// learn adds an example, as if it had been there so many times.
func (l *lessons) learn(e Example, times int) {
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
	s := scales{doc: &e.Document, message: e.isMessage()}
	s.title, s.text = stem.Words(e.Title, e.Language), stem.Words(e.Text, e.Language)
	for word := range s.features() {
		isNumber := word[0] >= '0' && word[0] <= '9'
		if !isNumber && word != sums && isPlain(word) && !had[word] && len(had) < maxTaught {
			had[word] = true
			l.words[word], l.all = add(l.words[word]), add(l.all)
		}
	}
	if host := e.host(); isPlain(host) {
		l.words[hostPrefix+host] = add(l.words[hostPrefix+host])
	}
}

// isPlain reports whether a word can be a line's first in learned.txt.
func isPlain(word string) bool {
	return word != "" && len(word) <= maxWord && !strings.ContainsFunc(word, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || r == '#' || r == unicode.ReplacementChar
	})
}

// shrink halves the counts while there are too many words, so that what is old
// fades, and drops those that were seen least while too many differ.
func (l *lessons) shrink() {
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

// sorted returns the words, those that were seen most first.
func (l *lessons) sorted() []string {
	return slices.SortedFunc(maps.Keys(l.words), func(a, b string) int {
		x, y := l.words[a], l.words[b]
		return cmp.Or(cmp.Compare(y.spam+y.ham, x.spam+x.ham), cmp.Compare(a, b))
	})
}

// format returns the lessons as learned.txt has them, by name.
func (l *lessons) format() []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "%s %d %d\n", sums, l.all.spam, l.all.ham)
	for _, word := range slices.Sorted(maps.Keys(l.words)) {
		if c := l.words[word]; c.spam+c.ham > 0 {
			fmt.Fprintf(&out, "%s %d %d\n", word, c.spam, c.ham)
		}
	}
	return out.Bytes()
}
