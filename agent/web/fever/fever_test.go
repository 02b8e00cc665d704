package fever_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/service/servicetest"
	"feedmesh/agent/web/fever"
	"feedmesh/agent/web/greader"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

var noon = time.Date(2026, 9, 29, 12, 0, 0, 0, time.UTC)

// A fixture is the API over a feed of 60 items in the folders News and Local, and one of three in News. The keys of the
// clients are their names.
type fixture struct {
	*servicetest.Testbed
	*httptest.Server
	now   time.Time
	items []storage.Item // of the first feed, oldest first
	err   error          // of the next login
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{now: noon}
	f.Testbed = servicetest.New(t, func() time.Time { return f.now })
	f.AddFeeds(t, storage.Feed{ID: "a", URL: "https://a.example/feed", Title: "A <b>", Site: "https://a.example/", Tags: []string{"News", "Local"}, Added: noon},
		storage.Feed{ID: "b", URL: "https://b.example/feed", Title: "B", Tags: []string{"News"}, Added: noon})
	f.items = f.put(t, "a", 60, noon.Add(-2*time.Hour))
	f.put(t, "b", 3, noon.Add(-time.Minute))
	api := fever.Handler(f.Service, func(_ *http.Request, key string) (access.Client, error) {
		if f.err != nil || key != "ann" && key != "bob" {
			return access.Client{}, errors.Join(f.err, access.ErrInvalidToken)
		}
		return access.Client{ID: key, Name: key, Scopes: []access.Scope{access.Read}}, nil
	})
	reader := greader.Handler(f.Service, nil)
	f.Server = httptest.NewServer(greader.NormalizePaths(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/fever") {
			api.ServeHTTP(w, r)
			return
		}
		reader.ServeHTTP(w, r.WithContext(f.as("ann")))
	})))
	t.Cleanup(f.Close)
	return f
}

func (f *fixture) as(name string) context.Context {
	return access.With(context.Background(), access.Client{ID: name, Name: name, Scopes: access.Scopes})
}

// put stores n items of a feed, a minute apart.
func (f *fixture) put(t *testing.T, feed string, n int, from time.Time) []storage.Item {
	t.Helper()
	items := make([]storage.Item, n)
	for i := range items {
		seen := from.Add(time.Duration(i) * time.Minute)
		items[i] = storage.Item{Key: fmt.Sprint(from.Unix(), i), Title: fmt.Sprint("Title <i>", i), URL: fmt.Sprint("https://example.org/", i), HTML: "<p>Text</p>", Author: "Ann", Published: seen, FirstSeen: seen}
	}
	return f.PutItems(t, feed, items...)
}

// An answer has the members of the protocol.
type answer struct {
	Version   int    `json:"api_version"`
	Auth      int    `json:"auth"`
	Refreshed int64  `json:"last_refreshed_on_time"`
	Unread    string `json:"unread_item_ids"`
	Saved     string `json:"saved_item_ids"`
	Groups    []struct {
		ID    int32
		Title string
	}
	Feeds []struct {
		ID      int32
		Favicon int32 `json:"favicon_id"`
		Title   string
		URL     string
		Site    string `json:"site_url"`
		Spark   int    `json:"is_spark"`
		Updated int64  `json:"last_updated_on_time"`
	}
	Relations []struct {
		Group int32  `json:"group_id"`
		Feeds string `json:"feed_ids"`
	} `json:"feeds_groups"`
	Items []struct {
		ID      int32
		Feed    int32 `json:"feed_id"`
		Title   string
		Author  string
		HTML    string
		URL     string
		Saved   int   `json:"is_saved"`
		Read    int   `json:"is_read"`
		Created int64 `json:"created_on_time"`
	}
	Total    int64 `json:"total_items"`
	Links    *[]any
	Favicons *[]any
}

// get sends a request of a client with parameters in the address and a form, and returns the answer.
func (f *fixture) get(t *testing.T, as, query string, form ...string) (a answer) {
	t.Helper()
	body := "api_key=" + as + "&" + strings.Join(form, "&")
	r, err := f.Client().Post(f.URL+"/fever/?api&"+query, "application/x-www-form-urlencoded", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &a); err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: got %d %.500s, %v", query, body, r.StatusCode, text, err)
	}
	return a
}

func numbers(t *testing.T, list string) (all []int) {
	t.Helper()
	for _, text := range strings.FieldsFunc(list, func(c rune) bool { return c == ',' }) {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, n)
	}
	return all
}

func ids(a answer) (all []int) {
	for _, i := range a.Items {
		all = append(all, int(i.ID))
	}
	return all
}

// The members are those of the protocol's description.
func TestHandler_AnswersAsDescribed(t *testing.T) {
	f := newFixture(t)
	a := f.get(t, "ann", "")
	if a.Version != 3 || a.Auth != 1 || a.Refreshed != noon.Unix() || a.Items != nil || a.Groups != nil {
		t.Errorf("got %+v, want the members of every answer alone", a)
	}
	a = f.get(t, "ann", "groups")
	if len(a.Groups) != 2 || a.Groups[0].Title != "Local" || a.Groups[1].Title != "News" || len(a.Relations) != 2 || a.Feeds != nil {
		t.Fatalf("got %+v, want two groups", a)
	}
	local, news := a.Groups[0].ID, a.Groups[1].ID
	b := f.get(t, "bob", "feeds&groups&favicons&links")
	if len(b.Feeds) != 2 || len(b.Relations) != 2 || b.Groups[1].ID != news || b.Favicons == nil || len(*b.Favicons) != 0 || b.Links == nil || len(*b.Links) != 0 {
		t.Fatalf("got %+v, want two feeds", b)
	}
	first := b.Feeds[0]
	if first.Title != "A ＜b＞" || first.URL != "https://a.example/feed" || first.Site != "https://a.example/" || first.Updated != f.items[59].Published.Unix() || first.Spark != 0 || first.ID <= 0 {
		t.Errorf("got the feed %+v", first)
	}
	for _, r := range a.Relations {
		want := map[int32][]int{local: {int(first.ID)}, news: {int(first.ID), int(b.Feeds[1].ID)}}[r.Group]
		if got := numbers(t, r.Feeds); !slices.Equal(got, want) {
			t.Errorf("got the feeds %v of group %d, want %v", got, r.Group, want)
		}
	}
	a = f.get(t, "ann", "items&since_id=0")
	if len(a.Items) != 50 || a.Total != 63 {
		t.Fatalf("got %d of %d items, want 50 of 63", len(a.Items), a.Total)
	}
	i := a.Items[0]
	if i.Feed != first.ID || i.Title != "Title ＜i＞0" || i.Author != "Ann" || i.HTML != "<p>Text</p>" || i.URL != "https://example.org/0" || i.Saved != 0 || i.Read != 0 || i.Created != f.items[0].Published.Unix() {
		t.Errorf("got the item %+v", i)
	}
}

// Apps request pages of 50 items after the largest or before the smallest number that they have, or up to 50 by number.
func TestItems_Pages(t *testing.T) {
	f := newFixture(t)
	var all []int
	for since := 0; ; {
		page := ids(f.get(t, "ann", fmt.Sprint("items&since_id=", since)))
		if len(page) == 0 {
			break
		}
		all = append(all, page...)
		since = slices.Max(page)
	}
	if len(all) != 63 || !slices.IsSorted(all) {
		t.Fatalf("got %v, want 63 numbers in order", all)
	}
	var back []int
	for before := 0; ; {
		page := ids(f.get(t, "ann", fmt.Sprint("items&max_id=", before)))
		if len(page) == 0 {
			break
		}
		back = append(back, page...)
		before = slices.Min(page)
	}
	slices.Reverse(back)
	if !slices.Equal(back, all) {
		t.Errorf("backwards: got %v, want %v", back, all)
	}
	if got := numbers(t, f.get(t, "ann", "unread_item_ids").Unread); !slices.Equal(got, all) {
		t.Errorf("unread: got %v, want %v", got, all)
	}
	got := ids(f.get(t, "ann", fmt.Sprintf("items&with_ids=%d,%d,99999,%d", all[5], all[1], all[5])))
	if !slices.Equal(got, []int{all[5], all[1]}) {
		t.Errorf("by number: got %v, want %v", got, []int{all[5], all[1]})
	}
}

// An item whose document was fetched before others, but stored after an app has those, is among the items after them.
func TestItems_StoredLateAreAfterAllOthers(t *testing.T) {
	f := newFixture(t)
	last := slices.Max(numbers(t, f.get(t, "ann", "unread_item_ids").Unread))
	f.put(t, "b", 1, noon.Add(-30*time.Minute))
	f.now = noon.Add(time.Minute)
	got := ids(f.get(t, "ann", fmt.Sprint("items&since_id=", last)))
	if len(got) != 1 || got[0] <= last {
		t.Errorf("got %v after %d, want the late item", got, last)
	}
	f.put(t, "b", 1, noon.AddDate(0, 0, -3)) // much later: found within the hour
	f.now = noon.Add(2 * time.Hour)
	if after := ids(f.get(t, "ann", fmt.Sprint("items&since_id=", got[0]))); len(after) != 1 {
		t.Errorf("got %v, want the item that was stored days later", after)
	}
}

// What an app changes shows in the Google Reader API and the reading list, and the reverse.
func TestMark_SameMarksEverywhere(t *testing.T) {
	f := newFixture(t)
	all := numbers(t, f.get(t, "ann", "unread_item_ids").Unread)
	if a := f.get(t, "ann", "", "mark=item", "as=saved", fmt.Sprint("id=", all[0])); a.Saved != fmt.Sprint(all[0]) {
		t.Errorf("got saved %q, want %d", a.Saved, all[0])
	}
	if a := f.get(t, "ann", "", "mark=item", "as=read", fmt.Sprint("id=", all[1])); slices.Contains(numbers(t, a.Unread), all[1]) {
		t.Error("an item that was read is unread")
	}
	starred, err := f.Reading.List(f.as("ann"), wire.ReadingQuery{Show: wire.ShowStarred, Limit: 10})
	if err != nil || len(starred.Items) != 1 || starred.Items[0].ID != f.items[0].ID {
		t.Errorf("reading list: got %+v, %v; want the saved item", starred, err)
	}
	unread, err := f.Reading.List(f.as("ann"), wire.ReadingQuery{Limit: 100})
	if err != nil || len(unread.Items) != 62 {
		t.Errorf("reading list: got %d unread items, %v; want 62", len(unread.Items), err)
	}
	r, err := f.Client().Get(f.URL + "/reader/api/0/stream/contents/user/-/state/com.google/starred")
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(r.Body)
	r.Body.Close()
	if !strings.Contains(string(text), `"Title ＜i＞0"`) {
		t.Errorf("Google Reader API: got %.300s, want the saved item", text)
	}
	edit := url.Values{"i": {fmt.Sprint(storage.ItemNumber(f.items[2].ID))}, "a": {"user/-/state/com.google/starred", "user/-/state/com.google/read"}, "r": {}}
	if r, err = f.Client().PostForm(f.URL+"/reader/api/0/edit-tag", edit); err != nil || r.StatusCode != http.StatusOK {
		t.Fatal(r, err)
	}
	r.Body.Close()
	a := f.get(t, "ann", "unread_item_ids&saved_item_ids&items&with_ids="+fmt.Sprint(all[2]))
	if a.Saved != fmt.Sprintf("%d,%d", all[0], all[2]) || len(numbers(t, a.Unread)) != 61 || a.Items[0].Saved != 1 || a.Items[0].Read != 1 {
		t.Errorf("got saved %q, %d unread, %+v; want the marks of the Google Reader API", a.Saved, len(numbers(t, a.Unread)), a.Items)
	}
	if b := f.get(t, "bob", "saved_item_ids&unread_item_ids"); b.Saved != "" || len(numbers(t, b.Unread)) != 63 {
		t.Errorf("another client: got %+v", b)
	}
	f.get(t, "ann", "", "mark=item", "as=unread", fmt.Sprint("id=", all[1]))
	f.get(t, "ann", "", "mark=item", "as=unsaved", fmt.Sprint("id=", all[0]))
	if a := f.get(t, "ann", "saved_item_ids&unread_item_ids"); a.Saved != fmt.Sprint(all[2]) || len(numbers(t, a.Unread)) != 62 {
		t.Errorf("got saved %q and %d unread", a.Saved, len(numbers(t, a.Unread)))
	}
}

// Items that arrived after the time of the app's last request stay unread.
func TestMark_FeedsAndGroupsBefore(t *testing.T) {
	f := newFixture(t)
	a := f.get(t, "ann", "groups&feeds")
	local, news := a.Groups[0].ID, a.Groups[1].ID
	unread := func(as string, form ...string) int {
		t.Helper()
		return len(numbers(t, f.get(t, as, "unread_item_ids", form...).Unread))
	}
	if n := unread("ann", "mark=feed", "as=read", fmt.Sprint("id=", a.Feeds[0].ID), fmt.Sprint("before=", f.items[9].FirstSeen.Unix())); n != 53 {
		t.Errorf("a feed: got %d unread, want 53", n)
	}
	if n := unread("ann", "mark=group", "as=read", fmt.Sprint("id=", local), fmt.Sprint("before=", f.items[19].FirstSeen.Unix())); n != 43 {
		t.Errorf("a group: got %d unread, want 43", n)
	}
	if n := unread("ann", "mark=group", "as=read", "id=-1", fmt.Sprint("before=", noon.Unix())); n != 43 {
		t.Errorf("sparks: got %d unread, want 43", n)
	}
	if n := unread("ann", "mark=group", "as=read", "id=0", fmt.Sprint("before=", f.items[59].FirstSeen.Unix())); n != 3 {
		t.Errorf("all feeds: got %d unread, want 3", n)
	}
	if n := unread("bob", "mark=group", "as=read", fmt.Sprint("id=", news), fmt.Sprint("before=", noon.AddDate(1, 0, 0).Unix())); n > 2 {
		t.Errorf("in the future: got %d unread, want those of the future", n)
	}
	for _, ignored := range []string{"mark=item", "mark=feed", "mark=group"} {
		if n := unread("ann", ignored, "as=read", "id=99999"); n != 3 {
			t.Errorf("%s: got %d unread, want 3", ignored, n)
		}
	}
}

func TestHandler_Credentials(t *testing.T) {
	f := newFixture(t)
	for _, key := range []string{"", "wrong"} {
		if a := f.get(t, key, "groups"); a.Version != 3 || a.Auth != 0 || a.Groups != nil || a.Refreshed != 0 {
			t.Errorf("%q: got %+v, want no access", key, a)
		}
	}
	// A key in the address would be in logs; a form of either type has it.
	for path, want := range map[string]int{"/fever/?api": 1, "/fever?api": 1, "//fever/?api": 1, "/fever/index.php?api": 1} {
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		form.WriteField("api_key", "ann")
		form.Close()
		r, err := f.Client().Post(f.URL+path, form.FormDataContentType(), &body)
		if err != nil {
			t.Fatal(err)
		}
		var a answer
		if err := json.NewDecoder(r.Body).Decode(&a); err != nil || a.Auth != want {
			t.Errorf("%s: got %d %+v, %v", path, r.StatusCode, a, err)
		}
		r.Body.Close()
	}
	f.err = &access.GuessError{Wait: 1500 * time.Millisecond}
	r, err := f.Client().PostForm(f.URL+"/fever/?api", nil)
	if err != nil || r.StatusCode != http.StatusTooManyRequests || r.Header.Get("Retry-After") != "2" {
		t.Errorf("too many keys: got %v, %v", r, err)
	}
	r.Body.Close()
}

func TestHandler_WrongRequests(t *testing.T) {
	f := newFixture(t)
	for _, form := range []string{"mark=item&as=liked&id=1", "mark=feed&as=saved&id=1", "mark=story&as=read&id=1", "mark=item&as=read&id=x", "mark=group&as=unread&id=0"} {
		r, err := f.Client().Post(f.URL+"/fever/?api", "application/x-www-form-urlencoded", strings.NewReader("api_key=ann&"+form))
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if feed := strings.Contains(form, "mark=feed"); r.StatusCode != http.StatusBadRequest && !feed {
			t.Errorf("%s: got %d, want 400", form, r.StatusCode)
		}
	}
	// GET changes nothing.
	r, err := f.Client().Get(f.URL + "/fever/?api&api_key=ann&mark=group&as=read&id=0")
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if n := len(numbers(t, f.get(t, "ann", "unread_item_ids").Unread)); n != 63 {
		t.Errorf("got %d unread after GET, want 63", n)
	}
	for _, query := range []string{"items&since_id=x", "items&with_ids=x", "items&max_id=1.5"} {
		r, err := f.Client().Post(f.URL+"/fever/?api&"+query, "application/x-www-form-urlencoded", strings.NewReader("api_key=ann"))
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: got %d, want 400", query, r.StatusCode)
		}
	}
}
