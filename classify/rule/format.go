package rule

import (
	"strconv"
	"strings"
)

// Format returns the text of a rule, in its shortest form and with the scope it
// has, if it has one, in a line before it. [Parse] makes the same rule of it again, if
// it made r; the places alone may differ.
func Format(r Rule) string {
	text := r.String() + "\n"
	if r.Scope != (Scope{}) {
		text = r.Scope.String() + "\n" + text
	}
	return text
}

// String returns the rule in its shortest form, without its scope.
func (r Rule) String() string {
	s := r.Then.String() + " when " + r.When.String()
	if r.Then.Do == Conclude && r.Score != 1 {
		s += " score " + number(r.Score)
	}
	return s
}

// String returns what a rule begins with, as in "category devops/topic:kubernetes".
func (t Then) String() string {
	switch t.Do {
	case Know:
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

// How strongly conditions hold together: what is weaker than that around it
// needs parentheses.
const (
	weak      = iota // |
	middling         // &
	strong           // near
	strongest        // ! and all else
)

func (x *Or) String() string  { return join(x.Of, " | ", middling) }
func (x *And) String() string { return join(x.Of, " & ", strong) }
func (x *Not) String() string { return "!" + enclosed(x.X, strongest) }
func (x *Near) String() string {
	return enclosed(x.A, strongest) + " near/" + strconv.Itoa(x.Within) + " " + enclosed(x.B, strongest)
}
func (x *AtLeast) String() string {
	return strconv.Itoa(x.N) + " of (" + join(x.Of, ", ", weak) + ")"
}
func (x *Fact) String() string { return factNames[x.Of] + ":" + x.Name }

// String returns the term with its field, quotes and marks.
func (x *Term) String() string {
	field := ""
	if x.Field != Anywhere {
		field = FieldNames[x.Field] + ":"
	}
	switch x.Kind {
	case Loose:
		return field + quote(x.Text) + "~"
	case Prefix:
		return field + x.Text + "*"
	case Exact:
		return field + enclose(x.Text, "'")
	case Regexp:
		return field + slash(x.Text)
	}
	return field + value(x.Text)
}

// value returns a text as it is, if it needs no quotes.
func value(s string) string {
	if isBare(s) {
		return s
	}
	return quote(s)
}

func join(list []Expr, between string, at int) string {
	texts := make([]string, len(list))
	for i, x := range list {
		texts[i] = enclosed(x, at)
	}
	return strings.Join(texts, between)
}

// enclosed returns the text of x, in parentheses if it is weaker than at.
func enclosed(x Expr, at int) string {
	strength := strongest
	switch x.(type) {
	case *Or:
		strength = weak
	case *And:
		strength = middling
	case *Near:
		strength = strong
	}
	if strength < at {
		return "(" + x.String() + ")"
	}
	return x.String()
}
