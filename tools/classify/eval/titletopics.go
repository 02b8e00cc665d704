package eval

import (
	"slices"
	"strings"
	"unicode"
)

// TitleTopics measures how often a topic named in the title is found.
type TitleTopics struct {
	Items int `json:"items"` // with one of their labels in the title, word for word
	Found int `json:"found"` // of these, items with a topic for that label
}

// Add counts an item if its title contains one of its labels, as "How to use LINQ" contains linq and "visual
// studio add-ins" visual-studio. The topic is found if a reason of the decision names a topic and the label.
func (n *TitleTopics) Add(title string, labels, why []string) {
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

// Share returns the share of items whose topic was found.
func (n TitleTopics) Share() float64 { return share(n.Found, n.Items) }

// apart reports whether r separates words; + and # belong to c++ and c#.
func apart(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '+' && r != '#' }

// letters removes the separators from a text and lower-cases it.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if apart(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}
