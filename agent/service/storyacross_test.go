package service_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"feedmesh/agent/service/servicetest"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/storage/indextest"
)

var acrossNow = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// acrossTestbed returns a service with a Russian story and English items about the same and about other happenings.
func acrossTestbed(t testing.TB) *servicetest.Testbed {
	b := servicetest.New(t, func() time.Time { return acrossNow })
	b.AddFeeds(t, storage.Feed{ID: "f", URL: "https://f.example/", Added: acrossNow})
	day := 24 * time.Hour
	item := func(id, lang, title string, age time.Duration) storage.Item {
		return storage.Item{
			ID: id, Key: id, Title: title, URL: "https://" + id + ".example/1", Language: lang, Partition: lang, EventID: "e-" + id, StoryID: "s-" + id,
			Published: acrossNow.Add(-age), FirstSeen: acrossNow.Add(-age),
		}
	}
	second := item("ru2", "ru", "PostgreSQL 18: релиз с асинхронным вводом-выводом", time.Hour)
	second.EventID, second.StoryID = "e-ru", "s-ru"
	b.IndexItems(t, b.PutItems(t, "f",
		item("ru", "ru", "Вышла СУБД PostgreSQL 18", 2*time.Hour), second,
		item("en", "en", "PostgreSQL 18 released", day),
		item("version", "en", "PostgreSQL 17 released", day),
		item("early", "en", "PostgreSQL 18 is released", 10*day),
		item("other", "en", "Oracle sues PostgreSQL company", day),
		item("de", "de", "PostgreSQL 18 released", day),
		item("durov", "ru", "Павла Дурова задержали в Париже", day),
		item("durov-en", "en", "Telegram founder Pavel Durov arrested in Paris", day),
		item("alone", "ru", "Погода на завтра", day),
	)...)
	return b
}

func linksOf(t *testing.T, b *servicetest.Testbed, story string) (ids []string) {
	t.Helper()
	v, err := b.Stories.Get(t.Context(), wire.ByID{ID: story})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range v.Across {
		if l.Title == "" || l.Why == "" || l.Items != 1 && l.Items != 2 {
			t.Errorf("incomplete link %+v", l)
		}
		ids = append(ids, l.ID)
	}
	return ids
}

func TestStories_LinksTheOtherLanguage(t *testing.T) {
	b := acrossTestbed(t)
	for story, want := range map[string]string{"s-ru": "s-en", "s-en": "s-ru", "s-durov": "s-durov-en", "s-durov-en": "s-durov", "s-version": "", "s-other": "", "s-alone": "", "s-de": "", "s-early": ""} {
		got := linksOf(t, b, story)
		if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || got[0] != want) {
			t.Errorf("%s: got %q, want %q", story, got, want)
		}
	}
}

// failingIndex does not answer searches.
type failingIndex struct{ storage.Index }

func (failingIndex) Search(context.Context, storage.Query) (storage.Results, error) {
	return storage.Results{}, errors.New("unavailable")
}

// hangingIndex answers no search before its timeout.
type hangingIndex struct{ storage.Index }

func (hangingIndex) Search(ctx context.Context, _ storage.Query) (storage.Results, error) {
	<-ctx.Done()
	return storage.Results{}, ctx.Err()
}

func TestStories_NoLinksWithoutTheIndex(t *testing.T) {
	b := acrossTestbed(t)
	whole := b.Service.Index
	for _, index := range []storage.Index{failingIndex{whole}, hangingIndex{whole}} {
		b.Service.Index = index
		if got := linksOf(t, b, "s-ru"); len(got) > 0 {
			t.Errorf("%T: got links %q", index, got)
		}
	}
}

// BenchmarkStories_Across reads a story among 200,000 generated items, with its links.
func BenchmarkStories_Across(b *testing.B) {
	t := acrossTestbed(b)
	made := indextest.NewItemGenerator(1)
	for range 200 {
		if err := t.Index.Put(b.Context(), made.Items(1000)...); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if v, err := t.Stories.Get(b.Context(), wire.ByID{ID: "s-ru"}); err != nil || len(v.Across) != 1 {
			b.Fatal(v.Across, err)
		}
	}
}
