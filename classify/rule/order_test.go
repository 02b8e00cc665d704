package rule

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestEvaluationOrder_RulesFollowDependencies(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		n := 1 + random.IntN(60)
		lines := make([]string, n)
		for i := range n {
			when := "x"
			for range random.IntN(4) {
				if i > 0 {
					when += fmt.Sprintf(" | fact:f%d & !topic:t%d", random.IntN(i), random.IntN(i))
				}
			}
			lines[i] = fmt.Sprintf("fact f%d when %s", i, when)
			if random.IntN(2) == 0 {
				lines[i] += fmt.Sprintf("\ntopic t%d when %s", i, when)
			}
		}
		random.Shuffle(n, func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		set, err := Parse([]byte(strings.Join(lines, "\n")))
		if err != nil {
			t.Fatal(err)
		}
		order, err := set.EvaluationOrder()
		if err != nil {
			t.Fatal(err)
		}
		at := make(map[int]int)
		for place, i := range order {
			at[i] = place
		}
		if len(order) != len(set.Rules) || len(at) != len(set.Rules) {
			t.Fatalf("got order %v, want each of %d rules once", order, len(set.Rules))
		}
		for i, r := range set.Rules {
			for f := range facts(r.Condition) {
				for j, other := range set.Rules {
					if slices.Contains(other.Action.conclusions(), conclusion{f.Kind, f.Name}) && at[j] >= at[i] {
						t.Fatalf("%s precedes %s, which concludes its fact", r, other)
					}
				}
			}
		}
		if repeated, _ := set.EvaluationOrder(); !slices.Equal(repeated, order) {
			t.Fatalf("got %v, then %v", order, repeated)
		}
	}
}

func TestEvaluationOrder_RejectsCycles(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"fact a when x & fact:a", "a.rules:1:1: rules depend on one another: a.rules:1 depends on fact a, which a.rules:1 concludes: remove one of these dependencies"},
		{"category a/topic:b when x & category:a", "a.rules:1:1: rules depend on one another: a.rules:1 depends on category a, which a.rules:1 concludes: remove one of these dependencies"},
		{"category a/topic:b when x\nfact c when topic:b\ntopic b when fact:c\n", "a.rules:2:1: rules depend on one another: a.rules:2 depends on topic b, which a.rules:3 concludes from fact c, which a.rules:2 concludes: remove one of these dependencies"},
		{"fact a when x & !fact:b\n-- b.rules --\n\nfact b when !fact:c & x\nfact c when fact:a",
			"a.rules:1:1: rules depend on one another: a.rules:1 depends on fact b, which b.rules:2 concludes from fact c, which b.rules:3 concludes from fact a, which a.rules:1 concludes: remove one of these dependencies"},
		{"fact a when fact:b\nfact b when fact:a\nfact c when fact:d\nfact d when fact:c",
			"a.rules:1:1: rules depend on one another: a.rules:1 depends on fact b, which a.rules:2 concludes from fact a, which a.rules:1 concludes: remove one of these dependencies\n" +
				"a.rules:3:1: rules depend on one another: a.rules:3 depends on fact d, which a.rules:4 concludes from fact c, which a.rules:3 concludes: remove one of these dependencies"},
		{"category a when x\ntopic b when category:a\ncategory a/topic:c when topic:b",
			"a.rules:2:1: rules depend on one another: a.rules:2 depends on category a, which a.rules:3 concludes from topic b, which a.rules:2 concludes: remove one of these dependencies"},
	} {
		_, err := Parse([]byte("-- a.rules --\n" + test.text))
		if err == nil || err.Error() != test.want {
			t.Errorf("%s:\ngot  %v\nwant %s", test.text, err, test.want)
		}
	}
	x := &Fact{Name: "a"}
	manual := Set{Rules: []Rule{{Action: Action{Kind: ConcludeFact, Name: "a"}, Condition: x}}}
	if order, err := manual.EvaluationOrder(); err == nil {
		t.Errorf("got order %v of a cycle", order)
	}
}

func TestEvaluationOrder_LongChains(t *testing.T) {
	var b strings.Builder
	for i := range maxRules - 1 {
		fmt.Fprintf(&b, "fact f%d when fact:f%d\n", i, i+1)
	}
	chain := b.String()
	set, err := Parse([]byte(chain + fmt.Sprintf("fact f%d when x", maxRules-1)))
	if err != nil {
		t.Fatal(err)
	}
	order, err := set.EvaluationOrder()
	if err != nil || order[0] != maxRules-1 || order[maxRules-1] != 0 {
		t.Errorf("got error %v, want the last rule first and the first last", err)
	}
	_, err = Parse([]byte(chain + fmt.Sprintf("fact f%d when fact:f0", maxRules-1)))
	if err == nil || !strings.Contains(err.Error(), "(and 19992 more rules), which rules:1 concludes") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got error %.300v, want an error that abbreviates the cycle", err)
	}
}

func TestEvaluationOrder_ManyRulesOfOneCategory(t *testing.T) {
	set, err := Parse([]byte(strings.Repeat("category a when x\n", 10_000) + strings.Repeat("star when category:a\n", 10_000)))
	if err != nil {
		t.Fatal(err)
	}
	if g := set.graph(); len(g.edges) != 20_001 || len(g.edges[20_000]) != 10_000 {
		t.Errorf("got %d nodes and %d edges of the last, want a node between the rules", len(g.edges), len(g.edges[len(g.edges)-1]))
	}
}
