package measure

import (
	"os"
	"path/filepath"
	"testing"

	"feedmesh/classify/story"
	"feedmesh/tests/corpus"
)

// labelled reads a set of the project, with the texts that it refers to if they are here.
func labelled(t *testing.T, file string) Set {
	t.Helper()
	texts := Texts{}
	t.Run("texts", func(t *testing.T) {
		for _, name := range []string{"stories/news-pairs-ru-en", "categories/habr-ru-labelled", "categories/habr-ru-unlabelled", "categories/news-categories-ru-en"} {
			f, err := os.Open(filepath.Join(corpus.Folder(t), filepath.FromSlash(name)+".jsonl.gz"))
			if err != nil {
				t.Skipf("NOT TESTED: pairs that refer to texts: %v", err)
			}
			defer f.Close()
			if err := texts.Add(f); err != nil {
				t.Fatal(err)
			}
		}
	})
	f, err := os.Open(filepath.Join("..", "testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	set, err := Read(f, All, texts)
	if err != nil {
		t.Fatal(err)
	}
	if len(texts) > 0 && set.Missing > 0 {
		t.Errorf("%s: %d pairs refer to texts that do not exist", file, set.Missing)
	}
	return set
}

// TestAcross_JudgedHalf requires that links are right, and that most stories that have one are found.
func TestAcross_JudgedHalf(t *testing.T) {
	for _, r := range RunAcross(labelled(t, "across.jsonl").Across) {
		t.Logf("%s: %d pairs, %.3f / %.3f / %.3f", r.Language, r.Pairs, r.Precision, r.Recall, r.F1)
		if r.Precision < 0.95 || r.Recall < 0.60 {
			t.Errorf("%s: got precision %.3f and recall %.3f, want 0.95 and 0.60", r.Language, r.Precision, r.Recall)
		}
	}
}

// TestRussianPairs_SameCompany checks pairs that are hard: most that are not of one story are of one company.
func TestRussianPairs_SameCompany(t *testing.T) {
	reports := RunPairs(story.Default(), labelled(t, "ru-pairs.jsonl").Pairs)
	r := reports[len(reports)-1]
	t.Logf("%d pairs, %.3f / %.3f / %.3f", r.Pairs, r.Precision, r.Recall, r.F1)
	if r.F1 < 0.65 {
		t.Errorf("got F1 %.3f, want 0.65", r.F1)
	}
}

// TestRussianStories groups titles of several stories of one company.
func TestRussianStories(t *testing.T) {
	r := Ours(story.Default(), labelled(t, "ru-stories.jsonl").Records)
	t.Logf("B-cubed %.3f / %.3f / %.3f", r.BCubed.Precision, r.BCubed.Recall, r.BCubed.F1)
	if r.BCubed.F1 < 0.78 {
		t.Errorf("got B-cubed F1 %.3f, want 0.78", r.BCubed.F1)
	}
}
