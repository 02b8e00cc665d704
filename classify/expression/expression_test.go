package expression

import (
	"slices"
	"strings"
	"testing"
	"unicode"
)

// A flag is a leaf of a language for tests: it holds if it is in upper case.
type flag string

func (f flag) String() string { return string(f) }

func (flag) Notation() *Notation { return &Notation{And: " & ", Or: " | ", Not: "!"} }

func isUpper(n Node, _ bool) bool { return strings.ToUpper(n.String()) == n.String() }

func TestNode_PrintsParenthesesByPrecedence(t *testing.T) {
	t.Parallel()
	a, b, c := flag("a"), flag("b"), flag("c")
	for want, n := range map[string]Node{
		"a | b & c":          Or{a, And{b, c}},
		"(a | b) & c":        And{Or{a, b}, c},
		"!(a & b) & !c":      And{Not{And{a, b}}, Not{c}},
		"!(!a)":              Not{Not{a}},
		"(a | b) near/3 c":   Near{Or{a, b}, c, 3},
		"!(a near/0 b) | c":  Or{Not{Near{a, b, 0}}, c},
		"2 of (a | b, c, a)": AtLeast{2, []Node{Or{a, b}, c, a}},
		"a & 1 of (b, c)":    And{a, AtLeast{1, []Node{b, c}}},
		"()":                 Or{},
		"":                   And{},
	} {
		if got := n.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestHolds_CountsOperands(t *testing.T) {
	t.Parallel()
	yes, no := flag("A"), flag("a")
	for _, c := range []struct {
		n    Node
		want bool
	}{
		{nil, true}, {And{}, true}, {Or{}, false}, {yes, true}, {Not{yes}, false}, {And{yes, yes}, true}, {And{yes, no}, false}, {Or{no, yes}, true},
		{Or{no, no}, false}, {AtLeast{2, []Node{yes, no, yes}}, true}, {AtLeast{2, []Node{yes, no, no}}, false}, {AtLeast{3, []Node{yes, yes}}, false},
		{And{Not{Or{no, no}}, yes}, true},
	} {
		if got := Holds(c.n, isUpper); got != c.want {
			t.Errorf("%v: got %t, want %t", c.n, got, c.want)
		}
	}
}

func TestHolds_ReportsNegation(t *testing.T) {
	t.Parallel()
	var below []string
	Holds(And{flag("A"), Not{Or{flag("b"), Not{flag("C")}}}}, func(n Node, negated bool) bool {
		if negated {
			below = append(below, n.String())
		}
		return isUpper(n, negated)
	})
	if want := []string{"b", "C"}; !slices.Equal(below, want) {
		t.Errorf("got %q below Not, want %q", below, want)
	}
}

func TestWalk_YieldsNodesWithNegations(t *testing.T) {
	t.Parallel()
	var got []int
	for _, negations := range Walk(And{flag("a"), Not{Or{flag("b"), Not{flag("c")}}}}) {
		got = append(got, negations)
	}
	if want := []int{0, 0, 0, 1, 1, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for n := range Walk(Or{flag("a"), flag("b")}) {
		if n == flag("b") {
			t.Error("the walk goes on after a break")
		}
		if n == flag("a") {
			break
		}
	}
}

func TestAllOf_FlattensAndNegateCancels(t *testing.T) {
	t.Parallel()
	a, b, c := flag("a"), flag("b"), flag("c")
	if AllOf(nil) != nil || AnyOf([]Node{a}) != a || Negate(Negate(a)) != a {
		t.Error("want no node for none, a node for itself, and for its double negation")
	}
	if got := AllOf([]Node{And{a, b}, Or{b, c}}).(And); len(got) != 3 {
		t.Errorf("got %v, want three operands", got)
	}
	if got := AnyOf([]Node{And{a, b}, Or{b, c}}).(Or); len(got) != 3 {
		t.Errorf("got %v, want three operands", got)
	}
}

func TestLexer_ReportsPlaces(t *testing.T) {
	t.Parallel()
	l := Lexer{
		Source: "é 'a\nb' (c)", Place: Place{1, 1},
		Skip: func(l *Lexer) { l.AdvanceWhile(unicode.IsSpace) },
		Scan: func(l *Lexer) (Kind, string) {
			switch c := l.Rest()[0]; {
			case l.AdvanceByte('('):
				return OpenPar, ""
			case l.AdvanceByte(')'):
				return ClosePar, ""
			case c == '\'' && l.AdvanceQuoted(true):
				return Phrase, ""
			}
			if l.AdvanceWhile(unicode.IsLetter) == "" {
				return 0, "no token"
			}
			return Word, ""
		},
	}
	want := []Token{{Word, "é", 0, Place{1, 1}}, {Phrase, "'a\nb'", 3, Place{1, 3}}, {OpenPar, "(", 9, Place{2, 4}}, {Word, "c", 10, Place{2, 5}}, {ClosePar, ")", 11, Place{2, 6}}}
	for i, want := range want {
		if got := l.Next(); got != want || l.Before(1) != want {
			t.Errorf("token %d: got %v, want %v", i, got, want)
		}
	}
	if l.Depth != 0 || l.Peek().Kind != End || l.Next().Offset != 12 {
		t.Errorf("got %v, want the end", l.Peek())
	}
	l.Fail(3, "the %s", "problem")
	l.Fail(4, "another")
	if l.Err.Offset != 3 || l.Err.Error() != "the problem" {
		t.Errorf("got %v, want the first error", l.Err)
	}
}

func FuzzQuote_UnquoteRestoresText(f *testing.F) {
	f.Add(`a "b" \ 'c' \"`)
	f.Fuzz(func(t *testing.T, s string) {
		for _, sign := range []string{`"`, "'"} {
			quoted := Quote(s, sign)
			if got := Unquote(quoted); got != s {
				t.Errorf("got %q, want %q", got, s)
			}
			if at := QuotedOffset(quoted, len(s)); at != len(quoted)-1 {
				t.Errorf("%q: got offset %d for the end, want %d", quoted, at, len(quoted)-1)
			}
			l := Lexer{Source: quoted + sign}
			if !l.AdvanceQuoted(true) || l.Offset != len(quoted) {
				t.Errorf("%q: ends at %d", quoted, l.Offset)
			}
		}
	})
}
