package rule

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// A ruleParser parses the tokens of one rule by recursive descent. The syntax is that of the grammar in
// grammar_test.go. The library that interprets that grammar takes half a second of processor time for 10,000
// rules; this parser takes a sixth of that, all checks included.
//
// An error in the order of tokens ends the rule, an error in a term does not.
type ruleParser struct {
	*setParser
	tokens    []token // the last is end
	at        int
	field     Field // of the current parentheses; Anywhere outside
	ruleTerms int
	depth     int
	failed    bool // the order of tokens is invalid
}

func (p *ruleParser) peek() token { return p.tokens[p.at] }

func (p *ruleParser) next() token {
	t := p.tokens[p.at]
	if t.kind != end {
		p.at++
	}
	return t
}

// accept consumes the next token if it is of kind k.
func (p *ruleParser) accept(k kind) bool {
	if p.peek().kind != k {
		return false
	}
	p.next()
	return true
}

// fail reports an error and stops parsing the rule.
func (p *ruleParser) fail(at token, format string, args ...any) {
	p.failed = true
	p.report(at.pos, format, args...)
}

// rule parses a whole rule. It returns false if the rule has an error.
func (p *ruleParser) rule() (Rule, bool) {
	before := len(p.diagnostics)
	start := p.peek()
	r := Rule{Pos: start.pos, Scope: p.scope, Score: 1}
	if r.Action = p.readAction(); p.failed {
		return r, false
	}
	if r.Action.Kind == ConcludeFact {
		p.facts[r.Action.Name] = true
	}
	if t := p.next(); t.kind != when {
		p.fail(t, `"when" is missing%s`, p.beforeToken(t))
		return r, false
	}
	from := p.peek()
	if r.Condition = p.or(); p.failed {
		return r, false
	}
	if p.accept(score) {
		r.Score = p.readEvidenceScore(r.Action.Kind)
	}
	if t := p.peek(); t.kind != end && !p.failed {
		p.reportMisplaced(t)
	}
	if len(p.diagnostics) == before && matchesEmpty(r.Condition) {
		p.report(from.pos, "the condition can hold without any match: combine it by & with a term that must occur")
	}
	return r, len(p.diagnostics) == before
}

// readAction parses the action at the beginning of a rule.
func (p *ruleParser) readAction() Action {
	t := p.next()
	switch {
	case t.kind == score:
		return Action{Kind: AddScore, Score: p.readItemScore()}
	case t.kind != bare && t.kind != field:
	case t.text == "category":
		return p.readCategory()
	case t.text == "topic":
		return Action{Kind: Conclude, Topic: p.readName("topic")}
	case t.text == "fact":
		return Action{Kind: ConcludeFact, Name: p.readName("fact")}
	case t.text == "star":
		return Action{Kind: Star}
	case t.text == "mute":
		return Action{Kind: Mute}
	case t.text == "quarantine":
		return Action{Kind: Quarantine}
	case t.text == "notify":
		return Action{Kind: Notify, Text: p.readNotice()}
	}
	p.fail(t, "%s cannot begin a rule: begin with category, topic, fact, score, star, mute, quarantine, notify or for", quote(shorten(t.text)))
	return Action{}
}

// readCategory parses a category, with the topic that implies it if there is one.
func (p *ruleParser) readCategory() Action {
	t := p.peek()
	if t.kind != field {
		return Action{Kind: Conclude, Name: p.readName("category")}
	}
	p.next()
	name, found := strings.CutSuffix(t.text, "/topic:")
	if !found {
		p.fail(t, "%s is not a category: write \"category databases\" or \"category databases/topic:sqlite\"", quote(shorten(t.text)))
		return Action{}
	}
	p.checkLabel(t, "category", name)
	return Action{Kind: Conclude, Name: name, Topic: p.readName("topic")}
}

// readName parses the name of a category, topic or fact.
func (p *ruleParser) readName(what string) string {
	t := p.next()
	if t.kind == end || t.kind == when {
		p.fail(t, "the name of the %s is missing", what)
		return ""
	}
	p.checkLabel(t, what, t.text)
	return t.text
}

var label = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// IsLabel reports whether a name has the form of categories, topics and facts: lower-case letters, digits and
// single hyphens. It does not check the length.
func IsLabel(name string) bool { return label.MatchString(name) }

func (p *ruleParser) checkLabel(t token, what, name string) {
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
	t := p.peek()
	if t.kind != phrase {
		return ""
	}
	p.next()
	text := strings.TrimSpace(unquote(t.text))
	if len(text) > maxTerm {
		p.fail(t, "the notification has more than %d bytes", maxTerm)
	}
	return text
}

const maxScore = 100

// readItemScore parses the score that a rule adds to items.
func (p *ruleParser) readItemScore() float64 {
	t := p.next()
	f, ok := decimal(t.text)
	if !ok || f == 0 || math.Abs(f) > maxScore {
		p.fail(t, "%s is not a score: write score +2 or score -2, at most %d", quote(shorten(t.text)), maxScore)
	}
	return f
}

// readEvidenceScore parses the worth of a piece of evidence.
func (p *ruleParser) readEvidenceScore(do ActionKind) float64 {
	t := p.next()
	f, ok := decimal(t.text)
	switch {
	case do != Conclude:
		p.fail(t, "only rules for a category or a topic have a score at the end: remove it")
	case !ok || f <= 0 || f > maxScore:
		p.fail(t, "%s is not a score: use a number above 0, at most %d; the word \"score\" must be in quotes", quote(shorten(t.text)), maxScore)
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

// shorten truncates a text for a message.
func shorten(s string) string {
	const most = 40
	n := 0
	for i := range s {
		if n++; n > most {
			return s[:i] + "..."
		}
	}
	return s
}
