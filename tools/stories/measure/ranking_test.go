package measure

import (
	"fmt"
	"testing"
	"time"

	"feedmesh/classify/story"
)

// TestRank_ShowsStoriesOfManySources ranks two stories: one with high coverage a day ago, and a growing one.
func TestRank_ShowsStoriesOfManySources(t *testing.T) {
	var records []Record
	add := func(title string, sources int, from, every time.Duration) {
		for i := range sources {
			r := record(title)
			r.ID, r.Host = fmt.Sprint(title, i), fmt.Sprint("h", len(records))
			r.Seen = undated.Add(from + time.Duration(i)*every)
			r.Day = r.Seen.Format(time.DateOnly)
			records = append(records, r)
		}
	}
	add("aceh earthquake strikes coast", 12, 0, 10*time.Minute)
	for i, title := range []string{"parliament votes pensions", "copper price plunges", "singer cancels tour", "museum opens wing", "striker signs club",
		"storm cuts power", "study links coffee", "airline orders jets", "court clears merger", "team wins final", "bridge closes repairs"} {
		add(title, 2, 3*time.Hour, time.Duration(i+1)*time.Minute)
	}
	add("rocket explodes texas pad", 1, 30*time.Hour, time.Minute)
	add("rocket explodes texas pad", 40, 31*time.Hour, 20*time.Minute)
	for day := range 3 {
		add("weather stays mild", 1, time.Duration(48+24*day)*time.Hour, time.Minute)
	}
	ranks, churn := Rank(story.Default(), records)
	if len(ranks) != 3 || ranks[0].Times == 0 || churn.Items == 0 {
		t.Fatalf("got %+v, %+v; want three orders", ranks, churn)
	}
	for _, r := range ranks {
		if r.NDCG <= 0.3 || r.NDCG > 1 || r.Shown == 0 || r.Shown > r.Great || r.P50 < 0 || r.P90 < r.P50 {
			t.Errorf("got %+v, want shares of 1, and stories that are shown", r)
		}
	}
	if ranks[0].NDCG <= ranks[2].NDCG {
		t.Errorf("got %.3f by our rank, %.3f for the newest; want ours to be better", ranks[0].NDCG, ranks[2].NDCG)
	}
	if churn.Moved != 0 {
		t.Errorf("got %d of %d items in another story, want none: no two stories are alike", churn.Moved, churn.Items)
	}
	if ranks, _ := Rank(story.Default(), []Record{record("no day")}); ranks != nil {
		t.Errorf("got %+v of records without days, want nothing", ranks)
	}
}
