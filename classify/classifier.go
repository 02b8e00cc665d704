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

// A Classifier decides whether documents are spam and assigns categories and topics. It is safe for
// concurrent use.
type Classifier struct {
	Rules     *Rules
	Spam      *spam.Filter
	Model     *model.Model // nil: categories come from rules only
	Sentiment bool         // whether to score sentiment
}

// A Decision is the result of classifying a document.
type Decision struct {
	Spam       bool
	SpamScore  float64  // 0 to 1
	Flags      []string // of "adult", "affiliate", "muted", "sponsored", "starred", by name
	Categories []string // best first, at most 3
	MostLikely string   // highest-ranked category, even if it is too uncertain for Categories; may be empty
	Topics     []string // best first, at most 5
	Score      float64  // sum of the scores that rules added
	Notify     []string
	Sentiment  float64  // -1 to 1; 0 if disabled
	Guessed    bool     // the model, not the rules, chose the categories
	Reasons    []string // sentences that explain spam, flags, each category and topic
	Matched    []RuleMatch
}

// Decide classifies a document by its contents alone, without the history of its feed and host. Equal
// documents get equal decisions.
func (c *Classifier) Decide(d Document) Decision { return c.DecideWithHistory(d, spam.History{}) }

// DecideWithHistory is [Classifier.Decide] with the history of the document's feed and host, which
// [spam.HistoryCache] records.
func (c *Classifier) DecideWithHistory(d Document, habits spam.History) Decision {
	d.stem()
	outcome := c.Rules.Evaluate(d)
	decision := Decision{Score: outcome.Score, Notify: outcome.Notify, Matched: outcome.Matched}
	c.decideSpam(&decision, d, outcome, habits)
	c.decideLabels(&decision, d, outcome)
	if c.Sentiment {
		decision.Sentiment = sentiment.Score(d.Title+"\n"+d.Text, d.Language)
	}
	return decision
}

// decideSpam sets the spam score, the flags and their reasons. A rule with the action quarantine makes a
// document spam whatever its score.
func (c *Classifier) decideSpam(decision *Decision, d Document, outcome Outcome, habits spam.History) {
	verdict := c.Spam.Classify(d.SpamDocument(), habits)
	decision.SpamScore = verdict.Score
	decision.Spam = outcome.Quarantine || verdict.Score >= cmp.Or(d.SpamThreshold, c.Spam.Threshold())
	if decision.Spam {
		decision.Reasons = append(decision.Reasons, verdict.Reasons()...)
	} else { // no reasons are listed for a score that is not spam
		decision.Reasons = append(decision.Reasons, verdict.FlagReasons()...)
	}
	decision.Flags = slices.Clone(verdict.Flags)
	if outcome.Quarantine {
		decision.Reasons = append(decision.Reasons, c.Rules.actionReasons("spam", rule.Quarantine, outcome.Matched)...)
	}
	if outcome.Star {
		decision.Flags = append(decision.Flags, "starred")
		decision.Reasons = append(decision.Reasons, c.Rules.actionReasons("starred", rule.Star, outcome.Matched)...)
	}
	if outcome.Mute {
		decision.Flags = append(decision.Flags, "muted")
		decision.Reasons = append(decision.Reasons, c.Rules.actionReasons("muted", rule.Mute, outcome.Matched)...)
	}
	slices.Sort(decision.Flags)
}

// decideLabels sets the categories, the topics and their reasons.
func (c *Classifier) decideLabels(decision *Decision, d Document, outcome Outcome) {
	p := c.predict(d, outcome)
	labels := outcome.Labels
	if p.general != nil {
		labels = withoutBuiltIn(labels)
		if hasCertainCategory(outcome.Labels) && !hasCertainCategory(labels) {
			decision.Reasons = append(decision.Reasons, c.generalReason(*p.general, d, outcome))
		}
	}
	list := rankCandidates(d, labels, p)
	if len(list) > 0 {
		decision.MostLikely = list[0].name
	}
	most := 0.0 // highest points that rules give a category
	for _, k := range list {
		most = max(most, k.label.Points)
	}
	for _, k := range list {
		if before := len(decision.Categories); before == maxCategories || !k.isAccepted(most, before) {
			continue
		}
		decision.Categories = append(decision.Categories, k.name)
		if k.isCertain() {
			decision.Reasons = append(decision.Reasons, k.label.reasons()...)
		} else {
			decision.Reasons = append(decision.Reasons, c.guessReasons(k, d, outcome)...)
		}
		decision.Guessed = most < Threshold
	}
	for _, l := range outcome.Labels {
		if l.Topic && l.Points >= Threshold && len(decision.Topics) < maxTopics {
			decision.Topics = append(decision.Topics, l.Name)
			decision.Reasons = append(decision.Reasons, l.reasons()...)
		}
	}
}

// hasCertainCategory reports whether rules assign a category.
func hasCertainCategory(labels []Label) bool {
	return slices.ContainsFunc(labels, func(l Label) bool { return !l.Topic && l.Points >= Threshold })
}

// reasons returns a sentence for each rule that contributed to a label, for example `topic kubernetes: "k8s"
// in title (devops.rules:4)`.
func (l Label) reasons() []string {
	name := "category " + l.Name
	if l.Topic {
		name = "topic " + l.Name
	}
	var why []string
	for _, f := range l.Matches {
		why = append(why, fmt.Sprintf("%s: %s (%s)", name, f.describe(), f.Rule))
	}
	return why
}

// isBuiltIn reports whether the rule is in a file of the name of a built-in file.
func (f RuleMatch) isBuiltIn() bool {
	file, _, _ := strings.Cut(f.Rule, ":")
	return isShippedFile(file)
}

// describe returns the evidence of a rule as text.
func (f RuleMatch) describe() string {
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

// actionReasons returns a sentence for each matched rule with the given action, for example `starred: "helm"
// in title (mine.rules:2)`.
func (r *Rules) actionReasons(what string, does rule.ActionKind, matched []RuleMatch) []string {
	places := make(map[string]bool)
	for i := range r.rules {
		if r.rules[i].action == does {
			places[r.infos[i].place] = true
		}
	}
	var why []string
	for _, f := range matched {
		if places[f.Rule] && len(why) < maxReasons {
			why = append(why, fmt.Sprintf("%s: %s (%s)", what, f.describe(), f.Rule))
		}
	}
	return why
}

const maxReasons = 3 // for each action
