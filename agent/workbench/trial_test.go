package workbench

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"feedmesh/agent/wire"
	"feedmesh/classify"
	"feedmesh/storage"
)

func TestTestItem_ReturnsDecision(t *testing.T) {
	b := newBench(t, 4)
	id := storage.ItemID(b.feed, "2")
	if _, err := b.store.Relabel(t.Context(), "", storage.Labels{ItemID: id, Categories: []string{"tools"}}); err != nil {
		t.Fatal(err)
	}
	got, err := TestItem(t.Context(), b.store, rulesOf(t, newRules), id)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Categories, []string{"databases", "devops"}) || !slices.Equal(got.Topics, []string{"kubernetes", "postgresql"}) || got.Spam || len(got.Why) != 4 || got.Micros <= 0 {
		t.Errorf("got %+v, want the decision of the rules with reasons", got)
	}
	want := []wire.MatchedRule{
		{Rule: "rules:2", Points: 3, Evidence: []wire.Evidence{{Words: "kubernetes", Field: "title"}}},
		{Rule: "rules:3", Points: 3, Evidence: []wire.Evidence{{Words: "postgresql", Field: "title"}}},
	}
	if !reflect.DeepEqual(got.Matched, want) {
		t.Errorf("got matched %+v, want %+v", got.Matched, want)
	}
	if s := got.Stored; s == nil || !reflect.DeepEqual(*s, wire.Labelled{Categories: []string{"tools"}, Topics: []string{}}) {
		t.Errorf("got stored %+v, want its stored labels", s)
	}
	if _, err := TestItem(t.Context(), b.store, rulesOf(t, newRules), "none"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}

func TestTestDraft_ReturnsDecision(t *testing.T) {
	b := newBench(t, 0)
	var got classify.Document
	watch := deciderFunc(func(d classify.Document) classify.Decision { got = d; return classify.Decision{} })
	draft := wire.Draft{Title: "T", HTML: "<p>Мы настроили кластер баз данных на новых серверах.</p>", URL: "https://x.example/", Author: "A", Tags: []string{"t"}, FeedID: b.feed}
	tried, err := TestDraft(t.Context(), b.store, watch, draft)
	want := classify.Document{
		Title: "T", HTML: draft.HTML, Text: "Мы настроили кластер баз данных на новых серверах.", URL: draft.URL, Author: "A",
		Tags: []string{"t"}, Language: "ru", FeedID: b.feed, FeedTitle: "A feed", FeedTags: []string{"it"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	if tried.Stored != nil || tried.Categories == nil || tried.Matched == nil {
		t.Errorf("got %+v, want empty lists", tried)
	}
	if _, err := TestDraft(t.Context(), b.store, watch, wire.Draft{Text: "plain", Language: "de"}); err != nil || got.Text != "plain" || got.Language != "de" {
		t.Errorf("got %+v, %v; want the text and language as given", got, err)
	}
	if _, err := TestDraft(t.Context(), b.store, watch, wire.Draft{FeedID: "none"}); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}
