package classify

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
	"time"

	"feedmesh/classify/rule"
	"feedmesh/tests/cputime"
)

// The cost of malicious sets and documents must stay proportional to their size.
func TestEvaluate_UnusualSetsAndDocumentsStayBounded(t *testing.T) {
	same := strings.Repeat("category x when kubernetes\n", 20_000)
	var many, prefixes, loose, near, scopes, chain, exact strings.Builder
	many.WriteString("category x when 2 of (a0")
	for i := range 1_999 {
		fmt.Fprintf(&many, ", a%d", i+1)
	}
	many.WriteString(")\n")
	for i := range 2_000 {
		fmt.Fprintf(&prefixes, "star when %c* | %c%c*\n", 'a'+i%26, 'a'+i%26, 'a'+i/26%26)
		fmt.Fprintf(&loose, "star when \"a1 a%d\"~ | \"a1 a2 a%d\"\n", i, i)
		fmt.Fprintf(&near, "star when (a1 | a%d) near/1 (zebra | b%d)\n", i, i)
		fmt.Fprintf(&scopes, "for feed:f%d\nstar when a1\n", i)
		fmt.Fprintf(&chain, "fact f%d when fact:f%d\n", i, i+1)
		fmt.Fprintf(&exact, "star when 'A%d' | 'a%d A1'\n", i, i)
	}
	chain.WriteString("fact f2000 when a1\n")
	words := make([]string, 2_000)
	for i := range words {
		words[i] = fmt.Sprintf("a%d", i)
	}
	documents := map[string]Document{
		"all words":      {Title: "kubernetes", Text: strings.Join(words, " ")},
		"one word":       {Text: strings.Repeat("a1 ", 2_000)},
		"two words":      {Text: strings.Repeat("a1 a2 a3 ", 1_000), Tags: make([]string, 10_000)},
		"a long title":   {Title: strings.Repeat("a", 1<<20)},
		"a long address": {URL: "https://" + strings.Repeat("a.", 1<<17) + "org/"},
		"no text":        {Text: strings.Repeat("\xff\x00", 1<<16), Language: "\xff"},
	}
	for name, text := range map[string]string{
		"one term": same, "a term of many": many.String(), "prefixes": prefixes.String(), "loose": loose.String(),
		"near": near.String(), "scopes": scopes.String(), "a chain": chain.String(), "exact": exact.String(),
	} {
		r := compile(t, text)
		for what, d := range documents {
			began := cputime.Used(t)
			o := r.Evaluate(d)
			if took := cputime.Used(t) - began; took > 2*time.Second { // most take a few milliseconds
				t.Errorf("%s, %s: took %s of CPU time", name, what, took)
			}
			if name == "one term" && what == "all words" && (len(o.Matched) != 20_000 || o.Labels[0].Points != 60_000 || len(o.Labels[0].Matches) != 3) {
				t.Errorf("got %d rules, want all 20,000, of which three are the reason", len(o.Matched))
			}
			if name == "a chain" && what == "one word" && len(o.Matched) != 2_001 {
				t.Errorf("got %d rules fired of a chain, want 2001", len(o.Matched))
			}
		}
	}
}

func TestEvaluate_SkipsRulesOfOtherFeeds(t *testing.T) {
	var b strings.Builder
	b.WriteString("star when go\n")
	for i := range 1_000 {
		fmt.Fprintf(&b, "for feed:f%d\nstar when go | rust%d\n", i, i)
	}
	r := compile(t, b.String())
	f := newEvaluation(r)
	f.begin(&Document{Title: "go rust7", FeedID: "f7"})
	if len(f.active) != 2 || len(f.active[0].patterns) != 1 || len(f.active[1].patterns) != 2 {
		t.Errorf("got %d sections, want the general section and the feed's", len(f.active))
	}
}

func TestRequiredLiterals_OccurInEveryMatch(t *testing.T) {
	for _, test := range []struct {
		re   string
		want string
	}{
		{`v\d+\.\d+`, "v"},
		{`\bvisuali[sz](ation|ing)\b`, "visuali"},
		{`arab spring|(this|last) spring`, "arab spring, spring"},
		{`(release ){2,3}x?`, "release "},
		{`(release )?notes?`, "note"},
		{`a|\d`, ""},
		{`(?i)release`, ""},
		{`x*`, ""},
	} {
		tree, err := syntax.Parse(test.re, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		got := requiredLiterals(tree)
		for i := range got {
			got[i] = strings.TrimLeft(got[i], " ")
		}
		if strings.Join(got, ", ") != test.want {
			t.Errorf("%s: got %q, want %q", test.re, got, test.want)
		}
		for _, text := range []string{"v1.2", "visualising", "visualization", "arab spring", "last spring", "release release x", "release notes", "note", "a", "7"} {
			e := regularExpression{re: regexp.MustCompile(test.re), literals: requiredLiterals(tree)}
			if got, want := e.matches(text), e.re.MatchString(text); got != want {
				t.Errorf("%s of %q: got %v, want %v", test.re, text, got, want)
			}
		}
	}
}

func TestCompile_RejectsTooManyTermsWithoutStem(t *testing.T) {
	var b strings.Builder
	stop := strings.Fields("The Of And To In Is It That For On With")
	for i := range maxStopOnly + 1 {
		fmt.Fprintf(&b, "star when '%s %s'\n", stop[i/len(stop)], stop[i%len(stop)])
	}
	set, err := rule.ParseFiles([]rule.File{{Name: "a.rules", Text: b.String()}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Compile(set); err == nil || !strings.HasPrefix(err.Error(), "a.rules:101:11: ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want one diagnostic, at a.rules:101:11", err)
	}
	set.Rules = set.Rules[:maxStopOnly]
	if _, err := Compile(set); err != nil {
		t.Errorf("got %v of as many as there may be", err)
	}
}

func TestOverlay_ReplacesAndAddsFiles(t *testing.T) {
	files := len(Shipped().Files)
	for _, test := range []struct {
		name, archive string
		files         int
		want          float64
		title         string
	}{
		{"nothing", "", files, 0, "zork"},
		{"an additional file", "-- own.rules --\nscore +1 when zork\n", files + 1, 1, "zork"},
		{"a file without a name", "score +2 when zork", files + 1, 2, "zork"},
		{"a shipped file disabled", "-- devops.rules --\n", files, 0, "zork"},
	} {
		set, err := Overlay([]byte(test.archive))
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		r, err := Compile(set)
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		if got := r.Evaluate(Document{Title: test.title}).Score; got != test.want {
			t.Errorf("%s: got score %v, want %v", test.name, got, test.want)
		}
		if test.archive != "" && len(set.Files) != test.files {
			t.Errorf("%s: got %d files, want %d", test.name, len(set.Files), test.files)
		}
	}
	if _, err := Overlay([]byte("-- own.rules --\n\nscore when zork\n-- devops.rules --\nfoo\n")); err == nil ||
		!strings.Contains(err.Error(), "own.rules:3:") && !strings.Contains(err.Error(), "own.rules:2:") || !strings.Contains(err.Error(), "devops.rules:1:1: ") {
		t.Errorf("got %v, want faults in both files", err)
	}
	reparsed, err := rule.Parse(ShippedArchive())
	if err != nil || len(reparsed.Rules) != len(Shipped().Rules) {
		t.Errorf("got error %v, want the archive to be the shipped rules", err)
	}
}

func FuzzFire(f *testing.F) {
	f.Add("Go 1.26 released", "the compiler is faster; 'Go' near C++", "https://go.dev/blog", "en")
	f.Add("Взлом k8s", "\xff\x00 l'art", "::", "fr")
	f.Add("東京タワー", "@@@ http:// a.b.", "http://[::1]:80/%zz", "xx")
	set, err := rule.ParseFiles([]rule.File{{Name: "a.rules", Text: `
category x when 'Go' near/3 (compil* | "helm chart") | "art l c++"~ | 'IT' | '東京'
topic y when title:/v?\d+\.\d/ | url:blog | host:dev | category:x & !author:pike`}})
	if err != nil {
		f.Fatal(err)
	}
	r, err := Compile(set)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, title, text, url, language string) {
		d := Document{Title: title, Text: text, URL: url, Language: language, Tags: []string{text, title}, Author: url}
		if got, want := r.Evaluate(d), (&naive{set, d, make(map[int]bool)}).outcome(); len(got.Matched) != len(want.Matched) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
}
