package storagetest

import (
	"context"
	"fmt"
	"time"

	"feedmesh/storage"
)

// activity returns the statistics of a period.
func activity(c storeTest, since, until time.Time, zone *time.Location) storage.Activity {
	c.Helper()
	a, err := c.Activity(c.Context(), since, until, zone)
	if err != nil {
		c.Fatalf("read activity: %v", err)
	}
	return a
}

// arrivals stores n otherwise unrelated items, first seen one hour apart starting at day. The lag of item i
// is i² minutes.
func arrivals(c storeTest, feedURL string, n int) (feedID string, items []storage.Item) {
	feedID = c.addFeed(feedURL)
	items = numbered(feedID, 0, n)
	for i := range items {
		it := &items[i]
		it.FirstSeen = day.Add(time.Duration(i) * time.Hour)
		it.Published = it.FirstSeen.Add(-time.Duration(i*i) * time.Minute)
		it.Language, it.Categories, it.Spam, it.Sentiment = []string{"en", "ru", ""}[i%3], nil, false, 0
	}
	return feedID, items
}

func activityByHour(c storeTest) {
	_, items := arrivals(c, "https://example.org/", 6)
	items[4].Assumed = "missing"
	c.put(items...)

	east := time.FixedZone("east", 5*3600+2700) // day is a Sunday, 18:15:15 there
	got := activity(c, day, day.Add(5*time.Hour), east)
	var seen, published storage.Week
	for _, hour := range []int{18, 19, 20, 21, 22} {
		seen[time.Sunday][hour]++
	}
	for _, hour := range []int{18, 19, 20, 21} { // published 0, 1, 4 and 9 minutes before; none in the hour before
		published[time.Sunday][hour]++
	}
	c.wantEqual("the hours of FirstSeen", got.Seen, seen)
	c.wantEqual("the hours of Published", got.Published, published)
	c.wantEqual("items before the last, which is outside the period", got.Items, int64(5))

	next := activity(c, day.Add(5*time.Hour), day.Add(7*time.Hour), east)
	c.wantEqual("items of that period", next.Items, int64(1))
	c.wantEqual("the hour of its arrival", next.Seen[time.Sunday][23], int64(1))
	c.wantEqual("items of an empty period", activity(c, day.Add(-time.Hour), day, east).Items, int64(0))
}

func activityLag(c storeTest) {
	_, items := arrivals(c, "https://example.org/", 100)
	for i := range items { // all first seen at the same time, not in order of lag
		items[i].FirstSeen = day.Add(200 * time.Hour)
		items[i].Published = items[i].FirstSeen.Add(-time.Duration(1+i*37%100) * time.Minute)
	}
	c.put(items...)
	other, late := arrivals(c, "https://old.example/", 3)
	late[0].Published = day.Add(-24 * time.Hour) // before the feed was added
	late[1].Assumed = "future"
	late[2].Published = late[2].FirstSeen.Add(time.Hour) // a wrong clock
	c.put(late...)

	got := activity(c, day.Add(199*time.Hour), day.Add(201*time.Hour), time.UTC)
	c.wantEqual("how long they took", got.Lag, storage.Lag{P50: 50 * time.Minute, P95: 95 * time.Minute, P99: 99 * time.Minute})
	c.wantEqual("of how many", got.LagItems, int64(100))
	odd := activity(c, day, day.Add(3*time.Hour), time.UTC)
	c.wantEqual("the number of odd items with a lag", odd.LagItems, int64(1))
	c.wantEqual("how long that took", odd.Lag, storage.Lag{})

	if _, err := c.RemoveFeed(c.Context(), other); err != nil {
		c.Fatal(err)
	}
	c.wantEqual("items of a removed feed", activity(c, day, day.Add(3*time.Hour), time.UTC).Items, int64(0))
}

func activityOfLabels(c storeTest) {
	_, items := arrivals(c, "https://example.org/", 6)
	const odd = `C++ & "<more>"`
	for i := range items {
		items[i].Categories = []string{"go", odd}[:1+i%2]
		items[i].Spam = i == 5
		items[i].Sentiment = []float64{0, 0.5, -0.25}[i%3]
	}
	c.put(items...)
	got := activity(c, day, day.Add(24*time.Hour), time.UTC)
	c.wantEqual("the spam", got.Spam, int64(1))
	c.wantEqual("the categories of items that are not spam", got.Categories, map[string]int64{"go": 5, odd: 2})
	c.wantEqual("the languages", got.Languages, map[string]int64{"en": 2, "ru": 2, "": 2})
	c.wantEqual("the sentiment", fmt.Sprint(got.SentimentItems, " ", got.SentimentSum), "4 0.5")

	other := storage.LabelsOf(items[0])
	other.Categories, other.Spam, other.Sentiment = []string{"law"}, false, 1
	if _, err := c.Relabel(c.Context(), "", other); err != nil {
		c.Fatal(err)
	}
	got = activity(c, day, day.Add(24*time.Hour), time.UTC)
	c.wantEqual("the categories once one has others", got.Categories, map[string]int64{"go": 4, odd: 2, "law": 1})
	c.wantEqual("the sentiment then", fmt.Sprint(got.SentimentItems, " ", got.SentimentSum), "5 1.5")
}

func activityEnds(c storeTest) {
	ctx, cancel := context.WithCancel(c.Context())
	cancel()
	_, err := c.Activity(ctx, day, day.Add(time.Hour), time.UTC)
	c.wantError("read activity after the end", err, context.Canceled)
}
