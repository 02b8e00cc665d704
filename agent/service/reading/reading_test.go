package reading_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/service/reading"
	"feedmesh/agent/service/servicetest"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/subjects"
)

var noon = time.Date(2026, 9, 29, 12, 0, 0, 0, time.UTC)

// A fixture is reading lists over a feed of three items in the folder News, one of two without a folder, and two
// clients.
type fixture struct {
	*servicetest.Testbed
	now      time.Time
	ann, bob context.Context
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{now: noon}
	f.Testbed = servicetest.New(t, func() time.Time { return f.now })
	f.AddFeeds(t, storage.Feed{ID: "a", URL: "https://a.example/", Title: "A", Tags: []string{"News"}, Added: noon}, storage.Feed{ID: "b", URL: "https://b.example/", Title: "B", Added: noon})
	for n, feed := range []string{"a", "b", "a", "b", "a"} {
		seen := noon.Add(time.Duration(n-5) * time.Hour)
		f.PutItems(t, feed, storage.Item{ID: fmt.Sprint("i", n), Key: fmt.Sprint(n), Title: fmt.Sprint("Title ", n), Published: seen, FirstSeen: seen})
	}
	f.ann = access.With(t.Context(), access.Client{ID: "ann", Scopes: access.Scopes})
	f.bob = access.With(t.Context(), access.Client{ID: "bob", Scopes: access.Scopes})
	return f
}

// ids returns the IDs of a list.
func (f *fixture) ids(t *testing.T, as context.Context, q wire.ReadingQuery) []string {
	t.Helper()
	if q.Limit == 0 {
		q.Limit = 10
	}
	page, err := f.Reading.List(as, q)
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{}
	for _, i := range page.Items {
		ids = append(ids, i.ID)
	}
	return ids
}

func (f *fixture) mark(t *testing.T, as context.Context, m wire.Marks) {
	t.Helper()
	if _, err := f.Reading.MarkItems(as, wire.MarkItemsRequest{Body: m}); err != nil {
		t.Fatal(err)
	}
}

func want[T comparable](t *testing.T, what string, got []T, want ...T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

var yes, no = true, false

func TestList_UnreadAllStarredByFeedAndFolder(t *testing.T) {
	f := newFixture(t)
	f.mark(t, f.ann, wire.Marks{IDs: []string{"i4"}, Read: &yes})
	f.mark(t, f.ann, wire.Marks{IDs: []string{"i1", "missing"}, Starred: &yes})
	want(t, "unread", f.ids(t, f.ann, wire.ReadingQuery{}), "i3", "i2", "i1", "i0")
	want(t, "oldest first", f.ids(t, f.ann, wire.ReadingQuery{Oldest: true}), "i0", "i1", "i2", "i3")
	want(t, "all", f.ids(t, f.ann, wire.ReadingQuery{Show: wire.ShowAll}), "i4", "i3", "i2", "i1", "i0")
	want(t, "starred", f.ids(t, f.ann, wire.ReadingQuery{Show: wire.ShowStarred}), "i1")
	want(t, "folder", f.ids(t, f.ann, wire.ReadingQuery{Tag: "News"}), "i2", "i0")
	want(t, "feed", f.ids(t, f.ann, wire.ReadingQuery{Feed: "b"}), "i3", "i1")
	want(t, "another client", f.ids(t, f.bob, wire.ReadingQuery{}), "i4", "i3", "i2", "i1", "i0")
	f.now = noon.AddDate(0, 0, 31)
	want(t, "unread after a month", f.ids(t, f.ann, wire.ReadingQuery{}))
	if folders, err := f.Reading.Folders(f.ann, wire.FolderQuery{}); err != nil || folders.Feeds == nil || len(folders.Feeds) != 0 {
		t.Errorf("got folders %+v, %v; want an empty list of feeds, not null", folders, err)
	}
	all, err := f.Reading.List(f.ann, wire.ReadingQuery{Show: wire.ShowAll, Limit: 1})
	if err != nil || len(all.Items) != 1 || !all.Items[0].Read || all.Items[0].FeedTitle != "A" {
		t.Errorf("got %+v, %v; want an old item that counts as read, with its feed's title", all, err)
	}
}

// Items that arrive together, as those of a new feed do, are listed by publication.
func TestList_ByTimeOfPublication(t *testing.T) {
	f := newFixture(t)
	for id, published := range map[string]time.Time{"between": noon.Add(-3*time.Hour - time.Minute), "future": noon.Add(time.Hour), "old": noon.AddDate(-1, 0, 0)} {
		f.PutItems(t, "b", storage.Item{ID: id, Key: id, Title: id, Published: published, FirstSeen: noon})
	}
	newest := []string{"future", "i4", "i3", "i2", "between", "i1", "i0", "old"}
	want(t, "newest first", f.ids(t, f.ann, wire.ReadingQuery{}), newest...)
	var paged []string
	for q := (wire.ReadingQuery{Limit: 3}); ; {
		page, err := f.Reading.List(f.ann, q)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range page.Items {
			paged = append(paged, i.ID)
		}
		if q.Cursor = page.Next; page.Next == "" {
			break
		}
	}
	want(t, "by pages", paged, newest...)
	slices.Reverse(newest)
	want(t, "oldest first", f.ids(t, f.ann, wire.ReadingQuery{Oldest: true}), newest...)
}

func TestFeed_NotStored(t *testing.T) {
	f := newFixture(t)
	if _, err := f.Reading.List(f.ann, wire.ReadingQuery{Feed: "none", Limit: 1}); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("list: got %v, want ErrNotFound", err)
	}
	if _, err := f.Reading.MarkAll(f.ann, wire.MarkAllReadRequest{Body: wire.ReadStream{Feed: "none"}}); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("mark all: got %v, want ErrNotFound", err)
	}
}

func TestList_Pages(t *testing.T) {
	f := newFixture(t)
	var got []string
	for q := (wire.ReadingQuery{Limit: 2}); ; {
		page, err := f.Reading.List(f.ann, q)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range page.Items {
			got = append(got, i.ID)
		}
		// What is read meanwhile does not shift the next page.
		f.mark(t, f.ann, wire.Marks{IDs: []string{page.Items[0].ID}, Read: &yes})
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	want(t, "pages", got, "i4", "i3", "i2", "i1", "i0")
	for _, bad := range []string{"x", "1-", "x-i1", "-"} {
		if _, err := f.Reading.List(f.ann, wire.ReadingQuery{Limit: 2, Cursor: bad}); !errors.Is(err, storage.ErrBadCursor) {
			t.Errorf("%s: got %v, want ErrBadCursor", bad, err)
		}
	}
}

func TestFolders_NumbersOfUnreadItems(t *testing.T) {
	f := newFixture(t)
	numbers := func(as context.Context, tag string) []int64 {
		t.Helper()
		all, err := f.Reading.Folders(as, wire.FolderQuery{Tag: tag})
		if err != nil || len(all.Folders) != 1 || all.Folders[0].Name != "News" || all.Folders[0].Feeds != 1 {
			t.Fatalf("got %+v, %v", all, err)
		}
		list := []int64{all.Unread, all.Folders[0].Unread}
		for _, feed := range all.Feeds {
			list = append(list, feed.Unread)
		}
		return list
	}
	want(t, "at first", numbers(f.ann, ""), 5, 3, 3, 2)
	f.mark(t, f.ann, wire.Marks{IDs: []string{"i0", "i1"}, Read: &yes})
	want(t, "after marks", numbers(f.ann, ""), 3, 2, 2, 1)
	want(t, "of a folder", numbers(f.ann, "News"), 3, 2, 2)
	want(t, "of another client", numbers(f.bob, ""), 5, 3, 3, 2)
	f.PutItems(t, "b", storage.Item{ID: "new", Key: "new", Title: "New", Published: f.now})
	f.now = f.now.Add(3 * time.Second)
	want(t, "with a new item, seconds later", numbers(f.ann, ""), 4, 2, 2, 2)
	f.now = f.now.Add(-time.Hour) // cached numbers from the future are not used
	f.PutItems(t, "b", storage.Item{ID: "newer", Key: "newer", Title: "Newer", Published: f.now})
	want(t, "after the clock was set back", numbers(f.ann, ""), 5, 2, 3, 2)
}

func TestMarkAll_UndoneByItsResult(t *testing.T) {
	f := newFixture(t)
	until := noon.Add(-2 * time.Hour) // when i3 was first seen
	done, err := f.Reading.MarkAll(f.ann, wire.MarkAllReadRequest{Body: wire.ReadStream{Until: until}})
	if err != nil || done.More {
		t.Fatalf("got %+v, %v", done, err)
	}
	want(t, "marked", done.IDs, "i3", "i2", "i1", "i0")
	want(t, "left", f.ids(t, f.ann, wire.ReadingQuery{}), "i4")
	f.mark(t, f.ann, wire.Marks{IDs: done.IDs, Read: &no})
	want(t, "after undo", f.ids(t, f.ann, wire.ReadingQuery{}), "i4", "i3", "i2", "i1", "i0")
	done, err = f.Reading.MarkAll(f.ann, wire.MarkAllReadRequest{Body: wire.ReadStream{Tag: "News"}})
	want(t, "marked in a folder", done.IDs, "i4", "i2", "i0")
	want(t, "left of other folders", f.ids(t, f.ann, wire.ReadingQuery{}), "i3", "i1")
	if err != nil {
		t.Error(err)
	}
	want(t, "of another client", f.ids(t, f.bob, wire.ReadingQuery{}), "i4", "i3", "i2", "i1", "i0")
}

// Changes are published for the client's other windows; without the mesh they are stored all the same.
func TestMark_PublishedToTheClient(t *testing.T) {
	f := newFixture(t)
	f.mark(t, f.ann, wire.Marks{IDs: []string{"i1"}, Starred: &yes})
	if _, err := f.Reading.MarkAll(f.ann, wire.MarkAllReadRequest{}); err != nil {
		t.Fatal(err)
	}
	var events []subjects.ChangedMarks
	for _, m := range f.Mesh.Published {
		var e subjects.Event
		if err := json.Unmarshal(m.Data, &e); err != nil || m.Subject != "events.marks.changed" || e.Marks == nil || e.Marks.Client != "ann" {
			t.Fatalf("got %s %s, %v", m.Subject, m.Data, err)
		}
		events = append(events, *e.Marks)
	}
	if len(events) != 2 || !*events[0].Starred || events[0].Read != nil || !slices.Equal(events[0].Items, []string{"i1"}) || events[1].Items != nil || !*events[1].Read {
		t.Errorf("got %+v", events)
	}
	f.Mesh.Full = errors.New("nats: no responders")
	f.mark(t, f.ann, wire.Marks{IDs: []string{"i1"}, Starred: &no})
	want(t, "starred", f.ids(t, f.ann, wire.ReadingQuery{Show: wire.ShowStarred}))
}

// "Older" is by the order of the list, not by arrival; more items than can be undone are marked too.
func TestMarkAll_Older(t *testing.T) {
	f := newFixture(t)
	f.PutItems(t, "b", storage.Item{ID: "old", Key: "old", Title: "Old", Published: noon.AddDate(0, 0, -3), FirstSeen: noon})
	result, err := f.Reading.MarkAll(f.ann, wire.MarkAllReadRequest{Body: wire.ReadStream{Older: noon.Add(-4 * time.Hour)}})
	if err != nil || result.More {
		t.Fatalf("got %+v, %v", result, err)
	}
	want(t, "marked", result.IDs, "i1", "i0", "old")
	want(t, "unread", f.ids(t, f.ann, wire.ReadingQuery{}), "i4", "i3", "i2")
	many := make([]storage.Item, 2500)
	for n := range many {
		many[n] = storage.Item{Key: fmt.Sprint("many", n), Title: "Many", Published: noon.Add(-5 * time.Hour), FirstSeen: noon}
	}
	f.PutItems(t, "a", many...)
	result, err = f.Reading.MarkAll(f.ann, wire.MarkAllReadRequest{Body: wire.ReadStream{Older: noon.Add(-5 * time.Hour), Tag: "News"}})
	if err != nil || !result.More || len(result.IDs) != 1000 {
		t.Fatalf("got %d items and more: %v, %v; want 1000 of 2500", len(result.IDs), result.More, err)
	}
	want(t, "unread", f.ids(t, f.ann, wire.ReadingQuery{}), "i4", "i3", "i2")
}

func TestPosition_RoundTrip(t *testing.T) {
	m := storage.MarkedItem{ItemID: "x-y", FirstSeen: noon, Time: noon}
	if got, err := reading.ParsePosition(reading.Position(noon, "x-y")); err != nil || got != m {
		t.Errorf("got %+v, %v; want %+v", got, err, m)
	}
}

func (f *fixture) annotate(t *testing.T, as context.Context, id string, change wire.AnnotationChange) (wire.Annotation, error) {
	t.Helper()
	return f.Reading.Annotate(as, wire.AnnotateItemRequest{ID: id, Body: change})
}

func labels(names ...string) wire.AnnotationChange { return wire.AnnotationChange{Labels: &names} }

func TestAnnotate_LabelsAndNotes(t *testing.T) {
	f := newFixture(t)
	note := "Первая строка\r\nline 2\n"
	got, err := f.annotate(t, f.ann, "i1", wire.AnnotationChange{Labels: &[]string{"to read", "a", "a"}, Note: &note})
	if err != nil || got.Note != "Первая строка\nline 2" {
		t.Fatalf("got %+v, %v", got, err)
	}
	want(t, "labels", got.Labels, "a", "to read")
	if got, err = f.annotate(t, f.ann, "i1", labels("to read")); err != nil || got.Note == "" {
		t.Errorf("got %+v, %v; want the note unchanged", got, err)
	}
	if _, err := f.annotate(t, f.ann, "i3", labels("to read", "later")); err != nil {
		t.Fatal(err)
	}
	want(t, "list", f.ids(t, f.ann, wire.ReadingQuery{Label: "to read", Show: wire.ShowAll}), "i3", "i1")
	want(t, "of another client", f.ids(t, f.bob, wire.ReadingQuery{Label: "to read", Show: wire.ShowAll}))
	all, err := f.Reading.Labels(f.ann, wire.None{})
	want(t, "all labels", all.Labels, wire.ItemLabel{Name: "later", Items: 1}, wire.ItemLabel{Name: "to read", Items: 2})
	if err != nil {
		t.Error(err)
	}
	if err := f.Reading.RenameLabel(f.ann, "to read", "later"); err != nil {
		t.Fatal(err)
	}
	want(t, "renamed", f.ids(t, f.ann, wire.ReadingQuery{Label: "later", Show: wire.ShowAll}), "i3", "i1")
	done, err := f.Reading.MarkAll(f.ann, wire.MarkAllReadRequest{Body: wire.ReadStream{Label: "later"}})
	want(t, "marked as read", done.IDs, "i3", "i1")
	want(t, "unread", f.ids(t, f.ann, wire.ReadingQuery{}), "i4", "i2", "i0")
	if err != nil {
		t.Error(err)
	}
	if err := f.Reading.ChangeLabels(f.ann, nil, []string{"later"}, "i1", "i3", "missing"); err != nil {
		t.Fatal(err)
	}
	want(t, "without labels", f.ids(t, f.ann, wire.ReadingQuery{Label: "later", Show: wire.ShowAll}))
	if _, err := f.annotate(t, f.ann, "missing", labels("a")); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}

func TestAnnotate_Limits(t *testing.T) {
	f := newFixture(t)
	long := make([]string, reading.MaxItemLabels+1)
	for n := range long {
		long[n] = fmt.Sprint("label ", n)
	}
	note := string(make([]byte, reading.MaxNote+1))
	for name, change := range map[string]wire.AnnotationChange{
		"labels of an item": labels(long...), "note": {Note: &note}, "comma": labels("a,b"), "line break": labels("a\nb"), "empty": labels(""), "spaces": labels(" a"),
		"long": labels(fmt.Sprintf("%0*d", reading.MaxLabel+1, 0)),
	} {
		if got, err := f.annotate(t, f.ann, "i1", change); !errors.As(err, new(*reading.LimitError)) {
			t.Errorf("%s: got %+v, %v; want a LimitError", name, got, err)
		}
	}
	for n := range 5 {
		some := make([]string, reading.MaxItemLabels)
		for k := range some {
			some[k] = fmt.Sprint("label ", n*reading.MaxItemLabels+k)
		}
		if _, err := f.annotate(t, f.ann, fmt.Sprint("i", n), labels(some...)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.annotate(t, f.ann, "i0", labels("one more")); !errors.As(err, new(*reading.LimitError)) {
		t.Errorf("label 101: got %v, want a LimitError", err)
	}
	if _, err := f.annotate(t, f.ann, "i0", labels("label 99")); err != nil {
		t.Errorf("a label that is used: got %v", err)
	}
	if _, err := f.annotate(t, f.bob, "i0", labels("one more")); err != nil {
		t.Errorf("another client: got %v", err)
	}
}

func TestViews_AreListsWithUnreadNumbers(t *testing.T) {
	f := newFixture(t)
	number := map[string]int64{}
	for name, definition := range map[string]string{"odd": `view odd "Odd ones" for people = from all where odd window 4h`, "own": "view own = from all", "broken": "view broken = of all"} {
		number[name] = int64(len(number) + 1)
		v := storage.View{Name: name, Number: number[name], Owner: "bob", Definition: definition, Changed: noon}
		if err := storage.Views(f.Store).Change(t.Context(), name, func(*storage.View) (*storage.View, error) { return &v, nil }); err != nil {
			t.Fatal(err)
		}
	}
	var members []storage.Member
	for n, views := range map[int][]string{1: {"odd", "own"}, 3: {"odd"}, 0: {"odd"}} {
		for _, view := range views {
			members = append(members, storage.Member{View: number[view], ItemID: fmt.Sprint("i", n), Entered: noon, Published: noon.Add(time.Duration(n-5) * time.Hour)})
		}
	}
	if err := f.Store.ChangeMembers(t.Context(), storage.Fence{}, members, nil); err != nil {
		t.Fatal(err)
	}
	want(t, "the view of others within its window", f.ids(t, f.ann, wire.ReadingQuery{View: "odd"}), "i3", "i1")
	f.mark(t, f.ann, wire.Marks{IDs: []string{"i3"}, Read: &yes})
	want(t, "unread", f.ids(t, f.ann, wire.ReadingQuery{View: "odd"}), "i1")
	want(t, "all", f.ids(t, f.ann, wire.ReadingQuery{View: "odd", Show: wire.ShowAll, Oldest: true}), "i1", "i3")
	reader := access.With(t.Context(), access.Client{ID: "cem", Scopes: []access.Scope{access.Read}})
	for _, view := range []string{"own", "none"} {
		if _, err := f.Reading.List(reader, wire.ReadingQuery{View: view, Limit: 1}); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("%s: got %v, want that there is none", view, err)
		}
	}

	folders := func(as context.Context) []wire.ViewInFolders {
		t.Helper()
		got, err := f.Reading.Folders(as, wire.FolderQuery{})
		if err != nil {
			t.Fatal(err)
		}
		return got.Views
	}
	want(t, "the views of a reader", folders(reader), wire.ViewInFolders{Name: "odd", Title: "Odd ones", Unread: 2})
	want(t, "those of an administrator", folders(f.ann), wire.ViewInFolders{Name: "broken", Title: "broken"}, wire.ViewInFolders{Name: "odd", Title: "Odd ones", Unread: 1}, wire.ViewInFolders{Name: "own", Title: "own", Unread: 1})
	done, err := f.Reading.MarkAll(f.ann, wire.MarkAllReadRequest{Body: wire.ReadStream{View: "odd", Until: f.now}})
	if err != nil {
		t.Fatal(err)
	}
	want(t, "marked", done.IDs, "i1")
	want(t, "the numbers after it", folders(f.ann), wire.ViewInFolders{Name: "broken", Title: "broken"}, wire.ViewInFolders{Name: "odd", Title: "Odd ones"}, wire.ViewInFolders{Name: "own", Title: "own"})
	want(t, "unread of all", f.ids(t, f.ann, wire.ReadingQuery{}), "i4", "i2", "i0")

	if _, err := f.Views.Save(f.bob, wire.SaveViewRequest{Name: "new", Body: wire.ViewSetting{Definition: "view new for everyone = from all"}}); err != nil {
		t.Fatal(err)
	}
	if got := folders(reader); len(got) != 2 || got[0].Name != "new" {
		t.Errorf("after a change of views: got %v", got)
	}
}
