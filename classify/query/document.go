package query

import (
	"strings"
	"sync"
	"time"
)

// A Document holds the fields of an item that [Matches] reads. It is safe for concurrent use. Its fields must
// not change after first use, because its words are cached.
type Document struct {
	Title, Author, Text string // plain text
	Tags                []string

	ID                    string // of the item
	Feed, Language, Story string
	URL                   string
	Categories, Topics    []string
	Flags                 []string // values of [Flag], including "spam" and "duplicate"
	Published             time.Time

	mu    sync.Mutex
	words map[Part]*partWords // split on first use
}

// A Part of an item is a text in which words are searched for.
type Part string

const (
	Anywhere Part = ""       // title, text, author or tags
	Title    Part = "title"  //
	Author   Part = "author" //
)

// parts are the texts of the parts that queries name. A new one is also a row of fields.
var parts = map[Part]func(*Document) string{
	Title:  func(d *Document) string { return d.Title },
	Author: func(d *Document) string { return d.Author },
}

// part returns the words of a part.
func (d *Document) part(in Part) *partWords {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.words[in] == nil {
		if d.words == nil {
			d.words = map[Part]*partWords{}
		}
		d.words[in] = splitTexts(d.texts(in))
	}
	return d.words[in]
}

// Stems returns the stems of the words of a part, each once. The map must not be changed.
func (d *Document) Stems(in Part) map[string]bool { return d.part(in).stems }

// HasPhrase reports whether a part contains words in sequence, those of [Text.QueryWords] of a [Phrase].
func (d *Document) HasPhrase(in Part, words []Word) bool { return d.part(in).hasPhrase(words) }

// texts returns the texts of a part.
func (d *Document) texts(in Part) []string {
	if text := parts[in]; text != nil {
		return []string{text(d)}
	}
	all := append([]string{d.Text}, d.Tags...)
	for _, text := range parts {
		all = append(all, text(d))
	}
	return all
}

// partWords are the words of texts.
type partWords struct {
	texts [][]Word
	stems map[string]bool
}

func splitTexts(texts []string) *partWords {
	p := &partWords{stems: map[string]bool{}}
	for _, s := range texts {
		words := Words(s)
		p.texts = append(p.texts, words)
		for _, w := range words {
			p.stems[w.Stem] = true
		}
	}
	return p
}

// has reports whether the words match the condition; nearly allows typos.
func (p *partWords) has(t Text, nearly bool) bool {
	queryWords := t.QueryWords()
	switch {
	case len(queryWords) == 0:
		return false
	case t.Form == Prefix:
		last := len(queryWords) - 1
		return p.hasAll(queryWords[:last], nearly) && p.hasPrefix(queryWords[last].Text, completions(queryWords[last]))
	case t.Form == Phrase:
		return p.hasAll(queryWords, false) && p.hasPhrase(queryWords)
	}
	return p.hasAll(queryWords, nearly)
}

func (p *partWords) hasAll(queryWords []Word, nearly bool) bool {
	for _, w := range queryWords {
		if !p.stems[w.Stem] && !(nearly && p.hasFuzzy(w)) {
			return false
		}
	}
	return true
}

func (p *partWords) hasFuzzy(w Word) bool {
	mistakes := MaxEdits(w.Text)
	if mistakes == 0 {
		return false
	}
	for s := range p.stems {
		if WithinEdits(w.Stem, s, mistakes) {
			return true
		}
	}
	return false
}

func (p *partWords) hasPrefix(begin string, ends []string) bool {
	for _, s := range ends {
		if p.stems[s] {
			return true
		}
	}
	for s := range p.stems {
		if strings.HasPrefix(s, begin) {
			return true
		}
	}
	return false
}

func (p *partWords) hasPhrase(phrase []Word) bool {
	for _, words := range p.texts {
		if hasPhrase(words, phrase) {
			return true
		}
	}
	return false
}

// hasPhrase reports whether words contain the phrase with its distances.
func hasPhrase(words, phrase []Word) bool {
	for i, w := range words {
		if w.Stem == phrase[0].Stem && standsAt(words[i:], phrase) {
			return true
		}
	}
	return false
}

// standsAt reports whether the phrase begins at the first word.
func standsAt(words, phrase []Word) bool {
	i := 0
	for _, queryWords := range phrase {
		pos := words[0].Pos + queryWords.Pos - phrase[0].Pos
		for i < len(words) && words[i].Pos < pos {
			i++
		}
		if i == len(words) || words[i].Pos != pos || words[i].Stem != queryWords.Stem {
			return false
		}
	}
	return true
}
