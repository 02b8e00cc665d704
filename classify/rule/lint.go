package rule

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"feedmesh/classify/stem"
)

// A Warning is what is likely to be a mistake, but no fault.
type Warning struct {
	Pos  Pos
	Text string
}

func (w Warning) String() string { return w.Pos.String() + ": " + w.Text }

// maxWarnings is how many warnings [Lint] gives.
const maxWarnings = 1_000

// Lint returns what is likely to be a mistake in a set that [Parse] returned, first
// in its scopes, then in its rules, in their order; the first 1,000 if there are more. What it knows of words is
// what holds in English and Russian.
func Lint(s *Set) []Warning {
	l := linter{set: s, asked: make(map[conclusion]bool), concluded: make(map[conclusion]bool), points: make(map[conclusion]float64), seen: make(map[string]Pos)}
	for _, r := range s.Rules {
		l.learn(r)
	}
	l.scopes()
	for _, r := range s.Rules {
		l.alone(r)
		l.together(r)
		if len(l.warnings) >= maxWarnings {
			return l.warnings[:maxWarnings]
		}
	}
	return l.warnings
}

// A linter collects warnings.
type linter struct {
	set       *Set
	asked     map[conclusion]bool
	concluded map[conclusion]bool
	points    map[conclusion]float64 // that all rules together can give
	seen      map[string]Pos         // rules, as [Format] writes them but for the score
	warnings  []Warning
}

func (l *linter) warn(pos Pos, format string, args ...any) {
	l.warnings = append(l.warnings, Warning{pos, fmt.Sprintf(format, args...)})
}

// learn notes what a rule asks for and concludes.
func (l *linter) learn(r Rule) {
	for f := range facts(r.When) {
		l.asked[conclusion{f.Of, f.Name}] = true
	}
	for _, c := range r.Then.conclusions() {
		l.concluded[c] = true
		l.points[c] += r.Score * evidence(r.When)
	}
}

// alone warns of what is odd in one rule.
func (l *linter) alone(r Rule) {
	walk(r.When, func(x Expr) bool {
		switch x := x.(type) {
		case *Or:
			l.doubles(x.Of, true)
		case *AtLeast:
			l.doubles(x.Of, false)
		case *And:
			l.doubles(x.Of, false)
			l.contradictions(x.Of)
		case *Term:
			l.short(x)
		}
		return true
	})
}

// together warns of what is odd in a rule beside the others.
func (l *linter) together(r Rule) {
	key := r
	key.Score = 1
	text := Format(key)
	if first, ok := l.seen[text]; ok {
		l.warn(r.Pos, "the rule is the same as %s, so its terms count twice: remove one of the two", first)
	} else {
		l.seen[text] = r.Pos
	}
	for f := range facts(r.When) {
		if c := (conclusion{f.Of, f.Name}); !l.concluded[c] {
			l.warn(f.Pos, "no rule concludes %s", c)
		}
	}
	for _, c := range r.Then.conclusions() {
		switch {
		case c.of == Known && !l.asked[c]:
			l.warn(r.Pos, "no rule asks for %s", c)
		case c.of != Known && l.points[c] < threshold:
			l.warn(r.Pos, "%s can never be concluded: all its rules together give at most %s points of the %s that it needs; raise a score or add terms", c, number(l.points[c]), number(threshold))
		default:
			continue
		}
		l.asked[c] = true // once is enough
		l.points[c] = threshold
	}
}

// threshold and weights are those of package classify: the points that a label
// needs, and what a term gives in the best field that it may occur in.
const threshold = 3.0

var weights = [Fields]float64{Anywhere: 3, Title: 3, Tags: 2, Body: 1, FeedTitle: 1, FeedTags: 1, Author: 1, URL: 2, Host: 2, Lang: 1}

// evidence returns the most that the terms of a condition can weigh together. A
// condition of facts alone weighs as much as a word of the title.
func evidence(x Expr) float64 {
	sum := positiveWeight(x, false)
	if sum == 0 {
		return weights[Title]
	}
	return sum
}

func positiveWeight(x Expr, denied bool) float64 {
	switch x := x.(type) {
	case *Not:
		return positiveWeight(x.X, !denied)
	case *Term:
		if denied {
			return 0
		}
		return weights[x.Field]
	}
	sum := 0.0
	for _, inner := range within(x) {
		sum += positiveWeight(inner, denied)
	}
	return sum
}

// doubles warns of conditions that stand beside one another and mean the same
// or, if that leaves nothing to the other, of which one means more.
func (l *linter) doubles(list []Expr, either bool) {
	seen := make(map[string]Expr, len(list))
	prefixes := make(map[string]*Term)
	for _, x := range list {
		key := meaning(x)
		if first, ok := seen[key]; ok {
			l.warn(place(x), "%s means the same as %s beside it: remove one of the two", x, first)
			continue
		}
		seen[key] = x
		if t, ok := x.(*Term); ok && t.Kind == Prefix {
			prefixes[FieldNames[t.Field]+":"+strings.ToLower(t.Text)] = t
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
			l.warn(t.Pos, "%s is among what %s stands for, so one word counts twice: remove one of the two", t, wider)
		}
	}
}

// covering returns the term among others that holds wherever t, a single word,
// does, nil if none does.
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
		if x := prefixes[FieldNames[t.Field]+":"+text[:i]]; x != nil {
			return x
		}
	}
	if x := prefixes[FieldNames[t.Field]+":"+text]; x != nil && x != t {
		return x
	}
	return nil
}

// meaning returns a text that is equal for conditions that hold of the same
// documents, as far as is easily told.
func meaning(x Expr) string {
	t, ok := x.(*Term)
	if !ok || t.Kind != Words && t.Kind != Loose {
		return x.String()
	}
	stems := stem.List(t.Text, "")
	if t.Kind == Loose {
		slices.Sort(stems)
	}
	return fmt.Sprintf("%s:%d:%s", FieldNames[t.Field], t.Kind, strings.Join(stems, " "))
}

// contradictions warns of conditions that can never hold together.
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
		denied, ok := x.(*Not)
		if !ok {
			continue
		}
		for _, d := range alternatives(denied.X) {
			if x, ok := seen[meaning(d)]; ok {
				l.warn(place(d), "the rule can never hold: it asks for %s and denies %s", x, d)
			}
		}
	}
}

// alternatives returns the conditions any of which makes x hold.
func alternatives(x Expr) []Expr {
	if x, ok := x.(*Or); ok {
		return x.Of
	}
	return []Expr{x}
}

// short warns of a word that means too many things.
func (l *linter) short(t *Term) {
	if t.Field != Anywhere {
		return
	}
	switch letters := utf8.RuneCountInString(t.Text); {
	case t.Kind == Prefix && letters < 3 && isAlphabetic(t.Text):
		l.warn(t.Pos, "%s stands for very many words: write more of it", t)
	case t.Kind == Words && letters == 1 && isAlphabetic(t.Text):
		l.warn(t.Pos, "%s is a single letter: make it exact, '%s', or name a field, title:%s", t, strings.ToUpper(t.Text), t)
	case t.Kind == Words && isAlphabetic(t.Text):
		if s := stem.List(t.Text, ""); len(s) == 1 && utf8.RuneCountInString(s[0]) < min(letters, 3) {
			l.warn(t.Pos, "%s stands for all words with the stem %s: make it exact, '%s', or name a field, title:%s", t, quote(s[0]), t.Text, t)
		}
	}
}

// isAlphabetic reports whether a text is of letters of an alphabet, in which one
// or two say little.
func isAlphabetic(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !unicode.In(r, unicode.Latin, unicode.Cyrillic, unicode.Greek) }) < 0
}

// place returns where a condition begins.
func place(x Expr) Pos {
	var p Pos
	walk(x, func(x Expr) bool {
		switch x := x.(type) {
		case *Term:
			p = x.Pos
		case *Fact:
			p = x.Pos
		}
		return p.Line == 0
	})
	return p
}
