package rule

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"feedmesh/classify/expression"
)

// same reports whether two rules are equal except for positions.
func same(a, b Rule) bool {
	return reflect.DeepEqual(withoutPlaces(a), withoutPlaces(b))
}

func withoutPlaces(r Rule) Rule {
	r.Pos, r.Condition = Pos{}, bareOf(r.Condition)
	return r
}

// bareOf returns a copy of a condition without positions.
func bareOf(x Expr) Expr {
	switch x := x.(type) {
	case Or:
		return Or(bareAll(x))
	case And:
		return And(bareAll(x))
	case AtLeast:
		return AtLeast{N: x.N, Operands: bareAll(x.Operands)}
	case Not:
		return Not{Node: bareOf(x.Node)}
	case Near:
		return Near{A: bareOf(x.A), B: bareOf(x.B), Within: x.Within}
	case *Term:
		t := *x
		t.Pos = Pos{}
		return &t
	case *Fact:
		f := *x
		f.Pos = Pos{}
		return &f
	}
	return x
}

func bareAll(list []Expr) []Expr {
	bare := make([]Expr, len(list))
	for i, x := range list {
		bare[i] = bareOf(x)
	}
	return bare
}

// A generator generates rules of the form that [Parse] returns.
type generator struct{ *rand.Rand }

func (g generator) pick(list ...string) string { return list[g.IntN(len(list))] }

func (g generator) rule() Rule {
	r := Rule{Score: 1}
	switch g.IntN(8) {
	case 0:
		r.Action = Action{Kind: AddScore, Score: float64(1+g.IntN(1000))/10 - 50.05}
	case 1:
		r.Action = Action{Kind: ActionKind(int(Star) + g.IntN(3))}
	case 2:
		r.Action = Action{Kind: Notify, Text: g.pick("", "text", `a "b" \ c`, "# x", "'")}
	case 3:
		r.Action = Action{Kind: ConcludeFact, Name: "other"}
	default:
		r.Action = Action{Name: g.pick("", "devops", "3d"), Topic: g.pick("", "kubernetes", "c-3")}
		if r.Action.Name+r.Action.Topic == "" {
			r.Action.Name = "science"
		}
		r.Score = float64(1+g.IntN(1000)) / 10
	}
	switch g.IntN(5) {
	case 0:
		r.Scope = Scope{FeedTag, g.pick("Jobs", `a "b" \`, "when", "# c")}
	case 1:
		r.Scope = Scope{Feed, g.pick("f1", "https://example.org/feed", "all")}
	case 2:
		r.Scope = Scope{Query, g.pick("kubernetes", "when", "lang:ru -host:example.org", `"zero day" OR title:it's*`, `author:"a \\\" 'b'"`, "(库* OR a b) after:2026-03-01", "it's")}
	}
	r.Condition = expression.AllOf([]Expr{g.term(), g.expr(4)})
	return r
}

func (g generator) expr(depth int) Expr {
	if depth == 0 {
		return g.term()
	}
	switch g.IntN(8) {
	case 0:
		return expression.AnyOf(g.list(depth))
	case 1:
		return expression.AllOf(g.list(depth))
	case 2:
		return expression.Negate(g.expr(depth - 1))
	case 3:
		list := g.list(depth)
		return AtLeast{N: 1 + g.IntN(len(list)), Operands: list}
	case 4:
		f := Field(g.IntN(int(Body) + 1))
		return Near{A: g.side(f), B: g.side(f), Within: g.IntN(maxWithin + 1)}
	case 5:
		return &Fact{Kind: FactKind(g.IntN(3)), Name: g.pick("known", "also-known")}
	}
	return g.term()
}

func (g generator) list(depth int) []Expr {
	list := make([]Expr, 1+g.IntN(4))
	for i := range list {
		list[i] = g.expr(depth - 1)
	}
	return list
}

// side returns a valid operand of near.
func (g generator) side(f Field) Expr {
	if g.IntN(3) == 0 {
		return Or{g.word(f), g.word(f)}
	}
	return g.word(f)
}

func (g generator) word(f Field) Expr {
	switch g.IntN(4) {
	case 0:
		return &Term{Field: f, Kind: Prefix, Text: g.pick("kube", "взлом", "score", "c++", "o'r")}
	case 1:
		return &Term{Field: f, Kind: Exact, Text: g.pick("Go", "C", "it", "O'Reilly", `back\slash`, `two words`, `a "b"`, `'`+"q", `x\`)}
	}
	return &Term{Field: f, Text: g.pick("kubernetes", "c#", ".net", "ci/cd", "helm chart", "нулевой день", `say "kube" docker`, "near/5", "'quoted", "/usr/local",
		"#channel", "2", "std::vector", "kube & docker", "a1 (b1)", `docker \ kube\`, "score", "Docker", "数据库")}
}

func (g generator) term() Expr {
	switch g.IntN(8) {
	case 0:
		return &Term{Field: g.field(Title, FeedTitle, Author, URL, Host), Kind: Regexp, Text: g.pick(`v\d+`, `a/b`, `\\/x`, `[/]x`, `"q" 'r'`, `# x`, `(a+)+$`)}
	case 1:
		return &Term{Field: Host, Kind: Value, Text: g.pick("github.com", "localhost", "пример.рф", "x_y.z-1.org")}
	case 2:
		return &Term{Field: Lang, Kind: Value, Text: g.pick("en", "ru", "or")}
	case 3:
		return &Term{Field: FeedTags, Kind: Value, Text: g.pick("Jobs", "the jobs", "when", "of", "a:b", `"`)}
	case 4:
		return &Term{Field: g.field(Anywhere, Title, Tags, Body, FeedTitle, Author, URL), Kind: Loose, Text: g.pick("helm chart", "zero day exploit")}
	}
	return g.word(g.field(Anywhere, Title, Tags, Body, FeedTitle, Author, URL))
}

func (g generator) field(list ...Field) Field { return list[g.IntN(len(list))] }

func TestFormat_ParseRestoresRule(t *testing.T) {
	g := generator{rand.New(rand.NewPCG(1, 2))}
	rules := 10_000
	if testing.Short() {
		rules = 2_000
	}
	for range rules {
		want := g.rule()
		text := Format(want)
		set, err := Parse([]byte(text + "for all\nfact known when x\nfact also-known when x\n"))
		if err != nil {
			t.Fatalf("%s%v", text, err)
		}
		if got := set.Rules[0]; !same(got, want) || Format(got) != text {
			t.Fatalf("got  %swant %s", Format(got), text)
		}
	}
}
