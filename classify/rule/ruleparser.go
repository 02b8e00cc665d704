package rule

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"feedmesh/classify/expression"
)

// A ruleParser parses the tokens of one rule by recursive descent. An error in the order of tokens ends the
// rule, an error in a term does not.
type ruleParser struct {
	*setParser
	expression.Lexer
	file      string
	field     Field // of the current parentheses; Anywhere outside
	ruleTerms int
	depth     int
	failed    bool // the order of tokens is invalid
}

func newRuleParser(r *setParser, text string, pos Pos) *ruleParser {
	place := expression.Place{Line: pos.Line, Column: pos.Column}
	return &ruleParser{setParser: r, file: pos.File, Lexer: expression.Lexer{Source: text, Place: place, Skip: skip, Scan: scan}}
}

func (p *ruleParser) pos(t expression.Token) Pos { return Pos{p.file, t.Line, t.Column} }

// fail reports an error and stops parsing the rule.
func (p *ruleParser) fail(at expression.Token, format string, args ...any) {
	p.failed = true
	p.report(p.pos(at), format, args...)
}

// rule parses a whole rule. It returns false if the rule has an error.
func (p *ruleParser) rule() (Rule, bool) {
	before := len(p.diagnostics)
	start := p.Peek()
	r := Rule{Pos: p.pos(start), Scope: p.scope, Score: 1}
	if r.Action = p.readAction(); p.failed {
		return r, false
	}
	if r.Action.Kind == ConcludeFact {
		p.facts[r.Action.Name] = true
	}
	if t := p.Next(); t.Kind != when {
		p.fail(t, `"when" is missing%s`, p.beforeToken(t))
		return r, false
	}
	from := p.Peek()
	if r.Condition = p.or(); p.failed {
		return r, false
	}
	if p.Accept(score) {
		r.Score = p.readEvidenceScore(r.Action.Kind)
	}
	if t := p.Peek(); t.Kind != expression.End && !p.failed {
		p.reportMisplaced(t)
	}
	if len(p.diagnostics) == before && matchesEmpty(r.Condition) {
		p.report(p.pos(from), "the condition can hold without any match: combine it by & with a term that must occur")
	}
	return r, len(p.diagnostics) == before
}

// readAction parses the action at the beginning of a rule.
func (p *ruleParser) readAction() Action {
	t := p.Next()
	switch {
	case t.Kind == score:
		return Action{Kind: AddScore, Score: p.readItemScore()}
	case t.Kind != expression.Word && t.Kind != expression.Name:
	case t.Text == "category":
		return p.readCategory()
	case t.Text == "topic":
		return Action{Kind: Conclude, Topic: p.readName("topic")}
	case t.Text == "fact":
		return Action{Kind: ConcludeFact, Name: p.readName("fact")}
	case t.Text == "star":
		return Action{Kind: Star}
	case t.Text == "mute":
		return Action{Kind: Mute}
	case t.Text == "quarantine":
		return Action{Kind: Quarantine}
	case t.Text == "notify":
		return Action{Kind: Notify, Text: p.readNotice()}
	}
	p.fail(t, "%s cannot begin a rule: begin with category, topic, fact, score, star, mute, quarantine, notify or for", quote(shorten(t.Text)))
	return Action{}
}

// readCategory parses a category, with the topic that implies it if there is one.
func (p *ruleParser) readCategory() Action {
	t := p.Peek()
	if t.Kind != expression.Name {
		return Action{Kind: Conclude, Name: p.readName("category")}
	}
	p.Next()
	name, found := strings.CutSuffix(t.Text, "/topic:")
	if !found {
		p.fail(t, "%s is not a category: write \"category databases\" or \"category databases/topic:sqlite\"", quote(shorten(t.Text)))
		return Action{}
	}
	p.checkLabel(t, "category", name)
	return Action{Kind: Conclude, Name: name, Topic: p.readName("topic")}
}

// readName parses the name of a category, topic or fact.
func (p *ruleParser) readName(what string) string {
	t := p.Next()
	if t.Kind == expression.End || t.Kind == when {
		p.fail(t, "the name of the %s is missing", what)
		return ""
	}
	p.checkLabel(t, what, t.Text)
	return t.Text
}

var label = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// IsLabel reports whether a name has the form of categories, topics and facts: lower-case letters, digits and
// single hyphens. It does not check the length.
func IsLabel(name string) bool { return label.MatchString(name) }

func (p *ruleParser) checkLabel(t expression.Token, what, name string) {
	if wrong := labelProblem(what, name); wrong != "" {
		p.fail(t, "%s", wrong)
	}
}

func labelProblem(what, name string) string {
	if IsLabel(name) && len(name) <= maxTerm {
		return ""
	}
	return fmt.Sprintf("%s is not a valid %s: use lower-case letters, digits and single hyphens", quote(shorten(name)), what)
}

// readNotice parses the optional text of notify.
func (p *ruleParser) readNotice() string {
	t := p.Peek()
	if t.Kind != expression.Phrase {
		return ""
	}
	p.Next()
	text := strings.TrimSpace(expression.Unquote(t.Text))
	if len(text) > maxTerm {
		p.fail(t, "the notification has more than %d bytes", maxTerm)
	}
	return text
}

const maxScore = 100

// readItemScore parses the score that a rule adds to items.
func (p *ruleParser) readItemScore() float64 {
	t := p.Next()
	f, ok := decimal(t.Text)
	if !ok || f == 0 || math.Abs(f) > maxScore {
		p.fail(t, "%s is not a score: write score +2 or score -2, at most %d", quote(shorten(t.Text)), maxScore)
	}
	return f
}

// readEvidenceScore parses the worth of a piece of evidence.
func (p *ruleParser) readEvidenceScore(do ActionKind) float64 {
	t := p.Next()
	f, ok := decimal(t.Text)
	switch {
	case do != Conclude:
		p.fail(t, "only rules for a category or a topic have a score at the end: remove it")
	case !ok || f <= 0 || f > maxScore:
		p.fail(t, "%s is not a score: use a number above 0, at most %d; the word \"score\" must be in quotes", quote(shorten(t.Text)), maxScore)
	}
	return f
}

// decimal parses a plain decimal number: no NaN, no 1e3, no 0x1p4.
func decimal(s string) (float64, bool) {
	if len(s) > maxTerm || strings.Trim(s, "+-.0123456789") != "" {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil
}
