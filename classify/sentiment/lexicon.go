package sentiment

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"feedmesh/classify/stem"
)

// A lexicon holds the word weights of a language.
type lexicon struct {
	language string
	stems    map[string]float64  // by key
	begins   map[string]bool     // prefixes of words and keys, to skip stemming most words
	phrases  map[string][]phrase // by first word, longest first
	roles    map[string]word     // words that modify others
}

// A phrase is several words, or a single word that must not match by its stem, as written.
type phrase struct {
	words  []string
	weight float64
}

func (p phrase) begins(words []word) bool {
	if len(p.words) > len(words) {
		return false
	}
	for i, w := range p.words {
		if words[i].text != w {
			return false
		}
	}
	return true
}

// A word is a word of a text.
type word struct {
	text     string // in lower case, ё as е
	weight   float64
	role     role
	strength float64 // of a modifier: factor for the next word
	only     bool    // cancels a negation before it: "not only"
}

// A role is the effect of a word on the words that follow.
type role uint8

const (
	none role = iota
	negation
	modifier
	contrast // "but": the part after it counts more than the part before
)

// modifiers are the words that modify others, by language.
var modifiers = map[string]struct{ negations, turns, stronger, weaker, only string }{
	"en": {
		negations: "not no never without cannot can't couldn't don't doesn't didn't isn't wasn't aren't weren't won't wouldn't shouldn't hasn't haven't hadn't hardly barely neither nor nothing nobody ain't dont doesnt isnt lacks",
		turns:     "but however although though yet nevertheless",
		stronger:  "very extremely really absolutely incredibly truly highly totally completely especially most particularly remarkably insanely hugely so much",
		weaker:    "slightly somewhat fairly kinda partly marginally rather little bit mildly almost",
		only:      "only just",
	},
	"ru": {
		negations: "не нет ни без никогда никак нельзя вряд едва ничего никто",
		turns:     "но однако зато хотя",
		stronger:  "очень крайне весьма чрезвычайно невероятно абсолютно совершенно особенно настолько самый самая самое самые жутко дико гораздо намного",
		weaker:    "немного чуть слегка несколько довольно относительно отчасти местами почти",
		only:      "только просто",
	},
}

const (
	stronger = 1.4
	weaker   = 0.6
)

//go:embed lexicons
var files embed.FS

var lexicons = map[string]func() *lexicon{
	"en": sync.OnceValue(func() *lexicon { return load("en") }),
	"ru": sync.OnceValue(func() *lexicon { return load("ru") }),
}

func lexiconOf(language string) *lexicon {
	if load, ok := lexicons[language]; ok {
		return load()
	}
	return nil
}

func load(language string) *lexicon {
	data, err := files.ReadFile("lexicons/" + language + ".txt")
	if err != nil {
		panic(err) // impossible: the files are embedded
	}
	l, err := parse(string(data), language)
	if err != nil {
		panic(fmt.Errorf("%s.txt: %w", language, err))
	}
	return l
}

// parse parses a lexicon: lines of a weight, a colon, and words or quoted phrases; # begins a comment. The
// error joins all problems with their lines.
func parse(text, language string) (*lexicon, error) {
	l := &lexicon{language: language, stems: make(map[string]float64), begins: make(map[string]bool), phrases: make(map[string][]phrase), roles: make(map[string]word)}
	var faults []error
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if err := l.line(line); err != nil {
			faults = append(faults, fmt.Errorf("%d: %w", n, err))
		}
	}
	for _, list := range l.phrases {
		slices.SortStableFunc(list, func(a, b phrase) int { return cmp.Compare(len(b.words), len(a.words)) })
	}
	l.addRoles()
	return l, errors.Join(faults...)
}

func (l *lexicon) line(line string) error {
	number, list, ok := strings.Cut(line, ":")
	weight, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || !(weight >= -3 && weight <= 3) {
		return errors.New("want a weight from -3 to 3 and a colon")
	}
	for i, part := range strings.Split(list, `"`) {
		words := strings.Fields(part)
		if i%2 == 1 {
			if len(words) == 0 {
				return errors.New("a phrase has no words")
			}
			l.phrases[words[0]] = append(l.phrases[words[0]], phrase{words, weight})
			continue
		}
		for _, w := range words {
			k := key(w, l.language)
			l.stems[k], l.begins[beginning(w)], l.begins[beginning(k)] = weight, true, true
		}
	}
	return nil
}

// key returns the form in which a word is compared: its stem, or the word if the stem is so short that
// unrelated words share it, as awful and AWS do.
func key(word, language string) string {
	stem := stem.Of(word, language)
	if short := 4; len(stem) < short && len(word) >= len(stem)+3 {
		return word
	}
	return stem
}

// beginning returns the first four bytes of a word: two letters of a Russian word.
func beginning(word string) string { return word[:min(len(word), 4)] }

// addRoles adds the words that modify others.
func (l *lexicon) addRoles() {
	a := modifiers[l.language]
	for list, w := range map[string]word{
		a.negations: {role: negation}, a.turns: {role: contrast},
		a.stronger: {role: modifier, strength: stronger}, a.weaker: {role: modifier, strength: weaker},
	} {
		for _, text := range strings.Fields(list) {
			l.roles[text] = w
		}
	}
	for _, text := range strings.Fields(a.only) {
		w := l.roles[text]
		w.only = true
		l.roles[text] = w
	}
}

// sentences yields the words of each sentence of a lower-case text. The slice is reused.
func (l *lexicon) sentences(text string) iter.Seq[[]word] {
	return func(yield func([]word) bool) {
		var words []word
		flush := func() bool {
			more := len(words) == 0 || yield(words)
			words = words[:0]
			return more
		}
		for i := 0; i < len(text); {
			r, size := utf8.DecodeRuneInString(text[i:])
			switch {
			case isLetter(r):
				end := wordEnd(text, i)
				words = append(words, l.word(text[i:end]))
				i = end
				continue
			case r == '!' || r == '?' || r == ';' || r == '\n' || r == '…' || r == '.' && !startsWord(text[i+1:]):
				if !flush() {
					return
				}
			}
			i += size
		}
		flush()
	}
}

// wordEnd returns the end of the word at i: letters, and apostrophes inside.
func wordEnd(text string, i int) int {
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		isInner := r == '\'' && startsWord(text[i+size:])
		if !isLetter(r) && !isInner {
			break
		}
		i += size
	}
	return i
}

// isLetter has a fast path for the most frequent letters.
func isLetter(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'а' && r <= 'я' || r >= utf8.RuneSelf && unicode.IsLetter(r)
}

func startsWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return isLetter(r)
}

// word looks up a lower-case word.
func (l *lexicon) word(text string) word {
	w := l.roles[text]
	w.text = text
	if w.role == none && l.begins[beginning(text)] {
		w.weight = l.stems[key(text, l.language)]
	}
	return w
}
