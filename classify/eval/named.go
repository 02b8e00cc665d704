package eval

import (
	"slices"
	"strings"
	"unicode"
)

// A Named is how often a topic was found that the title names.
type Named struct {
	Items int `json:"items"` // whose title has one of their labels, word for word
	Found int `json:"found"` // of which a topic is given for that label
}

// Add counts an item if its title names one of its labels, as "How to use LINQ"
// does with linq and "visual studio add-ins" with visual-studio. It is found where
// one of the sentences of a decision speaks of a topic and of the label.
func (n *Named) Add(title string, labels, why []string) {
	words := " " + strings.Join(strings.FieldsFunc(strings.ToLower(title), apart), " ") + " "
	for _, label := range labels {
		name := strings.Join(strings.FieldsFunc(strings.ToLower(label), apart), " ")
		if name == "" || !strings.Contains(words, " "+name+" ") {
			continue
		}
		n.Items++
		if slices.ContainsFunc(why, func(s string) bool {
			return strings.HasPrefix(s, "topic ") && strings.Contains(letters(s), letters(label))
		}) {
			n.Found++
		}
		return
	}
}

// Share returns how many were found of those that are named.
func (n Named) Share() float64 { return share(n.Found, n.Items) }

// apart reports whether r stands between words; + and # are of c++ and c#.
func apart(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '+' && r != '#' }

// letters leaves of a text what words are made of.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if apart(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}
