package rule

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"

	"feedmesh/classify/expression"
	"feedmesh/classify/stem"
)

const (
	maxProgram  = 1_000   // instructions of a regular expression
	maxPrograms = 100_000 // of all in a set: about 4 MB when compiled
)

var kindNames = [...]string{Words: `words and "phrases"`, Loose: `"loose phrases"~`, Prefix: "prefixes*", Exact: "'exact' words", Regexp: "/regular expressions/", Value: "values"}

// term converts a token to a term.
func (p *ruleParser) term(t expression.Token) Expr {
	p.countTerm(t)
	x := &Term{Field: p.field, Pos: p.pos(t)}
	switch t.Kind {
	case expression.Word:
		x.Text = t.Text
	case prefix:
		x.Kind, x.Text = Prefix, strings.TrimSuffix(t.Text, "*")
	case expression.Phrase:
		x.Text = expression.Unquote(t.Text)
	case loose:
		x.Kind, x.Text = Loose, expression.Unquote(strings.TrimSuffix(t.Text, "~"))
	case exact:
		x.Kind, x.Text = Exact, expression.Unquote(t.Text)
	case pattern:
		x.Kind, x.Text = Regexp, unslash(t.Text)
	}
	if x.Kind == Words && x.Field.Takes(Value) {
		x.Kind = Value
	}
	if x.Kind != Regexp {
		x.Text = strings.TrimSpace(x.Text)
	}
	if wrong := p.termProblem(x); wrong != "" {
		p.report(x.Pos, "%s", wrong)
	}
	return x
}

// termProblem describes why a term is invalid, or returns "". It also normalizes the text of value terms.
func (r *setParser) termProblem(t *Term) string {
	switch {
	case len(t.Text) > maxTerm:
		return quote(shorten(t.Text)) + fmt.Sprintf(" is too long: a term has at most %d bytes", maxTerm)
	case !t.Field.Takes(t.Kind):
		return unsupportedKind(t)
	case t.Text == "":
		return "the term is empty: add a word, or remove it"
	}
	switch t.Kind {
	case Words, Loose:
		return wordsProblem(t)
	case Prefix:
		if stem.CountWords(t.Text, "") != 1 || !isWord(t.Text) {
			return quote(t.Text) + "* is not the beginning of one word"
		}
	case Exact:
		if !strings.ContainsFunc(t.Text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			return quote(t.Text) + " contains no word"
		}
	case Regexp:
		return r.regexpProblem(t.Text)
	case Value:
		if check := Fields[t.Field].value; check != nil {
			var wrong string
			t.Text, wrong = check(t.Text)
			return wrong
		}
	}
	return ""
}

func unsupportedKind(t *Term) string {
	var words []string
	for _, k := range Fields[t.Field].Kinds {
		words = append(words, kindNames[k])
	}
	if t.Field != Anywhere {
		return t.Field.String() + ": takes no " + kindNames[t.Kind] + ", only " + strings.Join(words, ", ")
	}
	names := FieldNames(Regexp)
	last := len(names) - 1
	return "a regular expression needs a field before it: " + strings.Join(names[:last], ":, ") + ": or " + names[last] + ":"
}

// wordsProblem rejects terms that can never match because stop words are not indexed. A phrase with one
// remaining word is treated as a mistake.
func wordsProblem(t *Term) string {
	words, stems := stem.CountWords(t.Text, ""), stem.Stems(t.Text, "")
	switch {
	case words == 0:
		return quote(t.Text) + " contains no word"
	case len(stems) == 0:
		return quote(t.Text) + " contains stop words only, which are not indexed: make it exact, '" + t.Text + "'"
	case len(stems) == 1 && words > 1:
		return quote(t.Text) + " means every " + quote(stems[0]) + ", because stop words are not indexed: write that word, or a longer phrase"
	case t.Kind == Loose && len(stems) == 1:
		return quote(t.Text) + " is one word: remove the ~"
	}
	return ""
}

// regexpProblem rejects invalid, large and useless regular expressions.
func (r *setParser) regexpProblem(text string) string {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return "invalid regular expression: " + strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	}
	if hasCapital(tree) {
		return "the regular expression contains upper-case letters, but the text is in lower case: use lower-case letters"
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return "invalid regular expression: " + err.Error()
	}
	if len(program.Inst) > maxProgram {
		return "the regular expression is too large: reduce its repetitions, or split it"
	}
	if r.programSize += len(program.Inst); r.programSize > maxPrograms {
		return "the regular expressions of the set are too large in total: use words and prefixes* where possible"
	}
	if regexp.MustCompile(text).MatchString("") {
		return "the regular expression matches the empty text: require at least one character"
	}
	return ""
}

// hasCapital reports whether a regular expression requires an upper-case letter.
func hasCapital(r *syntax.Regexp) bool {
	if r.Op == syntax.OpLiteral && r.Flags&syntax.FoldCase == 0 && slices.ContainsFunc(r.Rune, unicode.IsUpper) {
		return true
	}
	return slices.ContainsFunc(r.Sub, hasCapital)
}
