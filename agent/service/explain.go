package service

import (
	"context"
	"fmt"

	"feedmesh/agent/role/cluster/placement"
	"feedmesh/agent/wire"
	"feedmesh/classify/near"
	"feedmesh/classify/text"
	"feedmesh/storage"
)

// Explain compares two items. It returns [storage.ErrNotFound] if either does not exist.
func (i *Items) Explain(ctx context.Context, in wire.ExplainItemsRequest) (wire.Explanation, error) {
	a, err := storage.ItemByID(ctx, i.Store, in.ID)
	if err != nil {
		return wire.Explanation{}, fmt.Errorf("item %s: %w", in.ID, err)
	}
	b, err := storage.ItemByID(ctx, i.Store, in.With)
	if err != nil {
		return wire.Explanation{}, fmt.Errorf("item %s: %w", in.With, err)
	}
	titles := i.titles(ctx)
	e := wire.Explanation{
		Item: briefOf(a, titles), With: briefOf(b, titles), Repeat: firstID(a) == firstID(b),
		SameEvent: a.EventID != "" && a.EventID == b.EventID, SameStory: a.StoryID != "" && a.StoryID == b.StoryID,
	}
	settings := near.Default()
	x, y := placement.Signature(a, text.PlainText(a.HTML), &settings), placement.Signature(b, text.PlainText(b.HTML), &settings)
	l := settings.Compare(x.Sketch, y.Sketch, a.FeedID == b.FeedID)
	e.Similarity = wire.Similarity{
		SamePage: x.URLKey != "" && x.URLKey == y.URLKey, SameText: x.TextHash != "" && x.TextHash == y.TextHash,
		Title: l.Title, Matrix: l.Matrix, Resemblance: l.Resemblance, Containment: l.Containment, By: l.By, Score: l.Score,
	}
	e.Sentences = append(repetition(e), comparison(e, l.Reason())...)
	e.Sentences = append(e.Sentences, belonging(e)...)
	return e, nil
}

// repetition states whether one item is a duplicate of the other, and the reason.
func repetition(e wire.Explanation) (words []string) {
	switch {
	case e.Item.DuplicateOf == e.With.ID:
		words = append(words, "The first item repeats the second.")
	case e.With.DuplicateOf == e.Item.ID:
		words = append(words, "The second item repeats the first.")
	case e.Repeat:
		words = append(words, "Both items repeat a third one, "+e.Item.DuplicateOf+".")
	default:
		words = append(words, "Neither item is held to repeat the other.")
	}
	for n, i := range []wire.ItemBrief{e.Item, e.With} {
		if i.DuplicateWhy != "" {
			words = append(words, fmt.Sprintf("Of the %s item this was found: %s.", ordinals[n], i.DuplicateWhy))
		}
	}
	return words
}

var ordinals = [2]string{"first", "second"}

// comparison states how similar the items are now.
func comparison(e wire.Explanation, why string) (words []string) {
	l := e.Similarity
	if l.SamePage {
		words = append(words, "Their addresses lead to one page.")
	}
	if l.SameText {
		words = append(words, "Their words are the same.")
	}
	if why != "" {
		return append(words, "Compared now, their words make them the same: "+why+".")
	}
	return append(words, fmt.Sprintf("Compared now, their words are not enough to make them the same: titles share %.0f %% of 4-grams, texts about %.0f %% of 4-word shingles.",
		100*l.Title, 100*max(l.Resemblance, l.Containment)))
}

// belonging states whether the items share a story, and the reasons.
func belonging(e wire.Explanation) (words []string) {
	switch {
	case e.SameEvent:
		words = append(words, "They are of one event.")
	case e.SameStory:
		words = append(words, "They are of one story, but of two events of it.")
	default:
		words = append(words, "They are of two stories.")
	}
	for n, i := range []wire.ItemBrief{e.Item, e.With} {
		if i.StoryWhy != "" {
			words = append(words, fmt.Sprintf("The %s item is in its event because: %s.", ordinals[n], i.StoryWhy))
		}
	}
	return words
}
