package measure

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"feedmesh/classify/story"
	"feedmesh/tests/corpus"
)

// read returns a half of a set.
func read(t *testing.T, file string, half Half) Set {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(corpus.Folder(t, "stories"), file+".jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	set, err := Read(bytes.NewReader(b), half, nil)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// TestTitles checks the accuracy of titles alone, on 16 days that follow those used for training: within a day, within
// three days, and over all of them. One pass of source 3 must not be better.
func TestTitles(t *testing.T) {
	if testing.Short() {
		t.Skip("groups some 30,000 headlines")
	}
	_, later := FirstDays(read(t, "uci-headlines", All).Records, TrainDays)
	records, _ := FirstDays(later, 16)
	ours, single := Ours(story.Default(), records), Report{Method: "single-pass"}
	single.rival(records)
	for i, p := range ours.Periods {
		t.Logf("periods of %d days: B-cubed %.3f / %.3f / %.3f; source 3 %.3f", p.Days, p.BCubed.Precision, p.BCubed.Recall, p.BCubed.F1, single.Periods[i].BCubed.F1)
		if want := []float64{0.80, 0.76, 0.74}[i]; p.BCubed.F1 < want {
			t.Errorf("periods of %d days: got B-cubed F1 %.3f, want %.2f", p.Days, p.BCubed.F1, want)
		}
	}
	if e := ours.Events.BCubed; e.Precision < 0.88 || e.Recall < 0.55 || e.F1 < single.Events.BCubed.F1 {
		t.Errorf("got events of precision %.3f, recall %.3f and F1 %.3f, want 0.88, 0.55 and at least one pass of source 3, %.3f", e.Precision, e.Recall, e.F1, single.Events.BCubed.F1)
	}
}

// TestTexts checks the accuracy of full texts, by B-cubed and by the figures of source 3: precision 0.95 and
// recall 0.85. The shipped weights were trained on all items of these sets and pairs: "stories train --leave-out" prints the
// figures of each set by weights that were trained on the others.
func TestTexts(t *testing.T) {
	for _, file := range []string{"ecb-plus", "basil"} {
		for _, r := range Run("ours", story.Default(), read(t, file, Test).Records) {
			t.Logf("%s, %s: B-cubed %.3f / %.3f, source 3's own %.3f / %.3f", file, r.Order, r.BCubed.Precision, r.BCubed.Recall, r.Messages.Precision, r.Messages.Recall)
			for _, s := range []Score{r.BCubed, r.Messages} {
				if s.Precision < 0.95 || s.Recall < 0.85 {
					t.Errorf("%s, %s: got precision %.3f and recall %.3f, want 0.95 and 0.85", file, r.Order, s.Precision, s.Recall)
				}
			}
		}
	}
}

// TestRussianPairs requires an F1 of 0.84.
func TestRussianPairs(t *testing.T) {
	reports := RunPairs(story.Default(), read(t, "news-pairs-ru-en", Test).Pairs)
	for _, r := range reports {
		t.Logf("%s: %d pairs, %.3f / %.3f / %.3f", r.Language, r.Pairs, r.Precision, r.Recall, r.F1)
	}
	if all := reports[len(reports)-1]; all.F1 < 0.86 {
		t.Errorf("got F1 %.3f of all pairs, want 0.86", all.F1)
	}
}
