package label

import (
	"reflect"
	"testing"
	"time"

	"feedmesh/classify"
	"feedmesh/storage"
)

var item = storage.Item{
	ID: "i", FeedID: "f", Key: "k", Title: "T", HTML: "<p>x <a href=\"https://l.example/\">y</a></p>", URL: "https://u.example/", Author: "A",
	Language: "en", Tags: []string{"t"}, FirstSeen: time.Unix(1, 0), Published: time.Unix(2, 0), Source: "s",
	Spam: true, SpamScore: 0.1, Flags: []string{"adult"}, Categories: []string{"old"}, Topics: []string{"older"}, Reasons: []string{"w"}, Score: 1, Sentiment: 0.5,
}

func TestADocumentHasAllThatAnItemIsClassifiedBy(t *testing.T) {
	feed := storage.Feed{ID: "f", Title: "F", Tags: []string{"jobs"}, Categories: map[string]float64{"devops": 3}, SpamThreshold: 0.7}
	got := Document(item, feed, "x y")
	want := classify.Document{
		Title: "T", Text: "x y", HTML: item.HTML, URL: "https://u.example/", Author: "A", Language: "en", Tags: []string{"t"},
		Published: time.Unix(2, 0), FeedID: "f", FeedTitle: "F", FeedTags: []string{"jobs"}, FeedCategories: map[string]float64{"devops": 3}, SpamThreshold: 0.7,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestADecisionReplacesAllLabels(t *testing.T) {
	d := classify.Decision{
		Spam: true, SpamScore: 0.9, Flags: []string{"muted"}, Categories: []string{"a", "b"}, Topics: []string{"c"}, Score: 2, Sentiment: -1, Reasons: []string{"because"},
	}
	want := storage.Labels{
		ItemID: "i", Spam: true, SpamScore: 0.9, Flags: []string{"muted"}, Categories: []string{"a", "b"}, Topics: []string{"c"}, Score: 2, Sentiment: -1, Reasons: []string{"because"},
	}
	if got := Labels("i", d); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	put := item
	Put(&put, d)
	if got := storage.LabelsOf(put); !got.Equal(want) {
		t.Errorf("got %+v on the item, want %+v", got, want)
	}
	Put(&put, classify.Decision{})
	bare := item
	bare.Spam, bare.SpamScore, bare.Flags, bare.Categories, bare.Topics, bare.Reasons, bare.Score, bare.Sentiment = false, 0, nil, nil, nil, nil, 0, 0
	if !reflect.DeepEqual(put, bare) {
		t.Errorf("got %+v, want the item without labels, and all else as it was", put)
	}
}
