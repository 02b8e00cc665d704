package classify

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"feedmesh/classify/stem"
)

const (
	threshold     = 3.0 // score that makes a category or topic: one title hit, or the like
	maxBody       = 3.0 // score that the body alone may give: it mentions much
	maxCategories = 3
	maxTopics     = 5
	maxWhy        = 3 // reasons for each category or topic

	spamThreshold = 3.0
)

// A field is a part of a document. The order is that of their weights.
type field uint8

const (
	inTitle field = iota
	inTags
	inText
	inFeed
	inAuthor
	fields
)

var (
	fieldNames  = [fields]string{"title", "tags", "text", "feed title", "author"}
	topicWeight = [fields]float64{inTitle: 3, inTags: 2, inText: 1, inFeed: 1}
	spamWeight  = [fields]float64{inTitle: 2, inTags: 1, inText: 1, inAuthor: 1}
)

// A Document is what an item is classified by. Any field may be empty.
type Document struct {
	Title     string
	Text      string // plain
	URL       string
	Author    string
	FeedTitle string
	Language  string   // ISO 639-1
	Stems     []string // of Text by [stem.List] in Language; computed if nil
	Tags      []string // the publisher's categories
}

// A Decision is what the rules make of a document.
type Decision struct {
	Spam       bool
	Categories []string // best first, at most 3
	Topics     []string // best first, at most 5
	Why        []string // sentences: what decided spam, each category and each topic
}

// Decide applies the rules to a document. Equal documents get equal decisions.
// Its cost is that of the document's words and of the terms that match, not of
// the rules there are.
func (r *Rules) Decide(d Document) Decision {
	c := counter{rules: r, index: r.index[stemLanguage(d.Language)], labels: make(map[string]*score)}
	if d.Stems == nil {
		d.Stems = stem.List(d.Text, d.Language)
	}
	c.match(inTitle, stem.List(d.Title, d.Language))
	for _, tag := range d.Tags {
		c.match(inTags, stem.List(tag, d.Language))
	}
	c.match(inText, d.Stems)
	c.match(inFeed, stem.List(d.FeedTitle, d.Language))
	c.match(inAuthor, stem.List(d.Author, d.Language))
	for _, a := range stem.Addresses(d.Text) {
		c.domain(hostOf(a), "text")
	}
	c.address(d.URL)
	return c.decision()
}

// A counter adds up what the terms in one document are worth.
type counter struct {
	rules  *Rules
	index  stemIndex
	seen   map[hit]bool
	labels map[string]*score // by "category x" or "topic x"
	spam   score
	about  bool // the document speaks of spam
}

type hit struct {
	id    int
	field field
}

// A score is what speaks for a label.
type score struct {
	points, body float64 // body is the part of the text, feed and author
	why          []string
}

func (s *score) total() float64 { return s.points + min(s.body, maxBody) }

// match finds the terms in the stems of a field.
func (c *counter) match(f field, stems []string) {
	for i, s := range stems {
		for _, t := range c.index[s] {
			if len(t.rest) <= len(stems)-i-1 && slices.Equal(t.rest, stems[i+1:i+1+len(t.rest)]) {
				c.add(f, t)
			}
		}
		if f == inText && strings.Contains(s, ".") {
			c.domain(s, "text")
		}
	}
}

// add counts a term: once in each field, or, if it is spam's, once in all.
func (c *counter) add(f field, t term) {
	r := &c.rules.rules[t.rule]
	h := hit{t.id, f}
	if r.kind == spamPhrase {
		h.field = fields
	}
	if c.seen[h] {
		return
	}
	if c.seen == nil {
		c.seen = make(map[hit]bool)
	}
	c.seen[h] = true
	switch r.kind {
	case aboutSpam:
		c.about = true
	case spamPhrase:
		if points := spamWeight[f] * r.score; points > 0 {
			c.spam.points += points
			c.spam.why = append(c.spam.why, fmt.Sprintf("spam: phrase %q in %s (%s)", t.text, fieldNames[f], r.where))
		}
	case categoryRule:
		if points := topicWeight[f] * r.score; points > 0 {
			c.label("category "+r.category, f, points, t, r)
			if r.topic != "" {
				c.label("topic "+r.topic, f, points, t, r)
			}
		}
	}
}

func (c *counter) label(name string, f field, points float64, t term, r *rule) {
	s := c.labels[name]
	if s == nil {
		s = &score{}
		c.labels[name] = s
	}
	if f >= inText {
		s.body += points
	} else {
		s.points += points
	}
	if len(s.why) < maxWhy {
		s.why = append(s.why, fmt.Sprintf("%s: %q in %s (%s)", name, t.text, fieldNames[f], r.where))
	}
}

// address counts the domain that a document's URL is under.
func (c *counter) address(rawurl string) {
	if u, err := url.Parse(rawurl); err == nil && u.Host != "" {
		c.domain(strings.ToLower(u.Hostname()), "address")
	}
}

// hostOf returns the host of an address in a text.
func hostOf(address string) string {
	if _, rest, ok := strings.Cut(address, "://"); ok {
		address = rest
	}
	if end := strings.IndexAny(address, "/?#"); end >= 0 {
		address = address[:end]
	}
	_, host, ok := strings.Cut(address, "@")
	if !ok {
		host = address
	}
	host, _, _ = strings.Cut(host, ":")
	return strings.ToLower(strings.TrimRight(host, ".,;!?)]"))
}

// domain counts host if it, or a domain it is under, is a spammer's.
func (c *counter) domain(host, where string) {
	for host != "" {
		if r, ok := c.rules.domains[host]; ok {
			why := fmt.Sprintf("spam: domain %s in %s (%s)", host, where, r.where)
			if !slices.Contains(c.spam.why, why) {
				c.spam.points += r.score
				c.spam.why = append(c.spam.why, why)
			}
			return
		}
		_, host, _ = strings.Cut(host, ".")
	}
}

func (c *counter) decision() Decision {
	var d Decision
	need := spamThreshold
	if c.about {
		need *= 2 // those who write about spam quote it
	}
	if d.Spam = c.spam.total() >= need; d.Spam {
		d.Why = append(d.Why, c.spam.why[:min(len(c.spam.why), maxWhy)]...)
	}
	d.Categories, d.Why = c.best("category ", maxCategories, d.Why)
	d.Topics, d.Why = c.best("topic ", maxTopics, d.Why)
	return d
}

// best returns the labels of one kind that reach the threshold, best first, at
// most n, and appends what speaks for them to why.
func (c *counter) best(prefix string, n int, why []string) (names, reasons []string) {
	for name, s := range c.labels {
		if strings.HasPrefix(name, prefix) && s.total() >= threshold {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(c.labels[b].total(), c.labels[a].total()), cmp.Compare(a, b))
	})
	names = names[:min(len(names), n)]
	for i, name := range names {
		why = append(why, c.labels[name].why...)
		names[i] = strings.TrimPrefix(name, prefix)
	}
	return names, why
}
