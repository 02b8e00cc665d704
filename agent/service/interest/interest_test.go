package interest_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/service/interest"
	"feedmesh/agent/service/reading"
	"feedmesh/agent/service/servicetest"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

var noon = time.Date(2026, 9, 29, 12, 0, 0, 0, time.UTC)

// A fixture is a service with 40 unread items in feeds of their own, half of them about kubernetes, half about football,
// and the client ann.
type fixture struct {
	*servicetest.Testbed
	ann context.Context
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{Testbed: servicetest.New(t, func() time.Time { return noon }), ann: access.With(t.Context(), access.Client{ID: "ann", Scopes: access.Scopes})}
	for n := range 20 {
		id := fmt.Sprint("f", n)
		f.AddFeeds(t, storage.Feed{ID: id, URL: "https://" + id + ".example/", Title: "Feed " + id, Added: noon})
		seen := noon.Add(-time.Duration(n) * time.Hour)
		f.PutItems(t, id, storage.Item{ID: fmt.Sprintf("k%02d", n), Key: "k", Title: fmt.Sprint("Kubernetes ", n), Topics: []string{"kubernetes"}, Published: seen, FirstSeen: seen})
		other := fmt.Sprint("g", n)
		f.AddFeeds(t, storage.Feed{ID: other, URL: "https://" + other + ".example/", Title: "Feed " + other, Added: noon})
		f.PutItems(t, other, storage.Item{ID: fmt.Sprintf("m%02d", n), Key: "m", Title: fmt.Sprint("Football ", 100+n), Topics: []string{"football"}, Published: seen, FirstSeen: seen})
	}
	return f
}

func (f *fixture) turn(t *testing.T, on bool) {
	t.Helper()
	if _, err := f.Interests.Switch(f.ann, wire.SwitchInterestsRequest{Body: wire.InterestSwitch{On: on}}); err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) signal(t *testing.T, id, signal string) {
	t.Helper()
	if _, err := f.Interests.Signal(f.ann, wire.InterestSignalRequest{Body: wire.InterestSignal{ID: id, Signal: signal}}); err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) export(t *testing.T) wire.Interests {
	t.Helper()
	got, err := f.Interests.Export(f.ann, wire.None{})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func (f *fixture) suggest(t *testing.T) []wire.Suggestion {
	t.Helper()
	got, err := f.Interests.Suggest(f.ann, wire.SuggestionQuery{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	return got.Items
}

// isStored reports whether there is a record of ann.
func (f *fixture) isStored(t *testing.T) bool {
	t.Helper()
	_, err := storage.Interests(f.Store).Read(t.Context(), "ann")
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		t.Fatal(err)
	}
	return err == nil
}

var yes = true

func TestInterests_OffRecordNothing(t *testing.T) {
	f := newFixture(t)
	f.signal(t, "k01", "opened")
	f.Interests.Opened(f.ann, "k02")
	if got := f.export(t); got.On || len(got.Signals) > 0 || f.isStored(t) || len(f.suggest(t)) > 0 {
		t.Errorf("before it was switched on: got %+v", got)
	}
	f.turn(t, true)
	f.signal(t, "k03", "opened")
	f.turn(t, false)
	f.signal(t, "k04", "opened")
	if got := f.export(t); got.On || len(got.Signals) != 1 || len(f.suggest(t)) > 0 {
		t.Errorf("after it was switched off: got %+v, want what was learned before", got)
	}
}

func TestInterests_OpenedItemsRaiseOthersLikeThem(t *testing.T) {
	f := newFixture(t)
	f.turn(t, true)
	for _, id := range []string{"k10", "k11", "k12"} {
		f.signal(t, id, "opened")
		f.signal(t, id, "opened")
	}
	if got := f.export(t); len(got.Signals) != 3 || got.Days[0].Opened != 3 {
		t.Errorf("got %+v, want three signals", got)
	}
	got := f.suggest(t)
	for n, s := range got {
		if n%5 < 4 && (s.Title[0] != 'K' || len(s.Because) == 0) {
			t.Errorf("place %d: got %s, because of %v", n, s.Title, s.Because)
		}
	}
	if len(got) != 10 {
		t.Errorf("got %d suggestions", len(got))
	}
}

func TestInterests_StarsAndHiddenItems(t *testing.T) {
	f := newFixture(t)
	f.turn(t, true)
	if err := f.Reading.Mark(f.ann, storage.MarkChange{Starred: &yes}, "k10"); err != nil {
		t.Fatal(err)
	}
	if err := f.Reading.Mark(f.ann, storage.MarkChange{Read: &yes}, "k11"); err != nil { // is no signal
		t.Fatal(err)
	}
	f.signal(t, "m00", "hidden")
	got := f.export(t)
	if len(got.Signals) != 2 || got.Signals[0].Signal != "starred" || got.Signals[1].Signal != "hidden" {
		t.Errorf("got %+v, want starred and hidden", got.Signals)
	}
	marks, err := f.Reading.Of(f.ann, "m00")
	if err != nil || !marks[0].Read {
		t.Errorf("got %+v, %v; want the hidden item read", marks, err)
	}
}

func TestInterests_PassedOver(t *testing.T) {
	f := newFixture(t)
	f.turn(t, true)
	f.Interests.Listed(f.ann, []string{"m00", "m01", "k00", "k01", "m02", "k02"})
	f.Interests.Opened(f.ann, "k00")
	f.Interests.Opened(f.ann, "k01")
	var got []string
	for _, s := range f.export(t).Signals {
		got = append(got, s.ID+" "+s.Signal)
	}
	if want := "[k00 opened m00 skipped m01 skipped k01 opened]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, s := range f.suggest(t) {
		if s.ID == "m00" || s.ID == "m01" {
			t.Errorf("%s is suggested again", s.ID)
		}
	}
}

func TestInterests_Forget(t *testing.T) {
	f := newFixture(t)
	f.turn(t, true)
	f.signal(t, "k01", "more")
	if _, err := f.Interests.Forget(f.ann, wire.None{}); err != nil {
		t.Fatal(err)
	}
	if got := f.export(t); !got.On || len(got.Signals)+len(got.Features)+len(got.Days) > 0 {
		t.Errorf("got %+v, want nothing", got)
	}
	f.turn(t, false)
	if f.isStored(t) {
		t.Error("a record is left")
	}
}

func TestInterests_UnreadableRecordIsReplaced(t *testing.T) {
	f := newFixture(t)
	f.turn(t, true)
	put := func(learned []byte) {
		err := storage.Interests(f.Store).Change(t.Context(), "ann", func(stored *storage.Interest) (*storage.Interest, error) {
			stored.Learned = learned
			return stored, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	put([]byte("\x01damaged"))
	if len(f.suggest(t)) != 10 {
		t.Error("no suggestions with an unreadable record")
	}
	f.signal(t, "k01", "opened")
	if got := f.export(t); len(got.Signals) != 1 {
		t.Errorf("got %+v, want a signal learned from the start", got)
	}
	put([]byte{255})
	if _, err := f.Interests.Suggest(f.ann, wire.SuggestionQuery{Limit: 10}); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("record of a newer version: got %v, want ErrConflict", err)
	}
	f.signal(t, "k02", "opened")
	f.refuses(t)
	stored, err := storage.Interests(f.Store).Read(t.Context(), "ann")
	if err != nil || len(stored.Learned) != 1 {
		t.Errorf("got %+v, %v; want the record of the newer version unchanged", stored, err)
	}
}

// refuses checks that a record of a newer version is not read, after the signals before.
func (f *fixture) refuses(t *testing.T) {
	t.Helper()
	if _, err := f.Interests.Export(f.ann, wire.None{}); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("got %v, want ErrConflict", err)
	}
}

func TestInterests_TwoAgentsLearnOfOneClient(t *testing.T) {
	f := newFixture(t)
	f.turn(t, true)
	lists := reading.New(f.Store, f.Mesh, f.Now, slog.New(slog.DiscardHandler))
	other := interest.New(f.Store, lists, f.Now, slog.New(slog.DiscardHandler))
	t.Cleanup(other.Close)
	var agents sync.WaitGroup
	for n, agent := range []*interest.Interests{f.Interests, other} {
		agents.Go(func() {
			for k := range 10 {
				agent.Opened(f.ann, fmt.Sprintf("k%02d", 10*n+k))
			}
			if _, err := agent.Export(f.ann, wire.None{}); err != nil {
				t.Error(err)
			}
		})
	}
	agents.Wait()
	if got := f.export(t); len(got.Signals) != 20 {
		t.Errorf("got %d signals, want those of both agents", len(got.Signals))
	}
}

func TestInterests_RemovedWithTheirClient(t *testing.T) {
	f := newFixture(t)
	token, err := f.Tokens.Add(f.ann, wire.AddTokenRequest{Body: wire.TokenSetting{Name: "phone", Scopes: []access.Scope{access.Read}}})
	if err != nil {
		t.Fatal(err)
	}
	f.ann = access.With(t.Context(), access.Client{ID: token.ID})
	f.turn(t, true)
	if _, err := f.Tokens.Remove(f.ann, wire.ByID{ID: token.ID}); err != nil {
		t.Fatal(err)
	}
	f.signal(t, "k01", "opened")
	if got := f.export(t); got.On || len(got.Signals) > 0 {
		t.Errorf("got %+v of a removed token", got)
	}
}

// BenchmarkInterests measures a service over 2,000 unread items of 100 feeds: suggestions, and a star, which is a
// signal, of a client that switched them on and of one that did not.
func BenchmarkInterests(b *testing.B) {
	f := servicetest.New(b, func() time.Time { return noon })
	for n := range 100 {
		id := fmt.Sprint("f", n)
		f.AddFeeds(b, storage.Feed{ID: id, URL: "https://" + id + ".example/", Title: "Feed " + id, Added: noon})
		var items []storage.Item
		for k := range 20 {
			seen := noon.Add(-time.Duration(k*100+n) * time.Minute)
			items = append(items, storage.Item{
				ID: fmt.Sprintf("i%d-%d", n, k), Key: fmt.Sprint(k), Title: fmt.Sprintf("Word%d word%d word%d of the release %d of item %d", k*n%97, k*n%31, n, k, n),
				Topics: []string{fmt.Sprint("topic", k)}, Published: seen, FirstSeen: seen,
			})
		}
		f.PutItems(b, id, items...)
	}
	on, off := access.With(b.Context(), access.Client{ID: "on"}), access.With(b.Context(), access.Client{ID: "off"})
	if _, err := f.Interests.Switch(on, wire.SwitchInterestsRequest{Body: wire.InterestSwitch{On: true}}); err != nil {
		b.Fatal(err)
	}
	for n := range 50 {
		f.Interests.Opened(on, fmt.Sprintf("i%d-%d", n, n%20))
	}
	b.Run("suggest", func(b *testing.B) {
		for b.Loop() {
			if got, err := f.Interests.Suggest(on, wire.SuggestionQuery{Limit: 50}); err != nil || len(got.Items) != 50 {
				b.Fatal(len(got.Items), err)
			}
		}
	})
	b.Run("learn an opened item", func(b *testing.B) {
		for n := 0; b.Loop(); n++ {
			f.Interests.Opened(on, fmt.Sprintf("i%d-%d", n/20%100, n%20))
			if _, err := f.Interests.Export(on, wire.None{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	for name, client := range map[string]context.Context{"star, on": on, "star, off": off} {
		b.Run(name, func(b *testing.B) {
			for n := 0; b.Loop(); n++ {
				if err := f.Reading.Mark(client, storage.MarkChange{Starred: &yes}, fmt.Sprintf("i%d-%d", n/20%100, n%20)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Reading an opened item counts more than opening it, and leaving it at once takes most of that back.
func TestSignal_DwellTime(t *testing.T) {
	f := newFixture(t)
	if f.Interests.On(f.ann) {
		t.Error("suggestions are on before they are switched on")
	}
	f.turn(t, true)
	if !f.Interests.On(f.ann) {
		t.Error("suggestions are off after they were switched on")
	}
	liked := func(topic string) float64 {
		for _, feature := range f.export(t).Features {
			if feature.Kind == "topic" && feature.Name == topic {
				return feature.Liked - feature.Other
			}
		}
		return 0
	}
	for _, s := range []struct {
		id, signal, topic string
		want              float64
	}{
		{"k00", "opened", "kubernetes", 1}, {"k00", "read", "kubernetes", 2}, {"k00", "read", "kubernetes", 2},
		{"m00", "opened", "football", 1}, {"m00", "left", "football", 0.3},
	} {
		f.signal(t, s.id, s.signal)
		if got := liked(s.topic); math.Abs(got-s.want) > 0.01 {
			t.Errorf("after %s of %s: %s has %.2f, want %.2f", s.signal, s.id, s.topic, got, s.want)
		}
	}
}

// A feed is silent after five of its usual intervals, and at least a week; only feeds that the client reads are listed.
func TestSilent_FeedsThatAreRead(t *testing.T) {
	f := newFixture(t)
	day := 24 * time.Hour
	for id, feed := range map[string]struct {
		rate float64 // items a day
		age  time.Duration
	}{"often": {2, 8 * day}, "lately": {2, 6 * day}, "seldom": {0.25, 15 * day}, "long": {0.25, 21 * day}, "unread": {2, 30 * day}} {
		f.AddFeeds(t, storage.Feed{ID: id, URL: "https://" + id + ".example/", Title: "The " + id, Added: noon})
		at := noon.Add(-feed.age)
		batch := storage.Batch{FeedID: id, Rate: feed.rate, Items: []storage.Item{{ID: "of-" + id, FeedID: id, Key: "k", Hash: "h", Title: id, Published: at, FirstSeen: at}}}
		if _, err := f.Store.PutItems(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := f.Interests.Silent(f.ann); err != nil || len(got) > 0 {
		t.Errorf("got %v, %v before it is switched on", got, err)
	}
	f.turn(t, true)
	for _, id := range []string{"of-often", "of-lately", "of-seldom", "of-long"} {
		f.signal(t, id, "opened")
	}
	f.signal(t, "of-long", "starred")
	got, err := f.Interests.Silent(f.ann)
	want := []interest.SilentFeed{
		{ID: "long", Title: "The long", Silent: 21 * day, Usual: 4 * day}, {ID: "often", Title: "The often", Silent: 8 * day, Usual: 12 * time.Hour},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
}
