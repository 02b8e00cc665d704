package api

import (
	"context"
	"fmt"

	"feedmesh/agent/role/cluster/placement"
	"feedmesh/classify/near"
	"feedmesh/classify/text"
	"feedmesh/storage"
)

// An Explanation states the similarity of two items and how they were classified as duplicates and stories.
type Explanation struct {
	Item       ItemBrief  `json:"item"`
	With       ItemBrief  `json:"with"`
	Repeat     bool       `json:"repeat" doc:"One is a duplicate of the other, or both are duplicates of a third item."`
	SameEvent  bool       `json:"same_event"`
	SameStory  bool       `json:"same_story"`
	Similarity Similarity `json:"likeness" doc:"Similarity of the items as stored now."`
	Sentences  []string   `json:"words" doc:"The same in sentences."`
}

// A Similarity is how similar two items are. Numbers are from 0 to 1.
type Similarity struct {
	SamePage    bool    `json:"same_page" doc:"Their addresses lead to one page."`
	SameText    bool    `json:"same_text" doc:"Title and text have the same words."`
	Title       float64 `json:"title" doc:"Of the 4-grams of both titles, how many they share; 0 too if numbers in them differ."`
	Matrix      float64 `json:"matrix" doc:"Similarity of the words of the titles; 0 if not compared."`
	Resemblance float64 `json:"resemblance" doc:"Of the 4-word shingles of both texts, about how many they share."`
	Containment float64 `json:"containment" doc:"Of the shorter text's 4-word shingles, about how many the longer one has."`
	By          string  `json:"by,omitempty" enum:"title,body" doc:"The measure that makes them duplicates; absent if none does."`
	Score       float64 `json:"score,omitempty" doc:"Of that."`
}

func (s *Server) explainItems(ctx context.Context, in *struct {
	ID   string `path:"id" maxLength:"64"`
	With string `query:"with" required:"true" minLength:"1" maxLength:"64" doc:"ID of the other item."`
}) (*body[Explanation], error) {
	explanation, err := s.Explain(ctx, in.ID, in.With)
	if err != nil {
		return nil, s.problem(err)
	}
	return &body[Explanation]{Body: explanation}, nil
}

// Explain compares two items. It returns [storage.ErrNotFound] if either does not exist.
func (s *Server) Explain(ctx context.Context, id, with string) (Explanation, error) {
	a, err := s.Store.Item(ctx, id)
	if err != nil {
		return Explanation{}, fmt.Errorf("item %s: %w", id, err)
	}
	b, err := s.Store.Item(ctx, with)
	if err != nil {
		return Explanation{}, fmt.Errorf("item %s: %w", with, err)
	}
	titles := s.titles(ctx)
	e := Explanation{
		Item: briefOf(a, titles), With: briefOf(b, titles), Repeat: firstID(a) == firstID(b),
		SameEvent: a.EventID != "" && a.EventID == b.EventID, SameStory: a.StoryID != "" && a.StoryID == b.StoryID,
	}
	settings := near.Default()
	x, y := placement.Signature(a, text.PlainText(a.HTML), &settings), placement.Signature(b, text.PlainText(b.HTML), &settings)
	l := settings.Compare(x.Sketch, y.Sketch, a.FeedID == b.FeedID)
	e.Similarity = Similarity{
		SamePage: x.URLKey != "" && x.URLKey == y.URLKey, SameText: x.TextHash != "" && x.TextHash == y.TextHash,
		Title: l.Title, Matrix: l.Matrix, Resemblance: l.Resemblance, Containment: l.Containment, By: l.By, Score: l.Score,
	}
	e.Sentences = append(e.repetition(), e.comparison(l.Reason())...)
	e.Sentences = append(e.Sentences, e.belonging()...)
	return e, nil
}

// firstID returns the ID of an item's original, or its own.
func firstID(i storage.Item) string {
	if i.DuplicateOf != "" {
		return i.DuplicateOf
	}
	return i.ID
}

// repetition states whether one item is a duplicate of the other, and the reason.
func (e Explanation) repetition() (words []string) {
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
	for n, i := range []ItemBrief{e.Item, e.With} {
		if i.DuplicateWhy != "" {
			words = append(words, fmt.Sprintf("Of the %s item this was found: %s.", ordinals[n], i.DuplicateWhy))
		}
	}
	return words
}

var ordinals = [2]string{"first", "second"}

// comparison states how similar the items are now.
func (e Explanation) comparison(why string) (words []string) {
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
func (e Explanation) belonging() (words []string) {
	switch {
	case e.SameEvent:
		words = append(words, "They are of one event.")
	case e.SameStory:
		words = append(words, "They are of one story, but of two events of it.")
	default:
		words = append(words, "They are of two stories.")
	}
	for n, i := range []ItemBrief{e.Item, e.With} {
		if i.StoryWhy != "" {
			words = append(words, fmt.Sprintf("The %s item is in its event because: %s.", ordinals[n], i.StoryWhy))
		}
	}
	return words
}
