package view

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"feedmesh/classify/expression"
	"feedmesh/classify/query"
)

// Parse returns the view of a text. The error is an [*expression.SyntaxError].
//
//	view NAME "Title" for everyone =     title and readers (people, everyone) are optional
//	  from tag:"Open source", feed:ID, host:example.org, view:NAME     or: from all
//	  join view:NAME within 3d           only items whose story is in that view too
//	  where cat:security (lang:ru OR lang:en)     the search language
//	  once story                         or duplicate
//	  unique 60%                         leave out items that repeat a member by this percentage
//	  window 24h                         items leave after this time: 36h, 3d, 2w
//	  sort best                          or oldest; the newest first without it
//	  limit 50
//	  prefix "Security: " labels later, "to read"
//
// Clauses may be in any order, each at most once. A condition ends before the name of a clause; in quotes or within
// parentheses these names are words.
func Parse(text string) (View, error) {
	p := newParser(text)
	if len(text) > maxText {
		p.Fail(maxText, "a view has at most %d bytes", maxText)
		return View{}, p.Err
	}
	v := p.view()
	if err := p.end(); err != nil {
		return View{}, err
	}
	if err := v.Check(); err != nil {
		return View{}, &expression.SyntaxError{Message: err.Error()}
	}
	return v, nil
}

// The kinds of tokens of views alone.
const (
	comma expression.Kind = expression.Own + iota
	equals
)

// A parser parses a view by recursive descent. Its methods return any value after an error, which ends the text.
type parser struct{ expression.Lexer }

func newParser(text string) *parser {
	return &parser{expression.Lexer{Source: text, Skip: skip, Scan: scan}}
}

// end returns the error of the text, which must be at its end.
func (p *parser) end() error {
	if t := p.Peek(); t.Kind != expression.End {
		p.Fail(t.Offset, "%q is one word too many", t.Text)
	}
	if p.Err != nil {
		return p.Err
	}
	return nil
}

func skip(l *expression.Lexer) {
	l.Advance(len(l.Rest()) - len(strings.TrimLeftFunc(l.Rest(), unicode.IsSpace)))
}

var sourceName = regexp.MustCompile(`^[a-z]+:`)

// scan consumes a token. A source is one token with its value.
func scan(l *expression.Lexer) (expression.Kind, string) {
	switch {
	case l.AdvanceByte(','):
		return comma, ""
	case l.AdvanceByte('='):
		return equals, ""
	case strings.HasPrefix(l.Rest(), `"`):
		return expression.Phrase, quoted(l)
	}
	if name := sourceName.FindString(l.Rest()); name != "" {
		l.Advance(len(name))
		if strings.HasPrefix(l.Rest(), `"`) {
			return expression.Name, quoted(l)
		}
		bare(l)
		return expression.Name, ""
	}
	if bare(l) == "" {
		return expression.Word, "this character has no meaning here; use quotes"
	}
	return expression.Word, ""
}

func quoted(l *expression.Lexer) string {
	if l.AdvanceQuoted(true) {
		return ""
	}
	return `this quote is not closed; add "`
}

func bare(l *expression.Lexer) string {
	return l.AdvanceWhile(func(r rune) bool { return !unicode.IsSpace(r) && !strings.ContainsRune(`,"=`, r) })
}

// view parses a whole view.
func (p *parser) view() (v View) {
	if t := p.Next(); t.Text != "view" {
		p.Fail(t.Offset, "a view begins with: view NAME = from")
	}
	name := p.Next()
	v.Name = name.Text
	p.check(name, checkName(v.Name))
	if t := p.Peek(); t.Kind == expression.Phrase {
		v.Title = expression.Unquote(p.Next().Text)
		p.check(t, checkTitle(v.Title))
	}
	if p.Peek().Text == "for" {
		p.Next()
		v.Readers = oneOf(p, "for", People, Everyone)
	}
	if t := p.Peek(); !p.Accept(equals) {
		p.Fail(t.Offset, "after the name, the title and for stands =")
	}
	seen := map[string]bool{}
	for p.Peek().Kind != expression.End {
		t := p.Next()
		parse := clauses[t.Text]
		switch {
		case parse == nil:
			p.Fail(t.Offset, "%q is no clause; a view has from, %s", t.Text, strings.Join(clauseNames[1:], ", "))
		case seen[t.Text]:
			p.Fail(t.Offset, "a view has %s once", t.Text)
		default:
			seen[t.Text] = true
			parse(p, &v)
		}
	}
	if !seen["from"] {
		p.Fail(len(p.Source), "the sources are missing: add from all, or from tag:NAME")
	}
	return v
}

// clauseNames are the names of clauses in the order in which they are printed.
var clauseNames = []string{"from", "join", "where", "once", "unique", "window", "sort", "limit", "prefix", "labels"}

// clauses parse what follows a name.
var clauses map[string]func(*parser, *View)

func init() {
	clauses = map[string]func(*parser, *View){
		"from": func(p *parser, v *View) { v.From = p.sources() },
		"join": func(p *parser, v *View) { v.Join = p.join() },
		"where": func(p *parser, v *View) {
			length := conditionLength(p.Rest())
			v.Where = strings.TrimSpace(p.Rest()[:length])
			p.checkCondition(*v, p.Offset+strings.Index(p.Rest(), v.Where))
			p.Advance(length)
		},
		"once":   func(p *parser, v *View) { v.Once = oneOf(p, "once", PerDuplicate, PerStory) },
		"unique": func(p *parser, v *View) { v.Unique = p.number("unique", "%", 100) },
		"window": func(p *parser, v *View) { v.Window = p.duration("window") },
		"sort": func(p *parser, v *View) {
			if v.Sort = oneOf(p, "sort", "newest", Oldest, Best); v.Sort == "newest" {
				v.Sort = Newest
			}
		},
		"limit":  func(p *parser, v *View) { v.Limit = p.number("limit", "", maxLimit) },
		"prefix": func(p *parser, v *View) { v.Set.Prefix = p.text("prefix", checkTitle) },
		"labels": func(p *parser, v *View) {
			for more := true; more; more = p.Accept(comma) {
				v.Set.Labels = append(v.Set.Labels, p.text("labels", checkLabel))
			}
		},
	}
}

// conditionLength returns the length of the condition that a text begins with.
func conditionLength(s string) int {
	return query.Length(s, func(word string) bool { return slices.Contains(clauseNames, word) })
}

// checkCondition reports the error of a condition at its place in the text.
func (p *parser) checkCondition(v View, offset int) {
	if v.Where == "" {
		p.Fail(offset, "after where stands a condition, such as cat:security")
		return
	}
	if _, err := v.Condition(time.Now()); err != nil {
		if syntax, is := err.(*expression.SyntaxError); is {
			offset += syntax.Offset
		}
		p.Fail(offset, "%v", err)
	}
}

// sources parses what a view reads; nil for all.
func (p *parser) sources() (from []Source) {
	if p.Peek().Text == "all" {
		p.Next()
		return nil
	}
	for more := true; more; more = p.Accept(comma) {
		from = append(from, p.source())
	}
	return from
}

func (p *parser) source() Source {
	t := p.Next()
	name, rest, _ := strings.Cut(t.Text, ":")
	if t.Kind != expression.Name || !slices.Contains(kinds, Kind(name)) {
		p.Fail(t.Offset, "%q is no source; write feed:ID, tag:NAME, host:example.org, view:NAME or all", t.Text)
		return Source{}
	}
	if strings.HasPrefix(rest, `"`) {
		rest = expression.Unquote(rest)
	}
	s := Source{Kind(name), rest}
	p.check(t, s.check())
	return s
}

// check reports an error at a token, unless it is nil.
func (p *parser) check(t expression.Token, err error) {
	if err != nil {
		p.Fail(t.Offset, "%v", err)
	}
}

func (p *parser) join() *Join {
	t := p.Peek()
	s := p.source()
	if s.Kind != Other {
		p.Fail(t.Offset, "join takes a view, such as join view:it-news")
	}
	j := Join{View: s.Value}
	if p.Peek().Text == "within" {
		p.Next()
		j.Within = p.duration("within")
	}
	return &j
}

// oneOf parses one of some words.
func oneOf[T ~string](p *parser, clause string, words ...T) T {
	t := p.Next()
	if !slices.Contains(words, T(t.Text)) {
		all := make([]string, len(words))
		for i, w := range words {
			all[i] = string(w)
		}
		p.Fail(t.Offset, "after %s stands %s; to search for the word, use quotes", clause, strings.Join(all, " or "))
	}
	return T(t.Text)
}

// number parses a number from 1 to most, with an optional unit.
func (p *parser) number(clause, unit string, most int) int {
	t := p.Next()
	n, err := strconv.Atoi(strings.TrimSuffix(t.Text, unit))
	if err != nil || n < 1 || n > most {
		p.Fail(t.Offset, "after %s stands a number from 1 to %d; to search for the word, use quotes", clause, most)
	}
	return n
}

var durationPattern = regexp.MustCompile(`^(\d{1,4})([hdw])$`)

func (p *parser) duration(clause string) Duration {
	t := p.Next()
	match := durationPattern.FindStringSubmatch(t.Text)
	if match == nil {
		p.Fail(t.Offset, "%s takes hours, days or weeks, such as 36h, 3d or 2w; to search for the word, use quotes", clause)
		return 0
	}
	n, _ := strconv.Atoi(match[1]) // at most four digits
	d := Duration(n) * units[slices.IndexFunc(units, func(u unit) bool { return u.name == match[2] })].length
	p.check(t, d.check(clause))
	return d
}

// text parses a word or a quoted text.
func (p *parser) text(clause string, check func(string) error) string {
	t := p.Next()
	text := t.Text
	switch t.Kind {
	case expression.Word:
	case expression.Phrase:
		text = expression.Unquote(text)
	default:
		p.Fail(t.Offset, "after %s stands a text in quotes", clause)
	}
	p.check(t, check(text))
	return text
}
