package rule

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"feedmesh/classify/expression"
)

// letters has a letter for each kind of token, for the grammar below. All terms but bare words are t.
var letters = map[expression.Kind]string{
	expression.Word: "b", prefix: "t", expression.Phrase: "t", loose: "t", exact: "t", pattern: "t", expression.Name: "f", when: "w", score: "s",
	expression.OpAnd: "&", expression.OpOr: "|", expression.OpNot: "!", near: "~", count: "n", of: "o",
	expression.OpenPar: "(", expression.ClosePar: ")", comma: ",",
}

// The grammar of a condition whose parentheses are replaced by terms.
const (
	operandLetters = `!*f*[bt]`
	nearLetters    = operandLetters + `(~` + operandLetters + `)?`
	orLetters      = nearLetters + `([&|]` + nearLetters + `)*`
)

var (
	inParentheses = regexp.MustCompile(`(no)?\(([^()]*)\)`)
	group         = regexp.MustCompile(`^` + orLetters + `$`)
	list          = regexp.MustCompile(`^` + orLetters + `(,` + orLetters + `)*$`)
	withScore     = regexp.MustCompile(`^` + orLetters + `(sb)?$`)
)

// isGrammatical reports whether the letters of a condition follow the grammar. It replaces the innermost
// parentheses by terms until none is left.
func isGrammatical(s string) bool {
	for {
		at := inParentheses.FindStringSubmatchIndex(s)
		if at == nil {
			return withScore.MatchString(s)
		}
		inner := s[at[4]:at[5]]
		if at[2] < 0 && !group.MatchString(inner) || at[2] >= 0 && !list.MatchString(inner) {
			return false
		}
		s = s[:at[0]] + "t" + s[at[1]:]
	}
}

// TestParse_FollowsGrammar compares the parser with the grammar on random tokens.
func TestParse_FollowsGrammar(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	words := strings.Fields(`a1 b1 c1 a1 b1 c1 k* "p" 'E' 2 & & | | ! ( ( ) ) , near/5 of ( when title:`)
	words = append(words, "score 2", "2 of (")
	right, rules := 0, 30_000
	if testing.Short() {
		rules = 6_000
	}
	for range rules {
		list := []string{"category x when"}
		for range 1 + random.IntN(12) {
			list = append(list, words[random.IntN(len(words))])
		}
		text := strings.Join(list, " ")
		p := newRuleParser(newSetParser(), text, Pos{})
		if p.ReadAll(); p.Err != nil {
			t.Fatalf("%s: %v", text, p.Err)
		}
		var b strings.Builder
		for again := newRuleParser(newSetParser(), text, Pos{}); again.Peek().Kind != expression.End; again.Next() {
			b.WriteString(letters[again.Peek().Kind])
		}
		p.rule()
		if len(p.diagnostics) > 0 && (strings.Contains(p.diagnostics[len(p.diagnostics)-1].Message, "cannot be used in") || strings.Contains(p.diagnostics[len(p.diagnostics)-1].Message, "instead of")) {
			continue // nested fields and a field before ! are outside the grammar
		}
		if right := isGrammatical(strings.TrimPrefix(b.String(), "bbw")); p.failed == right {
			t.Fatalf("%s: the parser found %v, the grammar %t", text, p.diagnostics, right)
		}
		if !p.failed {
			right++
		}
	}
	if right < rules/30 {
		t.Errorf("only %d texts are valid, too few for the comparison", right)
	}
}
