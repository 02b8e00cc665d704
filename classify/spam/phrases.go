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

	messagePrefix = "message-" // of groups that apply to messages only

	stuffed      = 4   // minimum occurrences of a phrase that fills a text
	stuffedShare = 0.2 // of the words of the text

	edge = 80 // words at the beginning and end of a text in which disclosures are searched for
)

// phrase parses a line of phrases.txt or adult.txt.
func (b *listParser) phrase(line string) error {
	e, ok, err := b.entry(line)
	if err != nil || !ok {
		return err
	}
	return b.words(e)
}

// words adds a word or phrase to the phrases of the filter. Stop words are not indexed, so that a phrase with
// one other word must occur in a text as written: "call us". So must a quoted phrase.
func (b *listParser) words(e entry) error {
	words, stems := stem.CountWords(e.text, ""), stem.Stems(e.text, "")
	switch {
	case words == 0:
		return fmt.Errorf("%q contains no word", e.text)
	case len(stems) == 0:
		return fmt.Errorf("%q contains stop words only, which are not indexed", e.text)
	}
	inner, quoted := strings.CutPrefix(e.text, `"`)
	e.literal = quoted || len(stems) == 1 && words > 1
	key := strings.Join(stems, " ")
	e.forMessages = strings.HasPrefix(e.group, messagePrefix)
	if e.literal {
		e.text = strings.ToLower(strings.TrimSuffix(inner, `"`))
		key = strconv.Quote(e.text)
	}
	if err := b.addUnique(fmt.Sprint(e.list, e.group, e.title, key)); err != nil {
		return err
	}
	b.filter.phrases = append(b.filter.phrases, e)
	return nil
}

// An index finds phrases by their first stem, so that the cost of a search depends on the text and not on the
// length of the lists.
type index struct {
	first       table.Table     // stems
	phrases     [][]phrase      // by number of the first stem
	disguisable map[string]bool // words that spam tends to disguise
}

// A phrase is the stems of an entry with their distances.
type phrase struct {
	id      int // index of the entry in Filter.phrases
	stems   []stem.Word
	literal string // must also occur in the text as written, if not empty
}

// Minimum letters and weight of words for which disguises are detected.
const (
	minDisguisable       = 5
	minDisguisableWeight = 1.5
)

// makeIndexes prepares an index for each language with stemming of its own. Each index is built on first use,
// because few deployments meet all languages.
func (f *Filter) makeIndexes() {
	f.indexes = make(map[string]func() *index)
	for _, language := range append([]string{""}, stem.Languages()...) {
		f.indexes[language] = sync.OnceValue(func() *index { return f.makeIndex(language) })
	}
}

func (f *Filter) makeIndex(language string) *index {
	x := &index{disguisable: make(map[string]bool)}
	for id, e := range f.phrases {
		stems := stem.Words(e.text, language)
		if len(stems) == 0 || len(stems) == 1 && !e.literal && stem.CountWords(e.text, language) > 1 {
			continue // too many stop words in this language
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
			if e.weight >= minDisguisableWeight && e.list != sponsoredList && utf8.RuneCountInString(s.Stem) >= minDisguisable {
				x.disguisable[s.Stem] = true
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

// at reports whether a phrase begins at words[0]. One additional word is allowed between two of its words:
// "my channel" matches "my new channel".
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
	text    int  // number of occurrences
	edge    bool // at least one occurrence is near the beginning or end of the text
}

// scorePhrases finds and scores the phrases of the lists.
func (s *scorer) scorePhrases(x *index) {
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
	s.addPhrases(hits, words)
}

// A literalText caches searches for phrases as written.
type literalText struct {
	of    string
	lower string          // computed on first use
	cache map[string]bool // results of earlier searches
}

// has reports whether the text contains a phrase as whole words; the empty phrase always matches.
func (t *literalText) has(phrase string) bool {
	if phrase == "" {
		return true
	}
	if t.cache == nil {
		t.lower, t.cache = lowered(t.of), make(map[string]bool)
	}
	found, ok := t.cache[phrase]
	if !ok {
		found = hasWords(t.lower, phrase)
		t.cache[phrase] = found
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

// wordCount estimates the number of words in a text: stop words may follow its last stem.
func wordCount(stems []stem.Word) int {
	if len(stems) == 0 {
		return 0
	}
	return stems[len(stems)-1].Pos + 1
}

// addStuffing adds the evidence of a phrase of several words that is repeated for search engines.
func (s *scorer) addStuffing(e entry, times, words int) {
	length := stem.CountWords(e.text, "")
	if times >= stuffed && length > 1 && float64(times*length) >= stuffedShare*float64(words) {
		s.addSignal(stuffing, 1, fmt.Sprintf("%q %d times", e.text, times))
	}
}

// addPhrases adds the evidence of phrases. A single occurrence counts less in a long text than in a short
// one.
func (s *scorer) addPhrases(hits []hit, words int) {
	var adult float64
	var adultHit entry
	for _, h := range hits {
		e := s.filter.phrases[h.id]
		if e.list == sponsoredList {
			flagDisclosure(s, e, h)
			continue
		}
		if e.forMessages && !s.message {
			continue
		}
		share, field := 0.0, "text"
		if h.text > 0 {
			share = min(1, math.Sqrt(float64(h.text)*s.filter.weights[longText]/float64(words)))
		}
		if e.weight > 0 {
			s.addStuffing(e, h.text, words)
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
		s.addPhrase(e, share, field)
	}
	if adult > 0 && adult >= s.filter.weights[adultFlag] {
		s.flags = append(s.flags, evidence{kind: "adult", text: fmt.Sprintf("%q", adultHit.text), where: adultHit.where})
	}
}
