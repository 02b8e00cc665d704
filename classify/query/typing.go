package query

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
)

// ParseTyping is [Parse] of what a person has not yet typed to the end: quotes and
// brackets may be open, an operator or a field may lack what comes next, and the
// last word may go on, unless a space comes after it.
func ParseTyping(text string, now time.Time) (Node, error) {
	n, err := Parse(text, now)
	if err != nil {
		mended, mendedErr := Parse(mend(text), now)
		if mendedErr != nil {
			return nil, err // of what was typed, where it stands there
		}
		n = mended
	}
	if strings.TrimRightFunc(text, unicode.IsSpace) == text {
		n = Typing(n)
	}
	return n, nil
}

// Typing returns the tree with the last word as a prefix, if it ends with words.
func Typing(n Node) Node {
	switch n := n.(type) {
	case And:
		return And(typingLast(n))
	case Or:
		return Or(typingLast(n))
	case Text:
		if n.Form == AllWords && len(Sought(n.Words)) > 0 {
			n.Form = Prefix
		}
		return n
	}
	return n
}

func typingLast(nodes []Node) []Node {
	nodes = slices.Clone(nodes)
	if last := len(nodes) - 1; last >= 0 {
		nodes[last] = Typing(nodes[last])
	}
	return nodes
}

// unnamed is a field without a value.
var unnamed = regexp.MustCompile(`(?i)(^|[\s(-])(` + strings.Join(fieldNames, "|") + `):$`)

// mend leaves out what a query ends with and needs more, and closes what is open.
func mend(text string) string {
	if strings.Count(text, `"`)%2 == 1 {
		text += `"`
	}
	for {
		short := strings.TrimRightFunc(text, unicode.IsSpace)
		for _, end := range []string{" OR", "|", "-", "(", `""`} {
			short = strings.TrimSuffix(short, end)
		}
		short = unnamed.ReplaceAllString(short, "")
		if short == text {
			break
		}
		text = short
	}
	return text + strings.Repeat(")", max(strings.Count(text, "(")-strings.Count(text, ")"), 0))
}
