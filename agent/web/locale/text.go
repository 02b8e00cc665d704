package locale

import (
	"regexp"
	"strings"

	"golang.org/x/text/feature/plural"
)

// A Text is shown in the language of a page. Nil is no text.
type Text interface {
	In(*Language) string
}

// Data is text that is the same in all languages: names, titles, addresses.
type Data string

// In returns the text.
func (d Data) In(*Language) string { return string(d) }

// DataOr returns data as a text, or another text if it is empty.
func DataOr(data string, other Text) Text {
	if data == "" {
		return other
	}
	return Data(data)
}

// A phrase is a text of the interface.
type phrase struct {
	one, other string // formats of package fmt; one is empty for texts without number
	number     int64
	args       []any
}

// T returns an English text of the interface, which is translated: a constant format of package fmt and its arguments,
// which may be texts.
func T(english string, args ...any) Text { return phrase{other: english, args: args} }

// N returns an English text that contains the number n as its first argument %d: one if the number is 1.
func N(n int64, one, other string, args ...any) Text {
	return phrase{one: one, other: other, number: n, args: append([]any{n}, args...)}
}

// In formats the text.
func (p phrase) In(l *Language) string {
	format := p.other
	if p.one != "" && p.number == 1 {
		format = p.one
	}
	if t, found := l.load().Interface[p.other]; found {
		format = t.Other
		if p.one != "" {
			format = t.form(l.pluralForm(p.number))
		}
	}
	return l.sprintf(format, p.args)
}

func (l *Language) pluralForm(n int64) plural.Form {
	return plural.Cardinal.MatchPlural(l.tag, int(n%1_000_000), 0, 0, 0, 0)
}

// sprintf formats numbers as the language does: %d of 2000 is "2,000" in English.
func (l *Language) sprintf(format string, args []any) string {
	if !strings.Contains(format, "%") {
		return format
	}
	resolved := make([]any, len(args))
	for i, a := range args {
		if t, is := a.(Text); is {
			a = t.In(l)
		}
		resolved[i] = a
	}
	return l.printer.Sprintf(format, resolved...)
}

// A composed text is an English text of a service or another agent.
type composed string

// Composed returns the text of a service or another agent. It stays English where it has no translation: its names and
// numbers are part of it.
func Composed(english string) Text {
	if english == "" {
		return nil
	}
	return composed(english)
}

// In returns the translation of the text with its numbers, or the text itself.
func (c composed) In(l *Language) string {
	texts := l.load().Service
	if len(texts) == 0 {
		return string(c)
	}
	key, numbers := cutNumbers(string(c))
	t, found := texts[key]
	if !found {
		return string(c)
	}
	return l.sprintf(t.Other, numbers)
}

var number = regexp.MustCompile(`%|[0-9]+([.:][0-9]+)*`)

// cutNumbers replaces each number, version and time of a text with %s, and each percent sign with %%.
func cutNumbers(text string) (key string, numbers []any) {
	key = number.ReplaceAllStringFunc(text, func(found string) string {
		if found == "%" {
			return "%%"
		}
		numbers = append(numbers, found)
		return "%s"
	})
	return key, numbers
}

// A list is texts with a separator.
type list struct {
	separator string
	texts     []Text
}

// Join returns texts with a separator between them; nil if there are none.
func Join(separator string, texts ...Text) Text {
	if len(texts) == 0 {
		return nil
	}
	return list{separator, texts}
}

// In formats the texts.
func (j list) In(l *Language) string {
	words := make([]string, len(j.texts))
	for i, t := range j.texts {
		words[i] = t.In(l)
	}
	return strings.Join(words, j.separator)
}

// A sentence is a text with a capital letter and a full stop.
type sentence struct{ Text }

// Sentence returns a text that begins with a capital letter and ends with a full stop; nil for nil.
func Sentence(t Text) Text {
	if t == nil {
		return nil
	}
	return sentence{t}
}

// In formats the text.
func (s sentence) In(l *Language) string {
	words := []rune(s.Text.In(l))
	if len(words) == 0 {
		return ""
	}
	return strings.ToUpper(string(words[:1])) + string(words[1:]) + "."
}
