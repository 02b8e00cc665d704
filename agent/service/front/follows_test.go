package front

import (
	"testing"

	"feedmesh/storage"
)

func TestFilter_HidesStory(t *testing.T) {
	f := filterOf([]storage.Follow{
		{Kind: storage.FollowStory, Value: "muted", Mute: true}, {Kind: storage.FollowCategory, Value: "sport", Mute: true}, {Kind: storage.FollowTopic, Value: "golf", Mute: true},
		{Kind: storage.FollowWord, Value: "world cup", Mute: true}, {Kind: storage.FollowWord, Value: "выборы", Mute: true}, {Kind: storage.FollowWord, Value: "go"},
	})
	for _, c := range []struct {
		story storage.Story
		hides bool
	}{
		{storage.Story{ID: "muted"}, true},
		{storage.Story{ID: "a", Categories: []string{"politics", "sport"}}, true},
		{storage.Story{ID: "a", Topics: []string{"golf"}}, true},
		{storage.Story{ID: "a", Title: "The World Cups of last year"}, true},
		{storage.Story{ID: "a", Title: "A cup of the world"}, false},
		{storage.Story{ID: "a", Title: "World", Summary: []storage.Line{{Text: "Cup"}}}, false}, // a phrase is in one text
		{storage.Story{ID: "a", Title: "Итоги", Summary: []storage.Line{{Text: "На выборах победили"}}}, true},
		{storage.Story{ID: "a", Title: "Go is out", Categories: []string{"golf"}}, false}, // followed, and a topic
	} {
		if got := f.HidesStory(c.story); got != c.hides {
			t.Errorf("%+v: got %t", c.story, got)
		}
	}
}

func TestFilter_HidesPublisher(t *testing.T) {
	f := filterOf([]storage.Follow{{Kind: storage.FollowPublisher, Value: "example.org", Mute: true}, {Kind: storage.FollowFeed, Value: "f", Mute: true}})
	for address, hides := range map[string]bool{"https://www.example.org/1": true, "https://blog.Example.org/": true, "https://anexample.org/": false, "": false} {
		if got := f.HidesPublisher(address, "g"); got != hides {
			t.Errorf("%q: got %t", address, got)
		}
	}
	if !f.HidesPublisher("https://other.example/", "f") {
		t.Error("the muted feed is shown")
	}
}
