package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"feedmesh/agent/client"
	"feedmesh/agent/service"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// putRules saves a text with a base version and returns the response.
func (w *testbed) putRules(t *testing.T, from int64, text string) wire.SavedRules {
	t.Helper()
	a := w.request(t, "PUT", "/api/rules/prepare?note=mine", text, "If-Match", fmt.Sprintf(`"%d"`, from))
	var put wire.SavedRules
	if err := json.Unmarshal([]byte(a.body), &put); a.StatusCode != 200 || err != nil {
		t.Fatalf("got %d %s, %v", a.StatusCode, a.body, err)
	}
	return put
}

// active fails unless the mesh has this version of the rules.
func (w *testbed) inForce(t *testing.T, version int64, text string) {
	t.Helper()
	if got := w.Mesh.Rules["prepare"]; got.Version != version || string(got.Text) != text {
		t.Errorf("version %d %q is in force, want %d %q", got.Version, got.Text, version, text)
	}
}

func TestRules_EditVersions(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	a := w.request(t, "GET", "/api/rules/prepare", "")
	if a.body != "keep all\n" || a.Header.Get("ETag") != `"0"` || a.Header.Get("Content-Type") != wire.RulesType {
		t.Errorf("got %q of version %s as %s, want the built-in rules", a.body, a.Header.Get("ETag"), a.Header.Get("Content-Type"))
	}
	want := wire.SavedRules{RuleVersion: wire.RuleVersion{Version: 1, Note: "mine", Changed: now}, Notified: true}
	if got := w.putRules(t, 0, "keep tables\n"); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	w.inForce(t, 1, "keep tables\n")
	w.putRules(t, 1, "keep code\n")
	w.inForce(t, 2, "keep code\n")
	if a := w.request(t, "GET", "/api/rules/prepare", ""); a.body != "keep code\n" || a.Header.Get("ETag") != `"2"` {
		t.Errorf("got %q of version %s, want the newest", a.body, a.Header.Get("ETag"))
	}
	if a := w.request(t, "GET", "/api/rules/prepare?version=1", ""); a.body != "keep tables\n" || a.Header.Get("ETag") != `"1"` {
		t.Errorf("got %q of version %s, want the first", a.body, a.Header.Get("ETag"))
	}
	got := getJSON[wire.RuleSets](t, w, "/api/rules").Sets
	wantSets := []wire.RuleSet{
		{Name: "prepare", Does: "cleans", Version: 2, Note: "mine", Changed: now, Agents: []wire.RuleAgent{{ID: "a1", Host: "pi", Version: 1}}},
		{Name: "classify", Does: "labels", Agents: []wire.RuleAgent{}},
	}
	if !reflect.DeepEqual(got, wantSets) {
		t.Errorf("got %+v, want %+v", got, wantSets)
	}
}

func TestRules_RejectsInvalid(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.putRules(t, 0, "keep tables\n")
	bad := "keep\nlose\nkeep\n" + strings.Repeat("x\n", 2*service.MaxRuleErrors)
	a := w.request(t, "PUT", "/api/rules/prepare?version=1", bad)
	a.isProblem(t, 422, "rules prepare are invalid, nothing was changed")
	var p struct{ Errors []struct{ Message string } }
	if err := json.Unmarshal([]byte(a.body), &p); err != nil || len(p.Errors) != service.MaxRuleErrors+1 ||
		p.Errors[0].Message != `line 2: "lose" is no rule` || p.Errors[service.MaxRuleErrors].Message != "and 101 more" {
		t.Errorf("got %s, %v; want each fault, and how many more", a.body, err)
	}
	w.inForce(t, 1, "keep tables\n")
	if versions := getJSON[wire.RuleVersionPage](t, w, "/api/rules/prepare/versions").Versions; len(versions) != 1 {
		t.Errorf("got %+v, want the sound version alone", versions)
	}
	check := w.request(t, "POST", "/api/rules/prepare/check", "lose\n")
	if want := `"sound":false,"faults":["line 1: \"lose\" is no rule"]`; !strings.Contains(check.body, want) {
		t.Errorf("got %s, want %s", check.body, want)
	}
	check = w.request(t, "POST", "/api/rules/prepare/check", "keep\n")
	if want := `"sound":true,"faults":[]`; !strings.Contains(check.body, want) {
		t.Errorf("got %s, want %s", check.body, want)
	}
	w.inForce(t, 1, "keep tables\n")
}

func TestRules_EditConflict(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.putRules(t, 0, "keep tables\n")
	a := w.request(t, "PUT", "/api/rules/prepare", "keep code\n", "If-Match", `W/"0"`)
	a.isProblem(t, 409, `rules prepare: your rules are based on version 0, but version 1 was stored at 2026-01-02T03:04:05Z with note "mine"`)
	w.request(t, "PUT", "/api/rules/prepare?version=1", "keep code\n", "If-Match", "2").isProblem(t, 400, `If-Match states version "2", the query "1"`)
	w.request(t, "PUT", "/api/rules/prepare", "keep code\n", "If-Match", "*").isProblem(t, 400, `"*" is not a version`)
	w.request(t, "PUT", "/api/rules/prepare?version=-1", "keep code\n").isProblem(t, 400, `"-1" is not a version`)
	w.request(t, "PUT", "/api/rules/prepare", "keep code\n").isProblem(t, 428, "state the base version")
	w.inForce(t, 1, "keep tables\n")
}

func TestRules_RestoreAddsVersion(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.putRules(t, 0, "keep tables\n")
	w.putRules(t, 1, "keep code\n")
	w.request(t, "POST", "/api/rules/prepare/restore?version=1", "")
	w.inForce(t, 3, "keep tables\n")
	w.request(t, "POST", "/api/rules/prepare/restore?version=0", "")
	w.inForce(t, 4, "keep all\n")
	page := getJSON[wire.RuleVersionPage](t, w, "/api/rules/prepare/versions?limit=2")
	want := wire.RuleVersionPage{Next: 3, Versions: []wire.RuleVersion{
		{Version: 4, Note: "built-in rules restored", Changed: now}, {Version: 3, Note: "version 1 restored", Changed: now},
	}}
	if !reflect.DeepEqual(page, want) {
		t.Errorf("got %+v, want %+v", page, want)
	}
	if page := getJSON[wire.RuleVersionPage](t, w, "/api/rules/prepare/versions?before=3"); len(page.Versions) != 2 || page.Next != 0 {
		t.Errorf("got %+v, want the other two", page)
	}
	// A text that an older version accepted may be invalid now.
	if _, err := storage.RuleSets(w.Store).Put(t.Context(), storage.RuleSet{Name: "prepare", Version: 4, Text: []byte("lose\n")}); err != nil {
		t.Fatal(err)
	}
	w.request(t, "POST", "/api/rules/prepare/restore?version=5", "").isProblem(t, 422, "nothing was changed")
}

func TestRules_StoredWithoutMesh(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.Mesh.Broken = errors.New("the mesh is unavailable")
	if got := w.putRules(t, 0, "keep tables\n"); got.Version != 1 || got.Notified {
		t.Errorf("got %+v, want them stored and not published", got)
	}
}

func TestRules_SizeLimit(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	text := "keep" + strings.Repeat("x", storage.MaxRules-4)
	w.putRules(t, 0, text)
	w.request(t, "PUT", "/api/rules/prepare?version=1", text+"x").isProblem(t, 413, "")
	if a := w.request(t, "GET", "/api/rules/prepare", ""); a.body != text {
		t.Errorf("got %d bytes, want %d", len(a.body), len(text))
	}
}

func TestClient_ReadsRulesVersion(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	c, err := client.NewClient(w.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	w.putRules(t, 0, "keep tables\n")
	w.putRules(t, 1, "keep code\n")
	for version, want := range map[int64]wire.RuleText{0: {Name: "prepare", Version: 2, Text: "keep code\n"}, 1: {Name: "prepare", Version: 1, Text: "keep tables\n"}} {
		if got, err := client.ReadRules(t.Context(), c, "prepare", version); err != nil || got != want {
			t.Errorf("got %+v, %v; want %+v", got, err, want)
		}
	}
	var p *client.Problem
	if _, err := client.ReadRules(t.Context(), c, "none", 0); !errors.As(err, &p) || p.Status != 404 || !strings.Contains(p.Detail, "there are: prepare, classify") {
		t.Errorf("got %v, want an error that lists the sets", err)
	}
}
