package rule

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"

	"feedmesh/classify/stem"
)

const (
	maxProgram  = 1_000   // instructions of a regular expression
	maxPrograms = 100_000 // of all in a set: some 4 MB when compiled
)

var kindNames = [...]string{Words: `words and "phrases"`, Loose: `"loose phrases"~`, Prefix: "prefixes*", Exact: "'exact' words", Regexp: "/regular expressions/", Value: "values"}

// kinds are those that each field takes.
var kinds = [Fields][]Kind{
	Anywhere:  {Words, Loose, Prefix, Exact},
	Title:     {Words, Loose, Prefix, Exact, Regexp},
	Tags:      {Words, Loose, Prefix, Exact},
	Body:      {Words, Loose, Prefix, Exact},
	FeedTitle: {Words, Loose, Prefix, Exact, Regexp},
	FeedTags:  {Value},
	Author:    {Words, Loose, Prefix, Exact, Regexp},
	URL:       {Words, Loose, Prefix, Exact, Regexp},
	Host:      {Value, Regexp},
	Lang:      {Value},
}

// term makes a term of a token.
func (p *parser) term(t token) Expr {
	p.count(t)
	x := &Term{Field: p.field, Pos: t.pos}
	switch t.kind {
	case bare:
		x.Text = t.text
	case prefix:
		x.Kind, x.Text = Prefix, strings.TrimSuffix(t.text, "*")
	case phrase:
		x.Text = unquote(t.text)
	case loose:
		x.Kind, x.Text = Loose, unquote(strings.TrimSuffix(t.text, "~"))
	case exact:
		x.Kind, x.Text = Exact, unquote(t.text)
	case pattern:
		x.Kind, x.Text = Regexp, unslash(t.text)
	}
	if x.Kind == Words && slices.Contains(kinds[x.Field], Value) {
		x.Kind = Value
	}
	if x.Kind != Regexp {
		x.Text = strings.TrimSpace(x.Text)
	}
	if wrong := p.wrong(x); wrong != "" {
		p.fault(t.pos, "%s", wrong)
	}
	return x
}

// wrong returns what is wrong with a term, and puts that of a field that takes
// values into the form in which they are compared.
func (r *reader) wrong(t *Term) string {
	switch {
	case len(t.Text) > maxTerm:
		return quote(shorten(t.Text)) + fmt.Sprintf(" is too long: a term has %d bytes at most", maxTerm)
	case !slices.Contains(kinds[t.Field], t.Kind):
		return notTaken(t)
	case t.Text == "":
		return "the term is empty: put a word in it, or remove it"
	}
	switch t.Kind {
	case Words, Loose:
		return wrongWords(t)
	case Prefix:
		if stem.Count(t.Text, "") != 1 || !isWord(t.Text) {
			return quote(t.Text) + "* is not the beginning of one word"
		}
	case Exact:
		if !strings.ContainsFunc(t.Text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			return quote(t.Text) + " has no word in it"
		}
	case Regexp:
		return r.wrongRegexp(t.Text)
	case Value:
		return wrongValue(t)
	}
	return ""
}

func notTaken(t *Term) string {
	var taken []string
	for _, k := range kinds[t.Field] {
		taken = append(taken, kindNames[k])
	}
	if t.Field != Anywhere {
		return FieldNames[t.Field] + ": takes no " + kindNames[t.Kind] + ", only " + strings.Join(taken, ", ")
	}
	return "a regular expression needs a field before it: title:, feed:, author:, url: or host:"
}

// wrongWords refuses what no text can be asked for, as stop words are never
// looked at. A phrase of which one word remains is taken for a mistake.
func wrongWords(t *Term) string {
	words, stems := stem.Count(t.Text, ""), stem.List(t.Text, "")
	switch {
	case words == 0:
		return quote(t.Text) + " has no word in it"
	case len(stems) == 0:
		return quote(t.Text) + " has stop words only, which are never looked at: make it exact, '" + t.Text + "'"
	case len(stems) == 1 && words > 1:
		return quote(t.Text) + " means every " + quote(stems[0]) + ", as stop words are never looked at: say so, or more"
	case t.Kind == Loose && len(stems) == 1:
		return quote(t.Text) + " is one word: remove the ~"
	}
	return ""
}

// wrongRegexp refuses regular expressions that are wrong, large, or of no use.
func (r *reader) wrongRegexp(text string) string {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return "the regular expression is wrong: " + strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	}
	if hasCapital(tree) {
		return "the regular expression has capitals, but the text is compared in small letters: write small ones"
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return "the regular expression is wrong: " + err.Error()
	}
	if len(program.Inst) > maxProgram {
		return "the regular expression is too large: repeat less in it, or make several of it"
	}
	if r.size += len(program.Inst); r.size > maxPrograms {
		return "the regular expressions of the set are too large together: use words and prefixes* where they will do"
	}
	if regexp.MustCompile(text).MatchString("") {
		return "the regular expression holds for every text, even an empty one: ask for one character at least"
	}
	return ""
}

// hasCapital reports whether a regular expression asks for a capital letter.
func hasCapital(r *syntax.Regexp) bool {
	if r.Op == syntax.OpLiteral && r.Flags&syntax.FoldCase == 0 && slices.ContainsFunc(r.Rune, unicode.IsUpper) {
		return true
	}
	return slices.ContainsFunc(r.Sub, hasCapital)
}

var (
	hostName = regexp.MustCompile(`^[\p{L}\p{N}_]([\p{L}\p{M}\p{N}_-]*[\p{L}\p{M}\p{N}_])?(\.[\p{L}\p{N}_]([\p{L}\p{M}\p{N}_-]*[\p{L}\p{M}\p{N}_])?)*$`)
	language = regexp.MustCompile(`^[a-z]{2}$`)
)

func wrongValue(t *Term) string {
	switch t.Field {
	case Host:
		t.Text = strings.ToLower(strings.TrimSuffix(t.Text, "."))
		if !hostName.MatchString(t.Text) {
			return quote(shorten(t.Text)) + " is no host: a name such as github.com, without scheme, port and path"
		}
	case Lang:
		t.Text = strings.ToLower(t.Text)
		if !language.MatchString(t.Text) {
			return quote(shorten(t.Text)) + " is no language: two letters, as in lang:en"
		}
	}
	return ""
}
