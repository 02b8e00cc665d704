package classify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"feedmesh/classify/model"
	"feedmesh/classify/rule"
	"feedmesh/classify/sentiment"
	"feedmesh/classify/spam"
)

const (
	maxCategories = 3
	maxTopics     = 5
)

// A Classifier decides what documents are: spam, and what they are about. It may
// be used concurrently.
type Classifier struct {
	Rules     *Rules
	Spam      *spam.Filter
	Model     *model.Model // nil: nothing is guessed but from rules
	Sentiment bool         // whether the mood of texts is told
}

// A Decision is what a [Classifier] makes of a document.
type Decision struct {
	Spam       bool
	SpamScore  float64  // 0 to 1
	Flags      []string // of "adult", "affiliate", "muted", "sponsored", "starred", by name
	Categories []string // best first, at most 3
	Likeliest  string   // the category that comes first, also where it is too unsure to be one of Categories; may be empty
	Topics     []string // best first, at most 5
	Score      float64  // what rules added
	Notify     []string
	Sentiment  float64  // -1 to 1; 0 where it is off
	Guessed    bool     // the categories are a guess, not the rules'
	Why        []string // sentences: what decided spam, flags, each category and topic
	Fired      []Fired
}

// Decide says what a document is. Of its feed and host it knows what the document
// says. Equal documents get equal decisions.
func (c *Classifier) Decide(d Document) Decision { return c.DecideKnowing(d, spam.Habits{}) }

// DecideKnowing is [Classifier.Decide] for one who remembers what the document's
// feed and host brought before.
func (c *Classifier) DecideKnowing(d Document, habits spam.Habits) Decision {
	d.stem()
	fired := c.Rules.Fire(d)
	decision := Decision{Score: fired.Score, Notify: fired.Notify, Fired: fired.Fired}
	c.judge(&decision, d, fired, habits)
	c.label(&decision, d, fired)
	if c.Sentiment {
		decision.Sentiment = sentiment.Score(d.Title+"\n"+d.Text, d.Language)
	}
	return decision
}

// judge decides whether a document is spam, and what flags it has. A rule that
// says quarantine makes it spam, whatever its score.
func (c *Classifier) judge(decision *Decision, d Document, fired Outcome, habits spam.Habits) {
	verdict := c.Spam.Judge(d.ForSpam(), habits)
	decision.SpamScore = verdict.Score
	decision.Spam = fired.Quarantine || verdict.Score >= cmp.Or(d.SpamThreshold, c.Spam.Threshold())
	if decision.Spam {
		decision.Why = append(decision.Why, verdict.Why()...)
	} else { // what is no spam needs no excuse
		decision.Why = append(decision.Why, verdict.WhyFlagged()...)
	}
	decision.Flags = slices.Clone(verdict.Flags)
	if fired.Quarantine {
		decision.Why = append(decision.Why, c.Rules.because("spam", rule.Quarantine, fired.Fired)...)
	}
	if fired.Star {
		decision.Flags = append(decision.Flags, "starred")
		decision.Why = append(decision.Why, c.Rules.because("starred", rule.Star, fired.Fired)...)
	}
	if fired.Mute {
		decision.Flags = append(decision.Flags, "muted")
		decision.Why = append(decision.Why, c.Rules.because("muted", rule.Mute, fired.Fired)...)
	}
	slices.Sort(decision.Flags)
}

// label decides what a document is about.
func (c *Classifier) label(decision *Decision, d Document, fired Outcome) {
	list := c.weigh(d, fired)
	if len(list) > 0 {
		decision.Likeliest = list[0].name
	}
	most := 0.0 // points that rules give one
	for _, k := range list {
		most = max(most, k.label.Points)
	}
	for _, k := range list {
		if before := len(decision.Categories); before == maxCategories || !k.given(most, before) {
			continue
		}
		decision.Categories = append(decision.Categories, k.name)
		if k.sure() {
			decision.Why = append(decision.Why, k.label.because()...)
		} else {
			decision.Why = append(decision.Why, c.why(k, d, fired)...)
		}
		decision.Guessed = most < Threshold
	}
	for _, l := range fired.Labels {
		if l.Topic && l.Points >= Threshold && len(decision.Topics) < maxTopics {
			decision.Topics = append(decision.Topics, l.Name)
			decision.Why = append(decision.Why, l.because()...)
		}
	}
}

// because says what speaks for a label, a sentence for each rule, as in
// `topic kubernetes: "k8s" in title (devops.rules:4)`.
func (l Label) because() []string {
	name := "category " + l.Name
	if l.Topic {
		name = "topic " + l.Name
	}
	var why []string
	for _, f := range l.Why {
		why = append(why, fmt.Sprintf("%s: %s (%s)", name, f.words(), f.Rule))
	}
	return why
}

// words returns what made a rule fire.
func (f Fired) words() string {
	var list []string
	for _, e := range f.Evidence {
		switch {
		case e.Field == "":
			list = append(list, e.Words)
		case strings.HasPrefix(e.Words, `"`), strings.HasPrefix(e.Words, "'"), strings.HasPrefix(e.Words, "/"):
			list = append(list, e.Words+" in "+e.Field)
		default:
			list = append(list, fmt.Sprintf("%q in %s", e.Words, e.Field))
		}
	}
	return cmp.Or(strings.Join(list, ", "), "the rule holds")
}
