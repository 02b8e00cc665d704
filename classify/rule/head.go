package rule

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// A parser reads the tokens of one rule by recursive descent. The syntax is that
// of the grammar in grammar_test.go; the library that reads that grammar takes half a
// second of processor time for 10,000 rules, this a sixth of it with all that is checked.
//
// What is wrong with the order of tokens ends the rule, what is wrong with a term
// does not.
type parser struct {
	*reader
	tokens []token // the last is the end
	at     int
	field  Field // of the parentheses at hand; Anywhere outside
	terms  int
	depth  int
	failed bool // the order of tokens is wrong
}

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) next() token {
	t := p.tokens[p.at]
	if t.kind != end {
		p.at++
	}
	return t
}

// accept goes past the next token if it is of kind k.
func (p *parser) accept(k kind) bool {
	if p.peek().kind != k {
		return false
	}
	p.next()
	return true
}

// fail notes why the rule cannot be read further.
func (p *parser) fail(at token, format string, args ...any) {
	p.failed = true
	p.fault(at.pos, format, args...)
}

// rule reads a whole rule. It returns false if there is a fault in it.
func (p *parser) rule() (Rule, bool) {
	before := len(p.faults)
	start := p.peek()
	r := Rule{Pos: start.pos, Scope: p.scope, Score: 1}
	if r.Then = p.readThen(); p.failed {
		return r, false
	}
	if r.Then.Do == Know {
		p.facts[r.Then.Name] = true
	}
	if t := p.next(); t.kind != when {
		p.fail(t, `"when" is missing%s`, p.before(t))
		return r, false
	}
	from := p.peek()
	if r.When = p.or(); p.failed {
		return r, false
	}
	if p.accept(score) {
		r.Score = p.readWeight(r.Then.Do)
	}
	if t := p.peek(); t.kind != end && !p.failed {
		p.misplaced(t)
	}
	if len(p.faults) == before && holdsOfNothing(r.When) {
		p.fault(from.pos, "the condition can hold of a text for what it lacks alone: join it with & to something that must be there")
	}
	return r, len(p.faults) == before
}

// readThen reads what follows from the rule, which stands at its beginning.
func (p *parser) readThen() Then {
	t := p.next()
	switch {
	case t.kind == score:
		return Then{Do: AddScore, Score: p.readPoints()}
	case t.kind != bare && t.kind != field:
	case t.text == "category":
		return p.readCategory()
	case t.text == "topic":
		return Then{Do: Conclude, Topic: p.readName("topic")}
	case t.text == "fact":
		return Then{Do: Know, Name: p.readName("fact")}
	case t.text == "star":
		return Then{Do: Star}
	case t.text == "mute":
		return Then{Do: Mute}
	case t.text == "quarantine":
		return Then{Do: Quarantine}
	case t.text == "notify":
		return Then{Do: Notify, Text: p.readNotice()}
	}
	p.fail(t, "%s begins no rule: begin with category, topic, fact, score, star, mute, quarantine, notify or for", quote(shorten(t.text)))
	return Then{}
}

// readCategory reads a category, and the topic that implies it, if there is one.
func (p *parser) readCategory() Then {
	t := p.peek()
	if t.kind != field {
		return Then{Do: Conclude, Name: p.readName("category")}
	}
	p.next()
	name, found := strings.CutSuffix(t.text, "/topic:")
	if !found {
		p.fail(t, "%s is no category: write \"category databases\" or \"category databases/topic:sqlite\"", quote(shorten(t.text)))
		return Then{}
	}
	p.checkLabel(t, "category", name)
	return Then{Do: Conclude, Name: name, Topic: p.readName("topic")}
}

// readName reads the name of a category, topic or fact.
func (p *parser) readName(what string) string {
	t := p.next()
	if t.kind == end || t.kind == when {
		p.fail(t, "the name of the %s is missing", what)
		return ""
	}
	p.checkLabel(t, what, t.text)
	return t.text
}

var label = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// IsLabel reports whether a name is written as those of categories, topics and facts
// are: small letters, digits and single hyphens. How long it may be is not asked.
func IsLabel(name string) bool { return label.MatchString(name) }

func (p *parser) checkLabel(t token, what, name string) {
	if wrong := wrongLabel(what, name); wrong != "" {
		p.fail(t, "%s", wrong)
	}
}

func wrongLabel(what, name string) string {
	if IsLabel(name) && len(name) <= maxTerm {
		return ""
	}
	return fmt.Sprintf("%s is no %s: small letters, digits and single hyphens", quote(shorten(name)), what)
}

// readNotice reads what to say, which may be left out.
func (p *parser) readNotice() string {
	t := p.peek()
	if t.kind != phrase {
		return ""
	}
	p.next()
	text := strings.TrimSpace(unquote(t.text))
	if len(text) > maxTerm {
		p.fail(t, "the notice has over %d bytes", maxTerm)
	}
	return text
}

const maxScore = 100

// readPoints reads what an item gains or loses.
func (p *parser) readPoints() float64 {
	t := p.next()
	f, ok := decimal(t.text)
	if !ok || f == 0 || math.Abs(f) > maxScore {
		p.fail(t, "%s is no score: write score +2 or score -2, at most %d", quote(shorten(t.text)), maxScore)
	}
	return f
}

// readWeight reads what a piece of evidence is worth.
func (p *parser) readWeight(do Do) float64 {
	t := p.next()
	f, ok := decimal(t.text)
	switch {
	case do != Conclude:
		p.fail(t, "only rules that conclude a category or a topic have a score at the end: remove it")
	case !ok || f <= 0 || f > maxScore:
		p.fail(t, "%s is no score: a number above 0, at most %d; the word \"score\" must be in quotes", quote(shorten(t.text)), maxScore)
	}
	return f
}

// decimal returns a number that is written as people do: no NaN, no 1e3, no 0x1p4.
func decimal(s string) (float64, bool) {
	if len(s) > maxTerm || strings.Trim(s, "+-.0123456789") != "" {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil
}

// shorten makes a text of any length fit for a message.
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
