package rest

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"feedmesh/agent/access"
	"feedmesh/agent/web/front"
)

// A guarded operation is an operation with the scope in its description.
type guardedOperation struct {
	OperationID string
	Security    []map[string][]string
}

// everybody returns what is to be shown by a client of each scope.
func (w *testbed) everybody(t *testing.T) map[access.Scope]string {
	t.Helper()
	secrets := map[access.Scope]string{}
	for _, scope := range append([]access.Scope{access.Metrics}, access.Scopes...) {
		secrets[scope] = "Bearer " + w.secret(t, scope)
	}
	return secrets
}

// The form of briefings changes nothing: a reader may send it.
func TestScopes_ReadersRequestBriefings(t *testing.T) {
	t.Parallel()
	if needed := (&guard{}).requiredScope(httptest.NewRequest("POST", front.BriefingPath, nil), "POST "+front.BriefingPath); needed != access.Read {
		t.Errorf("the form needs the scope %s", needed)
	}
}

// A new operation must be added to the table of scopes, so that its scope is chosen
// deliberately.
func TestScopes_OperationsMatchDescription(t *testing.T) {
	t.Parallel()
	w := newTestbed(t, withOwner, func(d *setup) { d.CORSOrigins = []string{"*"} })
	secrets := w.everybody(t)
	d := answerAs[struct {
		Paths map[string]map[string]guardedOperation
	}](t, w.request(t, "GET", "/openapi.json", "", "Authorization", "Bearer s3cret"))
	for path, methods := range d.Paths {
		for method, o := range methods {
			method = strings.ToUpper(method)
			needed, is := scopeTable(w.server.routes())[o.OperationID]
			if !is || len(o.Security) != 2 || !slices.Equal(o.Security[0]["bearer"], []string{string(needed)}) || !slices.Equal(o.Security[1]["basic"], []string{string(needed)}) {
				t.Errorf("%s is described as for %v: add it to the table of scopes", o.OperationID, o.Security)
				continue
			}
			at := strings.NewReplacer("{id}", "none", "{seq}", "999", "{name}", "none", "{kind}", "topic", "{value}", "none").Replace(path)
			if a := w.request(t, method, at, ""); a.StatusCode != http.StatusUnauthorized {
				t.Errorf("%s without a token: got %d, want 401", o.OperationID, a.StatusCode)
			}
			for scope, secret := range secrets {
				if slices.Contains(endless, o.OperationID) {
					continue
				}
				a := w.request(t, method, at, "", "Authorization", secret, "Origin", "https://public.example")
				may := access.Client{Scopes: []access.Scope{scope}}.May(needed)
				crosses := method != http.MethodGet // what changes something is nothing to pages of another site
				if got := a.StatusCode != http.StatusForbidden; got != (may && !crosses) || a.StatusCode == http.StatusUnauthorized {
					t.Errorf("%s as %s of another site: got %d %s, want it served: %v", o.OperationID, scope, a.StatusCode, a.body, may && !crosses)
				}
				if got := a.Header.Get("Access-Control-Allow-Origin") != ""; got != (needed == access.Search && method == http.MethodGet) {
					t.Errorf("%s as %s: another site may read it: %v", o.OperationID, scope, got)
				}
				if a := w.request(t, method, at, "", "Authorization", secret); a.StatusCode != http.StatusForbidden != may {
					t.Errorf("%s as %s: got %d %s, want it served: %v", o.OperationID, scope, a.StatusCode, a.body, may)
				}
			}
		}
	}
}

// endless are operations whose answers have no end.
var endless = []string{"watch-events"}

func TestScopes_MatchMethods(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	scopes := scopeTable(w.server.routes())
	d := getJSON[struct {
		Paths map[string]map[string]guardedOperation
	}](t, w, "/openapi.json")
	there := map[string]bool{}
	for path, methods := range d.Paths {
		for method, o := range methods {
			there[o.OperationID] = true
			scope := scopes[o.OperationID]
			if method == "get" && (scope == access.Write || scope == access.Rules || scope == access.Admin && path != "/api/tokens" && path != "/api/people") {
				t.Errorf("%s only looks, and takes scope %s", o.OperationID, scope)
			}
			// Marks, annotations, interests, what is followed, and passwords of apps belong to the token itself. The text of an item is shown to who may read it.
			looks := slices.Contains([]string{"check-rules", "test-rules", "fetch-text", "mark-items", "mark-all-read", "annotate-item", "put-follow", "remove-follow", "set-fever", "remove-fever",
				"signal-interest", "switch-interests", "forget-interests"}, o.OperationID)
			if method != "get" && !looks && scope != access.Write && scope != access.Rules && scope != access.Admin {
				t.Errorf("%s changes something, and takes scope %s", o.OperationID, scope)
			}
		}
	}
	for id := range scopes {
		if !there[id] {
			t.Errorf("the table of scopes has %s, which is no operation", id)
		}
	}
}

func TestScopes_Pages(t *testing.T) {
	t.Parallel()
	w := newTestbed(t, withOwner)
	secrets := w.everybody(t)
	for _, c := range []struct {
		method, path string
		needed       access.Scope
	}{
		{"GET", "/", access.Read}, {"GET", "/items/x", access.Read}, {"HEAD", "/rules", access.Read}, {"GET", "/mesh", access.Read}, {"GET", "/tokens", access.Admin}, {"GET", "/people", access.Admin}, {"POST", "/people/add", access.Admin}, {"POST", "/tokens/remove", access.Admin},
		{"POST", "/feeds", access.Write}, {"POST", "/items/x/spam", access.Write}, {"POST", "/stories/x/split", access.Write}, {"DELETE", "/feeds/x", access.Write},
		{"POST", "/rules/classify", access.Rules}, {"POST", "/mesh/quarantine/3/replay", access.Admin},
		{"POST", "/%72ules/classify", access.Rules}, {"POST", "/rules", access.Rules}, {"POST", "/mesh", access.Admin},
		{"GET", "/metrics", access.Metrics}, {"GET", "/readyz", access.Metrics}, {"GET", "/openapi.json", access.Search}, {"GET", "/openapi.yaml", access.Search}, {"GET", "/docs/api", access.Search},
		{"GET", "/api/nothing", access.Search}, {"PUT", "/api/feeds", access.Search}, // says no more than the description
		{"GET", "/accounts/ClientLogin/x", access.Read},
	} {
		if a := w.request(t, c.method, c.path, ""); a.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s %s without a token: got %d, want 401", c.method, c.path, a.StatusCode)
		}
		for scope, secret := range secrets {
			may := access.Client{Scopes: []access.Scope{scope}}.May(c.needed)
			if a := w.request(t, c.method, c.path, "", "Authorization", secret); a.StatusCode != http.StatusForbidden != may || a.StatusCode == http.StatusUnauthorized {
				t.Errorf("%s %s as %s: got %d, want it served: %v", c.method, c.path, scope, a.StatusCode, may)
			}
		}
	}
}

// Another client's way to the same thing is the same thing.
func TestScopes_UnusualPathsAreProtected(t *testing.T) {
	t.Parallel()
	w := newTestbed(t, withOwner)
	search := w.everybody(t)[access.Search]
	for _, path := range []string{
		"//api/feeds", "/api//feeds", "/api/./feeds", "/api/search/../feeds", "/outputs/../api/feeds", "/outputs/..%2fapi/feeds", "/api%2ffeeds", "/API/feeds",
		"/api/feeds/", "/openapi.json/../metrics", "/openapi/../metrics", "/livez/../metrics", "/livez%2f..%2fmetrics", "/accounts/ClientLogin/../../metrics",
		"/%6detrics", "/metrics/", "/readyz?token=x", "/;/metrics", "/schemas/../api/tokens", "/api/search%2f..%2ftokens",
	} {
		a := w.request(t, "GET", path, "", "Authorization", search)
		if a.StatusCode == http.StatusOK {
			t.Errorf("%s: got %s, want nothing that takes more than scope search", path, a.body)
		}
		if to := a.Header.Get("Location"); to != "" && (!strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.Contains(to, `\`)) {
			t.Errorf("%s: it sends to %s", path, to)
		}
	}
}
