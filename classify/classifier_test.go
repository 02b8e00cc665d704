package classify

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"feedmesh/classify/model"
	"feedmesh/classify/rule"
	"feedmesh/classify/spam"
)

// classifier returns a classifier with the given rules and, if not nil, model.
func classifier(t testing.TB, rules string, m *model.Model) *Classifier {
	t.Helper()
	set, err := rule.Parse([]byte("-- mine.rules --\n" + rules))
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := Compile(set)
	if err != nil {
		t.Fatal(err)
	}
	filter, err := spam.Parse(spam.Shipped())
	if err != nil {
		t.Fatal(err)
	}
	return &Classifier{Rules: compiled, Spam: filter, Model: m}
}

// cooking returns a model of two categories without rules: words about bread are baking, words about soup are
// stewing, and a pan belongs to both.
func cooking(t testing.TB) *model.Model {
	t.Helper()
	tr := model.NewTrainer()
	for i := range 150 {
		for category, words := range map[string][]string{"baking": {"bread", "oven", "dough", "pan"}, "stewing": {"soup", "ladle", "broth", "pan"}} {
			tr.Add(model.Example{
				ID: fmt.Sprint(category, i), Categories: []string{category},
				Document: model.Document{Title: fmt.Sprintf("%s with %s %d", words[i%4], words[(i+1+i/4%3)%4], i), Language: "en"},
			})
		}
	}
	m, err := tr.Train("invented titles")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func english(title string) Document { return Document{Title: title, Language: "en"} }

func TestDecide_RulesAndReasons(t *testing.T) {
	c := classifier(t, `category devops/topic:kubernetes when k8s | "helm chart"
score +2 when topic:kubernetes
notify "a chart" when "helm chart"
`, nil)
	got := c.Decide(english("A helm chart for k8s"))
	if !reflect.DeepEqual(got.Categories, []string{"devops"}) || !reflect.DeepEqual(got.Topics, []string{"kubernetes"}) || got.Guessed || got.Spam {
		t.Errorf("got %+v", got)
	}
	if got.Score != 2 || !reflect.DeepEqual(got.Notify, []string{"a chart"}) || len(got.Matched) != 3 {
		t.Errorf("got score %v, notify %q, fired %v", got.Score, got.Notify, got.Matched)
	}
	for _, want := range []string{`category devops: "k8s" in title, "helm chart" in title (mine.rules:1)`, `topic kubernetes: `} {
		if !slices.ContainsFunc(got.Reasons, func(s string) bool { return strings.HasPrefix(s, want) }) {
			t.Errorf("got %q, want %q among it", got.Reasons, want)
		}
	}
}

func TestDecide_ActionsBecomeFlagsWithReasons(t *testing.T) {
	c := classifier(t, `star when helm
mute when title:podcast
quarantine when title:casino
`, nil)
	got := c.Decide(english("A podcast on helm from the casino"))
	if !got.Spam || !reflect.DeepEqual(got.Flags, []string{"muted", "starred"}) {
		t.Errorf("got spam %v, flags %q", got.Spam, got.Flags)
	}
	for _, want := range []string{`spam: "casino" in title (mine.rules:3)`, `starred: "helm" in title (mine.rules:1)`, `muted: "podcast" in title (mine.rules:2)`} {
		if !slices.Contains(got.Reasons, want) {
			t.Errorf("got %q, want %q among it", got.Reasons, want)
		}
	}
	if quiet := c.Decide(english("A quiet evening")); quiet.Spam || len(quiet.Flags)+len(quiet.Reasons) > 0 {
		t.Errorf("got %+v of nothing", quiet)
	}
}

func TestDecide_SpamThresholdOfFeedThenLists(t *testing.T) {
	c := classifier(t, "star when helm", nil)
	d := english("Best casino bonus")
	got := c.Decide(d)
	if got.SpamScore <= 0 || got.SpamScore >= 1 || got.Spam != (got.SpamScore >= 0.5) {
		t.Fatalf("got %+v, which does not separate the thresholds", got)
	}
	lists := regexp.MustCompile(`(?m)^threshold\s.*$`).ReplaceAll(spam.Shipped(), fmt.Appendf(nil, "threshold %v", got.SpamScore))
	var err error
	if c.Spam, err = spam.Parse(lists); err != nil {
		t.Fatal(err)
	}
	if got := c.Decide(d); !got.Spam || len(got.Reasons) == 0 {
		t.Errorf("got %+v at the lists' threshold, want spam and why", got)
	}
	d.SpamThreshold = (1 + got.SpamScore) / 2
	if got := c.Decide(d); got.Spam || len(got.Reasons) > 0 {
		t.Errorf("got %+v below the feed's threshold", got)
	}
}

func TestDecide_ModelGuessesWithoutRules(t *testing.T) {
	c := classifier(t, "category devops when k8s", cooking(t))
	got := c.Decide(english("Dough in the oven"))
	if !reflect.DeepEqual(got.Categories, []string{"baking"}) || !got.Guessed {
		t.Fatalf("got %+v", got)
	}
	if want := `category baking: guessed from "Dough", "oven" (`; len(got.Reasons) != 1 || !strings.HasPrefix(got.Reasons[0], want) {
		t.Errorf("got %q, want %q", got.Reasons, want)
	}
	for _, title := range []string{"A pan", "Тесто в печи", "Something else"} {
		if got := c.Decide(english(title)); len(got.Categories) > 0 || got.Guessed {
			t.Errorf("%s: got %+v, want no label for ambiguous or unknown titles", title, got)
		}
	}
}

func TestDecide_GuessNeverOverridesCertainRule(t *testing.T) {
	c := classifier(t, "category devops when k8s", cooking(t))
	d := english("Bread dough in the oven, bread on k8s")
	if first := c.Model.Predict(newModelDocument(d, nil))[0]; first.Category != "baking" || model.Probability(first.Odds) < minGuessBesideRules {
		t.Fatalf("got %+v, and nothing to overrule by", first)
	}
	d.FeedCategories = map[string]float64{"baking": 100}
	got := c.Decide(d)
	if !reflect.DeepEqual(got.Categories, []string{"devops", "baking"}) || got.Guessed || got.MostLikely != "devops" {
		t.Errorf("got %q, want the rule's category first, then the nearly certain one", got.Categories)
	}
}

// withGeneral is a model of [cooking] that has learned general news about elections too, in English.
func withGeneral(t testing.TB) *model.Model {
	t.Helper()
	tr := model.NewTrainer()
	for i := range 150 {
		for category, words := range map[string][]string{
			"baking": {"bread", "oven", "dough"}, "stewing": {"soup", "ladle", "broth"}, model.General: {"election", "minister", "vote"},
		} {
			tr.Add(model.Example{
				ID: fmt.Sprint(category, i), Categories: []string{category},
				Document: model.Document{Title: fmt.Sprintf("%s and %s %d", words[i%3], words[(i+1)%3], i), Language: "en"},
			})
		}
	}
	m, err := tr.Train("invented titles")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestDecide_GeneralItemsHaveNoBuiltInCategory(t *testing.T) {
	c := &Classifier{Rules: ShippedRules(), Spam: classifier(t, "star when helm", nil).Spam, Model: withGeneral(t)}
	general := english("Vote for the minister: an election and PostgreSQL")
	got := c.Decide(general)
	if len(got.Categories) > 0 || got.MostLikely != "" || len(got.Reasons) == 0 || !strings.HasPrefix(got.Reasons[0], "no category: general, not IT, guessed from ") {
		t.Errorf("got %q, %q", got.Categories, got.Reasons)
	}
	for _, title := range []string{"PostgreSQL and the oven", "PostgreSQL"} {
		if got := c.Decide(english(title)); len(got.Categories) == 0 || got.Categories[0] != "databases" {
			t.Errorf("%s: got %q", title, got.Categories)
		}
	}
	general.Language = "fr" // not among the examples
	if got := c.Decide(general); len(got.Categories) == 0 || got.Categories[0] != "databases" {
		t.Errorf("French: got %q", got.Categories)
	}
	own := classifier(t, "category politics when election", withGeneral(t))
	if got := own.Decide(english("Vote for the minister: an election")); !reflect.DeepEqual(got.Categories, []string{"politics"}) {
		t.Errorf("got %q, want the category of an own rule", got.Categories)
	}
}

func TestDecide_NoGuessInOtherLanguages(t *testing.T) {
	c := classifier(t, "category devops when k8s", cooking(t))
	d := english("Dough in the oven")
	d.Language = "de"
	if got := c.Decide(d); len(got.Categories) > 0 || got.MostLikely != "" {
		t.Errorf("got %+v", got)
	}
}

func TestDecide_FeedHistoryAddsButNeverDecidesAlone(t *testing.T) {
	c := classifier(t, "category devops when k8s\ncategory stewing when pot score 0.9", cooking(t))
	baker := map[string]float64{"baking": 200}
	for _, title := range []string{"", "Something else", "A pan", "Тесто в печи"} {
		d := english(title)
		d.FeedCategories = baker
		if got := c.Decide(d); len(got.Categories) > 0 || title == "" && got.MostLikely != "" {
			t.Errorf("%q: got %q from habit alone", title, got.Categories)
		}
	}
	c.Model = nil
	weak := english("A pot")
	if got := c.Decide(weak); len(got.Categories) > 0 {
		t.Errorf("got %q from a weak rule alone", got.Categories)
	}
	weak.FeedCategories = map[string]float64{"stewing": 200}
	got := c.Decide(weak)
	if !reflect.DeepEqual(got.Categories, []string{"stewing"}) || !got.Guessed || !strings.Contains(got.Reasons[0], "200 of the feed's recent items") {
		t.Errorf("got %q, %q, want the sum of a weak rule and the feed history", got.Categories, got.Reasons)
	}
	weak.FeedCategories = map[string]float64{"stewing": 2}
	if got := c.Decide(weak); len(got.Categories) > 0 {
		t.Errorf("got %q from two items", got.Categories)
	}
}

func TestDecide_UncertainRulesAloneAreNoGuess(t *testing.T) {
	for own, want := range map[float64]bool{0: false, 0.9: false, 1: true} {
		k := candidate{guess: &model.Guess{Odds: 3, ContentOdds: own}, odds: 3}
		if got := k.isAccepted(0, 0); got != want {
			t.Errorf("%v nats of its own words: got %t", own, got)
		}
	}
}

func TestDecide_AtMostThreeCategoriesAndFiveTopics(t *testing.T) {
	var rules strings.Builder
	for i := range 9 {
		fmt.Fprintf(&rules, "category c%d/topic:t%d when helm score %d\n", i, i, i+1)
	}
	got := classifier(t, rules.String(), nil).Decide(english("helm"))
	if !reflect.DeepEqual(got.Categories, []string{"c8", "c7", "c6"}) || len(got.Topics) != 5 || got.Topics[0] != "t8" {
		t.Errorf("got %q and %q", got.Categories, got.Topics)
	}
}

func TestDecide_EqualDocumentsGetEqualDecisions(t *testing.T) {
	c := &Classifier{Rules: ShippedRules(), Spam: classifier(t, "star when helm", nil).Spam, Model: model.Default(), Sentiment: true}
	d := english("A terrible year of PostgreSQL failovers on Kubernetes, and what security people learned")
	d.URL, d.FeedCategories = "https://blog.example.com/postgresql", map[string]float64{"databases": 12, "devops": 7, "security": 1.5}
	want := c.Decide(d)
	if len(want.Categories) == 0 || want.Sentiment >= 0 {
		t.Errorf("got %+v", want)
	}
	for range 20 {
		if got := c.Decide(d); !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v, then %+v", want, got)
		}
	}
}

func TestExample_ClassifierLearnsFromExamples(t *testing.T) {
	c := classifier(t, "category devops when k8s", nil)
	d := english("k8s in the oven")
	if e := c.Rules.Example("1", d, []string{"baking"}, true); e.Weight != model.Correction || len(e.Document.Labels) != 1 {
		t.Errorf("got %+v, want the labels of the rules and the weight of a manual edit", e)
	}
	if e := RuleLabelledExample("1", d, []string{"devops"}); len(e.Document.Labels) != 0 || e.Document.Title != d.Title {
		t.Errorf("got %+v, want no labels of rules", e)
	}
}

func BenchmarkDecide(b *testing.B) {
	c := &Classifier{Rules: ShippedRules(), Spam: classifier(b, "star when helm", nil).Spam, Model: model.Default()}
	d := english("PostgreSQL 16 on Kubernetes: what we learned from a year of failovers")
	d.URL = "https://blog.example.com/2024/01/postgresql-on-kubernetes"
	for b.Loop() {
		c.Decide(d)
	}
}
