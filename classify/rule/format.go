package rule

import (
	"strconv"
	"strings"
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

// Precedence of conditions: a condition within one of higher precedence needs parentheses.
const (
	weak      = iota // |
	middling         // &
	strong           // near
	strongest        // ! and all else
)

func (x *Or) String() string  { return join(x.Operands, " | ", middling) }
func (x *And) String() string { return join(x.Operands, " & ", strong) }
func (x *Not) String() string { return "!" + enclosed(x.X, strongest) }
func (x *Near) String() string {
	return enclosed(x.A, strongest) + " near/" + strconv.Itoa(x.Within) + " " + enclosed(x.B, strongest)
}
func (x *AtLeast) String() string {
	return strconv.Itoa(x.N) + " of (" + join(x.Operands, ", ", weak) + ")"
}
func (x *Fact) String() string { return factNames[x.Kind] + ":" + x.Name }

// String returns the term with its field and delimiters.
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

// value returns a text, in quotes if it needs them.
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

// enclosed returns the text of x, in parentheses if its precedence is below at.
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
