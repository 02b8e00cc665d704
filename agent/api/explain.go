package api

import (
	"context"
	"fmt"

	"feedmesh/agent/tell"
	"feedmesh/classify/near"
	"feedmesh/classify/text"
	"feedmesh/storage"
)

// An Explanation says what two items have in common, and what followed from it.
type Explanation struct {
	Item      ItemBrief `json:"item"`
	With      ItemBrief `json:"with"`
	Repeat    bool      `json:"repeat" doc:"One is held to repeat the other, or both to repeat a third."`
	SameEvent bool      `json:"same_event"`
	SameStory bool      `json:"same_story"`
	Likeness  Likeness  `json:"likeness" doc:"What they have in common, compared now, as they are."`
	Words     []string  `json:"words" doc:"All of that in sentences."`
}

// A Likeness is how alike two items are, each number from 0 to 1.
type Likeness struct {
	SamePage    bool    `json:"same_page" doc:"Their addresses lead to one page."`
	SameText    bool    `json:"same_text" doc:"Title and text have the same words."`
	Title       float64 `json:"title" doc:"Of the 4-grams of both titles, how many they share; 0 too if numbers in them differ."`
	Matrix      float64 `json:"matrix" doc:"How alike the words of the titles are; 0 if that was not looked at."`
	Resemblance float64 `json:"resemblance" doc:"Of the 4-word shingles of both texts, about how many they share."`
	Containment float64 `json:"containment" doc:"Of the shorter text's 4-word shingles, about how many the longer one has."`
	By          string  `json:"by,omitempty" enum:"title,body" doc:"What of that makes them the same; absent if it is not enough."`
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

// Explain compares two items. It returns [storage.ErrNotFound] if either is not
// there.
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
	x, y := tell.Mark(a, text.Plain(a.HTML), &settings), tell.Mark(b, text.Plain(b.HTML), &settings)
	l := settings.Compare(x.Sketch, y.Sketch, a.FeedID == b.FeedID)
	e.Likeness = Likeness{
		SamePage: x.URLKey != "" && x.URLKey == y.URLKey, SameText: x.TextHash != "" && x.TextHash == y.TextHash,
		Title: l.Title, Matrix: l.Matrix, Resemblance: l.Resemblance, Containment: l.Containment, By: l.By, Score: l.Score,
	}
	e.Words = append(e.repetition(), e.comparison(l.Why())...)
	e.Words = append(e.Words, e.belonging()...)
	return e, nil
}

// firstID returns the ID of the first of an item's kind.
func firstID(i storage.Item) string {
	if i.DuplicateOf != "" {
		return i.DuplicateOf
	}
	return i.ID
}

// repetition says whether one of the items is held to repeat the other, and why.
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

// comparison says how alike the items are as they are now.
func (e Explanation) comparison(why string) (words []string) {
	l := e.Likeness
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

// belonging says whether the items belong together, and why each is where it is.
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
