package across

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
)

// conceptsFile is the dictionary. It was written for this program.
//
//go:embed concepts.txt
var conceptsFile string

// A concept is a meaning with its words in each language.
type concept struct {
	id        string
	name      bool                // of a person, a company or a product
	spellings map[string][]string // words to search for, by language
	opposites []*concept
	stage     bool // later than the beginning of a happening
}

func (c *concept) weight() float64 {
	if c.name {
		return 0.8
	}
	return conceptWeight
}

// isLater reports whether one of the concepts is a later stage of a happening.
func isLater(concepts map[*concept]bool) bool {
	for c := range concepts {
		if c.stage {
			return true
		}
	}
	return false
}

// opposed reports whether one of two titles has a concept and the other only its opposite, or only one is about a
// later stage.
func opposed(a, b Title) bool {
	x, y := a.concepts(), b.concepts()
	if isLater(x) != isLater(y) {
		return true
	}
	for c := range x {
		for _, d := range c.opposites {
			if y[d] && !y[c] && !x[d] {
				return true
			}
		}
	}
	return false
}

// concepts returns the concepts of a title's words.
func (t Title) concepts() map[*concept]bool {
	all := map[*concept]bool{}
	for _, x := range t.terms {
		for _, c := range x.concepts {
			all[c] = true
		}
	}
	return all
}

// A dictionary finds the concepts of a word: by the word, or by a prefix.
type dictionary struct {
	words, prefixes map[string][]*concept
}

var dictionaries = sync.OnceValue(func() map[string]*dictionary {
	all := map[string]*dictionary{}
	byID := map[string]*concept{}
	for _, lang := range Languages {
		all[lang] = &dictionary{map[string][]*concept{}, map[string][]*concept{}}
	}
	for line := range strings.Lines(conceptsFile) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if list, is := strings.CutPrefix(line, "~"); is {
			for _, id := range strings.Fields(list) {
				byID[id].stage = true
			}
			continue
		}
		if pair, is := strings.CutPrefix(line, "!"); is {
			x, y, _ := strings.Cut(pair, " ")
			a, b := byID[x], byID[y]
			if a == nil || b == nil {
				panic(fmt.Sprintf("across: concepts.txt: unknown concept in line %q", line))
			}
			a.opposites, b.opposites = append(a.opposites, b), append(b.opposites, a)
			continue
		}
		id, rest, colon := strings.Cut(line, ":")
		ru, en, bar := strings.Cut(rest, "|")
		if !colon || !bar {
			panic(fmt.Sprintf("across: concepts.txt: invalid line %q", line))
		}
		name := strings.TrimPrefix(id, "=")
		c := &concept{id: name, name: name != id, spellings: map[string][]string{}}
		byID[name] = c
		all["ru"].add(c, "ru", strings.Fields(ru))
		all["en"].add(c, "en", strings.Fields(en))
	}
	return all
})

// searchSpellings is the number of words of a concept that are searched for.
const searchSpellings = 2

func (d *dictionary) add(c *concept, lang string, words []string) {
	for _, w := range words {
		prefix, cut := strings.CutSuffix(w, "*")
		if cut {
			d.prefixes[prefix] = append(d.prefixes[prefix], c)
		} else {
			d.words[w] = append(d.words[w], c)
		}
		if have := c.spellings[lang]; len(have) < searchSpellings {
			c.spellings[lang] = append(have, prefix)
		}
	}
}

// conceptsOf returns the concepts of a folded word.
func conceptsOf(word, lang string) []*concept {
	d := dictionaries()[lang]
	if d == nil {
		return nil
	}
	found := d.words[word]
	for i := range word {
		if i > 0 {
			found = append(found[:len(found):len(found)], d.prefixes[word[:i]]...)
		}
	}
	return append(found[:len(found):len(found)], d.prefixes[word]...)
}

// isKnown reports whether the dictionary has a word.
func isKnown(word, lang string) bool { return len(conceptsOf(word, lang)) > 0 }
