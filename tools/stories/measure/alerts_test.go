package measure

import (
	"fmt"
	"testing"
	"time"

	"feedmesh/classify/story"
)

// A story of many publishers that begins on the second day is alerted, also as a burst; one of few is a false alert.
func TestAlerts(t *testing.T) {
	var records []Record
	add := func(title string, publishers int, from, every time.Duration) {
		for i := range publishers {
			r := record(title)
			r.ID, r.Host, r.Story = fmt.Sprint(title, i), fmt.Sprint("h", i), title
			r.Seen = undated.Add(from + time.Duration(i)*every)
			r.Day = r.Seen.Format(time.DateOnly)
			records = append(records, r)
		}
	}
	for i, title := range []string{"parliament votes pensions", "copper price plunges", "singer cancels tour", "museum opens wing"} {
		add(title, 2, time.Duration(i)*5*time.Hour, time.Hour)
	}
	add("aceh earthquake strikes coast", LargeStory, 30*time.Hour, time.Minute)
	add("striker signs club", 3, 40*time.Hour, time.Minute)
	reports := Alerts(story.Default(), records)
	if len(reports) != 10 {
		t.Fatalf("got %d reports, want five of each arrival", len(reports))
	}
	for _, r := range reports[:5] { // as the times are
		other := 1
		if r.Alert == "story reaches 5 publishers" || r.Alert == "story reaches 10 publishers" {
			other = 0
		}
		if r.Large != 1 || r.Alerted != 1 || r.InTime != 1 || r.False != other || r.P50 > alertWithin || r.Days < 0.5 {
			t.Errorf("%s: got %+v", r.Alert, r)
		}
	}
	if got := Alerts(story.Default(), []Record{record("without a day")}); got != nil {
		t.Errorf("got %+v without days", got)
	}
}
