package greader

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/service/reading"
	"feedmesh/storage"
)

func TestLogin_PasswordIsATokensSecret(t *testing.T) {
	w := newFixture(t)
	for _, c := range []struct {
		path, body string
		status     int
		answer     string
	}{
		{"/accounts/ClientLogin", "Email=me&Passwd=ann", 200, "SID=ann\nLSID=null\nAuth=ann\n"},
		{"/accounts/ClientLogin?Email=me&Passwd=ann", "", 200, "SID=ann\nLSID=null\nAuth=ann\n"},
		{"/accounts/ClientLogin/", "Email=me&Passwd=ann", 200, "SID=ann\nLSID=null\nAuth=ann\n"},
		{"/api/greader.php/accounts/ClientLogin", "Email=me&Passwd=ann", 200, "SID=ann\nLSID=null\nAuth=ann\n"},
		{"//accounts/ClientLogin", "Email=me&Passwd=ann&output=json", 200, `{"Auth":"ann","LSID":"null","SID":"ann"}` + "\n"},
		{"/accounts/ClientLogin", "Email=me&Passwd=wrong", 401, "Error=BadAuthentication\n"},
		{"/accounts/ClientLogin", "Email=me", 401, "Error=BadAuthentication\n"},
		{"/accounts/ClientLogin", "Email=me&Passwd=searcher", 403, "Error=BadAuthentication: this token may not read; use a token with the scope read\n"},
	} {
		if status, answer := w.request(t, "", c.path, c.body); status != c.status || answer != c.answer {
			t.Errorf("%s %s: got %d %q, want %d %q", c.path, c.body, status, answer, c.status, c.answer)
		}
	}
}

func TestNormalizePaths_AcceptsVariants(t *testing.T) {
	w := newFixture(t)
	for _, path := range []string{
		"/reader/api/0/user-info", "/reader/api/0/user-info/", "//reader/api/0/user-info", "/reader/api/0//user-info?output=json",
		"/api/greader.php/reader/api/0/user-info", "/api/greader.php//reader/api/0/user-info/?output=json",
	} {
		if got := get[map[string]string](t, w, "ann", path, ""); got["userId"] != "ann" {
			t.Errorf("%s: got %v", path, got)
		}
	}
	// A redirect would turn this POST into a GET.
	w.mustEdit(t, "ann", "/reader/api/0//mark-all-as-read/", "s=user/-/state/com.google/reading-list")
	for _, path := range []string{"/reader/api/0/nothing", "/reader/", "/accounts/", "/api/greader.php"} {
		if status, _ := w.request(t, "ann", path, ""); status != http.StatusNotFound {
			t.Errorf("%s: got %d", path, status)
		}
	}
	// Other paths are unchanged.
	if got := normalizePath("/api//feeds/"); got != "" {
		t.Errorf("another path becomes %s", got)
	}
}

func TestStream_IsGivenByIDAddressOrLabel(t *testing.T) {
	w := newFixture(t)
	for id, want := range map[string]int{
		"feed/" + w.a: 5, "feed/https://a.example/feed": 5, "feed/a.example/feed": 5, "feed/nobody": 0, "feed/https://nobody.example/": 0,
		"user/-/label/News": 8, "user/me/label/Local": 5, "user/-/label/Nothing": 0,
		"user/-/state/com.google/reading-list": 8, "user/ann/state/com.google/reading-list": 8,
		"user/-/state/com.google/starred": 0, "user/-/state/com.google/broadcast": 0, "user/-/state/com.google/kept-unread": 8,
	} {
		if got := w.wantIDs(t, "ann", url.QueryEscape(id)+"&n=100", want); len(got) > 0 && !strings.HasPrefix(got[0].DirectStreamIDs[0], "feed/") {
			t.Errorf("%s: got %+v", id, got[0])
		}
		// The stream in the path, escaped or not.
		for _, path := range []string{streamPath + url.PathEscape(id), streamPath + id, atomPath + url.PathEscape(id)} {
			status, answer := w.request(t, "ann", path+"?n=100", "")
			n := strings.Count(answer, longPrefix)
			if status != 200 || n != want {
				t.Errorf("%s: got %d and %d items, want %d", path, status, n, want)
			}
		}
	}
	if got := get[contents](t, w, "ann", "/reader/api/0/stream/contents?n=3", ""); len(got.Items) != 3 {
		t.Errorf("where no stream is named, got %d items of all, want 3", len(got.Items))
	}
	if got := get[ids](t, w, "ann", "/reader/api/0/stream/items/ids?output=json&n=100", ""); len(got.ItemRefs) != 8 {
		t.Errorf("where no stream is named, got %d items of all, want 8", len(got.ItemRefs))
	}
	for _, bad := range []string{"x", "feed/", "user/-/label/", "user//label/x", "user/-/other/x"} {
		if status, _ := w.request(t, "ann", idsPath+url.QueryEscape(bad), ""); status != 400 {
			t.Errorf("%s: got %d", bad, status)
		}
	}
}

func TestStream_Pages(t *testing.T) {
	w := newFixture(t)
	var want []string
	for _, item := range w.items {
		want = append(want, shortID(item.ID))
	}
	newest := slices.Clone(want)
	slices.Reverse(newest)
	for order, want := range map[string][]string{"": newest, "&r=n": newest, "&r=o": want} {
		var got []string
		for c := ""; ; {
			page := get[ids](t, w, "ann", idsPath+"feed/"+w.a+"&n=2"+order+"&c="+c, "")
			for _, ref := range page.ItemRefs {
				got = append(got, ref.ID)
			}
			if c = page.Continuation; c == "" {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("in order %q got %v, want %v", order, got, want)
		}
	}
	third := w.items[2].FirstSeen.Unix()
	for query, want := range map[string]int{
		fmt.Sprint("&ot=", third): 3, fmt.Sprint("&nt=", third): 2, fmt.Sprintf("&ot=%d.75", third): 3, fmt.Sprint("&ot=", third*1e6): 3, "&ot=0": 5,
	} {
		w.wantIDs(t, "ann", "feed/"+w.a+query, want)
	}
	for _, bad := range []string{"&n=0", "&n=x", "&ot=x", "&nt=-1", "&c=x", "&c=1-", "&c=x-y"} {
		if status, answer := w.request(t, "ann", idsPath+"feed/"+w.a+bad, ""); status != 400 || !strings.Contains(answer, bad[1:2]) {
			t.Errorf("%s: got %d %s", bad, status, answer)
		}
	}
}

func TestItemContents_AcceptsEveryFormOfID(t *testing.T) {
	w := newFixture(t)
	n := storage.ItemNumber(w.items[0].ID)
	for _, id := range []string{
		longID(w.items[0].ID), url.QueryEscape(longID(w.items[0].ID)), fmt.Sprintf("%016x", n), fmt.Sprintf("%x", n), fmt.Sprintf("%X", n), fmt.Sprint(n),
	} {
		got := get[contents](t, w, "ann", "/reader/api/0/stream/items/contents?output=json", "T=x&i="+id+"&i=1&i="+id)
		if len(got.Items) != 1 || got.Items[0].ID != longID(w.items[0].ID) {
			t.Errorf("%s: got %+v", id, got.Items)
		}
	}
	if got, err := parseID("1234567890123456"); err != nil || !slices.Equal(got, []int64{1234567890123456, 0x1234567890123456}) {
		t.Errorf("digits that may be either mean %d, %v", got, err)
	}
	for _, bad := range []string{"", "x", "-1", "ffffffffffffffff", longPrefix + "x", longPrefix, "00000000000000000001x"} {
		if got, err := parseID(bad); err == nil {
			t.Errorf("%q means %d", bad, got)
		}
	}
	many := "i=1" + strings.Repeat("&i=1", maxIDs)
	if status, _ := w.request(t, "ann", "/reader/api/0/edit-tag", many+"&a=user/-/state/com.google/read"); status != 400 {
		t.Errorf("too many items: got %d", status)
	}
	if status, _ := w.request(t, "ann", "/reader/api/0/edit-tag", strings.Repeat("x", maxBody+1)); status != 413 {
		t.Errorf("too large a body: got %d", status)
	}
}

func TestStreamContents_ReturnsTheCompleteItem(t *testing.T) {
	w := newFixture(t)
	item := storage.Item{
		ID: storage.ItemID(w.a, "odd"), FeedID: w.a, Key: "odd", Hash: "1", Title: `<script>alert("1")</script> & &lt;b> &#60;i`, Author: "<img src=x onerror=alert(1)>",
		URL: "javascript:alert(1)", HTML: "<p>x]]></p>", Published: now, FirstSeen: now, Updated: now.Add(time.Hour),
		Enclosures: []storage.Enclosure{{URL: "https://example.org/1.mp3", Type: "audio/mpeg", Length: 7}, {URL: "data:text/html,x"}, {URL: "https://example.org/page", Type: "video", Player: "Vimeo"}},
	}
	if _, err := w.store.PutItems(t.Context(), storage.Batch{FeedID: w.a, Items: []storage.Item{item}}); err != nil {
		t.Fatal(err)
	}
	got := get[contents](t, w, "ann", streamPath+"feed/"+w.a+"?n=1", "").Items[0]
	if got.Title != `＜script＞alert("1")＜/script＞ & ＆lt;b＞ ＆#60;i` || strings.ContainsAny(got.Author+got.Origin.Title, "<>") {
		t.Errorf("plain texts are %q, %q, %q: a client that takes them for HTML would find some", got.Title, got.Author, got.Origin.Title)
	}
	if len(got.Alternate)+len(got.Canonical) != 0 || len(got.Enclosure) != 1 || got.Enclosure[0].Length != 7 {
		t.Errorf("got the addresses %+v %+v %+v", got.Alternate, got.Canonical, got.Enclosure)
	}
	if got.Summary["content"] != item.HTML || got.Published != now.Unix() || got.Updated != now.Unix()+3600 || got.CrawlTimeMsec != fmt.Sprint(now.UnixMilli()) ||
		got.TimestampUsec != fmt.Sprint(now.UnixMicro()) || got.Origin.StreamID != "feed/"+w.a {
		t.Errorf("got %+v", got)
	}
	want := []string{"user/-/state/com.google/reading-list", "user/-/label/News", "user/-/label/Local"}
	if !slices.Equal(got.Categories, want) {
		t.Errorf("it is in %v, want %v", got.Categories, want)
	}
}

func TestEditTag_MarksBelongToTheClient(t *testing.T) {
	w := newFixture(t)
	const unreadOnes = "user/-/state/com.google/reading-list&n=100&xt=user/-/state/com.google/read"
	two := "i=" + longID(w.items[0].ID) + "&i=" + shortID(w.items[1].ID)
	for _, step := range []struct {
		body            string
		unread, starred int
	}{
		{"a=user/-/state/com.google/read&T=x", 6, 0},
		{"r=user/-/state/com.google/read", 8, 0},
		{"a=user/-/state/com.google/read&r=user/-/state/com.google/kept-unread&ac=edit&T=x", 6, 0}, // as Newsboat sends it
		{"r=user/-/state/com.google/read&a=user/-/state/com.google/kept-unread&a=user/-/state/com.google/tracking-kept-unread", 8, 0},
		{"a=user/ann/state/com.google/starred&a=user/-/state/com.google/read", 6, 2},
		{"r=user/-/state/com.google/starred", 6, 0},
		{"a=user/-/state/com.google/broadcast", 6, 0},
	} {
		w.mustEdit(t, "ann", "/reader/api/0/edit-tag", two+"&"+step.body)
		w.wantIDs(t, "ann", unreadOnes, step.unread)
		w.wantIDs(t, "ann", "user/-/state/com.google/starred", step.starred)
		w.wantIDs(t, "ann", "user/-/state/com.google/reading-list&it=user/-/state/com.google/starred", step.starred)
		w.wantIDs(t, "bob", unreadOnes, 8)
	}
	w.wantIDs(t, "ann", "user/-/state/com.google/read", 2)
	w.wantIDs(t, "ann", "feed/"+w.a+"&xt=user/-/state/com.google/starred", 5)
	got := get[contents](t, w, "ann", streamPath+"feed/"+w.a+"?r=o&n=1", "").Items[0]
	if !slices.Contains(got.Categories, "user/-/state/com.google/read") {
		t.Errorf("a read item is in %v", got.Categories)
	}
	for _, bad := range []string{"a=user/-/label/a,b&" + two, two, "a=user/-/state/com.google/read", "a=user/-/state/com.google/read&i=x", "%zz"} {
		if status, _ := w.request(t, "ann", "/reader/api/0/edit-tag", bad); status != 400 {
			t.Errorf("%s: got %d", bad, status)
		}
	}
	if status, _ := w.request(t, "ann", "/reader/api/0/edit-tag?a=user/-/state/com.google/read&"+two, ""); status != 405 {
		t.Errorf("by GET, as an image could: got %d", status)
	}
}

func TestMarkAllRead_UpToTheClientsTime(t *testing.T) {
	w := newFixture(t)
	const unreadOnes = "user/-/state/com.google/reading-list&n=100&xt=user/-/state/com.google/read"
	w.mustEdit(t, "ann", "/reader/api/0/mark-all-as-read", fmt.Sprintf("s=feed/%s&ts=%d&T=x", w.a, w.items[2].FirstSeen.UnixMicro()))
	w.wantIDs(t, "ann", unreadOnes, 5)
	w.mustEdit(t, "ann", "/reader/api/0/mark-all-as-read", "s=user/-/label/Local")
	w.wantIDs(t, "ann", unreadOnes, 3)
	w.mustEdit(t, "ann", "/reader/api/0/mark-all-as-read", "s=feed/nobody")
	w.mustEdit(t, "ann", "/reader/api/0/mark-all-as-read", "s=user/-/state/com.google/reading-list&ts=99999999999999999")
	w.wantIDs(t, "ann", unreadOnes, 0)
	// Later items stay unread despite a client's fast clock.
	w.put(t, w.add(t, "https://c.example/", "C"), 1)
	w.wantIDs(t, "bob", unreadOnes, 9)
	for _, bad := range []string{"s=user/-/state/com.google/starred", "s=x", "ts=1", "s=feed/" + w.a + "&ts=x"} {
		if status, _ := w.request(t, "ann", "/reader/api/0/mark-all-as-read", bad); status != 400 {
			t.Errorf("%s: got %d", bad, status)
		}
	}
}

func TestUnreadCount_OfFeedsAndFolders(t *testing.T) {
	w := newFixture(t)
	old := storage.Item{ID: storage.ItemID(w.b, "old"), FeedID: w.b, Key: "old", Hash: "1", Title: "Old", Published: now, FirstSeen: reading.UnreadSince(now).AddDate(0, 0, -1)}
	if _, err := w.store.PutItems(t.Context(), storage.Batch{FeedID: w.b, Items: []storage.Item{old}}); err != nil {
		t.Fatal(err)
	}
	c := w.add(t, "https://c.example/", "C")
	w.put(t, c, 1500/24)
	w.put(t, w.add(t, "https://d.example/", "D"), 0)
	w.mustEdit(t, "ann", "/reader/api/0/edit-tag", "i="+longID(w.items[0].ID)+"&a=user/-/state/com.google/read")
	type counts struct {
		Max    int
		Counts []unreadCount `json:"unreadcounts"`
	}
	got := map[string]int64{}
	answer := get[counts](t, w, "ann", "/reader/api/0/unread-count?output=json&all=1", "")
	for _, c := range answer.Counts {
		got[c.ID] = c.Count
		if c.Newest != fmt.Sprint(now.Add(-time.Hour).UnixMicro()) {
			t.Errorf("the newest of %s is of %s", c.ID, c.Newest)
		}
	}
	want := map[string]int64{"feed/" + w.a: 4, "feed/" + w.b: 3, "feed/" + c: 62, "user/-/label/News": 7, "user/-/label/Local": 4, statePrefix + readingList: 69}
	if fmt.Sprint(got) != fmt.Sprint(want) || answer.Max != 1000 {
		t.Errorf("got %v, want %v", got, want)
	}
	// Items older than unreadDays are listed as read.
	w.wantIDs(t, "ann", "feed/"+w.b+"&n=100", 4)
	w.wantIDs(t, "ann", "feed/"+w.b+"&n=100&xt=user/-/state/com.google/read", 3)
	if got := countOfStream("x", storage.UnreadCount{Count: 5000}); got.Count != 1000 || got.Newest != "0" {
		t.Errorf("a large count is sent as %+v", got)
	}
}

func TestSubscriptions_ChangedFoldersArePublishedToTheSchedule(t *testing.T) {
	w := newFixture(t)
	for _, c := range []struct {
		path, body string
		want       []string
	}{
		{"subscription/edit", "ac=edit&s=feed/" + w.a + "&a=user/-/label/New", []string{w.a}},
		{"subscription/edit", "ac=edit&s=feed/" + w.a + "&a=user/-/label/New", nil}, // it is there already
		{"rename-tag", "s=user/-/label/Local&dest=user/-/label/Near", []string{w.a}},
		{"disable-tag", "s=user/-/label/News", []string{w.a, w.b}},
	} {
		w.mustEdit(t, "ann", "/reader/api/0/"+c.path, c.body)
		if got := w.mesh.changed(); !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(c.want))) {
			t.Errorf("%s %s: the schedule got the changes of %v, want %v", c.path, c.body, got, c.want)
		}
	}
}

func TestSubscriptions_FoldersAreTagsOfFeeds(t *testing.T) {
	w := newFixture(t)
	type list struct {
		Subscriptions []subscription
	}
	subs := func() map[string]subscription {
		all := map[string]subscription{}
		for _, s := range get[list](t, w, "ann", "/reader/api/0/subscription/list?output=json", "").Subscriptions {
			all[s.ID] = s
		}
		return all
	}
	a, b := subs()["feed/"+w.a], subs()["feed/"+w.b]
	if a.Title != "A ＜b＞" || b.Title != "b.example" || a.URL != "https://a.example/feed" || a.HTMLURL == "" || len(a.Categories) != 2 || len(b.Categories) != 1 {
		t.Errorf("got %+v and %+v", a, b)
	}
	tagsAre := func(want ...string) {
		t.Helper()
		var got []string
		for _, tag := range get[struct{ Tags []struct{ ID string } }](t, w, "ann", "/reader/api/0/tag/list?output=json", "").Tags {
			got = append(got, tag.ID)
		}
		if !slices.Equal(got, append([]string{"user/-/state/com.google/starred"}, want...)) {
			t.Errorf("the tags are %v, want %v", got, want)
		}
	}
	tagsAre("user/-/label/Local", "user/-/label/News")
	w.mustEdit(t, "ann", "/reader/api/0/subscription/edit", "ac=edit&s=feed/"+w.b+"&a=user/-/label/R%26D+%2F+x&r=user/-/label/News&t=renamed")
	tagsAre("user/-/label/Local", "user/-/label/News", "user/-/label/R&D / x")
	w.wantIDs(t, "ann", url.QueryEscape("user/-/label/R&D / x"), 3)
	w.mustEdit(t, "ann", "/reader/api/0/rename-tag", "s=user/-/label/Local&dest=user/-/label/News")
	tagsAre("user/-/label/News", "user/-/label/R&D / x")
	w.mustEdit(t, "ann", "/reader/api/0/disable-tag", "s=user/-/label/News&s="+url.QueryEscape("user/-/label/R&D / x"))
	tagsAre()

	w.mustEdit(t, "ann", "/reader/api/0/subscription/edit", "ac=subscribe&s=feed/https://c.example/x&a=user/-/label/New&t=C")
	c := "feed/" + storage.FeedID("https://c.example/x")
	if got := subs()[c]; len(got.Categories) != 1 || got.Categories[0].Label != "New" {
		t.Errorf("the new one is %+v", got)
	}
	added := get[map[string]any](t, w, "ann", "/reader/api/0/subscription/quickadd", "quickadd=https://d.example/y")
	if added["streamId"] != "feed/"+storage.FeedID("https://d.example/y") || added["numResults"] != 1. {
		t.Errorf("got %v", added)
	}
	if none := get[map[string]any](t, w, "ann", "/reader/api/0/subscription/quickadd", "quickadd=ftp://d.example/"); none["numResults"] != 0. || none["error"] == "" {
		t.Errorf("for an invalid feed address got %v", none)
	}
	w.mustEdit(t, "ann", "/reader/api/0/subscription/edit", "ac=unsubscribe&s="+c)
	if _, is := subs()[c]; is {
		t.Error("it is there still")
	}
	for body, want := range map[string]int{
		"ac=unsubscribe&s=" + c: 404, "ac=edit&s=user/-/label/x": 400, "ac=other&s=feed/" + w.a: 400, "ac=subscribe&s=feed/ftp://x": 400,
		"ac=edit": 400, "ac=edit&s=feed/" + w.a + "&a=x": 400, "ac=edit&s=feed/" + w.a + "&a=user/-/label/" + strings.Repeat("x", 300): 400,
	} {
		if status, _ := w.request(t, "ann", "/reader/api/0/subscription/edit", body); status != want {
			t.Errorf("%.100s: got %d, want %d", body, status, want)
		}
	}
}

func TestEdit_NeedsTheScopeWrite(t *testing.T) {
	w := newFixture(t)
	for path, body := range map[string]string{
		"subscription/edit": "ac=unsubscribe&s=feed/" + w.a, "subscription/quickadd": "quickadd=https://x.example/",
		"rename-tag": "s=user/-/label/News&dest=user/-/label/x", "disable-tag": "s=user/-/label/News",
	} {
		if status, _ := w.request(t, "reader", "/reader/api/0/"+path, body); status != 403 {
			t.Errorf("%s: got %d", path, status)
		}
	}
	w.mustEdit(t, "reader", "/reader/api/0/edit-tag", "i="+longID(w.items[0].ID)+"&a=user/-/state/com.google/starred")
	w.wantIDs(t, "reader", "user/-/state/com.google/starred", 1)
}

func TestStream_OmitsHiddenItems(t *testing.T) {
	w := newFixture(t)
	hidden := []storage.Item{{Spam: true}, {DuplicateOf: w.items[0].ID}, {Flags: []string{storage.FlagMuted}}}
	for i := range hidden {
		hidden[i].Key, hidden[i].Hash, hidden[i].FirstSeen, hidden[i].Published = fmt.Sprint("h", i), "1", now, now
		hidden[i].ID = storage.ItemID(w.a, hidden[i].Key)
	}
	if _, err := w.store.PutItems(t.Context(), storage.Batch{FeedID: w.a, Items: hidden}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"feed/" + w.a, "user/-/label/Local"} {
		w.wantIDs(t, "ann", id+"&n=100", 5)
	}
	w.wantIDs(t, "ann", "user/-/state/com.google/reading-list&n=100", 8)
}

// Labels of items and folders share their names; a folder hides the label of items.
func TestEditTag_LabelsOfItems(t *testing.T) {
	w := newFixture(t)
	one, two := fmt.Sprint("&i=", storage.ItemNumber(w.items[0].ID)), fmt.Sprint("&i=", storage.ItemNumber(w.items[1].ID))
	w.mustEdit(t, "reader", "/reader/api/0/edit-tag", "a=user/-/label/to+read&a=user/-/state/com.google/starred"+one+two)
	w.mustEdit(t, "reader", "/reader/api/0/edit-tag", "a=user/-/label/News&a=user/-/label/more"+one)
	w.wantIDs(t, "reader", "user/-/label/to+read", 2)
	w.wantIDs(t, "reader", "user/-/label/more", 1)
	w.wantIDs(t, "reader", "user/-/label/News", 8)
	w.wantIDs(t, "reader", "user/-/state/com.google/starred", 2)
	w.wantIDs(t, "bob", "user/-/label/to+read", 0)
	type tags struct{ Tags []struct{ ID, Type string } }
	got := get[tags](t, w, "reader", "/reader/api/0/tag/list?output=json", "").Tags
	if len(got) != 5 || got[3].ID != "user/-/label/more" || got[3].Type != "tag" || got[4].ID != "user/-/label/to read" {
		t.Errorf("got the tags %v, want folders, then labels", got)
	}
	item := get[contents](t, w, "reader", streamPath+"user/-/label/more", "").Items[0]
	if !slices.Contains(item.Categories, "user/-/label/more") || !slices.Contains(item.Categories, "user/-/label/to read") {
		t.Errorf("got the categories %v", item.Categories)
	}
	w.mustEdit(t, "reader", "/reader/api/0/mark-all-as-read", "s=user/-/label/more")
	w.wantIDs(t, "reader", "user/-/label/to+read&xt=user/-/state/com.google/read", 1)
	w.mustEdit(t, "reader", "/reader/api/0/edit-tag", "r=user/-/label/to+read"+two)
	w.wantIDs(t, "reader", "user/-/label/to+read", 1)
	w.mustEdit(t, "ann", "/reader/api/0/edit-tag", "a=user/-/label/mine"+one)
	w.mustEdit(t, "ann", "/reader/api/0/rename-tag", "s=user/-/label/mine&dest=user/-/label/yours")
	w.wantIDs(t, "ann", "user/-/label/mine", 0)
	w.wantIDs(t, "ann", "user/-/label/yours", 1)
	w.mustEdit(t, "ann", "/reader/api/0/disable-tag", "s=user/-/label/yours")
	w.wantIDs(t, "ann", "user/-/label/yours", 0)
}
