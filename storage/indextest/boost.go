package indextest

import (
	"slices"
	"testing"
	"time"

	"feedmesh/storage"
)

// A Unsupported is a part of the contract that an engine does not support.
type Unsupported string

// NoBoost states that scores ignore freshness and prominence.
const NoBoost Unsupported = "boost"

func freshnessScoresHigher(t *testing.T, x storage.Index) {
	aged := func(id string, days int, title, text string) storage.IndexItem {
		return changed(item(id, title, text), func(it *storage.IndexItem) { it.Published = noon.AddDate(0, 0, -days) })
	}
	put(t, x, aged("today", 0, "word", ""), aged("week", 7, "word", ""), aged("year", 365, "word", ""), aged("text", 0, "", "word among many others that nobody seeks"))
	q := storage.Query{Where: wordsOf("word"), Now: noon}
	hits := search(t, x, q).Hits
	if got := ids(storage.Results{Hits: hits}); !slices.Equal(got, []string{"today", "week", "year", "text"}) {
		t.Fatalf("found %v, want the fresh first, but an old title before a new text", got)
	}
	if !(hits[0].Score > hits[1].Score && hits[1].Score > hits[2].Score) {
		t.Errorf("scores %v, want the fresher the higher", hits)
	}
	q.Now = noon.AddDate(0, 0, -365)
	if hits := search(t, x, q).Hits; hits[0].Score != hits[2].Score {
		t.Errorf("scores %v, want those alike that are not older than now", hits)
	}
	q.Now = time.Time{}
	if hits := search(t, x, q).Hits; hits[0].Score != hits[2].Score {
		t.Errorf("scores %v, want equal scores if Now is zero", hits)
	}
}

func coverageScoresHigher(t *testing.T, x storage.Index) {
	with := func(id string, sources int, score float64) storage.IndexItem {
		return changed(item(id, "word", ""), func(it *storage.IndexItem) { it.Sources, it.Score = sources, score })
	}
	put(t, x, with("alone", 0, 0), with("covered", 40, 0), with("somewhat", 4, 0), with("ruled up", 0, 30), with("ruled down", 0, -30),
		changed(with("much", 1000, 1000), func(it *storage.IndexItem) { it.Title, it.Text = "", "word among many others that nobody seeks" }))
	hits := search(t, x, storage.Query{Where: wordsOf("word")}).Hits
	if got, want := ids(storage.Results{Hits: hits}), []string{"covered", "ruled up", "somewhat", "alone", "ruled down", "much"}; !slices.Equal(got, want) {
		t.Errorf("found %v, want %v: higher coverage or rule score first, but a title before a text", got, want)
	}
	put(t, x, with("alone", 2000, 0))
	if got := ids(search(t, x, storage.Query{Where: wordsOf("word")}))[0]; got != "alone" {
		t.Errorf("got %s first, want the story with higher coverage", got)
	}
}

func storiesApart(t *testing.T, x storage.Index) {
	of := func(id, story string, sources int) storage.IndexItem {
		return changed(item(id, "word", ""), func(it *storage.IndexItem) { it.StoryID, it.Sources = story, sources })
	}
	put(t, x, of("first", "grows", 2), of("second", "grows", 2), of("other", "remains", 8))
	put(t, x, of("second", "grows", 40))
	want := []string{"second", "other", "first"}
	if x.StoriesApart() {
		want = []string{"first", "second", "other"}
	}
	got := ids(search(t, x, storage.Query{Where: wordsOf("word")}))
	if x.StoriesApart() {
		slices.Sort(got[:2]) // equal scores
	}
	if !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
}
