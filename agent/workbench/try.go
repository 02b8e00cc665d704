package workbench

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"feedmesh/agent/label"
	"feedmesh/classify"
	"feedmesh/classify/language"
	"feedmesh/classify/text"
	"feedmesh/storage"
)

// A Draft is a document in words, to try rules on. All of it may be empty.
type Draft struct {
	Title    string   `json:"title,omitempty" maxLength:"1000"`
	Text     string   `json:"text,omitempty" maxLength:"1000000" doc:"Plain; by default that of the HTML."`
	HTML     string   `json:"html,omitempty" maxLength:"1000000"`
	URL      string   `json:"url,omitempty" maxLength:"2048"`
	Author   string   `json:"author,omitempty" maxLength:"200"`
	Language string   `json:"language,omitempty" maxLength:"8" doc:"ISO 639-1; by default guessed."`
	Tags     []string `json:"tags,omitempty" maxItems:"100" doc:"The publisher's categories."`
	FeedID   string   `json:"feed_id,omitempty" maxLength:"64" doc:"The feed that it is to be of."`
}

// Tried is what rules make of a document.
type Tried struct {
	Spam       bool     `json:"spam"`
	SpamScore  float64  `json:"spam_score" doc:"0 to 1."`
	Flags      []string `json:"flags"`
	Categories []string `json:"categories" doc:"Best first."`
	Topics     []string `json:"topics" doc:"Best first."`
	Score      float64  `json:"score" doc:"What rules add."`
	Notify     []string `json:"notify" doc:"What rules say to those who listen."`
	Sentiment  float64  `json:"sentiment" doc:"-1 to 1; 0 where it is off."`
	Guessed    bool     `json:"guessed" doc:"Whether the categories are the model's guess, not the rules'."`
	Why        []string `json:"why"`
	Fired      []Fired  `json:"fired" doc:"All rules that hold, in the order of the set."`
	Micros     float64  `json:"micros" doc:"Time to decide it, in microseconds."`

	Stored *Labelled `json:"stored,omitempty" doc:"How the item is labelled in the store."`
}

// A Fired is a rule that holds.
type Fired struct {
	Rule     string     `json:"rule" doc:"Its place: devops.rules:4."`
	Points   float64    `json:"points"`
	Evidence []Evidence `json:"evidence" doc:"What of it holds, at most three."`
}

// Evidence is what holds of a rule's condition.
type Evidence struct {
	Words string `json:"words" doc:"As the rule has them."`
	Field string `json:"field,omitempty"`
}

// TryItem decides an item of the store. It returns [storage.ErrNotFound] if there
// is no such item.
func TryItem(ctx context.Context, store Store, by Decider, id string) (Tried, error) {
	item, err := store.Item(ctx, id)
	if err != nil {
		return Tried{}, fmt.Errorf("item %s: %w", id, err)
	}
	feed, err := (&feeds{store: store}).of(ctx, item.FeedID)
	if err != nil {
		return Tried{}, err
	}
	tried, stored := try(by, label.Document(item, feed, text.Plain(item.HTML))), labelledAs(item)
	tried.Stored = &stored
	return tried, nil
}

// TryDraft decides a document in words. It returns [storage.ErrNotFound] if its
// feed is not there.
func TryDraft(ctx context.Context, store Store, by Decider, d Draft) (Tried, error) {
	feed := storage.Feed{}
	if d.FeedID != "" {
		var err error
		if feed, err = store.Feed(ctx, d.FeedID); err != nil {
			return Tried{}, fmt.Errorf("feed %s: %w", d.FeedID, err)
		}
	}
	plain := cmp.Or(d.Text, text.Plain(d.HTML))
	if d.Language == "" {
		d.Language, _ = language.Detect(d.Title+"\n"+plain, feed.Language)
	}
	return try(by, label.Document(storage.Item{
		FeedID: d.FeedID, Title: d.Title, HTML: d.HTML, URL: d.URL, Author: d.Author, Language: d.Language, Tags: d.Tags,
	}, feed, plain)), nil
}

func try(by Decider, doc classify.Document) Tried {
	began := time.Now()
	d := by.Decide(doc)
	took := time.Since(began)
	tried := Tried{
		Spam: d.Spam, SpamScore: d.SpamScore, Flags: list(d.Flags), Categories: list(d.Categories), Topics: list(d.Topics),
		Score: d.Score, Notify: list(d.Notify), Sentiment: d.Sentiment, Guessed: d.Guessed, Why: list(d.Why),
		Fired: []Fired{}, Micros: float64(took.Nanoseconds()) / 1000,
	}
	for _, f := range d.Fired {
		fired := Fired{Rule: f.Rule, Points: f.Points, Evidence: []Evidence{}}
		for _, e := range f.Evidence {
			fired.Evidence = append(fired.Evidence, Evidence{e.Words, e.Field})
		}
		tried.Fired = append(tried.Fired, fired)
	}
	return tried
}

// list returns names, and a list without any where there is none.
func list(names []string) []string { return append([]string{}, names...) }
