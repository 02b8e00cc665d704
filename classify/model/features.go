package model

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"feedmesh/classify/stem"
	"feedmesh/classify/table"
)

// A Document is what an item is guessed by. Any field may be empty.
type Document struct {
	Title, URL, Author, FeedTitle string

	Language   string      // ISO 639-1
	TitleStems []stem.Word // of Title, by [stem.Words] in Language; computed if nil
	Stems      []stem.Word // of the text, alike
	Tags       []string    // the publisher's categories
	Labels     []Label     // what rules said, best first
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

// titleStems returns the stems of the title.
func (d *Document) titleStems() []stem.Word {
	if d.TitleStems == nil {
		return stem.Words(d.Title, d.Language)
	}
	return d.TitleStems
}

// features returns the features of a document, each once.
func features(d Document) []feature {
	c := collect(d)
	defer collectors.Put(c)
	list := make([]feature, len(c.values))
	for i, value := range c.values {
		list[i] = feature{string(c.names.Word(int32(i))), value}
	}
	return list
}

// A collector gathers features. It serves one document after another.
type collector struct {
	names  table.Table // of features
	values []uint8     // as many
	stems  table.Table // of the text
	counts []int32     // as many
	often  []int32     // stems that the text comes back to
}

var collectors = sync.Pool{New: func() any { return new(collector) }}

// collect gathers the features of a document, each once. The caller puts the
// collector back.
func collect(d Document) *collector {
	c := collectors.Get().(*collector)
	c.names.Clear()
	c.values = c.values[:0]
	title := d.titleStems()
	title = title[:min(len(title), maxWords)]
	for i, w := range title {
		c.add(whole, string(wordKind), w.Stem)
		if i > 0 {
			c.add(whole, string(pairKind), title[i-1].Stem, " ", w.Stem)
		}
	}
	c.exact(d.Title)
	c.address(d.URL)
	for _, tag := range d.Tags[:min(len(d.Tags), maxTags)] {
		c.add(whole, string(tagKind), strings.ToLower(tag))
		c.words(string(wordKind), tag, d.Language)
	}
	c.words(string(feedKind), d.FeedTitle, d.Language)
	c.add(whole, string(authorKind), strings.ToLower(d.Author))
	c.labels(d.Labels[:min(len(d.Labels), maxLabels)])
	c.text(d.Stems)
	return c
}

// add adds a feature, unless it is there: its parts are its kind and its text.
func (c *collector) add(value uint8, parts ...string) {
	size := 0
	for _, text := range parts[1:] {
		if size += len(text); !utf8.ValidString(text) {
			return
		}
	}
	if size == 0 || size >= maxName {
		return
	}
	if _, isNew := c.names.Add(parts...); isNew {
		c.values = append(c.values, value)
	}
}

func (c *collector) words(kind, text, language string) {
	list := stem.Words(text, language)
	for _, w := range list[:min(len(list), maxWords)] {
		c.add(whole, kind, w.Stem)
	}
}

func (c *collector) exact(title string) {
	n := 0
	for word := range strings.FieldsFuncSeq(title, notInName) {
		if n++; n > maxWords {
			return
		}
		if strings.ContainsFunc(word, unicode.IsUpper) {
			c.add(whole, string(exactKind), word)
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
		c.add(whole, string(hostKind), host)
		_, host, _ = strings.Cut(host, ".")
	}
	for word := range strings.FieldsFuncSeq(u.Hostname(), notInWord) {
		c.add(whole, string(nameKind), strings.ToLower(word))
	}
	n := 0
	for word := range strings.FieldsFuncSeq(strings.ToLower(u.Path), notInWord) {
		if n++; n > maxWords {
			return
		}
		if len(word) > 1 && strings.ContainsFunc(word, unicode.IsLetter) {
			c.add(whole, string(addressKind), stem.Of(word, "en"))
		}
	}
}

func notInName(r rune) bool { return notInWord(r) && r != '#' && r != '.' && r != '-' }

func notInWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '+' }

// labels adds what rules said, how surely, and what they put first: the model
// learns how far to trust each.
func (c *collector) labels(list []Label) {
	var topic, category bool // was said before
	for _, l := range list {
		what, said := "category ", &category
		if l.Topic {
			what, said = "topic ", &topic
		}
		if !*said {
			*said = true
			c.add(whole, string(labelKind), "^ ", what, l.Name)
		}
		if l.Points < sure {
			c.add(whole, string(labelKind), "? ", what, l.Name)
			continue
		}
		c.add(whole, string(labelKind), "! ", what, l.Name)
		if l.Points >= strong {
			c.add(whole, string(labelKind), "!! ", what, l.Name)
		}
	}
}

// text adds the words that a text comes back to, the commonest and then the
// first ones. They are the same features as the title's words, so that what was
// learned from titles alone holds here, and are worth less.
func (c *collector) text(words []stem.Word) {
	c.stems.Clear()
	c.counts, c.often = c.counts[:0], c.often[:0]
	for _, w := range words[:min(len(words), maxText)] {
		n, isNew := c.stems.Add(w.Stem)
		if isNew {
			c.counts = append(c.counts, 0)
		}
		if c.counts[n]++; c.counts[n] == mentions {
			c.often = append(c.often, n)
		}
	}
	slices.SortStableFunc(c.often, func(a, b int32) int { return cmp.Compare(c.counts[b], c.counts[a]) })
	for _, n := range c.often[:min(len(c.often), maxMentions)] {
		c.add(mention, string(wordKind), string(c.stems.Word(n)))
	}
}
