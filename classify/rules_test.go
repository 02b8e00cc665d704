package classify

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"feedmesh/classify/rule"
	"feedmesh/classify/stem"
)

func compile(t testing.TB, text string) *Rules {
	t.Helper()
	set, err := rule.ParseFiles([]rule.File{{Name: "a.rules", Text: text}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Compile(set)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// labels returns the categories and topics that reach the threshold.
func labels(o Outcome) (categories, topics []string) {
	for _, l := range o.Labels {
		switch {
		case l.Points < Threshold:
		case l.Topic:
			topics = append(topics, l.Name)
		default:
			categories = append(categories, l.Name)
		}
	}
	return categories, topics
}

func TestEvaluate_FieldsHaveWeights(t *testing.T) {
	r := compile(t, `
category security when ransomware | malware | "zero day" | уязвимость # a comment
category devops/topic:kubernetes when kubernetes | k8s | "helm chart" score 2
category languages when c# | c++
category games when game score 0.5
category code when host:github.com score 1.5`)
	for _, test := range []struct {
		name       string
		doc        Document
		categories []string
		topics     []string
	}{
		{"nothing", Document{}, nil, nil},
		{"one word of the title", Document{Title: "Ransomware again"}, []string{"security"}, nil},
		{"a phrase, in another form", Document{Title: "Zero-days: three of them"}, []string{"security"}, nil},
		{"half a phrase", Document{Title: "Day zero"}, nil, nil},
		{"Russian, inflected", Document{Title: "Найдены уязвимости", Language: "ru"}, []string{"security"}, nil},
		{"one word of the text", Document{Text: "malware, malware, malware"}, nil, nil},
		{"three words of the text", Document{Text: "malware and ransomware and a zero day"}, []string{"security"}, nil},
		{"a tag alone", Document{Tags: []string{"Malware"}}, nil, nil},
		{"a tag and the text", Document{Tags: []string{"Malware"}, Text: "a zero day"}, []string{"security"}, nil},
		{"a tag that the text repeats", Document{Tags: []string{"Malware"}, Text: "malware"}, nil, nil},
		{"two tags", Document{Tags: []string{"Malware", "ransomware"}}, []string{"security"}, nil},
		{"a phrase over two tags", Document{Tags: []string{"zero", "day", "ransomware"}}, nil, nil},
		{"a topic with its category", Document{Title: "k8s, malware"}, []string{"devops", "security"}, []string{"kubernetes"}},
		{"a weak word", Document{Title: "The game"}, nil, nil},
		{"signs", Document{Title: "From C# to C++"}, []string{"languages"}, nil},
		{"precomputed stems", Document{Stems: stem.Words("malware ransomware zero day", "")}, []string{"security"}, nil},
		{"a language with its own stems", Document{Title: "malwares", Language: "fr"}, []string{"security"}, nil},
		{"a host", Document{URL: "https://GIST.github.com:443/x"}, []string{"code"}, nil},
		{"another host", Document{URL: "https://notgithub.com/x"}, nil, nil},
	} {
		if categories, topics := labels(r.Evaluate(test.doc)); !slices.Equal(categories, test.categories) || !slices.Equal(topics, test.topics) {
			t.Errorf("%s: got categories %q and topics %q, want %q and %q", test.name, categories, topics, test.categories, test.topics)
		}
	}
}

func TestEvaluate_BodyPointsAreCapped(t *testing.T) {
	r := compile(t, "category x when alpha | beta | gamma | delta score 2\ncategory x when epsilon score 0.5")
	for _, test := range []struct {
		doc  Document
		want float64
	}{
		{Document{Text: "alpha"}, 2},
		{Document{Text: "alpha beta"}, 3},
		{Document{Text: "alpha beta gamma delta epsilon"}, 3},
		{Document{Text: "alpha beta gamma", Tags: []string{"alpha"}}, 4 + 3},
		{Document{Text: "alpha beta", Title: "Epsilon"}, 1.5 + 3},
		{Document{FeedTitle: "beta", Text: "alpha alpha alpha"}, 3},
	} {
		o := r.Evaluate(test.doc)
		if len(o.Labels) != 1 || o.Labels[0].Points != test.want {
			t.Errorf("%+v: got %+v, want %v points", test.doc, o.Labels, test.want)
		}
	}
}

func TestEvaluate_FormsOfOneWordCountOnce(t *testing.T) {
	r := compile(t, "category games when game | games | gaming | title:game | игра | игры")
	for _, test := range []struct {
		title string
		want  float64
	}{{"Games", 3}, {"Gaming games", 3}, {"Игры", 4}, {"Игры, or games", 6}} {
		if o := r.Evaluate(Document{Title: test.title, Text: "A game of games"}); o.Labels[0].Points != test.want {
			t.Errorf("%s: got %v points, want %v", test.title, o.Labels[0].Points, test.want)
		}
	}
}

func TestEvaluate_ReturnsEvidence(t *testing.T) {
	r := compile(t, `# rules
category devops/topic:kubernetes when kube* | "helm chart"~ | 'K8s' | host:k8s.io | author:mike score 2
category devops when devops | deploy
fact released when title:/v\d+\.\d+/
topic release-notes when fact:released & !fact:fake
fact fake when fake
`)
	o := r.Evaluate(Document{
		Title: "K8s v1.30 released", Text: "The chart for helm, for Kubernetes; mike knows. DevOps!", Tags: []string{"kubelet"},
		URL: "https://blog.k8s.io/", Author: "Mike",
	})
	kubernetes := RuleMatch{"a.rules:2", []Evidence{{"'K8s'", "title"}, {"kube*", "tag"}, {"k8s.io", "host"}}, 2 * (3 + 2 + 2 + 1 + 1)}
	devops := RuleMatch{"a.rules:3", []Evidence{{"devops", "body"}}, 1}
	released := RuleMatch{"a.rules:4", []Evidence{{`/v\d+\.\d+/`, "title"}}, 0}
	notes := RuleMatch{"a.rules:5", []Evidence{{Words: "fact:released"}}, 3}
	want := Outcome{
		Labels: []Label{
			{false, "devops", 17, []RuleMatch{kubernetes, devops}},
			{true, "kubernetes", 17, []RuleMatch{kubernetes}},
			{true, "release-notes", 3, []RuleMatch{notes}},
		},
		Matched: []RuleMatch{kubernetes, devops, released, notes},
	}
	if !reflect.DeepEqual(o, want) {
		t.Errorf("got %+v,\nwant %+v", o, want)
	}
}

func TestEvaluate_AtMostThreeMatchesLargestFirst(t *testing.T) {
	r := compile(t, "category x when a1 score 1\ncategory x when a2 score 3\ncategory x when a3 score 2\ncategory x when a4 score 3\ncategory x when a5 score 0.5")
	o := r.Evaluate(Document{Title: "a1 a2 a3 a4 a5"})
	var got []string
	for _, f := range o.Labels[0].Matches {
		got = append(got, f.Rule)
	}
	if want := []string{"a.rules:2", "a.rules:4", "a.rules:3"}; !slices.Equal(got, want) {
		t.Errorf("got reasons %q, want %q", got, want)
	}
	if len(o.Matched) != 5 {
		t.Errorf("got %d rules fired, want all 5", len(o.Matched))
	}
}

func TestEvaluate_Actions(t *testing.T) {
	r := compile(t, `
score +2.5 when go
score -1 when advert*
star when title:'Go' & release
mute when football
quarantine when casino & !title:casino
notify "a release" when release
notify when outage`)
	for _, test := range []struct {
		doc  Document
		want Outcome
	}{
		{Document{Title: "Go, a release with adverts"}, Outcome{Score: 1.5, Star: true, Notify: []string{"a release"}}},
		{Document{Title: "go: release"}, Outcome{Score: 2.5, Notify: []string{"a release"}}},
		{Document{Text: "casino football outage"}, Outcome{Mute: true, Quarantine: true, Notify: []string{"a.rules:8"}}},
		{Document{Title: "casino", Text: "casino"}, Outcome{}},
	} {
		got := r.Evaluate(test.doc)
		got.Matched = nil
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%+v: got %+v, want %+v", test.doc, got, test.want)
		}
	}
}

func TestEvaluate_TermKinds(t *testing.T) {
	for _, test := range []struct {
		term string
		doc  Document
		want bool
	}{
		{`"infrastructure as code"`, Document{Title: "Code of infrastructure"}, false},
		{`"infrastructure as code"`, Document{Title: "Infrastructure-as-code"}, true},
		{`"helm chart"~`, Document{Title: "A chart that is for helm"}, true},
		{`"helm chart"~`, Document{Title: "A chart which one can use for helm"}, false},
		{`"helm chart"~`, Document{Tags: []string{"helm", "chart"}}, false},
		{`"helm chart release"~`, Document{Text: "helm x. helm y release the chart"}, true},
		{`kube*`, Document{Title: "Kubernetes"}, true},
		{`release*`, Document{Title: "Released"}, true},
		{`security*`, Document{Title: "Security"}, true},
		{`взлом*`, Document{Title: "Взломали", Language: "ru"}, true},
		{`net*`, Document{Title: "The internet"}, false},
		{`3 of (k*, ku*, kube*)`, Document{Title: "Kubelets"}, true},
		{`3 of (k*, ku*, kube*)`, Document{Title: "Kudos"}, false},
		{`4 of (k*, ku*, kube*, kubelet)`, Document{Title: "Kubelets"}, true},
		{`'Go'`, Document{Title: "Go's compiler"}, true},
		{`'Go'`, Document{Title: "Let it go, GO, Google"}, false},
		{`'C'`, Document{Title: "C++ and C#, and c"}, false},
		{`'C'`, Document{Title: "C, the language"}, true},
		{`'Node'`, Document{Title: "Node.js is a node"}, false},
		{`'IT'`, Document{Title: "It is IT"}, true},
		{`'IT'`, Document{Title: "IT", Language: "de"}, true},
		{`'IT'`, Document{Title: "It is ITIL"}, false},
		{`title:/v\d+\.\d+/`, Document{Title: "Version V1.2"}, true},
		{`title:/v\d+\.\d+/`, Document{Text: "v1.2"}, false},
		{`url:/\/releases?\//`, Document{URL: "https://x.org/Release/1"}, true},
		{`url:"release notes"`, Document{URL: "https://x.org/release-notes/1"}, true},
		{`host:/^blog\./`, Document{URL: "https://blog.x.org"}, true},
		{`host:x.org`, Document{URL: "https://blog.x.org."}, true},
		{`host:x.org`, Document{URL: "::"}, false},
		{`lang:ru`, Document{Language: "ru"}, true},
		{`lang:ru`, Document{Language: "uk"}, false},
		{`feed-tag:"Go Jobs"`, Document{FeedTags: []string{"x", "go jobs"}}, true},
		{`2 of (feed-tag:Jobs, feed-tag:JOBS, feed-tag:jobs)`, Document{FeedTags: []string{"jobs"}}, true},
		{`feed-tag:jobs`, Document{FeedTags: []string{"go jobs"}}, false},
		{`feed:"go blog"`, Document{FeedTitle: "The Go Blog"}, true},
		{`author:pike`, Document{Author: "Rob Pike"}, true},
		{`author:pike`, Document{Title: "Rob Pike"}, false},
		{`pike`, Document{Author: "Rob Pike"}, false},
		{`tag:go`, Document{Tags: []string{"golang", "Go"}}, true},
		{`body:go`, Document{Title: "go"}, false},
		{`2 of (go, rust, zig)`, Document{Title: "go", Text: "zig"}, true},
		{`2 of (go, rust, zig)`, Document{Title: "go", Text: "go"}, false},
		{`'Go' near/2 (goroutine | compiler)`, Document{Title: "A compiler for the Go"}, true},
		{`'Go' near/2 (goroutine | compiler)`, Document{Title: "Go. One day, no compiler"}, false},
		{`'Go' near/2 (goroutine | compiler)`, Document{Title: "Let Go a x x x x, go to the compiler"}, false},
		{`'Go' near/2 compiler`, Document{Title: "Go", Text: "compiler"}, false},
		{`go near/5 go`, Document{Title: "go"}, false},
		{`go near/0 go`, Document{Title: "go go"}, true},
		{`go & !(rust | zig)`, Document{Title: "go zig"}, false},
		{`go & (rust | !zig)`, Document{Title: "go"}, true},
		{`go & (rust | !zig)`, Document{Title: "go zig"}, false},
		{`!(!go & !zig)`, Document{Title: "zig"}, true},
		{`!(!go & !zig)`, Document{Title: "rust"}, false},
		{`!(2 of (!go, !zig, !rust))`, Document{Title: "rust zig"}, true},
		{`!(2 of (!go, !zig, !rust))`, Document{Title: "rust"}, false},
	} {
		if got := len(compile(t, "star when "+test.term).Evaluate(test.doc).Matched) == 1; got != test.want {
			t.Errorf("%s of %+v: got %v, want %v", test.term, test.doc, got, test.want)
		}
	}
}

func TestEvaluate_RulesUseConclusionsOfOthers(t *testing.T) {
	r := compile(t, `
topic release-notes when fact:release & category:languages
fact release when fact:versioned & !fact:planned
fact versioned when title:/v\d/
fact planned when plan*
category languages when 'Go' | golang
score +1 when topic:release-notes
score +5 when !topic:release-notes & go`)
	for _, test := range []struct {
		doc  Document
		want float64
	}{
		{Document{Title: "Go v1"}, 1},
		{Document{Title: "Go v1 is planned"}, 5},
		{Document{Title: "v1", Text: "Go"}, 5}, // the category has one point
		{Document{Title: "v1", Text: "golang", Tags: []string{"Go"}}, 1},
		{Document{Title: "v1"}, 0},
	} {
		if got := r.Evaluate(test.doc).Score; got != test.want {
			t.Errorf("%+v: got %v, want %v", test.doc, got, test.want)
		}
	}
}

func TestCompile_RejectsInvalidSets(t *testing.T) {
	term := func(text string) *rule.Term { return &rule.Term{Text: text} }
	at := rule.Pos{File: "a.rules", Line: 3, Column: 1}
	for name, r := range map[string]rule.Rule{
		"no condition":                {Score: 1},
		"an empty and":                {Score: 1, Condition: rule.And{}},
		"a missing part":              {Score: 1, Condition: rule.Or{term("a"), nil}},
		"an empty term":               {Score: 1, Condition: term("")},
		"a nil term":                  {Score: 1, Condition: (*rule.Term)(nil)},
		"an invalid field":            {Score: 1, Condition: &rule.Term{Text: "a", Field: 100}},
		"negation alone":              {Score: 1, Condition: rule.Not{Node: term("a")}},
		"negation among alternatives": {Score: 1, Condition: rule.Or{term("a"), rule.Not{Node: term("b")}}},
		"too many of":                 {Score: 1, Condition: rule.AtLeast{N: 2, Operands: []rule.Expr{term("a")}}},
		"near with a value":           {Score: 1, Condition: rule.Near{A: term("a"), B: &rule.Term{Kind: rule.Value, Field: rule.Host, Text: "b"}}},
		"an infinite score":           {Score: 1e300, Condition: term("a")},
		"no query":                    {Score: 1, Condition: term("a"), Scope: rule.Scope{Kind: rule.Query, Value: "(a"}},
		"a wrong expression":          {Score: 1, Condition: &rule.Term{Kind: rule.Regexp, Field: rule.Title, Text: "("}},
		"a self-reference":            {Score: 1, Action: rule.Action{Kind: rule.ConcludeFact, Name: "x"}, Condition: &rule.Fact{Name: "x"}},
	} {
		r.Pos = at
		compiled, err := Compile(&rule.Set{Rules: []rule.Rule{{Score: 1, Condition: term("ok")}, r}, Files: []string{"a.rules"}})
		if err == nil || compiled != nil || !strings.HasPrefix(err.Error(), "a.rules:3") && name != "a wrong expression" {
			t.Errorf("%s: got %v and error %v, want none and one at a.rules:3", name, compiled, err)
		}
	}
}

func TestCompile_ReportsAllDiagnostics(t *testing.T) {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "star when title:/[a-f]{%d}/\n", i+1)
	}
	set, err := rule.ParseFiles([]rule.File{{Name: "a.rules", Text: b.String()}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = Compile(set)
	if err == nil || !strings.HasPrefix(err.Error(), "a.rules:101:17: ") {
		t.Errorf("got %v, want faults from a.rules:101:17 on", err)
	}
}

func TestCompile_NilGivesNoRules(t *testing.T) {
	for _, set := range []*rule.Set{nil, {}} {
		r, err := Compile(set)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Evaluate(Document{Title: "kubernetes", FeedID: "x"}); !reflect.DeepEqual(got, Outcome{}) {
			t.Errorf("got %+v, want nothing", got)
		}
	}
}

func TestEvaluate_IsDeterministic(t *testing.T) {
	doc := Document{
		Title: "Rust in the Linux kernel: passwords, PostgreSQL, Docker, AWS, Vim and Android",
		Text:  strings.Repeat("kubernetes docker python ransomware postgresql android quantum computing ", 20),
	}
	want := ShippedRules().Evaluate(doc)
	if len(want.Matched) < 5 {
		t.Fatalf("got %d rules fired, want more to compare", len(want.Matched))
	}
	for range 5 {
		r, err := Compile(Shipped())
		if err != nil {
			t.Fatal(err)
		}
		r.Evaluate(Document{Title: doc.Text, Text: doc.Title})
		if got := r.Evaluate(doc); !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	}
}

func TestEvaluate_ConcurrentUse(t *testing.T) {
	r := compile(t, "category x when a1 & !a2 | a3 near/2 a1\nfact f when a1*\nscore +1 when fact:f & lang:de\nfor feed:f1\nstar when a2")
	documents := make([]Document, 50)
	want := make([]Outcome, len(documents))
	for i := range documents {
		documents[i] = Document{
			Title: fmt.Sprintf("a%d a%d", i%3+1, i%5), Text: strings.Repeat("a1 x ", i%7), Language: []string{"de", "fr", "ru"}[i%3],
			FeedID: fmt.Sprint("f", i%2),
		}
		want[i] = r.Evaluate(documents[i])
	}
	fresh := compile(t, "category x when a1 & !a2 | a3 near/2 a1\nfact f when a1*\nscore +1 when fact:f & lang:de\nfor feed:f1\nstar when a2")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 20 {
				for i, d := range documents {
					if got := fresh.Evaluate(d); !reflect.DeepEqual(got, want[i]) {
						t.Errorf("document %d: got %+v, want %+v", i, got, want[i])
					}
				}
			}
		})
	}
	all.Wait()
}

func BenchmarkFire(b *testing.B) {
	d := Document{
		Title: "PostgreSQL 17: faster vacuum, incremental backups",
		Text: strings.Repeat("The release improves memory management of vacuum; replication and JSON in SQL got faster. "+
			"Kubernetes operators and cloud providers follow. ", 10),
		Tags: []string{"databases"}, URL: "https://www.example.org/news/postgresql-17", Language: "en",
	}
	for _, with := range []struct {
		name  string
		stems []stem.Word
	}{{"stems given", stem.Words(d.Text, d.Language)}, {"from text", nil}} {
		b.Run(with.name, func(b *testing.B) {
			d.Stems = with.stems
			b.ReportAllocs()
			for b.Loop() {
				ShippedRules().Evaluate(d)
			}
		})
	}
}
