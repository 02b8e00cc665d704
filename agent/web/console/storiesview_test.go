package console

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/service"
	"feedmesh/agent/service/servicetest"
	"feedmesh/agent/web/locale"
	"feedmesh/storage"
	"feedmesh/subjects"
)

func TestStoryPage_ShowsReasonsAndDuplicates(t *testing.T) {
	seen := noon.Add(-time.Hour)
	source := newSite(t)
	source.items(t, "f",
		storage.Item{ID: "a", Partition: "en", Title: "Kernel released", URL: "https://lwn.example/1", EventID: "e1", StoryID: "s", StoryReason: "nothing like it was there", FirstSeen: seen},
		storage.Item{ID: "b", Partition: "en", Title: "Kernel released - B", URL: "https://b.example/1", EventID: "e1", StoryID: "s", FirstSeen: seen,
			DuplicateOf: "a", DuplicateBy: "title", DuplicateReason: "same title but for the publisher's tail"},
		storage.Item{ID: "c", Partition: "en", Title: "A hole", URL: "https://c.example/1", EventID: "e2", StoryID: "s", FirstSeen: seen},
		storage.Item{ID: "d", Partition: "en", Title: "Kernel released", URL: "https://lwn.example/1", EventID: "e3", StoryID: "t", FirstSeen: seen},
		storage.Item{ID: "d2", Partition: "en", Title: "Kernel released - B", URL: "https://b.example/1", EventID: "e3", StoryID: "t", DuplicateOf: "d", DuplicateBy: "title", FirstSeen: seen})
	source.summarize(t, func(s *storage.Story) { s.Headline, s.Summary = "a", []storage.Line{{Text: "It is out.", ItemID: "a"}} }, "s")
	doc := parse(t, body(t, serve(source, "GET", "/stories/s")))
	page := words(doc)
	for _, want := range []string{
		"It is out. lwn.example", "Events A hole 1 hour ago", "Kernel released 1 hour ago", "Reason: nothing like it was there.", "1 duplicate", "Same title but for the publisher's tail.",
		"Split this event into a new story: A hole", "Split from this story: A hole", "Not a duplicate: Kernel released - B",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q: %s", want, page)
		}
	}
	if strings.Contains(page, "Split from this story: Kernel released") {
		t.Error("an item that others repeat can be taken out alone")
	}
	if got := link(doc, "Read the headline at lwn.example"); got != "https://lwn.example/1" {
		t.Errorf("the headline is at %q", got)
	}
	if page := body(t, serve(source, "GET", "/stories/t")); strings.Contains(page, "into a new story") || !strings.Contains(page, ">Items") {
		t.Error("the only event of a story can be split from it")
	}
	var folded []string
	for _, d := range elements(doc, "details") {
		folded = append(folded, words(d))
	}
	if len(folded) != 3 || !strings.HasPrefix(folded[1], "1 duplicate Kernel released - B") && !strings.HasPrefix(folded[0], "1 duplicate Kernel released - B") ||
		strings.Count(strings.Join(folded, " "), "Why together") != 2 {
		t.Errorf("got the foldings %q, want one with the duplicate, and the reasons of each event", folded)
	}
}

func TestStoryPage_LinksTheOtherLanguage(t *testing.T) {
	source := newSite(t)
	source.items(t, "f",
		storage.Item{ID: "ru", Language: "ru", Partition: "ru", Title: "Вышла СУБД PostgreSQL 18", URL: "https://a.example/1", EventID: "e1", StoryID: "r"},
		storage.Item{ID: "en", Language: "en", Partition: "en", Title: "PostgreSQL 18 released", URL: "https://b.example/1", EventID: "e2", StoryID: "e"})
	for story, want := range map[string][2]string{"r": {"Also in English PostgreSQL 18 released", "/stories/e"}, "e": {"Also in Russian Вышла СУБД PostgreSQL 18", "/stories/r"}} {
		doc := parse(t, body(t, serve(source, "GET", "/stories/"+story)))
		if page := words(doc); !strings.Contains(page, want[0]) {
			t.Errorf("the page does not say %q: %s", want[0], page)
		}
		title := strings.SplitN(want[0], " ", 4)[3]
		if got := link(doc, title); got != want[1] {
			t.Errorf("%q links to %q, want %q", title, got, want[1])
		}
	}
}

// editable returns a site whose story s has the events e and e0, with the items i, which is a duplicate, i0 and i1;
// the story other has two items. A cluster actor applies edits.
func editable(t *testing.T) *site {
	t.Helper()
	s := newSite(t)
	s.items(t, "f",
		storage.Item{ID: "i0", Partition: "en", EventID: "e0", StoryID: "s"},
		storage.Item{ID: "i1", Partition: "en", EventID: "e0", StoryID: "s"},
		storage.Item{ID: "e1", Partition: "en", EventID: "e", StoryID: "s"},
		storage.Item{ID: "i", Partition: "en", EventID: "e0", StoryID: "s", DuplicateOf: "i0", DuplicateBy: "title"},
		storage.Item{ID: "o0", Partition: "en", EventID: "eo", StoryID: "other"},
		storage.Item{ID: "o1", Partition: "en", EventID: "eo", StoryID: "other"})
	s.Mesh.OnCluster = func(m subjects.Message) {
		task, err := subjects.ClusterQueue.Decode(m.Data)
		must(t, err)
		r := storage.Rearrangement{}
		switch o := task.Override; o.Kind {
		case subjects.SplitEvent:
			r.Events = []storage.EventMove{{EventID: o.A, StoryID: storage.StoryID(o.A)}}
		case subjects.SplitItem:
			r.Items = []storage.Placement{{ItemID: o.A, EventID: "alone", StoryID: storage.StoryID("alone")}}
		case subjects.JoinStories:
			for _, event := range []string{"e0", "e", "eo"} {
				r.Events = append(r.Events, storage.EventMove{EventID: event, StoryID: "new"})
			}
		case subjects.DifferItem:
			r.Items = []storage.Placement{{ItemID: o.A, EventID: "e0", StoryID: "s", DuplicateBy: "hand"}}
		}
		_, err = s.Store.Rearrange(t.Context(), r)
		must(t, err)
	}
	return s
}

// overrides returns the manual edits that were published.
func (s *site) overrides(t *testing.T) (list []string) {
	t.Helper()
	for _, task := range servicetest.Published(t, s.Mesh, subjects.ClusterQueue) {
		list = append(list, fmt.Sprintf("%s %s %s", task.Override.Kind, task.Override.A, task.Override.B))
	}
	return list
}

func TestStoryPage_SplitAndJoin(t *testing.T) {
	source := editable(t)
	submitAll(t, source, []submission{
		{"/items/i/differ", "", 303, "/items/i"},
		{"/stories/s/split", "event=e", 303, "/stories/s"},
		{"/stories/s/split", "item=i", 303, "/stories/s"},
		{"/stories/s/split", "", 404, ""},
		{"/stories/s/split", "item=i&event=e", 404, ""},
		{"/stories/s/split", "item=" + strings.Repeat("i", 65), 404, ""},
		{"/stories/s/join", "story=", 404, ""},
	})
	want := []string{
		fmt.Sprintf("%s i ", subjects.DifferItem), fmt.Sprintf("%s e s", subjects.SplitEvent), fmt.Sprintf("%s i ", subjects.SplitItem),
	}
	if got := source.overrides(t); !slices.Equal(got, want) {
		t.Errorf("done is %q, want %q", got, want)
	}
	for _, form := range []string{"story=http%3A%2F%2Flocalhost%3A8080%2Fstories%2Fother%3Fx%23y", "story=+other+", "story=%2Fstories%2Fother"} {
		source := editable(t)
		submitAll(t, source, []submission{{"/stories/s/join", form, 303, "/stories/new"}})
		if got, want := source.overrides(t), []string{fmt.Sprintf("%s s other", subjects.JoinStories)}; !slices.Equal(got, want) {
			t.Errorf("%s: done is %q, want %q", form, got, want)
		}
	}
}

func TestStoryPage_EditErrors(t *testing.T) {
	const join, differ = "/stories/s/join", "/items/i/differ"
	forms := map[string]string{"/stories/s/split": "event=e", join: "story=other", differ: ""}
	pending, older, away := editable(t), editable(t), editable(t)
	pending.Mesh.OnCluster, pending.StoryEdits.Timeout = nil, time.Millisecond
	older.Mesh.AgentSchema = service.EditSchema - 1
	away.Mesh.Broken = errUnavailable
	single := newSite(t)
	single.items(t, "f", storage.Item{ID: "i", Partition: "en", EventID: "e", StoryID: "s"}, storage.Item{ID: "o", Partition: "ru", EventID: "eo", StoryID: "other"})
	for want, c := range map[string]struct {
		source *site
		status int
	}{
		"The change is pending":                                   {pending, 202},
		explanation(service.ErrOlderAgent).In(locale.English):     {older, 503},
		"The item or story was removed":                           {newSite(t), 404},
		"A component that this page depends on cannot be reached": {away, 503},
		"This cannot be done":                                     {single, 409},
	} {
		for target, form := range forms {
			got := submit(c.source, target, form)
			if page := body(t, got); got.StatusCode != c.status || !strings.Contains(page, want) || strings.Contains(page, "nats:") {
				t.Errorf("%s: status %d, want %d with %q: %s", target, got.StatusCode, c.status, want, page)
			}
		}
	}
	for target, want := range map[string]string{
		"/stories/s/split": "Event e is the only content of this story: nothing to split.",
		join:               "Story other is in language ru, this one in en: stories of two languages can't be joined.",
		differ:             "Item i is not a duplicate.",
	} {
		if page := words(parse(t, body(t, submit(single, target, forms[target])))); !strings.Contains(page, want) {
			t.Errorf("%s: the page does not say %q: %s", target, want, page)
		}
	}
}

func TestStoryPage_OffersSimilarStories(t *testing.T) {
	source := newSite(t)
	const text = "<p>A new scheduler of the kernel for many cores is out.</p>"
	source.items(t, "f",
		storage.Item{ID: "a", Title: "The kernel", HTML: text, Language: "en", Partition: "en", EventID: "e1", StoryID: "s"},
		storage.Item{ID: "b", Title: "Another one", HTML: text, Language: "en", Partition: "en", EventID: "e2", StoryID: "t"},
		storage.Item{ID: "c", Title: "Its own", HTML: text, Language: "en", Partition: "en", EventID: "e1", StoryID: "s", DuplicateOf: "a", DuplicateBy: "text"},
		storage.Item{ID: "d", Title: "Of none", HTML: text, Language: "en", Partition: "en"})
	doc := parse(t, body(t, serve(source, "GET", "/stories/s")))
	if got := link(doc, "Another one"); got != "/stories/t" {
		t.Errorf("the story that is like it is at %q", got)
	}
	var offered []string
	for _, in := range elements(doc, "input") {
		if attr(in, "name") == "story" && attr(in, "type") == "hidden" {
			offered = append(offered, attr(in, "value"))
		}
	}
	if !slices.Equal(offered, []string{"t"}) {
		t.Errorf("it may be joined with %q, want the other story only", offered)
	}
}
