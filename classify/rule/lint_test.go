package rule

import (
	"strings"
	"testing"
)

func TestLint_FindsLikelyMistakes(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"category a when x1 | y1", ""},
		{"category a when (x1 & y1) | (x1 & z1)", ""},
		{"category a when title:x1 | body:x1", ""},
		{"category a when exploit & !exploits*", ""},

		{"category a when x1 & y1\nstar when z1\ncategory a when (x1) & y1 score 2", "3:1: the rule repeats rules:1:1, so its terms count twice"},
		{"category a when x1\nfor feed:b\ncategory a when x1", ""},
		{"category a when release | x1 | releases", "1:32: releases means the same as release"},
		{`category a when "helm chart" | x1 | "helm charts"`, `1:37: "helm charts" means the same as "helm chart"`},
		{`category a when "helm chart"~ | x1 | "charts helm"~`, `1:38: "charts helm"~ means the same as "helm chart"~`},
		{"category a when 2 of (release, x1, releases)", "1:36: releases means the same as release"},
		{"category a when x1 & x1", "1:22: x1 means the same as x1"},
		{"category a when kube* | x1 | kubernetes", "1:30: kubernetes is covered by kube*, so one word counts twice"},
		{"category a when kubernetes* | x1 | kube*", "1:17: kubernetes* is covered by kube*, so one word counts twice"},
		{"category a when title:(kube* | x1) | kubernetes", ""},
		{"category a when 'Go' | go", "1:17: 'Go' is covered by go, so one word counts twice"},
		{"category a when kube* & kubernetes", ""},
		{"category a when взлом* | взломали", "1:26: взломали is covered by взлом*, so one word counts twice"},

		{"category a when exploit & !exploits", "1:28: the rule can never hold"},
		{"category a when exploit & x1 & !(y1 | exploit)", "1:39: the rule can never hold"},
		{"category a when x1 & (y1 | z1 & !z1)", "1:34: the rule can never hold"},
		{"category a when x1 & lang:ru & lang:en", "1:37: the rule can never hold: a text has one language, not lang:ru and lang:en"},
		{"category a when x1 & (lang:ru | lang:en)", ""},
		{"fact f when x1\nstar when fact:f & !fact:f", "2:21: the rule can never hold"},

		{"fact f when x1", "1:1: no rule uses fact f"},
		{"fact f when x1\nstar when fact:f", ""},
		{"star when topic:nowhere & x1", "1:11: no rule concludes topic nowhere"},
		{"star when category:nowhere | x1", "1:11: no rule concludes category nowhere"},

		{"for feed-tag:a\nstar when x1\nfor all\n", ""},
		{"star when x1\nfor feed-tag:a\nfor all", `2:1: no rule follows "for feed-tag:a"`},
		{"star when x1\nfor query:'\"a b\"'", `2:1: no rule follows "for query:'\"a b\"'"`},
		{"for query:'lang:en  a'\nstar when x1\nfor all\nstar when y1\nfor query:'(lang:en) a'\nmute when x1", "5:1: the scope repeats rules:1:1"},
		{"-- a.rules --\nfor query:x1\nstar when x1\n-- b.rules --\nfor query:x1\nmute when x1\n", ""}, // each file has its own scope
		{"for query:'feed:f1'\nstar when x1", `1:1: use "for feed:f1" instead`},
		{"for query:'feed:f1 lang:en'\nstar when x1\nfor query:'lang:en'\nmute when y1", ""},

		{"category a when x1 score 0.5", "1:1: category a can never be assigned"},
		{"category a when x1 | y1 score 0.5", ""},
		{"category a when x1 score 0.5\ncategory a when z1 score 0.5", ""},
		{"category a when x1 score 0.1\ncategory a when z1 score 0.1", "1:1: category a can never be assigned"},
		{"category a when body:(x1 | y1)", "1:1: category a can never be assigned"},
		{"category a/topic:b when x1 score 0.5\ncategory a when x2", "1:1: topic b can never be assigned"},
		{"fact f when x1\ncategory a when fact:f", ""},
		{"category a when x1 & !y1 score 0.9", "1:1: category a can never be assigned"},

		// Languages and tags of the feed add nothing to other terms; alone, they are worth as much as a word of the title.
		{"category a when lang:en", ""},
		{"category a when feed-tag:t score 0.9", "1:1: category a can never be assigned"},
		{"category a when x1 & lang:en & feed-tag:t score 0.9", "1:1: category a can never be assigned"},
		{"category a when body:x1 & lang:en", "1:1: category a can never be assigned"},
		{"category a when body:x1 | lang:en", ""},
		{"category a when 2 of (body:x1, lang:en, feed-tag:t)", ""},
		{"category a when 2 of (body:x1, body:y1, lang:en)", "1:1: category a can never be assigned"},
		{"category a when body:x1 & !(body:y1 & lang:en)", "1:1: category a can never be assigned"},
		{"category a when !(body:y1 & lang:en) & lang:ru", ""},
		{"category a when lang:ru & !(lang:en & !body:x1)", ""},

		{"category a when c", "1:17: c is a single letter"},
		{"category a when title:r | 'C' | c#", ""},
		{"category a when го* | x1", "1:17: го* matches too many words"},
		{"category a when js | ai | ии | go", ""},
		{"category a when ими* | 数 | 库*", ""},
	} {
		set, err := Parse([]byte(test.text))
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
			continue
		}
		warnings := Lint(set)
		switch {
		case test.want == "" && len(warnings) > 0:
			t.Errorf("%s: got %v, want no warning", test.text, warnings)
		case test.want != "" && (len(warnings) != 1 || !strings.HasPrefix(warnings[0].String(), "rules:"+test.want)):
			t.Errorf("%s:\ngot  %v\nwant rules:%s", test.text, warnings, test.want)
		}
	}
}

func TestLint_BoundsWarnings(t *testing.T) {
	set, err := Parse([]byte(strings.Repeat("star when c | c | c\n", 1_000)))
	if err != nil {
		t.Fatal(err)
	}
	if got := len(Lint(set)); got != maxWarnings {
		t.Errorf("got %d warnings, want %d", got, maxWarnings)
	}
}
