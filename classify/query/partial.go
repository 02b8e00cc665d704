package query

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
)

// ParsePartial is [Parse] for a query that is still being typed: quotes and parentheses may be open, an
// operator or a field may lack its operand, and the last word is a prefix unless a space follows it.
func ParsePartial(text string, now time.Time) (Node, error) {
	n, err := Parse(text, now)
	if err != nil {
		completed, mendedErr := Parse(completeQuery(text), now)
		if mendedErr != nil {
			return nil, err // the error of the text as typed, with its position
		}
		n = completed
	}
	if strings.TrimRightFunc(text, unicode.IsSpace) == text {
		n = LastWordAsPrefix(n)
	}
	return n, nil
}

// LastWordAsPrefix returns the tree with the last word as a prefix, if it ends with words.
func LastWordAsPrefix(n Node) Node {
	switch n := n.(type) {
	case And:
		return And(lastAsPrefix(n))
	case Or:
		return Or(lastAsPrefix(n))
	case Text:
		if n.Form == AllWords && len(QueryWords(n.Words)) > 0 {
			n.Form = Prefix
		}
		return n
	}
	return n
}

func lastAsPrefix(nodes []Node) []Node {
	nodes = slices.Clone(nodes)
	if last := len(nodes) - 1; last >= 0 {
		nodes[last] = LastWordAsPrefix(nodes[last])
	}
	return nodes
}

// emptyField matches a field without a value.
var emptyField = regexp.MustCompile(`(?i)(^|[\s(-])(` + strings.Join(fieldNames, "|") + `):$`)

// completeQuery drops an incomplete end, and closes open quotes and parentheses.
func completeQuery(text string) string {
	if strings.Count(text, `"`)%2 == 1 {
		text += `"`
	}
	for {
		short := strings.TrimRightFunc(text, unicode.IsSpace)
		for _, end := range []string{" OR", "|", "-", "(", `""`} {
			short = strings.TrimSuffix(short, end)
		}
		short = emptyField.ReplaceAllString(short, "")
		if short == text {
			break
		}
		text = short
	}
	return text + strings.Repeat(")", max(strings.Count(text, "(")-strings.Count(text, ")"), 0))
}
