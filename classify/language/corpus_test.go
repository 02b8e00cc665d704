package language_test

import (
	"path/filepath"
	"testing"

	"feedmesh/classify/language"
	"feedmesh/tests/corpus"
)

// A set is a group of feeds with titles whose language is known: that of the feed, or of the record.
type set struct {
	name  string
	feeds [][]record

	alone, together float64 // least accuracy of titles without a prior, and with that of their feed
}

type record struct{ Title, Lang string }

// TestTitles detects the languages of titles without a declared language: each alone, and with the titles of
// its feed as the prior. Nothing is trained on the titles. Some 50 titles of the feeds are in another language
// than their feed declares.
func TestTitles(t *testing.T) {
	if testing.Short() {
		t.Skip("detects the languages of some 60,000 titles")
	}
	for _, s := range []set{
		{"feeds", declared(t), 0.95, 0.965},
		{"lobsters", records(t, "categories/lobsters", "en"), 0.985, 0},
		{"stackoverflow", records(t, "categories/stackoverflow-titles", "en"), 0.99, 0},
		{"habr", append(records(t, "categories/habr-ru-labelled", "ru"), records(t, "categories/habr-ru-unlabelled", "ru")...), 0.98, 0},
		{"news", records(t, "categories/news-categories-ru-en", ""), 0.985, 0},
		{"basil", records(t, "stories/basil", "en"), 0.99, 0},
	} {
		var alone, together, empty, all int
		for _, feed := range s.feeds {
			var titles []string
			for _, r := range feed {
				titles = append(titles, r.Title)
			}
			prior := language.Majority(titles)
			for _, r := range feed {
				all++
				switch got, _ := language.Detect(r.Title, ""); got {
				case r.Lang:
					alone++
				case "":
					empty++
				default:
					t.Logf("%s: %q in %s", r.Lang, r.Title, got)
				}
				if got, _ := language.Detect(r.Title, prior); got == r.Lang {
					together++
				}
			}
		}
		share := func(n int) float64 { return float64(n) / float64(all) }
		t.Logf("%-14s %6d titles: %.4f right alone, %4d empty; %.4f with the feed's titles", s.name, all, share(alone), empty, share(together))
		if share(alone) < s.alone || share(together) < s.together {
			t.Errorf("%s: want %.3f alone, %.3f with the feed's titles", s.name, s.alone, s.together)
		}
	}
}

// declared returns the titles of the feeds that declare a language.
func declared(t *testing.T) (feeds [][]record) {
	type document struct {
		Feed    struct{ Language string }
		Entries []struct{ Title string }
	}
	for _, d := range corpus.Lines[document](t, filepath.Join(corpus.Folder(t, "feeds"), "reference.jsonl.gz")) {
		lang := language.Normalize(d.Feed.Language)
		var list []record
		for _, e := range d.Entries {
			if e.Title != "" && lang != "" {
				list = append(list, record{e.Title, lang})
			}
		}
		feeds = append(feeds, list)
	}
	return feeds
}

// records returns the titles of a file, each as a feed; lang is the language of records without one.
func records(t *testing.T, file, lang string) (feeds [][]record) {
	for _, r := range corpus.Lines[record](t, filepath.Join(corpus.Folder(t), file+".jsonl.gz")) {
		if r.Lang == "" {
			r.Lang = lang
		}
		if r.Title != "" {
			feeds = append(feeds, []record{r})
		}
	}
	return feeds
}
