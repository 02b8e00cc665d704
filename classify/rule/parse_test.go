package rule

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/tests/cputime"
)

func TestParse_ShippedRules(t *testing.T) {
	names, err := filepath.Glob("../rules/*.rules")
	if err != nil || len(names) == 0 {
		t.Fatalf("got files %q and error %v, want files", names, err)
	}
	var files []File
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, File{filepath.Base(name), string(text)})
	}
	set, err := ParseFiles(files)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d rules in %d files", len(set.Rules), len(set.Files))
	for _, w := range Lint(set) {
		t.Log("warning: ", w)
	}
	for i, r := range set.Rules {
		reparsed, err := Parse([]byte(Format(r) + concludeAll(r)))
		if err != nil || !same(reparsed.Rules[0], set.Rules[i]) {
			t.Fatalf("%s: got another rule from %s: %v", r.Pos, r, err)
		}
	}
}

// concludeAll returns rules that conclude the facts in r.
func concludeAll(r Rule) string {
	var b strings.Builder
	for f := range facts(r.Condition) {
		if f.Kind == NamedFact {
			fmt.Fprintf(&b, "fact %s when x\n", f.Name)
		}
	}
	return b.String()
}

func TestParse_Actions(t *testing.T) {
	for _, test := range []struct {
		text string
		want Rule
	}{
		{`category devops when x`, Rule{Action: Action{Name: "devops"}, Score: 1}},
		{`category devops when x score 0.5`, Rule{Action: Action{Name: "devops"}, Score: 0.5}},
		{`category devops/topic:kubernetes when x score 2`, Rule{Action: Action{Name: "devops", Topic: "kubernetes"}, Score: 2}},
		{`topic release-notes when x score 100`, Rule{Action: Action{Topic: "release-notes"}, Score: 100}},
		{`fact versioned when x`, Rule{Action: Action{Kind: ConcludeFact, Name: "versioned"}, Score: 1}},
		{`score +2 when x`, Rule{Action: Action{Kind: AddScore, Score: 2}, Score: 1}},
		{`score -1.5 when x`, Rule{Action: Action{Kind: AddScore, Score: -1.5}, Score: 1}},
		{`score 2 when x`, Rule{Action: Action{Kind: AddScore, Score: 2}, Score: 1}},
		{`star when x`, Rule{Action: Action{Kind: Star}, Score: 1}},
		{`mute when x`, Rule{Action: Action{Kind: Mute}, Score: 1}},
		{`quarantine when x`, Rule{Action: Action{Kind: Quarantine}, Score: 1}},
		{`notify when x`, Rule{Action: Action{Kind: Notify}, Score: 1}},
		{`notify "look: \"this\" # now" when x`, Rule{Action: Action{Kind: Notify, Text: `look: "this" # now`}, Score: 1}},
		{`topic score when x`, Rule{Action: Action{Topic: "score"}, Score: 1}},
	} {
		set, err := Parse([]byte(test.text))
		test.want.Condition = &Term{Text: "x"}
		if err != nil || len(set.Rules) != 1 || !same(set.Rules[0], test.want) {
			t.Errorf("%s: got %+v and error %v, want %+v", test.text, set, err, test.want)
		}
	}
}

func TestParse_RuleDiagnostics(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{`category x`, `1:11: "when" is missing`},
		{`category x y`, `1:12: "when" is missing before "y"`},
		{`category when y`, `1:10: the name of the category is missing`},
		{`category`, `1:9: the name of the category is missing`},
		{`category X when y`, `1:10: "X" is not a valid category`},
		{`category a--b when y`, `1:10: "a--b" is not a valid category`},
		{`category x/topic:Y when y`, `1:18: "Y" is not a valid topic`},
		{`category x/y when y`, `1:10: "x/y" is not a valid category`},
		{`category x/subject:y when y`, `1:10: "x/subject:" is not a category`},
		{`category X/topic:y when y`, `1:10: "X" is not a valid category`},
		{`category x/topic: when y`, `1:19: the name of the topic is missing`},
		{`category x y when z`, `1:12: "when" is missing before "y"`},
		{`categories x when y`, `1:1: "categories" cannot begin a rule`},
		{`category: x when y`, `1:1: "category:" cannot begin a rule`},
		{`"category" x when y`, `1:1: "\"category\"" cannot begin a rule`},
		{`k8s | kubernetes`, `1:1: "k8s" cannot begin a rule`},
		{`category x when y score much`, `1:25: "much" is not a score`},
		{`category x when y score`, `1:24: "" is not a score`},
		{`category x when y score -1`, `1:25: "-1" is not a score`},
		{`category x when y score 0`, `1:25: "0" is not a score`},
		{`category x when y score NaN`, `1:25: "NaN" is not a score`},
		{`category x when y score 1e2`, `1:25: "1e2" is not a score`},
		{`category x when y score 101`, `1:25: "101" is not a score`},
		{`category x when y score 1 2`, `1:27: unexpected "2"`},
		{`fact x when y score 2`, `1:21: only rules for a category or a topic have a score at the end`},
		{`score when y`, `1:7: "when" is not a score`},
		{`score 0 when y`, `1:7: "0" is not a score`},
		{`score -101 when y`, `1:7: "-101" is not a score`},
		{`score +inf when y`, `1:7: "+inf" is not a score`},
		{`notify text when y`, `1:8: "when" is missing before "text"`},
		{`notify "` + strings.Repeat("x", 201) + `" when y`, `1:8: the notification has more than 200 bytes`},
		{` category x when y`, `1:1: a line that begins with white space continues the rule before it, but this is the first rule`},
		{`for nobody`, `1:5: "nobody" is not a scope`},
		{`for`, `1:4: "" is not a scope`},
		{`for feed:`, `1:10: the feed tag or feed is missing`},
		{`for feed:""`, `1:10: a feed tag or feed ID has 1 to 200 bytes`},
		{`for query:`, `1:11: the query is missing, or not in quotes`},
		{`for query:lang:en`, `1:11: the query is missing, or not in quotes`},
		{`for query:""`, `1:11: the query is empty`},
		{`for query:"  "`, `1:11: the query is empty`},
		{`for query:"lang:english"`, `1:17: lang: takes a two-letter code, such as lang:en`},
		{`for query:"ж \"é\" \\ lang:english"`, `1:28: lang: takes a two-letter code, such as lang:en`},
		{`for query:'ж "é" it\'s (lang:en'`, `1:24: this parenthesis is not closed`},
		{`for query:x\y`, `1:12: "\\" is not allowed here`},
		{`for query:"host:example.org -cat:jobs"`, `1:30: cat: is not available before rules run`},
		{`for query:"age:<2d"`, `1:12: age: changes with time, and scopes must not`},
		{`for query:"a1 after:-2d"`, `1:15: after:-2d changes with time, and scopes must not`},
		{`for query:"` + strings.Repeat("x", 1001) + `"`, `1:1012: a query has at most 1000 bytes`},
		{`for query:"` + strings.Repeat("after:2026 ", 60) + `"`, `1:11: the query expands to more than 1000 bytes`},
		{`for query:"lang:en" star when x`, `1:21: unexpected "star"`},
		{`for all feeds`, `1:9: unexpected "feeds"`},
		{`for feed-tag:jobs category x when y`, `1:19: unexpected "category"`},
		{"\xff", `1:1: this line is not valid UTF-8`},
		{"# one\n\n# \xc3\nstar when x", `3:1: this line is not valid UTF-8`},
	} {
		set, err := Parse([]byte(test.text + "\n"))
		if err == nil || !strings.HasPrefix(err.Error(), "rules:"+test.want) {
			t.Errorf("%s:\ngot  %v and error %v\nwant rules:%s", test.text, set, err, test.want)
		}
	}
}

func TestParse_ScopesApplyUntilNext(t *testing.T) {
	set, err := Parse([]byte(`-- a.rules --
star when a1
for feed-tag:"Jobs & more"
star when b1
mute when c1
for feed:f1a2
star when d1
for query:"  host:www.Example.org   (lang:en) "
star when g1
for query:'"zero day"'
star when h1
for query:kubernetes
star when i1
for all
star when e1
for feed-tag:jobs
-- b.rules --
star when f1
`))
	if err != nil {
		t.Fatal(err)
	}
	tag := Scope{FeedTag, "Jobs & more"}
	want := []Scope{{}, tag, tag, {Feed, "f1a2"}, {Query, "host:example.org lang:en"}, {Query, `"zero day"`}, {Query, "kubernetes"}, {}, {}}
	if len(set.Rules) != len(want) {
		t.Fatalf("got %d rules, want %d", len(set.Rules), len(want))
	}
	for i, r := range set.Rules {
		if r.Scope != want[i] {
			t.Errorf("%s: got scope %+v, want %+v", r, r.Scope, want[i])
		}
	}
}

func TestParse_FileNames(t *testing.T) {
	set, err := Parse([]byte("# what this is\n-- b-2.rules --\r\n# a comment\nstar when a1\r\n\n-- a.rules --\n\ufeffmute when b1\n -- c.rules --\n"))
	if err == nil || err.Error() != `a.rules:2:2: |, & or near/5 is missing before "--"; a phrase must be in quotes` {
		t.Errorf("got %v and error %v, want a fault for the name that is indented", set, err)
	}
	set, err = Parse([]byte("# what this is\n-- b-2.rules --\r\n# a comment\nstar when a1\r\n\n-- a.rules --\n\ufeffmute when b1\n-- c.rules --\n"))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"b-2.rules", "a.rules", "c.rules"}; !slices.Equal(set.Files, want) {
		t.Errorf("got files %q, want %q", set.Files, want)
	}
	if got := set.Rules[0].Pos.String() + ", " + set.Rules[1].Pos.String(); got != "b-2.rules:2:1, a.rules:1:1" {
		t.Errorf("got rules at %s, want b-2.rules:2:1 and a.rules:1:1", got)
	}
	for _, empty := range []string{"", "\n", "# nothing", "-- a.rules --"} {
		if set, err := Parse([]byte(empty)); err != nil || len(set.Rules) != 0 {
			t.Errorf("%q: got %v and error %v, want no rules", empty, set, err)
		}
	}
	for archive, want := range map[string]string{
		"-- a.rules --\n-- a.rules --\n":              "a.rules: two files have this name",
		"-- A.rules --\n":                             `"A.rules" is not a valid file name`,
		"-- a.txt --\n":                               `"a.txt" is not a valid file name`,
		"-- ../a.rules --\n":                          `"../a.rules" is not a valid file name`,
		"-- .rules --\n":                              `".rules" is not a valid file name`,
		"star when x\n-- a.rules --\nstar when x":     "the archive has rules before the first file",
		strings.Repeat("-- a.rules --\n", maxFiles+1): "there are more than 1000 files",
	} {
		if _, err := Parse([]byte(archive)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.40q: got error %v, want %s", archive, err, want)
		}
	}
}

func TestParse_ReportsAllDiagnostics(t *testing.T) {
	_, err := Parse([]byte(`-- a.rules --
category A when x
fact known when | y
star when fact:known & of & "the" | fact:unknown
fact b when fact:c & x
fact c when fact:b & x
-- b.rules --
star whn x
`))
	var faults Diagnostics
	if !errors.As(err, &faults) {
		t.Fatalf("got error %v, want Diagnostics", err)
	}
	var got []string
	for _, f := range faults {
		got = append(got, f.Pos.String())
	}
	if want := []string{"a.rules:1:10", "a.rules:2:17", "a.rules:3:24", "a.rules:3:29", "b.rules:1:6", "a.rules:4:1"}; !slices.Equal(got, want) {
		t.Errorf("got faults at %q, want %q:\n%v", got, want, err)
	}

	_, err = Parse([]byte(strings.Repeat("star\n", 10_000)))
	if !errors.As(err, &faults) || len(faults) != maxDiagnostics || !strings.HasSuffix(err.Error(), "only the first 100 errors are listed") {
		t.Errorf("got %d faults, want %d: %v", len(faults), maxDiagnostics, err)
	}
	_, err = Parse([]byte("star when of" + strings.Repeat(" | of", 1_000)))
	if !errors.As(err, &faults) || len(faults) != maxDiagnostics {
		t.Errorf("got %d diagnostics of one rule, want %d: %v", len(faults), maxDiagnostics, err)
	}
}

func TestParse_Limits(t *testing.T) {
	line := "star when x" + strings.Repeat(" | x", maxTerms-1)
	for _, test := range []struct {
		name, text, want string
	}{
		{"terms", line + " | x", "rules:1:8011: the rule has more than 2000 terms"},
		{"facts", strings.ReplaceAll(line, "x", "fact:a") + " | fact:a", "rules:1:18011: the rule has more than 2000 terms"},
		{"maximum number of terms", line, ""},
		{"a long line", `star when "` + strings.Repeat("x ", maxText/2) + `"`, "rules:1:1: the rule has more than 64 KB"},
		{"many lines", "star when x" + strings.Repeat("\n  # a comment that goes on and on\n  | x", 2_500), "rules:1:1: the rule has more than 64 KB"},
		{"a long comment", "# " + strings.Repeat("x", maxText) + "\nstar when x", ""},
		{"depth", "star when " + strings.Repeat("(", 51) + "x" + strings.Repeat(")", 51), "rules:1:61: more than 50 nested parentheses"},
		{"maximum depth", "star when " + strings.Repeat("(", 50) + "x" + strings.Repeat(")", 50), ""},
		{"adjacent parentheses", "star when x" + strings.Repeat(" | (x)", 60), ""},
		{"denials", "star when " + strings.Repeat("!", 60_000) + "x", ""},
		{"rules", strings.Repeat("star when x\n", maxRules+10), "rules:20001:1: there are more than 20000 rules"},
		{"terms of all rules", strings.Repeat(line+"\n", 250), "rules:201:11: the rules have more than 400000 terms"},
		{"bytes", strings.Repeat("#", maxSet+1), "the rules have more than 4 MB"},
		{"regular expressions", strings.Repeat("star when title:/x{990}/\n", 200), "rules:101:17: the regular expressions of the set are too large in total"},
		{"a pattern of 1 MB", "star when title:/" + strings.Repeat("(a|b)*", 1<<18) + "/", "rules:1:1: the rule has more than 64 KB"},
	} {
		start := cputime.Used(t)
		_, err := Parse([]byte(test.text))
		if took := cputime.Used(t) - start; took > 3*time.Second {
			t.Errorf("%s: took %v of CPU time", test.name, took)
		}
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), test.want)) {
			t.Errorf("%s: got error %.200v, want %q", test.name, err, test.want)
		}
	}
}

// large returns n different rules of eight terms each.
func large(n int) []byte {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "category c%d/topic:t%d when (word%d | name%d | \"helm chart%d\" | kube%d*) & !tag:job%d & title:(release%d | changelog) score 2\n",
			i%30, i%250, i, i, i, i, i, i)
	}
	return []byte(b.String())
}

func BenchmarkParse(b *testing.B) {
	for _, n := range []int{300, 1_000, 10_000} {
		archive := large(n)
		b.Run(fmt.Sprintf("%d rules", n), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(archive)))
			for b.Loop() {
				if _, err := Parse(archive); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"category devops/topic:kubernetes when (k8s | \"helm chart\"~ | kube*) & !tag:job score 2\n",
		"-- a.rules --\nfor feed-tag:\"Jobs\"\ntopic a when title:(release* | changelog) & fact:versioned\nfact versioned when title:/v?\\d+\\.\\d+/ | 2 of (a1, b1)\n",
		"for query:'\"zero day\" lang:en'\nstar when x\nfor query:\"it's \\\"a\\\" -host:b.org after:2026\"\nmute when y\nfor query:\"库 (a\"\n",
		"star when 'Go' near/5 (goroutine | compiler) # c\n\tand not lang:ru or host:github.com\nscore -2 when topic:a\nnotify \"x\\\"y\" when x\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, archive []byte) {
		set, err := Parse(archive)
		if err != nil {
			var faults Diagnostics
			if !errors.As(err, &faults) || len(faults) == 0 || len(faults) > maxDiagnostics {
				t.Fatalf("got error %v, want 1 to %d faults", err, maxDiagnostics)
			}
			return
		}
		Lint(set)
		if _, err := set.EvaluationOrder(); err != nil {
			t.Fatalf("got %v, want an evaluation order of the parsed rules", err)
		}
		for _, r := range set.Rules {
			reparsed, err := Parse([]byte(Format(r) + concludeAll(r)))
			if err != nil && strings.Contains(err.Error(), "rules need one another") {
				continue // the rule stands alone here, with facts that it may conclude itself
			}
			if err != nil || !same(reparsed.Rules[0], r) {
				t.Fatalf("got another rule from\n%s%v", Format(r), err)
			}
		}
	})
}
