package rest

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/service"
	"feedmesh/agent/service/servicetest"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// done requests a manual edit and returns the response.
func done[T any](t *testing.T, w *testbed, status int, method, path, content string) T {
	t.Helper()
	a := w.request(t, method, path, content)
	var v T
	if err := json.Unmarshal([]byte(a.body), &v); a.StatusCode != status || err != nil {
		t.Fatalf("%s %s %s: got %d %s, %v, want %d", method, path, content, a.StatusCode, a.body, err, status)
	}
	return v
}

func TestSplitStory_EventIsIdempotent(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.kernel(t)
	w.act(t, func(h subjects.Override) storage.Rearrangement {
		if h.Kind != subjects.SplitEvent || h.A != w.eventOf("k4") || h.B != w.storyOf("k1") || h.ID == "" {
			t.Errorf("got %+v, want the event and the story that it leaves", h)
		}
		return storage.Rearrangement{Events: []storage.EventMove{{EventID: h.A, StoryID: storage.StoryID(h.A)}}}
	})
	path, content := "/api/stories/"+w.storyOf("k1")+"/split", `{"event_id":"`+w.eventOf("k4")+`"}`
	for range 2 {
		if s := done[wire.StoryView](t, w, 200, "POST", path, content); s.Story.Items != 3 || s.Events != 1 || s.Pending {
			t.Errorf("got %+v, want the rest of the story", s)
		}
	}
	if hands := w.hands(t); len(hands) != 1 {
		t.Errorf("the cluster actor got %+v, want one edit", hands)
	}
	if task := servicetest.Published(t, w.Mesh, subjects.ClusterQueue)[0]; task.Partition != "en" {
		t.Errorf("got partition %q, want that of the items", task.Partition)
	}
}

func TestSplitStory_ItemIsIdempotent(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.kernel(t)
	w.act(t, func(h subjects.Override) storage.Rearrangement {
		if h.Kind != subjects.SplitItem || h.A != w.itemOf("k2") {
			t.Errorf("got %+v, want the item", h)
		}
		return storage.Rearrangement{Items: []storage.Placement{{ItemID: h.A, EventID: w.eventOf("k2"), StoryID: w.storyOf("k2"), DuplicateBy: "hand"}}}
	})
	path, content := "/api/stories/"+w.storyOf("k1")+"/split", `{"item_id":"`+w.itemOf("k2")+`"}`
	for range 2 {
		if s := done[wire.StoryView](t, w, 200, "POST", path, content); s.Story.Items != 3 || len(s.Timeline[0].Items[0].Duplicates) != 0 {
			t.Errorf("got %+v, want the story without it", s)
		}
	}
	if hands := w.hands(t); len(hands) != 1 {
		t.Errorf("the cluster actor got %+v, want one edit", hands)
	}
}

func TestJoinStories_IsIdempotent(t *testing.T) {
	t.Parallel()
	for name, into := range map[string]string{"the first keeps its ID": "k1", "the other keeps its ID": "k5"} {
		t.Run(name, func(t *testing.T) {
			w := newTestbed(t)
			w.kernel(t)
			w.act(t, func(h subjects.Override) storage.Rearrangement {
				if h.Kind != subjects.JoinStories || h.A != w.storyOf("k1") || h.B != w.storyOf("k5") {
					t.Errorf("got %+v, want both stories", h)
				}
				var moves []storage.EventMove
				for _, event := range []string{"k1", "k4", "k5"} {
					moves = append(moves, storage.EventMove{EventID: w.eventOf(event), StoryID: w.storyOf(into)})
				}
				return storage.Rearrangement{Events: moves}
			})
			path, content := "/api/stories/"+w.storyOf("k1")+"/join", `{"story_id":"`+w.storyOf("k5")+`"}`
			for range 2 {
				if s := done[wire.StoryView](t, w, 200, "POST", path, content); s.ID != w.storyOf(into) || s.Story.Items != 5 || s.Events != 3 {
					t.Errorf("got %+v, want one story", s)
				}
			}
			if hands := w.hands(t); len(hands) != 1 {
				t.Errorf("the cluster actor got %+v, want one edit", hands)
			}
		})
	}
}

func TestDuplicates_ManualEdits(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.kernel(t)
	w.act(t, func(h subjects.Override) storage.Rearrangement {
		p := storage.Placement{ItemID: h.B, EventID: w.eventOf("k1"), StoryID: w.storyOf("k1"), DuplicateOf: w.itemOf("k1"), DuplicateBy: "hand", DuplicateScore: 1, DuplicateReason: "joined by hand"}
		if h.Kind == subjects.DifferItem {
			p = storage.Placement{ItemID: h.A, EventID: w.eventOf("k1"), StoryID: w.storyOf("k1"), DuplicateBy: "hand", DuplicateScore: 1, DuplicateReason: "split by hand"}
		}
		return storage.Rearrangement{Items: []storage.Placement{p}}
	})
	path := "/api/items/" + w.itemOf("k3") + "/duplicate"
	for range 2 { // of k2, a duplicate of k1
		d := done[wire.Duplicates](t, w, 200, "PUT", path, `{"of":"`+w.itemOf("k2")+`"}`)
		if d.First.ID != w.itemOf("k1") || len(d.Items) != 2 || d.Items[1].ID != w.itemOf("k3") || d.Items[1].DuplicateBy != "hand" {
			t.Errorf("got %+v, want k1, and k3 among what repeats it", d)
		}
	}
	for range 2 {
		if d := done[wire.Duplicates](t, w, 200, "DELETE", path, ""); d.First.ID != w.itemOf("k3") || len(d.Items) != 0 {
			t.Errorf("got %+v, want k3 alone", d)
		}
	}
	want := []subjects.Override{{Kind: subjects.RepeatItem, A: w.itemOf("k2"), B: w.itemOf("k3")}, {Kind: subjects.DifferItem, A: w.itemOf("k3")}}
	hands := w.hands(t)
	for i := range hands {
		hands[i].ID = ""
	}
	if !slices.Equal(hands, want) {
		t.Errorf("the cluster actor got %+v, want %+v", hands, want)
	}
}

func TestStoryEdits_RejectsInvalid(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.kernel(t)
	k1, k5, r1 := w.storyOf("k1"), w.storyOf("k5"), w.storyOf("r1")
	for _, c := range []struct {
		method, path, content string
		status                int
		words                 string
	}{
		{"POST", "/api/stories/none/split", `{"event_id":"x"}`, 404, "story none"},
		{"POST", "/api/stories/" + k1 + "/split", `{"event_id":"` + w.eventOf("k5") + `"}`, 200, ""}, // alone already
		{"POST", "/api/stories/" + k1 + "/split", `{"event_id":"x"}`, 404, "event x in story"},
		{"POST", "/api/stories/" + k5 + "/split", `{"event_id":"` + w.eventOf("k5") + `"}`, 409, "nothing to split"},
		{"POST", "/api/stories/" + k5 + "/split", `{"event_id":"` + w.eventOf("k4") + `"}`, 404, "event " + w.eventOf("k4")},
		{"POST", "/api/stories/" + k5 + "/split", `{"item_id":"` + w.itemOf("k5") + `"}`, 409, "nothing to split"},
		{"POST", "/api/stories/" + k5 + "/split", `{"item_id":"` + w.itemOf("k4") + `"}`, 409, "belongs to story " + k1},
		{"POST", "/api/stories/" + k1 + "/split", `{"item_id":"` + w.itemOf("k1") + `"}`, 409, "has duplicates: split its event"},
		{"POST", "/api/stories/" + k1 + "/split", `{"item_id":"none"}`, 404, "item none"},
		{"POST", "/api/stories/" + k1 + "/split", `{}`, 422, "an event or an item"},
		{"POST", "/api/stories/" + k1 + "/split", `{"item_id":"a","event_id":"b"}`, 422, "not both"},
		{"POST", "/api/stories/" + k1 + "/join", `{"story_id":"` + k1 + `"}`, 409, "with itself"},
		{"POST", "/api/stories/" + k1 + "/join", `{"story_id":"` + r1 + `"}`, 409, "in language ru, this one in en"},
		{"POST", "/api/stories/" + k1 + "/join", `{"story_id":"none"}`, 404, "story none"},
		{"POST", "/api/stories/none/join", `{"story_id":"` + k1 + `"}`, 404, "story none"},
		{"PUT", "/api/items/" + w.itemOf("k3") + "/duplicate", `{"of":"` + w.itemOf("k3") + `"}`, 409, "duplicate of itself"},
		{"PUT", "/api/items/" + w.itemOf("k1") + "/duplicate", `{"of":"` + w.itemOf("k2") + `"}`, 409, "is a duplicate of this one"},
		{"PUT", "/api/items/" + w.itemOf("k1") + "/duplicate", `{"of":"` + w.itemOf("r1") + `"}`, 409, "in language ru"},
		{"PUT", "/api/items/" + w.itemOf("k1") + "/duplicate", `{"of":"none"}`, 404, "item none"},
		{"PUT", "/api/items/none/duplicate", `{"of":"` + w.itemOf("k1") + `"}`, 404, "item none"},
		{"DELETE", "/api/items/" + w.itemOf("k1") + "/duplicate", "", 409, "is not a duplicate"},
		{"DELETE", "/api/items/none/duplicate", "", 404, "item none"},
	} {
		a := w.request(t, c.method, c.path, c.content)
		if c.status >= 400 {
			a.isProblem(t, c.status, c.words)
		} else if a.StatusCode != c.status {
			t.Errorf("%s %s %s: got %d %s, want %d", c.method, c.path, c.content, a.StatusCode, a.body, c.status)
		}
	}
	if hands := w.hands(t); len(hands) != 0 {
		t.Errorf("the cluster actor got %+v, want no rejected edits", hands)
	}
}

func TestStoryEdits_PendingIsAccepted(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.kernel(t)
	w.server.StoryEdits.Timeout = 50 * time.Millisecond // no cluster actor runs
	k1 := "/api/stories/" + w.storyOf("k1")
	for _, s := range []wire.StoryView{
		done[wire.StoryView](t, w, 202, "POST", k1+"/split", `{"event_id":"`+w.eventOf("k4")+`"}`),
		done[wire.StoryView](t, w, 202, "POST", k1+"/split", `{"item_id":"`+w.itemOf("k2")+`"}`),
		done[wire.StoryView](t, w, 202, "POST", k1+"/join", `{"story_id":"`+w.storyOf("k5")+`"}`),
	} {
		if !s.Pending || !strings.Contains(s.Notes[0], "accepted") || s.Story.Items != 4 {
			t.Errorf("got %+v, want the story as it is, and that it will be done", s)
		}
	}
	for _, d := range []wire.Duplicates{
		done[wire.Duplicates](t, w, 202, "PUT", "/api/items/"+w.itemOf("k3")+"/duplicate", `{"of":"`+w.itemOf("k1")+`"}`),
		done[wire.Duplicates](t, w, 202, "DELETE", "/api/items/"+w.itemOf("k2")+"/duplicate", ""),
	} {
		if !d.Pending || !strings.Contains(d.Notes[0], "accepted") {
			t.Errorf("got %+v, want a pending edit", d)
		}
	}
	if hands := w.hands(t); len(hands) != 5 {
		t.Errorf("the cluster actor got %+v, want all five", hands)
	}
}

func TestStoryEdits_OlderAgentRejects(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.kernel(t)
	w.Mesh.AgentSchema = service.EditSchema - 1
	w.request(t, "POST", "/api/stories/"+w.storyOf("k1")+"/split", `{"event_id":"`+w.eventOf("k4")+`"}`).isProblem(t, 503, "an agent of an older version")
	if n := len(w.Mesh.Published); n != 0 {
		t.Errorf("got %d messages, want none", n)
	}
}

func TestStoryEdits_PublishError(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.kernel(t)
	w.Mesh.Broken = errors.New("the mesh is unavailable")
	for _, c := range [][3]string{
		{"POST", "/api/stories/" + w.storyOf("k1") + "/split", `{"event_id":"` + w.eventOf("k4") + `"}`},
		{"POST", "/api/stories/" + w.storyOf("k1") + "/join", `{"story_id":"` + w.storyOf("k5") + `"}`},
		{"PUT", "/api/items/" + w.itemOf("k3") + "/duplicate", `{"of":"` + w.itemOf("k1") + `"}`},
		{"DELETE", "/api/items/" + w.itemOf("k2") + "/duplicate", ""},
	} {
		w.request(t, c[0], c[1], c[2]).isProblem(t, 503, "the mesh is unavailable")
	}
}
