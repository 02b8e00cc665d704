package workbench

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"feedmesh/agent/role/classify/label"
	"feedmesh/agent/wire"
	"feedmesh/classify"
	"feedmesh/classify/language"
	"feedmesh/classify/text"
	"feedmesh/storage"
)

// TestItem decides an item of the store. It returns [storage.ErrNotFound] if the item does not exist.
func TestItem(ctx context.Context, store Store, by Decider, id string) (wire.TrialResult, error) {
	item, err := storage.ItemByID(ctx, store, id)
	if err != nil {
		return wire.TrialResult{}, fmt.Errorf("item %s: %w", id, err)
	}
	feed, err := (&feedCache{store: store}).get(ctx, item.FeedID)
	if err != nil {
		return wire.TrialResult{}, err
	}
	tried, stored := try(by, label.Document(item, feed, text.PlainText(item.HTML))), labelledAs(item)
	tried.Stored = &stored
	return tried, nil
}

// TestDraft decides a draft. It returns [storage.ErrNotFound] if its feed does not exist.
func TestDraft(ctx context.Context, store Store, by Decider, d wire.Draft) (wire.TrialResult, error) {
	feed := storage.Feed{}
	if d.FeedID != "" {
		var err error
		if feed, err = store.Feed(ctx, d.FeedID); err != nil {
			return wire.TrialResult{}, fmt.Errorf("feed %s: %w", d.FeedID, err)
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

func try(by Decider, doc classify.Document) wire.TrialResult {
	began := time.Now()
	d := by.Decide(doc)
	took := time.Since(began)
	tried := wire.TrialResult{
		Spam: d.Spam, SpamScore: d.SpamScore, Flags: list(d.Flags), Categories: list(d.Categories), Topics: list(d.Topics),
		Score: d.Score, Notify: list(d.Notify), Sentiment: d.Sentiment, Guessed: d.Guessed, Why: list(d.Reasons),
		Matched: []wire.MatchedRule{}, Micros: float64(took.Nanoseconds()) / 1000,
	}
	for _, f := range d.Matched {
		fired := wire.MatchedRule{Rule: f.Rule, Points: f.Points, Evidence: []wire.Evidence{}}
		for _, e := range f.Evidence {
			fired.Evidence = append(fired.Evidence, wire.Evidence{Words: e.Words, Field: e.Field})
		}
		tried.Matched = append(tried.Matched, fired)
	}
	return tried
}

// list returns names as a non-nil list.
func list(names []string) []string { return append([]string{}, names...) }
