package model

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"feedmesh/classify/stem"
)

// A Document is what an item is guessed by. Any field may be empty.
type Document struct {
	Title, URL, Author, FeedTitle string

	Language string      // ISO 639-1
	Stems    []stem.Word // of the text, by [stem.Words] in Language
	Tags     []string    // the publisher's categories
	Labels   []Label     // what rules said, best first
}

// A Label is what rules said: a category or a topic, and how surely.
type Label struct {
	Topic  bool
	Name   string
	Points float64
}

const (
	sure   = 3.0 // points from which a label is the document's, as classify.Threshold
	strong = 6.0
)

// A feature is something that a document has. Its name begins with its kind.
type feature struct {
	name  string
	value uint8 // in quarters
}

const (
	whole    = 4 // value of what stands in the title, or the like
	mention  = 1 // value of what only the text has
	mentions = 2 // times that a text must have a word for it to count
)

// The kinds of features.
const (
	wordKind    = 't' // a stem of the title, of a tag or of the text
	pairKind    = 'p' // two neighbouring stems of the title
	exactKind   = 'x' // a word of the title as it is written, if it has a capital: Go, not go
	hostKind    = 'h' // the host, or a domain that it is under
	nameKind    = 'n' // a word of the host's name
	addressKind = 'a' // a stem of the rest of the address
	labelKind   = 'l' // what rules said
	tagKind     = 'g' // a whole tag
	feedKind    = 'f' // a stem of the feed's title
	authorKind  = 'w'
)

const (
	maxWords    = 64  // of a title, an address and the like that count
	maxText     = 400 // stems of a text that are looked at
	maxMentions = 12  // words of the text that count
	maxTags     = 20
	maxLabels   = 40
	maxName     = 80 // bytes of a feature's name
)

// features returns the features of a document, each once.
func features(d Document) []feature {
	c := collector{seen: make(map[string]bool, 64)}
	title := stem.Words(d.Title, d.Language)
	title = title[:min(len(title), maxWords)]
	for i, w := range title {
		c.add(wordKind, w.Stem, whole)
		if i > 0 {
			c.add(pairKind, title[i-1].Stem+" "+w.Stem, whole)
		}
	}
	c.exact(d.Title)
	c.address(d.URL)
	for _, tag := range d.Tags[:min(len(d.Tags), maxTags)] {
		c.add(tagKind, strings.ToLower(tag), whole)
		c.words(wordKind, tag, d.Language)
	}
	c.words(feedKind, d.FeedTitle, d.Language)
	c.add(authorKind, strings.ToLower(d.Author), whole)
	c.labels(d.Labels[:min(len(d.Labels), maxLabels)])
	c.text(d.Stems)
	return c.list
}

// A collector gathers features.
type collector struct {
	list []feature
	seen map[string]bool
}

func (c *collector) add(kind byte, text string, value uint8) {
	if text == "" || len(text) >= maxName || !utf8.ValidString(text) {
		return
	}
	name := string(kind) + text
	if !c.seen[name] {
		c.seen[name] = true
		c.list = append(c.list, feature{name, value})
	}
}

func (c *collector) words(kind byte, text, language string) {
	list := stem.List(text, language)
	for _, s := range list[:min(len(list), maxWords)] {
		c.add(kind, s, whole)
	}
}

func (c *collector) exact(title string) {
	n := 0
	for word := range strings.FieldsFuncSeq(title, notInName) {
		if n++; n > maxWords {
			return
		}
		if strings.ContainsFunc(word, unicode.IsUpper) {
			c.add(exactKind, word, whole)
		}
	}
}

// address adds the host, the domains that it is under, and the words of the path.
func (c *collector) address(rawurl string) {
	u, err := url.Parse(rawurl)
	if err != nil || u.Host == "" {
		return
	}
	host := strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")
	for strings.Contains(host, ".") {
		c.add(hostKind, host, whole)
		_, host, _ = strings.Cut(host, ".")
	}
	for word := range strings.FieldsFuncSeq(u.Hostname(), notInWord) {
		c.add(nameKind, strings.ToLower(word), whole)
	}
	n := 0
	for word := range strings.FieldsFuncSeq(strings.ToLower(u.Path), notInWord) {
		if n++; n > maxWords {
			return
		}
		if len(word) > 1 && strings.ContainsFunc(word, unicode.IsLetter) {
			c.add(addressKind, stem.Of(word, "en"), whole)
		}
	}
}

func notInName(r rune) bool { return notInWord(r) && r != '#' && r != '.' && r != '-' }

func notInWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '+' }

// labels adds what rules said, how surely, and what they put first: the model
// learns how far to trust each.
func (c *collector) labels(list []Label) {
	first := map[bool]bool{}
	for _, l := range list {
		name := l.name()
		if !first[l.Topic] {
			first[l.Topic] = true
			c.add(labelKind, "^ "+name, whole)
		}
		if l.Points < sure {
			c.add(labelKind, "? "+name, whole)
			continue
		}
		c.add(labelKind, "! "+name, whole)
		if l.Points >= strong {
			c.add(labelKind, "!! "+name, whole)
		}
	}
}

func (l Label) name() string {
	if l.Topic {
		return "topic " + l.Name
	}
	return "category " + l.Name
}

// text adds the words that a text comes back to, the commonest and then the
// first ones. They are the same features as the title's words, so that what was
// learned from titles alone holds here, and are worth less.
func (c *collector) text(words []stem.Word) {
	words = words[:min(len(words), maxText)]
	if len(words) < mentions {
		return
	}
	count := make(map[string]int, len(words))
	var often []string
	for _, w := range words {
		if count[w.Stem]++; count[w.Stem] == mentions {
			often = append(often, w.Stem)
		}
	}
	slices.SortStableFunc(often, func(a, b string) int { return cmp.Compare(count[b], count[a]) })
	for _, s := range often[:min(len(often), maxMentions)] {
		c.add(wordKind, s, mention)
	}
}
