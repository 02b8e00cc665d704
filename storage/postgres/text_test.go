package postgres

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"feedmesh/storage"
)

const broken = "a\x00b\xff\xc3c\xed\xa0\x80"

// spoil puts invalid text into every text and every list of texts of the struct that v points to, except for
// the named fields.
func spoil(v any, but ...string) {
	s := reflect.ValueOf(v).Elem()
	for i := range s.NumField() {
		if strings.Contains(strings.Join(but, " "), s.Type().Field(i).Name) {
			continue
		}
		switch f := s.Field(i).Addr().Interface().(type) {
		case *string:
			*f = broken
		case *[]string:
			*f = []string{broken, "whole"}
		}
	}
}

// wantRepaired fails if a text of the struct is not the valid part of the invalid text.
func wantRepaired(t *testing.T, v any, but ...string) {
	t.Helper()
	spoiled := reflect.ValueOf(v)
	for i := range spoiled.NumField() {
		name := spoiled.Type().Field(i).Name
		if strings.Contains(strings.Join(but, " "), name) {
			continue
		}
		var got string
		switch f := spoiled.Field(i).Interface().(type) {
		case string:
			got = f
		case []string:
			got = f[0]
		default:
			continue
		}
		if !utf8.ValidString(got) || !strings.HasPrefix(got, "ab\ufffdc") {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

func TestClean_RepairsEveryField(t *testing.T) {
	ctx := t.Context()
	s := open(t, emptySchema(t))
	feed := storage.Feed{ID: storage.FeedID(broken)}
	spoil(&feed, "ID")
	if added, err := s.AddFeeds(ctx, feed); err != nil || len(added) != 1 {
		t.Fatalf("added %v, %v", added, err)
	}
	got, err := s.Feed(ctx, feed.ID)
	if err != nil {
		t.Fatal(err)
	}
	wantRepaired(t, got, "ID")

	request := storage.Request{Header: map[string]string{"X": broken}}
	spoil(&request)
	if got, err = s.SetFeed(ctx, feed.ID, storage.Settings{Pinned: true, Request: &request}); err != nil || !strings.HasSuffix(got.Request.Header["X"], "c\ufffd\ufffd\ufffd") {
		t.Errorf("got request %+v, %v", got.Request, err)
	}
	proxy, imp := storage.Proxy{}, storage.Import{}
	spoil(&proxy)
	spoil(&imp)
	if err := errors.Join(storage.Proxies(s).Put(ctx, proxy), storage.Imports(s).Put(ctx, imp)); err != nil {
		t.Error(err)
	}
	if proxies, err := storage.Proxies(s).List(ctx); err != nil || len(proxies) != 1 {
		t.Errorf("got %d proxies, %v; want 1", len(proxies), err)
	} else {
		wantRepaired(t, proxies[0])
	}

	fence, err := s.NextFence(ctx, broken)
	if err != nil {
		t.Fatal(err)
	}
	item := storage.Item{ID: storage.ItemID(feed.ID, broken)}
	spoil(&item, "ID", "Hash")
	put := storage.Batch{Items: []storage.Item{item}, Fence: fence}
	spoil(&put)
	put.FeedID = feed.ID
	if stored, err := s.PutItems(ctx, put); err != nil || len(stored.New) != 1 {
		t.Fatalf("stored %v, %v", stored, err)
	}
	back, err := storage.ItemByID(ctx, s, item.ID)
	if err != nil {
		t.Fatal(err)
	}
	wantRepaired(t, back, "ID", "FeedID", "Hash")
	if hashes, err := s.ItemHashes(ctx, feed.ID, []string{broken}); err != nil || len(hashes) != 1 || hashes[broken] != back.Hash {
		t.Errorf("the broken key has hash %q, %v; want the stored hash", hashes, err)
	}
	if stored, err := s.PutItems(ctx, put); err != nil || len(stored.New)+len(stored.Changed) != 0 {
		t.Errorf("putting it again stored %v, %v; want nothing", stored, err)
	}

	story := storage.Story{ID: broken, Summary: []storage.Line{{Text: broken, ItemID: broken}}, Categories: []string{broken}}
	spoil(&story)
	if err := s.PutStories(ctx, storage.Fence{}, nil, []storage.Story{story}, []string{"gone" + broken}); err != nil {
		t.Fatal(err)
	}
	if page, _, err := s.ListStories(ctx, storage.StoryQuery{Partition: broken, Category: broken, Topic: broken}); err != nil || len(page) != 1 {
		t.Errorf("got %d stories, %v; want 1", len(page), err)
	} else {
		wantRepaired(t, page[0])
		wantRepaired(t, page[0].Summary[0])
	}
	if got, err := storage.ItemsOfStory(ctx, s, broken, 10); err != nil || got.Count != 1 {
		t.Errorf("got %d items in the story, %v; want 1", got.Count, err)
	}
	place := storage.Placement{DuplicateOf: "first"}
	spoil(&place, "ItemID DuplicateOf")
	place.ItemID = item.ID
	moves := storage.Rearrangement{Fence: fence, Name: broken, Note: []byte(broken), Events: []storage.EventMove{{EventID: broken, StoryID: "a" + broken}},
		Items: []storage.Placement{place}}
	for _, want := range []int{1, 0} {
		if changed, err := s.Rearrange(ctx, moves); err != nil || len(changed) != want {
			t.Errorf("it moved %v, %v; want %d items", changed, err, want)
		}
	}
	if note, err := storage.Notes(s).Read(ctx, broken); err != nil || string(note) != broken {
		t.Errorf("the note is %q, %v", note, err)
	}

	if _, err := s.NextFence(ctx, broken); err != nil {
		t.Fatal(err)
	}
	if _, err := s.PutItems(ctx, put); err != storage.ErrFenced {
		t.Errorf("under the old fence of a broken name: %v", err)
	}
}

func TestClean_BrokenTextMatchesNothing(t *testing.T) {
	ctx := t.Context()
	s := open(t, emptySchema(t))
	_, feedErr := s.Feed(ctx, broken)
	_, removeErr := s.RemoveFeed(ctx, broken)
	_, itemErr := storage.ItemByID(ctx, s, broken)
	_, putErr := s.PutItems(ctx, storage.Batch{FeedID: broken})
	_, setErr := s.SetFeed(ctx, broken, storage.Settings{})
	_, moveErr := s.MoveFeed(ctx, broken, "https://example.org/")
	_, resolveErr := s.ResolveFeed(ctx, broken)
	_, importErr := storage.Imports(s).Read(ctx, broken)
	_, readErr := storage.ItemsOfStory(ctx, s, broken, 10)
	_, storyErr := storage.StoryByID(ctx, s, broken)
	for name, err := range map[string]error{"Feed": feedErr, "RemoveFeed": removeErr, "Item": itemErr, "PutItems": putErr, "SetFeed": setErr,
		"MoveFeed": moveErr, "ResolveFeed": resolveErr, "RemoveProxy": storage.Proxies(s).Remove(ctx, broken), "Import": importErr, "ItemsOfStory": readErr, "StoryByID": storyErr, "Click": s.AddClicks(ctx, broken, 1)} {
		if err != storage.ErrNotFound {
			t.Errorf("%s: %v, want %v", name, err, storage.ErrNotFound)
		}
	}
	day := storage.Day(benchItem("", 0).FirstSeen)
	_, listErr := s.FindFeeds(ctx, storage.FeedQuery{Text: broken, After: storage.FeedPosition{Text: broken, ID: broken}, Limit: 10})
	_, sinceErr := s.ListItems(ctx, storage.ItemQuery{Partition: broken, Events: []string{broken}, From: day}, storage.Item{ID: broken, FirstSeen: day}, 10)
	_, stampsErr := s.Stamps(ctx, day, broken, 10)
	for name, err := range map[string]error{"FindFeeds": listErr, "ListItems": sinceErr, "Stamps": stampsErr} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
