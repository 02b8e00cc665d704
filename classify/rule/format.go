package rule

import (
	"strconv"

	"feedmesh/classify/expression"
)

// Format returns the shortest text of a rule, preceded by a line with its scope if it has one. For a rule
// that [Parse] returned, parsing the text yields the same rule except for positions.
func Format(r Rule) string {
	text := r.String() + "\n"
	if r.Scope != (Scope{}) {
		text = r.Scope.String() + "\n" + text
	}
	return text
}

// String returns the rule in its shortest form, without its scope.
func (r Rule) String() string {
	s := r.Action.String() + " when " + r.Condition.String()
	if r.Action.Kind == Conclude && r.Score != 1 {
		s += " score " + number(r.Score)
	}
	return s
}

// String returns the action as written, for example "category devops/topic:kubernetes".
func (t Action) String() string {
	switch t.Kind {
	case ConcludeFact:
		return "fact " + t.Name
	case AddScore:
		if t.Score > 0 {
			return "score +" + number(t.Score)
		}
		return "score " + number(t.Score)
	case Star:
		return "star"
	case Mute:
		return "mute"
	case Quarantine:
		return "quarantine"
	case Notify:
		if t.Text == "" {
			return "notify"
		}
		return "notify " + quote(t.Text)
	}
	switch {
	case t.Name == "":
		return "topic " + t.Topic
	case t.Topic == "":
		return "category " + t.Name
	}
	return "category " + t.Name + "/topic:" + t.Topic
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

var notation = &expression.Notation{And: " & ", Or: " | ", Not: "!"}

// Notation implements [expression.Leaf].
func (x *Term) Notation() *expression.Notation { return notation }

// Notation implements [expression.Leaf].
func (x *Fact) Notation() *expression.Notation { return notation }

// String returns the fact as written, for example "topic:kubernetes".
func (x *Fact) String() string { return factNames[x.Kind] + ":" + x.Name }

// String returns the term with its field and delimiters.
func (x *Term) String() string {
	field := ""
	if x.Field != Anywhere {
		field = x.Field.String() + ":"
	}
	switch x.Kind {
	case Loose:
		return field + quote(x.Text) + "~"
	case Prefix:
		return field + x.Text + "*"
	case Exact:
		return field + expression.Quote(x.Text, "'")
	case Regexp:
		return field + slash(x.Text)
	}
	return field + value(x.Text)
}

// value returns a text, in quotes if it needs them.
func value(s string) string {
	if isBare(s) {
		return s
	}
	return quote(s)
}
