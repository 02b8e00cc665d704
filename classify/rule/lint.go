package rule

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"feedmesh/classify/expression"
	"feedmesh/classify/stem"
)

// A Warning is a likely mistake that is not an error.
type Warning struct {
	Pos     Pos
	Message string
}

func (w Warning) String() string { return w.Pos.String() + ": " + w.Message }

// maxWarnings bounds the warnings of [Lint].
const maxWarnings = 1_000

// Lint returns likely mistakes in a set that [Parse] returned: first in its scopes, then in its rules, in
// order, at most 1,000. Checks of words assume English and Russian.
func Lint(s *Set) []Warning {
	l := linter{set: s, referenced: make(map[conclusion]bool), concluded: make(map[conclusion]bool), points: make(map[conclusion]float64), seen: make(map[string]Pos)}
	for _, r := range s.Rules {
		l.collect(r)
	}
	l.scopes()
	for _, r := range s.Rules {
		l.checkRule(r)
		l.checkInSet(r)
		if len(l.warnings) >= maxWarnings {
			return l.warnings[:maxWarnings]
		}
	}
	return l.warnings
}

// A linter collects warnings.
type linter struct {
	set        *Set
	referenced map[conclusion]bool
	concluded  map[conclusion]bool
	points     map[conclusion]float64 // maximum that all rules together can give
	seen       map[string]Pos         // rules as formatted by [Format], without score
	warnings   []Warning
}

func (l *linter) warn(pos Pos, format string, args ...any) {
	l.warnings = append(l.warnings, Warning{pos, fmt.Sprintf(format, args...)})
}

// collect records the references and conclusions of a rule.
func (l *linter) collect(r Rule) {
	for f := range facts(r.Condition) {
		l.referenced[conclusion{f.Kind, f.Name}] = true
	}
	for _, c := range r.Action.conclusions() {
		l.concluded[c] = true
		l.points[c] += r.Score * maxEvidence(r.Condition)
	}
}

// checkRule checks one rule by itself.
func (l *linter) checkRule(r Rule) {
	for x := range expression.Walk(r.Condition) {
		switch x := x.(type) {
		case Or:
			l.duplicates(x, true)
		case AtLeast:
			l.duplicates(x.Operands, false)
		case And:
			l.duplicates(x, false)
			l.contradictions(x)
		case *Term:
			l.short(x)
		}
	}
}

// checkInSet checks a rule against the others.
func (l *linter) checkInSet(r Rule) {
	key := r
	key.Score = 1
	text := Format(key)
	if first, ok := l.seen[text]; ok {
		l.warn(r.Pos, "the rule repeats %s, so its terms count twice: remove one of the two", first)
	} else {
		l.seen[text] = r.Pos
	}
	for f := range facts(r.Condition) {
		if c := (conclusion{f.Kind, f.Name}); !l.concluded[c] {
			l.warn(f.Pos, "no rule concludes %s", c)
		}
	}
	for _, c := range r.Action.conclusions() {
		switch {
		case c.kind == NamedFact && !l.referenced[c]:
			l.warn(r.Pos, "no rule uses %s", c)
		case c.kind != NamedFact && l.points[c] < threshold:
			l.warn(r.Pos, "%s can never be assigned: all its rules together give at most %s of the required %s points; raise a score or add terms", c, number(l.points[c]), number(threshold))
		default:
			continue
		}
		l.referenced[c] = true // one warning is enough
		l.points[c] = threshold
	}
}

// threshold mirrors package classify: the points that a label needs.
const threshold = 3.0

// maxEvidence returns the highest worth of a condition's terms together. A condition that holds by facts and by
// fields without worth alone is worth as much as a word of the title.
func maxEvidence(x Expr) float64 {
	sum := 0
	for x, negations := range expression.Walk(x) {
		if t, is := x.(*Term); is && negations%2 == 0 {
			sum += Fields[t.Field].Worth
		}
	}
	if possibleWithoutEvidence(x, true) {
		sum = max(sum, Fields[Title].Worth)
	}
	return float64(sum)
}

// possibleWithoutEvidence reports whether a condition can have a result in a document without any term of a
// field with worth.
func possibleWithoutEvidence(x Expr, result bool) bool {
	switch x := x.(type) {
	case *Fact:
		return true
	case *Term:
		return !result || Fields[x.Field].Worth == 0
	case Not:
		return possibleWithoutEvidence(x.Node, !result)
	}
	operands, need := expression.Operands(x)
	if !result {
		need = len(operands) - need + 1
	}
	for _, operand := range operands {
		if possibleWithoutEvidence(operand, result) {
			need--
		}
	}
	return need <= 0
}

// duplicates warns of operands with the same meaning and, if either operand suffices, of operands that
// another covers.
func (l *linter) duplicates(list []Expr, either bool) {
	seen := make(map[string]Expr, len(list))
	prefixes := make(map[string]*Term)
	for _, x := range list {
		key := meaning(x)
		if first, ok := seen[key]; ok {
			l.warn(place(x), "%s means the same as %s: remove one of the two", x, first)
			continue
		}
		seen[key] = x
		if t, ok := x.(*Term); ok && t.Kind == Prefix {
			prefixes[t.Field.String()+":"+strings.ToLower(t.Text)] = t
		}
	}
	if !either {
		return
	}
	for _, x := range list {
		t, ok := x.(*Term)
		if !ok {
			continue
		}
		if wider := covering(t, prefixes, seen); wider != nil {
			l.warn(t.Pos, "%s is covered by %s, so one word counts twice: remove one of the two", t, wider)
		}
	}
}

// covering returns an operand that holds wherever t, a single word, holds; nil if there is none.
func covering(t *Term, prefixes map[string]*Term, seen map[string]Expr) Expr {
	if t.Kind == Exact {
		if x, ok := seen[meaning(&Term{Field: t.Field, Kind: Words, Text: t.Text})]; ok {
			return x
		}
	}
	if t.Kind != Words && t.Kind != Exact && t.Kind != Prefix || strings.Contains(t.Text, " ") {
		return nil
	}
	text := strings.ToLower(t.Text)
	for i := range text {
		if x := prefixes[t.Field.String()+":"+text[:i]]; x != nil {
			return x
		}
	}
	if x := prefixes[t.Field.String()+":"+text]; x != nil && x != t {
		return x
	}
	return nil
}

// meaning returns a string that is equal for conditions that hold for the same documents, as far as this is
// easy to decide.
func meaning(x Expr) string {
	t, ok := x.(*Term)
	if !ok || t.Kind != Words && t.Kind != Loose {
		return x.String()
	}
	stems := stem.Stems(t.Text, "")
	if t.Kind == Loose {
		slices.Sort(stems)
	}
	return fmt.Sprintf("%s:%d:%s", t.Field, t.Kind, strings.Join(stems, " "))
}

// contradictions warns of operands that can never hold together.
func (l *linter) contradictions(list []Expr) {
	seen := make(map[string]Expr, len(list))
	var language *Term
	for _, x := range list {
		seen[meaning(x)] = x
		if t, ok := x.(*Term); ok && t.Field == Lang {
			if language != nil && language.Text != t.Text {
				l.warn(t.Pos, "the rule can never hold: a text has one language, not %s and %s", language, t)
			}
			language = t
		}
	}
	for _, x := range list {
		denied, ok := x.(Not)
		if !ok {
			continue
		}
		excluded, is := denied.Node.(Or)
		if !is {
			excluded = Or{denied.Node}
		}
		for _, d := range excluded {
			if x, ok := seen[meaning(d)]; ok {
				l.warn(place(d), "the rule can never hold: it requires %s and excludes %s", x, d)
			}
		}
	}
}

// short warns of a term that matches too many words.
func (l *linter) short(t *Term) {
	if t.Field != Anywhere {
		return
	}
	switch letters := utf8.RuneCountInString(t.Text); {
	case t.Kind == Prefix && letters < 3 && isAlphabetic(t.Text):
		l.warn(t.Pos, "%s matches too many words: use a longer prefix", t)
	case t.Kind == Words && letters == 1 && isAlphabetic(t.Text):
		l.warn(t.Pos, "%s is a single letter: make it exact, '%s', or add a field, title:%s", t, strings.ToUpper(t.Text), t)
	case t.Kind == Words && isAlphabetic(t.Text):
		if s := stem.Stems(t.Text, ""); len(s) == 1 && utf8.RuneCountInString(s[0]) < min(letters, 3) {
			l.warn(t.Pos, "%s matches all words with the stem %s: make it exact, '%s', or add a field, title:%s", t, quote(s[0]), t.Text, t)
		}
	}
}

// isAlphabetic reports whether a text consists of letters of an alphabet, in which one or two letters are not
// specific.
func isAlphabetic(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !unicode.In(r, unicode.Latin, unicode.Cyrillic, unicode.Greek) }) < 0
}

// place returns the position of a condition.
func place(x Expr) Pos {
	for x := range expression.Walk(x) {
		switch x := x.(type) {
		case *Term:
			return x.Pos
		case *Fact:
			return x.Pos
		}
	}
	return Pos{}
}
