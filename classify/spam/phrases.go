package spam

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"feedmesh/classify/stem"
	"feedmesh/classify/table"
)

const (
	adultList     = "adult.txt"
	sponsoredList = "sponsored.txt"

	messagePrefix = "message-" // of groups that are for messages only

	edge = 80 // words at the beginning and end of a text, where it says who paid for it
)

// phrase reads a line of phrases.txt or adult.txt.
func (b *builder) phrase(line string) error {
	e, ok, err := b.entry(line)
	if err != nil || !ok {
		return err
	}
	return b.words(e)
}

// words adds words or a phrase to what documents are searched for. Stop words are
// never looked at, so a phrase of which one word remains without them must stand
// in a text as it is written: "call us". So must what is in quotes.
func (b *builder) words(e entry) error {
	words, stems := stem.Count(e.text, ""), stem.List(e.text, "")
	switch {
	case words == 0:
		return fmt.Errorf("%q has no word in it", e.text)
	case len(stems) == 0:
		return fmt.Errorf("%q has stop words only, which are never looked at", e.text)
	}
	inner, quoted := strings.CutPrefix(e.text, `"`)
	e.literal = quoted || len(stems) == 1 && words > 1
	key := strings.Join(stems, " ")
	e.forMessages = strings.HasPrefix(e.group, messagePrefix)
	if e.literal {
		e.text = strings.ToLower(strings.TrimSuffix(inner, `"`))
		key = strconv.Quote(e.text)
	}
	if err := b.once(fmt.Sprint(e.list, e.group, e.title, key)); err != nil {
		return err
	}
	b.filter.phrases = append(b.filter.phrases, e)
	return nil
}

// An index finds phrases by the stem they begin with, so that a search costs what
// the text has, however long the lists are.
type index struct {
	first   table.Table     // stems
	phrases [][]phrase      // by number of their first stem
	veiled  map[string]bool // words that spam disguises
}

// A phrase is the stems of an entry, with their distances.
type phrase struct {
	id      int // of the entry, in Filter.phrases
	stems   []stem.Word
	literal string // what must stand in the text besides, if not empty
}

// What is worth disguising: words of so many letters, of entries that weigh so much.
const (
	minVeiled       = 5
	minVeiledWeight = 1.5
)

// makeIndexes prepares an index for each language whose texts have stems of their
// own. Few deployments meet all of them, so each waits until it is needed.
func (f *Filter) makeIndexes() {
	f.indexes = make(map[string]func() *index)
	for _, language := range append([]string{""}, stem.Languages()...) {
		f.indexes[language] = sync.OnceValue(func() *index { return f.makeIndex(language) })
	}
}

func (f *Filter) makeIndex(language string) *index {
	x := &index{veiled: make(map[string]bool)}
	for id, e := range f.phrases {
		stems := stem.Words(e.text, language)
		if len(stems) == 0 || len(stems) == 1 && !e.literal && stem.Count(e.text, language) > 1 {
			continue // in that language too much of it is stop words
		}
		p := phrase{id: id, stems: stems}
		if e.literal {
			p.stems, p.literal = stems[:1], e.text
		}
		n, isNew := x.first.Add(stems[0].Stem)
		if isNew {
			x.phrases = append(x.phrases, nil)
		}
		x.phrases[n] = append(x.phrases[n], p)
		for _, s := range stems {
			if e.weight >= minVeiledWeight && e.list != sponsoredList && utf8.RuneCountInString(s.Stem) >= minVeiled {
				x.veiled[s.Stem] = true
			}
		}
	}
	return x
}

// from returns the phrases that begin with a stem.
func (x *index) from(stem string) []phrase {
	if n := x.first.Find(stem); n >= 0 {
		return x.phrases[n]
	}
	return nil
}

func (f *Filter) indexOf(language string) *index {
	if make, ok := f.indexes[language]; ok {
		return make()
	}
	return f.indexes[""]()
}

// at reports whether a phrase begins at words[0]. Between two of its words there
// may be one more than it has: "my channel" is in "my new channel".
func (p phrase) at(words []stem.Word) bool {
	if len(p.stems) > len(words) {
		return false
	}
	for i := 1; i < len(p.stems); i++ {
		gap := words[i].Pos - words[i-1].Pos
		if p.stems[i].Stem != words[i].Stem || gap > p.stems[i].Pos-p.stems[i-1].Pos+1 {
			return false
		}
	}
	return true
}

// A hit is a phrase that was found.
type hit struct {
	id      int
	title   bool
	opening bool // the title begins with it
	text    int  // how often
	edge    bool // once at least where the text begins or ends
}

// phrases looks for the phrases of the lists.
func (s *scales) phrases(x *index) {
	var hits []hit
	at := func(id int) *hit {
		i := slices.IndexFunc(hits, func(h hit) bool { return h.id == id })
		if i < 0 {
			i = len(hits)
			hits = append(hits, hit{id: id})
		}
		return &hits[i]
	}
	title, text := literalText{of: s.doc.Title}, literalText{of: s.doc.Text}
	for i, w := range s.title {
		for _, p := range x.from(w.Stem) {
			if p.at(s.title[i:]) && title.has(p.literal) {
				h := at(p.id)
				h.title, h.opening = true, h.opening || w.Pos == 0
			}
		}
	}
	words := wordCount(s.text)
	for i, w := range s.text {
		for _, p := range x.from(w.Stem) {
			if p.at(s.text[i:]) && text.has(p.literal) {
				h := at(p.id)
				h.text++
				h.edge = h.edge || w.Pos < edge || w.Pos > words-edge
			}
		}
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Compare(a.id, b.id) })
	s.count(hits, words)
}

// A literalText is a text that phrases are looked for in as they are written.
type literalText struct {
	of    string
	lower string          // made when it is first needed
	known map[string]bool // what was asked for before
}

// has reports whether a phrase stands in the text, its words whole; the empty one
// always does.
func (t *literalText) has(phrase string) bool {
	if phrase == "" {
		return true
	}
	if t.known == nil {
		t.lower, t.known = lowered(t.of), make(map[string]bool)
	}
	found, ok := t.known[phrase]
	if !ok {
		found = hasWords(t.lower, phrase)
		t.known[phrase] = found
	}
	return found
}

func hasWords(text, phrase string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], phrase)
		if i < 0 {
			return false
		}
		start := from + i
		from = start + len(phrase)
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		after, _ := utf8.DecodeRuneInString(text[from:])
		if !isWordRune(before) && !isWordRune(after) {
			return true
		}
	}
}

func isWordRune(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// wordCount returns how many words a text has, roughly: behind its last stem there
// may be stop words.
func wordCount(stems []stem.Word) int {
	if len(stems) == 0 {
		return 0
	}
	return stems[len(stems)-1].Pos + 1
}

// count puts phrases on the scales. One that a long text has once says less than
// one of a short text.
func (s *scales) count(hits []hit, words int) {
	var adult float64
	var adultHit entry
	for _, h := range hits {
		e := s.filter.phrases[h.id]
		if e.list == sponsoredList {
			s.disclosure(e, h)
			continue
		}
		if e.forMessages && !s.message {
			continue
		}
		share, field := 0.0, "text"
		if h.text > 0 {
			share = min(1, math.Sqrt(float64(h.text)*s.filter.weights[longText]/float64(words)))
		}
		if inTitle := s.filter.weights[titleShare]; h.title && inTitle > share {
			share, field = inTitle, "title"
		}
		if e.list == adultList {
			if adult == 0 {
				adultHit = e
			}
			adult += e.weight * share
			share *= s.filter.weights[adultShare]
		}
		s.phrase(e, share, field)
	}
	if adult > 0 && adult >= s.filter.weights[adultFlag] {
		s.flags = append(s.flags, evidence{kind: "adult", what: fmt.Sprintf("%q", adultHit.text), where: adultHit.where})
	}
}
