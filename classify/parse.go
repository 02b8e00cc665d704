package classify

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"feedmesh/classify/stem"
)

var (
	categoryLine = regexp.MustCompile(`^category\s+(\S+)\s+when\s+(.+?)(?:\s+score\s+(\S+))?$`)
	spamLine     = regexp.MustCompile(`^(phrase|domain|about):\s*(?:"([^"]*)"|(\S+))(?:\s+(\S+))?$`)
	label        = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
)

// category compiles a line of a rules file.
func (b *builder) category(line, where string) error {
	m := categoryLine.FindStringSubmatch(line)
	if m == nil {
		if !strings.HasPrefix(line, "category ") {
			return fmt.Errorf("%q is no rule: it must begin with \"category\"", line)
		}
		return errors.New(`"when" is missing, or what should stand around it`)
	}
	r := rule{kind: categoryRule, score: 1, where: where}
	var topic bool
	r.category, r.topic, topic = strings.Cut(m[1], "/topic:")
	if !label.MatchString(r.category) {
		return fmt.Errorf("%q is no category: small letters, digits and hyphens", r.category)
	}
	if topic && !label.MatchString(r.topic) {
		return fmt.Errorf("%q is no topic: small letters, digits and hyphens", r.topic)
	}
	if err := parseScore(m[3], &r.score); err != nil {
		return err
	}
	terms, err := splitTerms(m[2])
	if err != nil {
		return err
	}
	b.rules.rules = append(b.rules.rules, r)
	for _, t := range terms {
		if err := b.add(t); err != nil {
			return err
		}
	}
	return nil
}

// splitTerms splits what stands behind "when" into its terms, with their quotes.
func splitTerms(s string) ([]string, error) {
	var terms []string
	for part := range strings.SplitSeq(s, "|") {
		part = strings.TrimSpace(part)
		inner, quoted := strings.CutPrefix(part, `"`)
		inner, closed := strings.CutSuffix(inner, `"`)
		switch {
		case part == "":
			return nil, errors.New("a term is missing beside |")
		case quoted != closed || strings.Contains(inner, `"`):
			return nil, fmt.Errorf("%s: a quote is missing, or a |", part)
		case !quoted && strings.ContainsAny(part, " \t"):
			return nil, fmt.Errorf("%q: put a phrase in quotes, and | between terms", part)
		}
		terms = append(terms, inner)
	}
	return terms, nil
}

// spam compiles a line of spam.txt.
func (b *builder) spam(line, where string) error {
	m := spamLine.FindStringSubmatch(line)
	if m == nil {
		return fmt.Errorf(`%q is no line of spam.txt: phrase, domain or about, a colon, a value, perhaps a weight`, line)
	}
	kind, value := m[1], m[2]+m[3]
	r := rule{kind: spamPhrase, score: 1, where: where}
	switch kind {
	case "about":
		r.kind = aboutSpam
	case "domain":
		r.score = spamThreshold
	}
	if err := parseScore(m[4], &r.score); err != nil {
		return err
	}
	if kind == "domain" {
		value = strings.ToLower(strings.TrimSuffix(value, "."))
		if !strings.Contains(value, ".") || strings.ContainsAny(value, "/:@ ") {
			return fmt.Errorf("%q is no domain", value)
		}
		b.rules.domains[value] = spamRule{score: r.score, where: where}
		return nil
	}
	b.rules.rules = append(b.rules.rules, r)
	return b.add(value)
}

func parseScore(s string, score *float64) error {
	if s == "" {
		return nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f > 0 && f <= 100) { // nor NaN
		return fmt.Errorf("%q is no score: a number above 0, at most 100", s)
	}
	*score = f
	return nil
}

// add makes a term of the last rule findable. Stop words in a phrase stand for
// any or none; a phrase of which one word remains is taken for a mistake.
func (b *builder) add(written string) error {
	switch words, stems := stem.Count(written, ""), stem.List(written, ""); {
	case words == 0:
		return fmt.Errorf("%q has no word in it", written)
	case len(stems) == 0:
		return fmt.Errorf("%q has stop words only, which are never looked at", written)
	case len(stems) == 1 && words > 1:
		return fmt.Errorf("%q means every %q, as stop words are never looked at: say so, or more", written, stems[0])
	}
	b.terms++
	owner := len(b.rules.rules) - 1
	for _, language := range stemmed {
		stems := stem.List(written, language)
		if len(stems) == 0 {
			continue // stop words in that language
		}
		index := b.rules.index[language]
		same := func(t term) bool { return t.rule == owner && slices.Equal(t.rest, stems[1:]) }
		if slices.ContainsFunc(index[stems[0]], same) {
			continue // another form of a word that the rule has already
		}
		index[stems[0]] = append(index[stems[0]], term{rest: stems[1:], id: b.terms, rule: owner, text: written})
	}
	return nil
}
