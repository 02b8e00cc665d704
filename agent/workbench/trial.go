package workbench

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"feedmesh/agent/role/classify/label"
	"feedmesh/classify"
	"feedmesh/classify/language"
	"feedmesh/classify/text"
	"feedmesh/storage"
)

// A Draft is a document to test rules on. All fields may be empty.
type Draft struct {
	Title    string   `json:"title,omitempty" maxLength:"1000"`
	Text     string   `json:"text,omitempty" maxLength:"1000000" doc:"Plain text; by default extracted from the HTML."`
	HTML     string   `json:"html,omitempty" maxLength:"1000000"`
	URL      string   `json:"url,omitempty" maxLength:"2048"`
	Author   string   `json:"author,omitempty" maxLength:"200"`
	Language string   `json:"language,omitempty" maxLength:"8" doc:"ISO 639-1; by default detected."`
	Tags     []string `json:"tags,omitempty" maxItems:"100" doc:"The publisher's categories."`
	FeedID   string   `json:"feed_id,omitempty" maxLength:"64" doc:"ID of the feed whose settings apply."`
}

// A TrialResult is the decision of rules on a document.
type TrialResult struct {
	Spam       bool          `json:"spam"`
	SpamScore  float64       `json:"spam_score" doc:"0 to 1."`
	Flags      []string      `json:"flags"`
	Categories []string      `json:"categories" doc:"Best first."`
	Topics     []string      `json:"topics" doc:"Best first."`
	Score      float64       `json:"score" doc:"Sum of the scores that rules add."`
	Notify     []string      `json:"notify" doc:"Texts of the notifications that rules send."`
	Sentiment  float64       `json:"sentiment" doc:"-1 to 1; 0 if disabled."`
	Guessed    bool          `json:"guessed" doc:"Whether the model, not the rules, chose the categories."`
	Why        []string      `json:"why"`
	Matched    []MatchedRule `json:"fired" doc:"All matching rules, in the order of the set."`
	Micros     float64       `json:"micros" doc:"Time of the decision, in microseconds."`

	Stored *Labelled `json:"stored,omitempty" doc:"Labels of the item in the store."`
}

// A MatchedRule is a matching rule.
type MatchedRule struct {
	Rule     string     `json:"rule" doc:"File and line, such as devops.rules:4."`
	Points   float64    `json:"points"`
	Evidence []Evidence `json:"evidence" doc:"Matching parts of its condition, at most three."`
}

// Evidence is the matching part of a rule's condition.
type Evidence struct {
	Words string `json:"words" doc:"As written in the rule."`
	Field string `json:"field,omitempty"`
}

// TestItem decides an item of the store. It returns [storage.ErrNotFound] if the item does not exist.
func TestItem(ctx context.Context, store Store, by Decider, id string) (TrialResult, error) {
	item, err := storage.ItemByID(ctx, store, id)
	if err != nil {
		return TrialResult{}, fmt.Errorf("item %s: %w", id, err)
	}
	feed, err := (&feedCache{store: store}).get(ctx, item.FeedID)
	if err != nil {
		return TrialResult{}, err
	}
	tried, stored := try(by, label.Document(item, feed, text.PlainText(item.HTML))), labelledAs(item)
	tried.Stored = &stored
	return tried, nil
}

// TestDraft decides a draft. It returns [storage.ErrNotFound] if its feed does not exist.
func TestDraft(ctx context.Context, store Store, by Decider, d Draft) (TrialResult, error) {
	feed := storage.Feed{}
	if d.FeedID != "" {
		var err error
		if feed, err = store.Feed(ctx, d.FeedID); err != nil {
			return TrialResult{}, fmt.Errorf("feed %s: %w", d.FeedID, err)
		}
	}
	plain := cmp.Or(d.Text, text.PlainText(d.HTML))
	if d.Language == "" {
		d.Language, _ = language.Detect(d.Title+"\n"+plain, feed.Language)
	}
	return try(by, label.Document(storage.Item{
		FeedID: d.FeedID, Title: d.Title, HTML: d.HTML, URL: d.URL, Author: d.Author, Language: d.Language, Tags: d.Tags,
	}, feed, plain)), nil
}

func try(by Decider, doc classify.Document) TrialResult {
	began := time.Now()
	d := by.Decide(doc)
	took := time.Since(began)
	tried := TrialResult{
		Spam: d.Spam, SpamScore: d.SpamScore, Flags: list(d.Flags), Categories: list(d.Categories), Topics: list(d.Topics),
		Score: d.Score, Notify: list(d.Notify), Sentiment: d.Sentiment, Guessed: d.Guessed, Why: list(d.Reasons),
		Matched: []MatchedRule{}, Micros: float64(took.Nanoseconds()) / 1000,
	}
	for _, f := range d.Matched {
		fired := MatchedRule{Rule: f.Rule, Points: f.Points, Evidence: []Evidence{}}
		for _, e := range f.Evidence {
			fired.Evidence = append(fired.Evidence, Evidence{e.Words, e.Field})
		}
		tried.Matched = append(tried.Matched, fired)
	}
	return tried
}

// list returns names as a non-nil list.
func list(names []string) []string { return append([]string{}, names...) }
