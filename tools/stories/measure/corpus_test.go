package measure

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"feedmesh/classify/story"
	"feedmesh/tests/corpus"
)

// half returns the test half of a set.
func half(t *testing.T, file string) Set {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(corpus.Folder(t, "stories"), file+".jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	set, err := Read(bytes.NewReader(b), Test)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// TestTitles checks the accuracy of titles alone on the days that fit in a test: a B-cubed F1 of at least
// 0.80, pure events, and a lower F1 for one pass of source 3.
func TestTitles(t *testing.T) {
	if testing.Short() {
		t.Skip("groups some 16,000 headlines twice")
	}
	var records []Record
	for i, day := range days(half(t, "uci-headlines").Records) {
		if i%14 < 2 {
			records = append(records, day...)
		}
	}
	single := Run("single-pass", story.Default(), records)
	for i, r := range Run("ours", story.Default(), records) {
		t.Logf("%s: B-cubed %.3f / %.3f / %.3f, events %.3f / %.3f; one pass of source 3 %.3f, a second pass over all items %.3f; p50 %v, p99 %v",
			r.Order, r.BCubed.Precision, r.BCubed.Recall, r.BCubed.F1, r.Events.BCubed.Precision, r.Events.BCubed.Recall,
			single[i].Events.BCubed.F1, single[i].BCubed.F1, r.P50, r.P99)
		if r.BCubed.F1 < 0.83 {
			t.Errorf("%s: got B-cubed F1 %.3f, want 0.83", r.Order, r.BCubed.F1)
		}
		if e := r.Events.BCubed; e.Precision < 0.93 || e.Recall < 0.55 {
			t.Errorf("%s: got events of precision %.3f and recall %.3f, want 0.93 and 0.55", r.Order, e.Precision, e.Recall)
		}
		if r.Events.BCubed.F1 < single[i].Events.BCubed.F1 {
			t.Errorf("%s: one pass of source 3 is better, F1 %.3f", r.Order, single[i].Events.BCubed.F1)
		}
	}
}

// TestTexts checks the accuracy of full texts, by B-cubed and by the figures of source 3: precision 0.95 and
// recall 0.85.
func TestTexts(t *testing.T) {
	for _, file := range []string{"ecb-plus", "basil"} {
		for _, r := range Run("ours", story.Default(), half(t, file).Records) {
			t.Logf("%s, %s: B-cubed %.3f / %.3f, source 3's own %.3f / %.3f", file, r.Order, r.BCubed.Precision, r.BCubed.Recall, r.Messages.Precision, r.Messages.Recall)
			for _, s := range []Score{r.BCubed, r.Messages} {
				if s.Precision < 0.96 || s.Recall < 0.92 {
					t.Errorf("%s, %s: got precision %.3f and recall %.3f, want 0.96 and 0.92", file, r.Order, s.Precision, s.Recall)
				}
			}
		}
	}
}

// TestRussianPairs requires an F1 of 0.84.
func TestRussianPairs(t *testing.T) {
	reports := RunPairs(story.Default(), half(t, "news-pairs-ru-en").Pairs)
	for _, r := range reports {
		t.Logf("%s: %d pairs, %.3f / %.3f / %.3f", r.Language, r.Pairs, r.Precision, r.Recall, r.F1)
	}
	if all := reports[len(reports)-1]; all.F1 < 0.86 {
		t.Errorf("got F1 %.3f of all pairs, want 0.86", all.F1)
	}
}
