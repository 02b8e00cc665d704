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

	Feed, Language, Story string
	URL                   string
	Categories, Topics    []string
	Flags                 []string // values of [Flag], including "spam" and "duplicate"
	Published             time.Time

	title, author, all partWords
}

// partWords caches the words of texts, which are split on first use.
type partWords struct {
	once  sync.Once
	texts [][]Word
	stems map[string]bool
}

func (p *partWords) read(texts ...string) *partWords {
	p.once.Do(func() {
		p.stems = map[string]bool{}
		for _, s := range texts {
			words := Words(s)
			p.texts = append(p.texts, words)
			for _, w := range words {
				p.stems[w.Stem] = true
			}
		}
	})
	return p
}

// part returns the words of a part.
func (d *Document) part(in Part) *partWords {
	switch in {
	case Title:
		return d.title.read(d.Title)
	case Author:
		return d.author.read(d.Author)
	}
	return d.all.read(append([]string{d.Title, d.Author, d.Text}, d.Tags...)...)
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
