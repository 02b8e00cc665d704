package query

import (
	"strings"
	"sync"
	"time"
)

// A Document is what [Matches] reads of an item. It may be used concurrently. Its
// fields must not change once it was asked for.
type Document struct {
	Title, Author, Text string // plain text
	Tags                []string

	Feed, Language, Story string
	URL                   string
	Categories, Topics    []string
	Flags                 []string // those of [Flag], "spam" and "duplicate" among them
	Published             time.Time

	title, author, all part
}

// A part is the words of texts, split when they are first asked for.
type part struct {
	once  sync.Once
	texts [][]Word
	stems map[string]bool
}

func (p *part) read(texts ...string) *part {
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
func (d *Document) part(in Part) *part {
	switch in {
	case Title:
		return d.title.read(d.Title)
	case Author:
		return d.author.read(d.Author)
	}
	return d.all.read(append([]string{d.Title, d.Author, d.Text}, d.Tags...)...)
}

// has reports whether the part's words are what the text asks for.
func (p *part) has(t Text, nearly bool) bool {
	sought := t.Sought()
	switch {
	case len(sought) == 0:
		return false
	case t.Form == Prefix:
		last := len(sought) - 1
		return p.hasAll(sought[:last], nearly) && p.begins(sought[last].Text, endsOf(sought[last]))
	case t.Form == Phrase:
		return p.hasAll(sought, false) && p.hasPhrase(sought)
	}
	return p.hasAll(sought, nearly)
}

func (p *part) hasAll(sought []Word, nearly bool) bool {
	for _, w := range sought {
		if !p.stems[w.Stem] && !(nearly && p.hasNearly(w)) {
			return false
		}
	}
	return true
}

func (p *part) hasNearly(w Word) bool {
	mistakes := Forgives(w.Text)
	if mistakes == 0 {
		return false
	}
	for s := range p.stems {
		if IsNear(w.Stem, s, mistakes) {
			return true
		}
	}
	return false
}

func (p *part) begins(begin string, ends []string) bool {
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

func (p *part) hasPhrase(phrase []Word) bool {
	for _, words := range p.texts {
		if hasPhrase(words, phrase) {
			return true
		}
	}
	return false
}

// hasPhrase reports whether the words have those of the phrase at its distances.
func hasPhrase(words, phrase []Word) bool {
	for i, w := range words {
		if w.Stem == phrase[0].Stem && standsAt(words[i:], phrase) {
			return true
		}
	}
	return false
}

// standsAt reports whether the phrase begins with the first of the words.
func standsAt(words, phrase []Word) bool {
	i := 0
	for _, sought := range phrase {
		pos := words[0].Pos + sought.Pos - phrase[0].Pos
		for i < len(words) && words[i].Pos < pos {
			i++
		}
		if i == len(words) || words[i].Pos != pos || words[i].Stem != sought.Stem {
			return false
		}
	}
	return true
}
