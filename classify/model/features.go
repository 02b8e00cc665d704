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

// A Document is the input of a prediction. Any field may be empty.
type Document struct {
	Title, URL, Author, FeedTitle string

	Language   string      // ISO 639-1
	TitleStems []stem.Word // of Title, by [stem.Words] in Language; computed if nil
	Stems      []stem.Word // of the text, likewise
	Tags       []string    // the publisher's categories
	Labels     []Label     // from rules, best first
}

// A Label is a category or topic from rules, with its points.
type Label struct {
	Topic  bool
	Name   string
	Points float64
}

const (
	sure   = 3.0 // points from which rules assign a label, as classify.Threshold
	strong = 6.0
)

// A feature is a property of a document. The first byte of its name is its kind.
type feature struct {
	name  string
	value uint8 // in quarters
}

const (
	whole    = 4 // value of a feature of the title and the like
	mention  = 1 // value of a feature of the text only
	mentions = 2 // occurrences in the text from which a word counts
)

// Kinds of features.
const (
	wordKind    = 't' // a stem of the title, of a tag or of the text
	pairKind    = 'p' // two neighboring stems of the title
	exactKind   = 'x' // a word of the title as written, if it has an upper-case letter: Go, not go
	hostKind    = 'h' // the host or a parent domain
	nameKind    = 'n' // a word of the host name
	addressKind = 'a' // a stem of the URL's path
	labelKind   = 'l' // a label from rules
	tagKind     = 'g' // a whole tag
	feedKind    = 'f' // a stem of the feed's title
	authorKind  = 'w'
)

const (
	maxWords    = 64  // of a title, a URL and the like that count
	maxText     = 400 // stems of a text that are read
	maxMentions = 12  // words of the text that count
	maxTags     = 20
	maxLabels   = 40
	maxName     = 80 // bytes of a feature name
)

// titleStems returns the stems of the title.
func (d *Document) titleStems() []stem.Word {
	if d.TitleStems == nil {
		return stem.Words(d.Title, d.Language)
	}
	return d.TitleStems
}

// features returns the features of a document without repetition.
func features(d Document) []feature {
	c := collect(d)
	defer collectors.Put(c)
	list := make([]feature, len(c.values))
	for i, value := range c.values {
		list[i] = feature{string(c.names.Word(int32(i))), value}
	}
	return list
}

// A collector is a buffer for the features of a document. Collectors are kept in a pool.
type collector struct {
	names  table.Table // of features
	values []uint8     // by feature
	stems  table.Table // of the text
	counts []int32     // by stem
	often  []int32     // stems that occur repeatedly in the text
}

var collectors = sync.Pool{New: func() any { return new(collector) }}

// collect collects the features of a document without repetition. The caller returns the collector to the
// pool.
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

// add adds a feature unless it is present. parts are its kind and its text.
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

// address adds the host, its parent domains and the words of the path.
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

// labels adds the labels from rules, how certain they are, and which came first, so that the model learns how
// far to trust each.
func (c *collector) labels(list []Label) {
	var topic, category bool // whether a label of that kind occurred
	for _, l := range list {
		what, seen := "category ", &category
		if l.Topic {
			what, seen = "topic ", &topic
		}
		if !*seen {
			*seen = true
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

// text adds the repeated words of a text, the most frequent first. They are the same features as words of the
// title with a lower value, so that training on titles alone applies to texts too.
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
