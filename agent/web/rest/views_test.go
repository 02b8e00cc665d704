package rest

import (
	"strings"
	"testing"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// putView saves a view and returns the answer.
func putView(t *testing.T, w *testbed, definition string, header ...string) answer {
	t.Helper()
	name := strings.Fields(definition)[1]
	return w.request(t, "PUT", "/api/views/"+name, `{"definition":"`+strings.ReplaceAll(definition, `"`, `\"`)+`"}`, header...)
}

// admit makes items members of a view, in order of entry.
func admit(t *testing.T, w *testbed, name string, ids ...string) {
	t.Helper()
	v, err := storage.Views(w.Store).Get(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	items, err := w.Store.Items(t.Context(), ids...)
	if err != nil {
		t.Fatal(err)
	}
	var members []storage.Member
	for _, item := range items {
		members = append(members, storage.Member{View: v.Number, ItemID: item.ID, Entered: time.Now(), Published: item.Time()})
	}
	if err := w.Store.ChangeMembers(t.Context(), storage.Fence{}, members, nil); err != nil {
		t.Fatal(err)
	}
}

func TestViews_RoundTrip(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	const definition = `view kernels "Kernels" = from all where kernel once story window 520w labels linux`
	a := putView(t, w, definition)
	saved := answerAs[wire.ViewState](t, a)
	if a.StatusCode != 200 || saved.Definition != definition || !saved.Mine || saved.Filled || saved.Set.Labels[0] != "linux" {
		t.Fatalf("got %d %+v", a.StatusCode, saved)
	}
	if same := answerAs[wire.ViewState](t, putView(t, w, definition)); !same.Changed.Equal(saved.Changed) {
		t.Errorf("an unchanged view was changed at %v, before at %v", same.Changed, saved.Changed)
	}
	id := w.itemOf("1")
	admit(t, w, "kernels", id)
	items := getJSON[wire.ViewItems](t, w, "/api/views/kernels/items")
	if len(items.Items) != 1 || items.Items[0].ID != id || items.Next != "" {
		t.Errorf("got %+v", items)
	}
	if all := getJSON[wire.Views](t, w, "/api/views").Views; len(all) != 1 || all[0].Members != 1 {
		t.Errorf("got %+v", all)
	}
	for _, format := range []string{"rss", "atom", "json"} {
		a := w.request(t, "GET", "/outputs/views/kernels."+format, "")
		if a.StatusCode != 200 || !strings.Contains(a.body, "Kernels") || !strings.Contains(a.body, "linux") {
			t.Errorf("%s: got %d %s", format, a.StatusCode, a.body)
		}
		if a.Header.Get("ETag") == "" {
			t.Errorf("%s: got no ETag", format)
		}
	}
	if a := w.request(t, "GET", "/outputs/views/nothing.rss", ""); a.StatusCode != 404 {
		t.Errorf("got %d for a missing view", a.StatusCode)
	}
}

func TestViews_PagesInOrder(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	for _, order := range []string{"", " sort oldest", " sort best", " limit 1"} {
		name := "v" + strings.ReplaceAll(strings.TrimSpace(order), " ", "-")
		if a := putView(t, w, "view "+name+" = from all"+order); a.StatusCode != 200 {
			t.Fatalf("got %d %s", a.StatusCode, a.body)
		}
		ids := []string{w.itemOf("1"), w.itemOf("2")}
		admit(t, w, name, ids...)
		whole := getJSON[wire.ViewItems](t, w, "/api/views/"+name+"/items")
		var paged []string
		for next := ""; ; {
			page := getJSON[wire.ViewItems](t, w, "/api/views/"+name+"/items?limit=1&cursor="+next)
			for _, item := range page.Items {
				paged = append(paged, item.ID)
			}
			if next = page.Next; next == "" {
				break
			}
		}
		want := 2
		if order == " limit 1" {
			want = 1
		}
		if len(whole.Items) != want || len(paged) != want {
			t.Errorf("%s: got %d items at once and %d by pages, want %d", name, len(whole.Items), len(paged), want)
			continue
		}
		for i, id := range paged {
			if whole.Items[i].ID != id {
				t.Errorf("%s: position %d differs", name, i)
			}
		}
	}
}

func TestViews_Conflicts(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	for _, good := range []string{"view a = from all", "view b = from view:a"} {
		if a := putView(t, w, good); a.StatusCode != 200 {
			t.Fatalf("%s: got %d %s", good, a.StatusCode, a.body)
		}
	}
	for definition, why := range map[string]string{
		"view a = from view:b":                   "a > b > a",
		"view c = from view:missing":             "missing",
		"view c for people = from view:a":        "publish that one too",
		"view c = from feed:nothing":             "no feed's ID",
		"view c = from all where feed:habr":      "no feed's ID",
		"view c = from all where is:unread":      "depends on the person",
		"view c = from all where (":              "parenthesis",
		"view c = from all once day":             "duplicate or story",
		"view c = from all join view:c":          "c > c",
		"view c = from all where age:<2d sort x": "oldest or best",
	} {
		putView(t, w, definition).isProblem(t, 409, why)
	}
	w.request(t, "DELETE", "/api/views/a", "").isProblem(t, 409, "read by b")
	if a := w.request(t, "DELETE", "/api/views/b", ""); a.StatusCode != 204 {
		t.Errorf("got %d", a.StatusCode)
	}
	if a := w.request(t, "DELETE", "/api/views/a", ""); a.StatusCode != 204 {
		t.Errorf("got %d", a.StatusCode)
	}
}

func TestViews_AreReadByTheirReaders(t *testing.T) {
	t.Parallel()
	w := newTestbed(t, withOwner)
	all := w.everybody(t)
	mine := []string{"Authorization", all[access.Write]}
	for _, definition := range []string{"view own = from all", "view people for people = from all", "view public for everyone = from all"} {
		if a := putView(t, w, definition, mine...); a.StatusCode != 200 {
			t.Fatalf("got %d %s", a.StatusCode, a.body)
		}
	}
	for scope, want := range map[access.Scope]string{
		access.Search: "public", access.Read: "people public", access.Write: "own people public", access.Admin: "own people public",
	} {
		got := answerAs[wire.Views](t, w.request(t, "GET", "/api/views", "", "Authorization", all[scope]))
		var names []string
		for _, v := range got.Views {
			names = append(names, v.Name)
		}
		if strings.Join(names, " ") != want {
			t.Errorf("scope %s: got %v, want %s", scope, names, want)
		}
		for _, name := range []string{"own", "people", "public"} {
			status := 404
			if strings.Contains(want, name) {
				status = 200
			}
			for _, path := range []string{"/api/views/" + name, "/api/views/" + name + "/items", "/outputs/views/" + name + ".json"} {
				if a := w.request(t, "GET", path, "", "Authorization", all[scope]); a.StatusCode != status {
					t.Errorf("scope %s, %s: got %d, want %d", scope, path, a.StatusCode, status)
				}
			}
		}
	}
	other := w.request(t, "PUT", "/api/views/people", `{"definition":"view people = from all"}`, "Authorization", all[access.Rules])
	other.isProblem(t, 409, "someone else")
	w.request(t, "DELETE", "/api/views/people", "", "Authorization", all[access.Rules]).isProblem(t, 409, "someone else")
	putView(t, w, "view x = from view:own", "Authorization", all[access.Rules]).isProblem(t, 409, "does not exist")
}
