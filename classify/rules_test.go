package classify

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"feedmesh/classify/stem"
)

func load(t *testing.T, rules, spam string) *Rules {
	t.Helper()
	r, err := LoadRules(fstest.MapFS{"a.rules": {Data: []byte(rules)}, "spam.txt": {Data: []byte(spam)}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestLoadRulesNamesEveryFault(t *testing.T) {
	for _, test := range []struct{ line, want string }{
		{`topic x when y`, `it must begin with "category"`},
		{`category x`, `"when" is missing`},
		{`category X when y`, `"X" is no category`},
		{`category x/topic:Y when y`, `"Y" is no topic`},
		{`category x when y | | z`, `a term is missing`},
		{`category x when zero day`, `put a phrase in quotes`},
		{`category x when "zero day`, `a quote is missing`},
		{`category x when "a" b"`, `a quote is missing`},
		{`category x when y score much`, `"much" is no score`},
		{`category x when y score -1`, `"-1" is no score`},
		{`category x when y score NaN`, `"NaN" is no score`},
		{`category x when ...`, `has no word in it`},
		{`category x when "of the"`, `stop words only`},
		{`category x when "in go"`, `means every "go"`},
	} {
		_, err := LoadRules(fstest.MapFS{"a.rules": {Data: []byte("# one\ncategory ok when ok\n" + test.line + "\n")}})
		if err == nil || !strings.HasPrefix(err.Error(), "a.rules:3: ") || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got error %v, want a.rules:3 and %s", test.line, err, test.want)
		}
	}
	for _, line := range []string{`work from home`, `phrase: "a`, `domain: localhost`, `domain: http://x.y/`, `phrase: "buy now" 0`} {
		_, err := LoadRules(fstest.MapFS{"spam.txt": {Data: []byte("\n" + line)}})
		if err == nil || !strings.HasPrefix(err.Error(), "spam.txt:2: ") {
			t.Errorf("%s: got error %v, want one at spam.txt:2", line, err)
		}
	}
	_, err := LoadRules(fstest.MapFS{"a.rules": {Data: []byte("x\ny\n")}, "b.rules": {Data: []byte("z")}})
	if err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("got error %v, want all three faults", err)
	}
}

func TestShippedRulesParse(t *testing.T) {
	r, err := LoadRules(os.DirFS("rules"))
	if err != nil {
		t.Fatal(err)
	}
	topics, categories := map[string]bool{}, map[string]bool{}
	for _, rule := range r.rules {
		if rule.kind == categoryRule {
			categories[rule.category] = true
			topics[rule.topic] = true
		}
	}
	t.Logf("%d rules and phrases, %d categories, %d topics, %d stems to begin with", len(r.rules), len(categories), len(topics)-1, len(r.index[""]))
	if len(categories) < 15 {
		t.Errorf("got %d categories, want at least 15", len(categories))
	}
	if first, again := DefaultRules(), DefaultRules(); first != again {
		t.Error("got the rules twice, want them parsed once")
	}
}

func TestDecideWeighsFields(t *testing.T) {
	r := load(t, `
category security when ransomware | malware | "zero day" | уязвимость # a comment
category devops/topic:kubernetes when kubernetes | k8s | "helm chart" score 2
category languages when c# | c++
category games when game score 0.5`, "")
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
		{"a tag and the text", Document{Tags: []string{"Malware"}, Text: "malware"}, []string{"security"}, nil},
		{"a phrase over two tags", Document{Tags: []string{"zero", "day"}, Text: "malware"}, nil, nil},
		{"a topic with its category", Document{Title: "k8s, malware"}, []string{"devops", "security"}, []string{"kubernetes"}},
		{"a weak word", Document{Title: "The game"}, nil, nil},
		{"signs", Document{Title: "From C# to C++"}, []string{"languages"}, nil},
		{"stems handed in", Document{Stems: stem.List("malware ransomware zero day", "")}, []string{"security"}, nil},
		{"a language with its own stems", Document{Title: "malwares", Language: "fr"}, []string{"security"}, nil},
	} {
		d := r.Decide(test.doc)
		if !slices.Equal(d.Categories, test.categories) || !slices.Equal(d.Topics, test.topics) || d.Spam {
			t.Errorf("%s: got %+v, want categories %q and topics %q", test.name, d, test.categories, test.topics)
		}
	}
}

func TestDecideSaysWhy(t *testing.T) {
	r := load(t, "# rules\ncategory devops/topic:kubernetes when kubernetes", `phrase: "earn cash" 2`)
	d := r.Decide(Document{Title: "Earn cash with Kubernetes", Text: "Earn cash!"})
	want := []string{
		`spam: phrase "earn cash" in title (spam.txt:1)`,
		`category devops: "kubernetes" in title (a.rules:2)`,
		`topic kubernetes: "kubernetes" in title (a.rules:2)`,
	}
	if !d.Spam || !slices.Equal(d.Why, want) {
		t.Errorf("got spam %v because of\n%q, want\n%q", d.Spam, d.Why, want)
	}
}

func TestDecideIsDeterministic(t *testing.T) {
	doc := Document{
		Title: "Rust in the Linux kernel: passwords, PostgreSQL, Docker, AWS, Vim and Android",
		Text:  strings.Repeat("kubernetes docker python ransomware postgresql android quantum computing ", 20),
	}
	want := DefaultRules().Decide(doc)
	if len(want.Categories) != maxCategories || len(want.Topics) != maxTopics {
		t.Errorf("got %+v, want %d categories and %d topics", want, maxCategories, maxTopics)
	}
	for range 50 {
		if got := DefaultRules().Decide(doc); !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v, then %+v", want, got)
		}
	}
}

func TestDecideTellsSpam(t *testing.T) {
	for _, test := range []struct {
		name string
		doc  Document
		want bool
	}{
		{"one weak phrase", Document{Title: "How we work from home", Text: "Some work from home, some do not."}, false},
		{"a promise in the title", Document{Title: "Make money online today", Text: "Earn extra cash: work from home!"}, true},
		{"Russian", Document{Title: "Онлайн казино: фриспины каждому", Text: "Казино бонус", Language: "ru"}, true},
		{"a spammer's address", Document{Title: "Hello", URL: "https://www.semalt.com/x"}, true},
		{"a spammer's address in the text", Document{Title: "Hello", Text: "see blog.semalt.com now"}, true},
		{"a link to a spammer in the text", Document{Title: "Hello", Text: "see (https://www.semalt.com:80/x?y), now"}, true},
		{"a spammer's mailbox in the text", Document{Title: "Hello", Text: "write to jane@semalt.com."}, true},
		{"a link to somebody else", Document{Title: "Hello", Text: "see https://example.com/www.semalt.com now"}, false},
		{"an address that only ends alike", Document{Title: "Hello", URL: "https://notsemalt.com/"}, false},
		{"one who writes about spam", Document{Title: "Anatomy of a phishing mail", Text: `It says "make money online" and "act now": a scam.`}, false},
		{"a security article", Document{Title: "Ransomware gang lures victims", Text: `Ads such as "earn extra cash" lead to malware.`}, false},
		{"nothing", Document{}, false},
	} {
		if got := DefaultRules().Decide(test.doc); got.Spam != test.want {
			t.Errorf("%s: got %+v, want spam %v", test.name, got, test.want)
		}
	}
}

func BenchmarkDecide(b *testing.B) {
	d := Document{
		Title: "Kubernetes 1.31 released with better security defaults", URL: "https://example.org/post", Tags: []string{"DevOps", "Cloud Native"},
		Text: strings.Repeat("The new version of the container orchestrator closes a vulnerability and speeds up the scheduler for large clusters. ", 25),
	}
	rules := DefaultRules()
	b.Run("with stems", func(b *testing.B) {
		d := d
		d.Stems = stem.List(d.Text, "en")
		b.ReportAllocs()
		for b.Loop() {
			rules.Decide(d)
		}
	})
	b.Run("from text", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			rules.Decide(d)
		}
	})
}
