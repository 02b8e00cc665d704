package rest

import (
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/access"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// A description is what /openapi.json says.
type description struct {
	OpenAPI    string
	Tags       []struct{ Name, Description string }
	Paths      map[string]map[string]operation
	Components struct{ Schemas map[string]schema }
}

type operation struct {
	OperationID string
	Summary     string
	Tags        []string
	Parameters  []struct{ Name, Description string }
	Responses   map[string]struct {
		Content map[string]struct{ Schema schema }
	}
}

type schema map[string]any

// check returns where a value is not as its schema says.
func (d *description) check(at string, s schema, v any) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, at+": "+fmt.Sprintf(format, args...)) }
	if ref, is := s["$ref"].(string); is {
		target, known := d.Components.Schemas[strings.TrimPrefix(ref, "#/components/schemas/")]
		if !known {
			fault("there is no schema %s", ref)
		}
		return append(faults, d.check(at, target, v)...)
	}
	if !slices.Contains(typesOf(s), kindOf(v)) && len(typesOf(s)) > 0 && !(kindOf(v) == "integer" && slices.Contains(typesOf(s), "number")) {
		fault("got %s %v, want %v", kindOf(v), v, typesOf(s))
	}
	if enum, is := s["enum"].([]any); is && !slices.Contains(enum, v) {
		fault("got %v, want one of %v", v, enum)
	}
	switch v := v.(type) {
	case string:
		if s["format"] == "date-time" {
			if _, err := time.Parse(time.RFC3339Nano, v); err != nil {
				fault("%v", err)
			}
		}
	case float64:
		if least, is := s["minimum"].(float64); is && v < least {
			fault("got %v, want at least %v", v, least)
		}
	case []any:
		items, _ := s["items"].(map[string]any)
		for i, e := range v {
			faults = append(faults, d.check(fmt.Sprintf("%s[%d]", at, i), items, e)...)
		}
	case map[string]any:
		properties, _ := s["properties"].(map[string]any)
		required, _ := s["required"].([]any)
		for _, name := range required {
			if _, is := v[name.(string)]; !is {
				fault("%s is missing", name)
			}
		}
		for name, e := range v {
			if p, is := properties[name].(map[string]any); is {
				faults = append(faults, d.check(at+"."+name, p, e)...)
			} else if more, is := s["additionalProperties"].(map[string]any); is {
				faults = append(faults, d.check(at+"."+name, more, e)...)
			} else if s["additionalProperties"] == false {
				fault("%s is not in the schema", name)
			}
		}
	}
	return faults
}

func typesOf(s schema) []string {
	switch t := s["type"].(type) {
	case string:
		return []string{t}
	case []any:
		list := make([]string, len(t))
		for i := range t {
			list[i] = t[i].(string)
		}
		return list
	}
	return nil
}

func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case float64:
		if v == float64(int64(v)) {
			return "integer"
		}
		return "number"
	}
	return "object"
}

// answersAs reports where an answer is not as the operation is described.
func (d *description) answersAs(t *testing.T, o operation, a answer) {
	t.Helper()
	at := fmt.Sprintf("%s (%s %s)", o.OperationID, a.Request.Method, a.Request.URL.RequestURI())
	described, is := o.Responses[fmt.Sprint(a.StatusCode)]
	if !is {
		t.Errorf("%s: got status %d %s, want one of %v", at, a.StatusCode, a.body, slices.Sorted(maps.Keys(o.Responses)))
		return
	}
	kind, _, _ := mime.ParseMediaType(a.Header.Get("Content-Type"))
	content, is := described.Content[kind]
	switch {
	case len(described.Content) == 0:
		if a.body != "" {
			t.Errorf("%s: got %s, want nothing", at, a.body)
		}
	case !is:
		t.Errorf("%s: got %s, want one of %v", at, kind, slices.Sorted(maps.Keys(described.Content)))
	case strings.HasSuffix(kind, "json"):
		var v any
		if err := json.Unmarshal([]byte(a.body), &v); err != nil {
			t.Errorf("%s: %v", at, err)
		}
		for _, fault := range d.check(at, content.Schema, v) {
			t.Errorf("%s; the answer is %s", fault, a.body)
		}
	}
}

// operations returns the description and its operations by their IDs, each
// with method and path.
func operations(t *testing.T, w *testbed) (description, map[string][2]string, map[string]operation) {
	t.Helper()
	d := getJSON[description](t, w, "/openapi.json")
	where, what := map[string][2]string{}, map[string]operation{}
	for path, methods := range d.Paths {
		for method, o := range methods {
			where[o.OperationID], what[o.OperationID] = [2]string{strings.ToUpper(method), path}, o
		}
	}
	return d, where, what
}

func TestOpenAPI_VersionAndSummaries(t *testing.T) {
	t.Parallel()
	d, _, all := operations(t, newTestbed(t))
	if !strings.HasPrefix(d.OpenAPI, "3.1") {
		t.Errorf("got version %s, want 3.1", d.OpenAPI)
	}
	for id, o := range all {
		if o.Summary == "" {
			t.Errorf("%s says nothing of itself", id)
		}
	}
}

func TestOpenAPI_ParametersAreDescribed(t *testing.T) {
	t.Parallel()
	_, _, all := operations(t, newTestbed(t))
	for id, o := range all {
		for _, p := range o.Parameters {
			if p.Description == "" {
				t.Errorf("%s: parameter %s has no description", id, p.Name)
			}
		}
	}
}

func TestOpenAPI_TagsAreDescribed(t *testing.T) {
	t.Parallel()
	d, _, all := operations(t, newTestbed(t))
	unused := map[string]bool{}
	for _, tag := range d.Tags {
		if unused[tag.Name] || !strings.HasSuffix(tag.Description, ".") {
			t.Errorf("tag %s is described as %q, want one sentence, once", tag.Name, tag.Description)
		}
		unused[tag.Name] = true
	}
	described := maps.Clone(unused)
	for id, o := range all {
		if len(o.Tags) != 1 || !described[o.Tags[0]] {
			t.Errorf("%s has tags %v, want one of wire.Tags", id, o.Tags)
		}
		for _, tag := range o.Tags {
			delete(unused, tag)
		}
	}
	if len(unused) > 0 {
		t.Errorf("no operation has the tags %v", slices.Sorted(maps.Keys(unused)))
	}
}

func TestOpenAPI_ResponsesMatchSchema(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	d, where, all := operations(t, w)
	site, list := aSite(t), listID("https://e.example/\nftp://f.example/\n")
	w.jobs(t, "done", "waits")
	w.kernel(t)
	w.server.StoryEdits.Timeout = time.Millisecond
	k1, k3, k5 := w.storyOf("k1"), w.itemOf("k3"), w.storyOf("k5")
	w.Mesh.Processes = []subjects.Agent{{ID: "a", Name: "pi4"}}
	const subscription = "s1"
	w.subscribed(t, subscription)
	asked, admin := map[string]bool{}, w.secret(t, access.Admin)
	for _, c := range []struct {
		id, path, query, body string // path: what stands for {id} and {seq}
		want                  int
	}{
		{"list-feeds", "", "", "", 200},
		{"list-feeds", "", "?limit=1&after=a", "", 200},
		{"list-feeds", "", "?q=a&state=failing&class=dns&tier=hot&tag=it&host=feeds.example&sort=items&count=true", "", 200},
		{"count-feeds", "", "", "", 200},
		{"list-polls", w.feed, "", "", 200},
		{"test-fetch", "", "", `{"url":"` + site.URL + `/same"}`, 200},
		{"test-fetch", "", "", `{"url":"nonsense"}`, 200},
		{"change-feeds", "", "", `{"do":"pin","filter":{"tag":"it"},"dry_run":true}`, 200},
		{"change-feeds", "", "", `{"do":"tag","tags":["x"],"ids":["` + w.feed + `"]}`, 200},
		{"get-feed", w.feed, "", "", 200},
		{"add-feeds", "", "", `{"urls":["https://d.example/","https://d.example/","no address"],"tags":["x"]}`, 200},
		{"import-feeds", "", "?name=list.txt", "https://e.example/\nftp://f.example/\n", 202},
		{"list-imports", "", "", "", 200},
		{"get-import", list, "", "", 200},
		{"list-import-lines", list, "", "", 200},
		{"list-import-lines", list, "?verdict=not+a+feed", "", 200},
		{"report-import", list, "", "", 200},
		{"cancel-import", list, "", "", 202},
		{"list-import-lines", list, "?limit=1&after=1&outcome=invalid", "", 200},
		{"set-proxy", "p1", "", `{"url":"http://u:pw@proxy.example:3128","hosts":["example.org"],"always":true}`, 200},
		{"list-proxies", "", "", "", 200},
		{"set-feed", w.feed, "", `{"tags":["a"],"pinned":true,"user_agent":"x","headers":{"X-Key":"k"},"user":"u","password":"pw","proxy":"p1"}`, 200},
		{"set-feed", w.feed, "", `{}`, 200},
		{"remove-proxy", "p1", "", "", 204},
		{"discover-feeds", "", "", `{"url":"` + site.URL + `/"}`, 200},
		{"discover-feeds", "", "", `{"url":"` + site.URL + `/feed"}`, 200},
		{"discover-feeds", "", "", `{"url":"nonsense"}`, 200},
		{"export-feeds", "", "", "", 200},
		{"refresh-feed", w.feed, "", "", 202},
		{"move-feed", w.feed, "", `{"url":"https://moved.example/feed"}`, 202},
		{"search", "", "?q=released&facets=true&limit=1", "", 200},
		{"search", "", "", "", 200},
		{"search", "", "?q=nothing-has-this&facets=true", "", 200},
		{"get-item", w.item, "", "", 200},
		{"list-reading", "", "", "", 200},
		{"list-reading", "", "?feed=" + w.feed + "&show=all&oldest=true&limit=1", "", 200},
		{"mark-items", "", "", `{"ids":["` + w.item + `"],"read":true,"starred":true}`, 204},
		{"list-reading", "", "?show=starred&tag=news", "", 200},
		{"get-folders", "", "", "", 200},
		{"get-folders", "", "?tag=news", "", 200},
		{"mark-all-read", "", "", `{"tag":"news"}`, 200},
		{"list-follows", "", "", "", 200},
		{"put-follow", "topic/C%2FC++", "", `{}`, 200},
		{"put-follow", "word/world%20cup", "", `{"mute":true}`, 200},
		{"put-follow", "publisher/www.A.example", "", `{"mute":true}`, 200},
		{"list-follows", "", "", "", 200},
		{"remove-follow", "topic/C%2FC++", "", "", 204},
		{"remove-follow", "publisher/a.example", "", "", 204},
		{"list-suggestions", "", "", "", 200},
		{"switch-interests", "", "", `{"on":true}`, 204},
		{"signal-interest", "", "", `{"id":"` + w.item + `","signal":"more"}`, 204},
		{"list-suggestions", "", "?limit=5", "", 200},
		{"export-interests", "", "", "", 200},
		{"forget-interests", "", "", "", 204},
		{"get-status", "", "", "", 200},
		{"set-cordon", "pi4", "", `{"drain":true}`, 200},
		{"get-status", "", "", "", 200},
		{"remove-cordon", "pi4", "", "", 204},
		{"list-quarantine", "", "?limit=1", "", 200},
		{"list-quarantine", "", "?after=4", "", 200},
		{"get-quarantined", "3", "", "", 200},
		{"replay-quarantined", "3", "", "", 202},
		{"drop-quarantined", "4", "", "", 204},
		{"list-rules", "", "", "", 200},
		{"get-rules", "prepare", "", "", 200},
		{"put-rules", "prepare", "?version=0&note=first", "keep tables", 200},
		{"get-rules", "prepare", "?version=1", "", 200},
		{"list-rules", "", "", "", 200},
		{"list-rule-versions", "prepare", "", "", 200},
		{"list-rule-versions", "prepare", "?before=1&limit=1", "", 200},
		{"check-rules", "prepare", "", "keep tables", 200},
		{"check-rules", "prepare", "", "nonsense", 200},
		{"restore-rules", "prepare", "?version=0", "", 200},
		{"test-rules", "classify", "", `{"item":"` + w.item + `"}`, 200},
		{"test-rules", "classify", "", `{"text":"category os when kernel","document":{"title":"Kernel","html":"<p>x</p>","url":"https://x.example/","tags":["a"],"feed_id":"` + w.feed + `"}}`, 200},
		{"backtest-rules", "classify", "", "category os/topic:linux when kernel", 200},
		{"backtest-rules", "classify", "?items=1", "# none", 200},
		{"apply-rules", "classify", "", "", 202},
		{"train-rules", "classify", "?items=10", "", 202},
		{"diff-rules", "prepare", "?from=0", "", 200},
		{"diff-rules", "prepare", "?from=1&to=1", "", 200},
		{"list-jobs", "", "", "", 200},
		{"get-job", "done", "", "", 200},
		{"cancel-job", "waits", "", "", 202},
		{"undo-job", "done", "", "", 202},
		{"report-spam", w.item, "", "", 200},
		{"list-spam", "", "", "", 200},
		{"list-spam", "", "?feed=" + w.feed + "&limit=1", "", 200},
		{"release-spam", w.item, "", "", 200},
		{"label-item", w.item, "", `{"spam":false,"categories":["hardware"],"topics":[]}`, 200},
		{"label-item", w.item, "", `{}`, 200},
		{"unlabel-item", w.item, "", "", 200},
		{"fetch-text", w.item, "", "", 409},
		{"fetch-text", "none", "", "", 404},
		{"list-stories", "", "", "", 200},
		{"list-stories", "", "?sort=newest&limit=1&sources=1&language=en", "", 200},
		{"get-story", k1, "", "", 200},
		{"get-story", k5, "", "", 200},
		{"split-story", k1, "", `{"event_id":"` + w.eventOf("k4") + `"}`, 202},
		{"split-story", k1, "", `{"event_id":"` + w.eventOf("k5") + `"}`, 200},
		{"join-stories", k1, "", `{"story_id":"` + k5 + `"}`, 202},
		{"list-bursts", "", "", "", 200},
		{"get-briefing", "", "", "", 200},
		{"get-briefing", "", "?hours=12&language=ru", "", 200},
		{"get-briefing", "", "?hours=0", "", 422},
		{"get-briefing", "", "?language=en.%20Ignore", "", 422},
		{"get-briefing", "", "?view=none", "", 404},
		{"list-duplicates", w.itemOf("k2"), "", "", 200},
		{"list-related", k3, "?limit=1", "", 200},
		{"list-related", w.item, "", "", 200},
		{"explain-items", k3, "?with=" + w.itemOf("k1"), "", 200},
		{"repeat-item", k3, "", `{"of":"` + w.itemOf("k1") + `"}`, 202},
		{"differ-item", w.itemOf("k2"), "", "", 202},
		{"click-item", k3, "", `{"count":2}`, 204},
		{"begin-reindex", "", "", "", 202},
		{"suggest", "", "?prefix=ker&limit=3", "", 200},
		{"suggest", "", "", "", 200},
		{"list-similar", w.item, "?limit=3", "", 200},
		{"get-statistics", "", "?days=7&zone=Europe/Berlin", "", 200},
		{"get-retention", "", "", "", 200},
		{"try-retention", "", "?keep=90d", "", 200},
		{"try-retention", "", "?keep=7d,1&feed=" + w.feed, "", 200},
		{"try-retention", "", "?keep=90d&feed=none", "", 404},
		{"try-retention", "", "?keep=3d", "", 422},
		{"try-retention", "", "", "", 422},
		{"save-view", "go", "", `{"definition":"view go \"Go\" for everyone = from feed:` + w.feed + `, tag:news where kernel once story window 3d sort best limit 30 prefix \"Go: \" labels a, b"}`, 200},
		{"save-view", "read", "", `{"view":{"from":["view:go"],"join":{"view":"go","within":"36h"},"where":"-rust","unique":60}}`, 200},
		{"get-view", "go", "", "", 200},
		{"list-views", "", "", "", 200},
		{"list-view-items", "go", "?limit=5", "", 200},
		{"get-briefing", "", "?view=go", "", 200},
		{"get-briefing", "", "?view=go&hours=3", "", 422},
		{"get-view-series", "go", "?days=7", "", 200},
		{"report-view-series", "go", "", "", 200},
		{"add-subscription", "", "", `{"views":["go"],"channel":"webhook","receiver":"https://receiver.example/hook?key=1"}`, 201},
		{"add-subscription", "", "", `{"title":"Go","views":["go"],"channel":"nats","receiver":"go"}`, 201},
		{"add-subscription", "", "", `{"views":["none"],"channel":"nats","receiver":"go"}`, 409},
		{"add-subscription", "", "", `{"views":["go"],"channel":"nats","receiver":"a.b"}`, 422},
		{"add-subscription", "", "", `{"views":["go"],"channel":"webhook","receiver":"ftp://a/","secret":"short"}`, 422},
		{"add-subscription", "", "", `{`, 400},
		{"list-subscriptions", "", "", "", 200},
		{"get-subscription", subscription, "", "", 200},
		{"change-subscription", subscription, "", `{"on":false}`, 200},
		{"change-subscription", subscription, "", `{"on":true}`, 200},
		{"change-subscription", subscription, "", `{}`, 422},
		{"change-subscription", subscription, "", `{`, 400},
		{"list-attempts", subscription, "?limit=1", "", 200},
		{"list-attempts", subscription, "?limit=0", "", 422},
		{"repeat-delivery", subscription, "", `{"since":"2026-01-01T00:00:00Z"}`, 204},
		{"repeat-delivery", subscription, "", `{"item":"` + w.itemOf("1") + `"}`, 204},
		{"repeat-delivery", subscription, "", `{"item":"none"}`, 409},
		{"repeat-delivery", subscription, "", `{"item":1}`, 422},
		{"repeat-delivery", subscription, "", `{`, 400},
		{"remove-subscription", subscription, "", "", 204},
		{"remove-subscription", "none", "", "", 404},
		{"get-subscription", "none", "", "", 404},
		{"change-subscription", "none", "", `{"on":true}`, 404},
		{"list-attempts", "none", "", "", 404},
		{"repeat-delivery", "none", "", `{"item":"x"}`, 404},
		{"preview-view", "", "", `{"definition":"view x = from all where kernel"}`, 200},
		{"preview-view", "", "", `{"view":{"from":["view:go"]}}`, 200},
		{"preview-view", "", "", `{"definition":"view x = from"}`, 409},
		{"preview-view", "", "", `{"view":{"from":["nothing"]}}`, 422},
		{"preview-view", "", "", `{`, 400},
		{"remove-view", "go", "", "", 409},
		{"remove-view", "read", "", "", 204},
		{"remove-view", "none", "", "", 404},
		{"save-view", "Go", "", `{"definition":"view go = from all"}`, 422},
		{"save-view", "go", "", `{"definition":"view other = from all"}`, 409},
		{"save-view", "go", "", `{`, 400},
		{"get-view", "none", "", "", 404},
		{"list-view-items", "none", "", "", 404},
		{"watch-view", "none", "", "", 404},
		{"get-view-series", "none", "", "", 404},
		{"get-view-series", "go", "?days=91", "", 422},
		{"report-view-series", "none", "", "", 404},
		{"report-view-series", "go", "?days=0", "", 422},
		{"list-view-items", "go", "?limit=0", "", 422},
		{"list-view-items", "go", "?cursor=x", "", 400},
		{"add-token", "", "", `{"name":"phone","scopes":["read","search"]}`, 201},
		{"list-tokens", "", "", "", 200},
		{"remove-token", w.token(t, access.Read), "", "", 204},
		{"get-reindex", "", "", "", 200},
		{"suggest", "", "?limit=0", "", 422},
		{"suggest", "", "?prefix=" + strings.Repeat("x", 65), "", 422},
		{"list-similar", "none", "", "", 404},
		{"list-similar", w.item, "?limit=21", "", 422},
		{"get-statistics", "", "?days=91", "", 422},
		{"get-statistics", "", "?zone=Nowhere/Else", "", 422},
		{"add-token", "", "", `{"name":" ","scopes":["read"]}`, 422},
		{"add-token", "", "", `{"name":"phone","scopes":[]}`, 422},
		{"add-token", "", "", `{"name":"phone","scopes":["root"]}`, 422},
		{"add-token", "", "", `{"name":"phone\n","scopes":["read"],"secret":"s3cret"}`, 422},
		{"add-token", "", "", `{`, 400},
		{"remove-token", "none", "", "", 404},
		{"list-polls", "none", "", "", 404},
		{"test-fetch", "", "", `{"feed":"none"}`, 404},
		{"test-fetch", "", "", `{}`, 422},
		{"test-fetch", "", "", `{`, 400},
		{"change-feeds", "", "", `{"do":"pin"}`, 422},
		{"change-feeds", "", "", `{"do":"explode","ids":["a"]}`, 422},
		{"change-feeds", "", "", `{"do":"pin","filter":{}}`, 422},
		{"change-feeds", "", "", `{`, 400},
		{"list-feeds", "", "?sort=title&after=x", "", 400},
		{"list-feeds", "", "?state=odd", "", 422},
		{"list-import-lines", list, "?verdict=odd", "", 422},
		{"report-import", "none", "", "", 404},
		{"cancel-import", "none", "", "", 404},
		{"get-feed", "none", "", "", 404},
		{"get-feed", strings.Repeat("x", 65), "", "", 422},
		{"refresh-feed", "none", "", "", 404},
		{"get-host", "none.example", "", "", 404},
		{"move-feed", "none", "", `{"url":"https://moved.example/feed"}`, 404},
		{"move-feed", w.feed, "", `{"url":"ftp://moved.example/feed"}`, 422},
		{"move-feed", w.feed, "", `{`, 400},
		{"remove-feed", "none", "", "", 404},
		{"get-item", "none", "", "", 404},
		{"set-cordon", "none", "", `{"drain":true}`, 404},
		{"set-cordon", "pi4", "", `{"drain":1}`, 422},
		{"remove-cordon", "none", "", "", 404},
		{"get-quarantined", "9", "", "", 404},
		{"replay-quarantined", "9", "", "", 404},
		{"drop-quarantined", "9", "", "", 404},
		{"get-quarantined", "0", "", "", 422},
		{"get-quarantined", "x", "", "", 422},
		{"list-feeds", "", "?limit=0", "", 422},
		{"list-feeds", "", "?limit=501", "", 422},
		{"list-feeds", "", "?limit=x", "", 422},
		{"list-quarantine", "", "?after=x", "", 422},
		{"search", "", "?cursor=x", "", 400},
		{"search", "", "?limit=101", "", 422},
		{"search", "", "?sort=worst", "", 422},
		{"search", "", "?after=yesterday", "", 422},
		{"search", "", "?q=" + strings.Repeat("x", 1001), "", 422},
		{"add-feeds", "", "", `{"urls":[]}`, 422},
		{"add-feeds", "", "", `{}`, 422},
		{"add-feeds", "", "", `{"urls":"x"}`, 422},
		{"add-feeds", "", "", `{"urls":["x"],"more":1}`, 422},
		{"add-feeds", "", "", `{"urls":["x"`, 400},
		{"add-feeds", "", "", "", 400},
		{"import-feeds", "", "", "", 400},
		{"import-feeds", "", "?name=" + strings.Repeat("x", 256), "https://e.example/", 422},
		{"get-import", "none", "", "", 404},
		{"list-import-lines", "none", "", "", 404},
		{"list-import-lines", list, "?outcome=odd", "", 422},
		{"list-import-lines", list, "?limit=1001", "", 422},
		{"set-proxy", "direct", "", `{"url":"http://proxy.example:3128"}`, 422},
		{"set-proxy", "P%201", "", `{"url":"http://proxy.example:3128"}`, 422},
		{"set-proxy", "p2", "", `{"url":"http://proxy.example:3128","hosts":["a/b"]}`, 422},
		{"set-proxy", "p2", "", `{"hosts":[]}`, 422},
		{"set-proxy", "p2", "", `{`, 400},
		{"remove-proxy", "none", "", "", 404},
		{"set-feed", "none", "", `{}`, 404},
		{"set-feed", w.feed, "", `{"proxy":"none"}`, 422},
		{"set-feed", w.feed, "", `{"pinned":"yes"}`, 422},
		{"set-feed", w.feed, "", `{`, 400},
		{"discover-feeds", "", "", `{"url":""}`, 422},
		{"discover-feeds", "", "", ``, 400},
		{"get-rules", "none", "", "", 404},
		{"get-rules", "prepare", "?version=9", "", 404},
		{"get-rules", "prepare", "?version=0", "", 422},
		{"put-rules", "none", "?version=0", "keep", 404},
		{"put-rules", "prepare", "?version=1", "keep", 409},
		{"put-rules", "prepare", "", "keep", 428},
		{"put-rules", "prepare", "?version=x", "keep", 400},
		{"put-rules", "prepare", "?version=2", "", 400},
		{"put-rules", "prepare", "?version=2", "nonsense", 422},
		{"put-rules", "prepare", "?version=2", strings.Repeat("x", storage.MaxRules+1), 413},
		{"check-rules", "none", "", "keep", 404},
		{"check-rules", "prepare", "", "", 400},
		{"check-rules", "prepare", "", strings.Repeat("x", storage.MaxRules+1), 413},
		{"restore-rules", "none", "?version=1", "", 404},
		{"restore-rules", "prepare", "?version=9", "", 404},
		{"restore-rules", "prepare", "", "", 422},
		{"list-rule-versions", "none", "", "", 404},
		{"list-rule-versions", "prepare", "?limit=201", "", 422},
		{"test-rules", "none", "", `{"item":"x"}`, 404},
		{"test-rules", "prepare", "", `{"item":"x"}`, 422},
		{"test-rules", "classify", "", `{"item":"none"}`, 404},
		{"test-rules", "classify", "", `{"document":{"feed_id":"none"}}`, 404},
		{"test-rules", "classify", "", `{}`, 422},
		{"test-rules", "classify", "", `{"item":"x","document":{}}`, 422},
		{"test-rules", "classify", "", `{"text":"nonsense","document":{}}`, 422},
		{"test-rules", "classify", "", `{"document":{"language":"` + strings.Repeat("x", 9) + `"}}`, 422},
		{"test-rules", "classify", "", `{`, 400},
		{"test-rules", "classify", "", "", 400},
		{"backtest-rules", "none", "", "# none", 404},
		{"backtest-rules", "prepare", "", "# none", 422},
		{"backtest-rules", "classify", "", "nonsense", 422},
		{"backtest-rules", "classify", "?items=0", "# none", 422},
		{"backtest-rules", "classify", "?items=100001", "# none", 422},
		{"backtest-rules", "classify", "", "", 400},
		{"backtest-rules", "classify", "", strings.Repeat("x", storage.MaxRules+1), 413},
		{"apply-rules", "none", "", "", 404},
		{"apply-rules", "prepare", "", "", 422},
		{"apply-rules", "classify", "?version=9", "", 404},
		{"apply-rules", "classify", "?version=0", "", 422},
		{"train-rules", "none", "", "", 404},
		{"train-rules", "prepare", "", "", 422},
		{"train-rules", "classify", "?items=0", "", 422},
		{"diff-rules", "none", "?from=1", "", 404},
		{"diff-rules", "prepare", "?from=9", "", 404},
		{"diff-rules", "prepare", "?from=0&to=9", "", 404},
		{"diff-rules", "prepare", "", "", 422},
		{"get-job", "none", "", "", 404},
		{"cancel-job", "none", "", "", 404},
		{"cancel-job", "done", "", "", 409},
		{"undo-job", "none", "", "", 404},
		{"undo-job", "waits", "", "", 409},
		{"report-spam", "none", "", "", 404},
		{"release-spam", "none", "", "", 404},
		{"label-item", "none", "", `{}`, 404},
		{"label-item", w.item, "", `{"categories":["No Name"]}`, 422},
		{"label-item", w.item, "", `{"categories":["a","b","c","d"]}`, 422},
		{"label-item", w.item, "", `{"spam":1}`, 422},
		{"label-item", w.item, "", `{`, 400},
		{"unlabel-item", "none", "", "", 404},
		{"list-spam", "", "?limit=101", "", 422},
		{"list-spam", "", "?cursor=x", "", 400},
		{"list-stories", "", "?cursor=x", "", 400},
		{"list-stories", "", "?language=it", "", 422},
		{"list-stories", "", "?limit=101", "", 422},
		{"list-stories", "", "?sources=0", "", 422},
		{"get-story", "none", "", "", 404},
		{"split-story", "none", "", `{"item_id":"none"}`, 404},
		{"split-story", k5, "", `{"event_id":"` + w.eventOf("k5") + `"}`, 409},
		{"split-story", k1, "", `{}`, 422},
		{"split-story", k1, "", `{`, 400},
		{"join-stories", "none", "", `{"story_id":"` + k1 + `"}`, 404},
		{"join-stories", k1, "", `{"story_id":"` + k1 + `"}`, 409},
		{"join-stories", k1, "", `{}`, 422},
		{"join-stories", k1, "", "", 400},
		{"list-bursts", "", "?of=feed", "", 422},
		{"list-duplicates", "none", "", "", 404},
		{"list-related", "none", "", "", 404},
		{"list-related", k3, "?limit=0", "", 422},
		{"explain-items", k3, "?with=none", "", 404},
		{"explain-items", k3, "", "", 422},
		{"repeat-item", "none", "", `{"of":"` + k3 + `"}`, 404},
		{"repeat-item", k3, "", `{"of":"` + k3 + `"}`, 409},
		{"repeat-item", k3, "", `{"of":""}`, 422},
		{"repeat-item", k3, "", `{`, 400},
		{"differ-item", "none", "", "", 404},
		{"differ-item", k3, "", "", 409},
		{"click-item", "none", "", `{"count":1}`, 404},
		{"click-item", k3, "", `{"count":101}`, 422},
		{"click-item", k3, "", `{`, 400},
		{"list-reading", "", "?feed=none", "", 404},
		{"list-reading", "", "?cursor=x", "", 400},
		{"list-reading", "", "?show=some", "", 422},
		{"mark-items", "", "", `{"ids":[]}`, 422},
		{"mark-items", "", "", `{`, 400},
		{"list-suggestions", "", "?limit=1000", "", 422},
		{"signal-interest", "", "", `{"id":"x","signal":"none"}`, 422},
		{"signal-interest", "", "", `{`, 400},
		{"switch-interests", "", "", `{}`, 422},
		{"mark-all-read", "", "", `{"feed":"none"}`, 404},
		{"mark-all-read", "", "", `{`, 400},
		{"put-follow", "author/x", "", `{}`, 422},
		{"put-follow", "topic/" + strings.Repeat("x", 201), "", `{}`, 422},
		{"put-follow", "word/%20", "", `{}`, 422},
		{"put-follow", "publisher/%3F", "", `{}`, 422},
		{"put-follow", "topic/x", "", `{`, 400},
		{"remove-follow", "topic/none", "", "", 404},
		{"remove-follow", "author/none", "", "", 422},
		{"list-labels", "", "", "", 200},
		{"get-annotation", w.item, "", "", 200},
		{"get-annotation", "none", "", "", 404},
		{"annotate-item", w.item, "", `{"labels":["to read"],"note":"A note."}`, 200},
		{"annotate-item", w.item, "", `{"labels":["a,b"]}`, 422},
		{"annotate-item", w.item, "", `{"note":"` + strings.Repeat("x", 4097) + `"}`, 422},
		{"annotate-item", w.item, "", `{`, 400},
		{"annotate-item", "none", "", `{}`, 404},
		{"import-feeds", "", "", "<html><body>no list</body></html>", 422},
		{"import-feeds", "", "", "<opml><body></body></opml>", 422},

		{"make-backup", "", "", "", 200},
		{"get-fever", "", "", "", 200},
		{"set-fever", "", "", "", 409},
		{"remove-fever", "", "", "", 204},
		{"remove-feed", w.feed, "", "", 204},

		{"list-people", "", "", "", 200},
		{"add-person", "", "", `{"name":"bob","role":"reader"}`, 409},
		{"add-person", "", "", `{"name":"ann","role":"owner"}`, 201},
		{"add-person", "", "", `{"name":"ann","role":"owner"}`, 409},
		{"add-person", "", "", `{"name":"a b","role":"owner"}`, 422},
		{"add-person", "", "", `{"name":"bob","role":"reader","password":"short"}`, 422},
		{"add-person", "", "", `{"name":"bob","role":"king"}`, 422},
		{"add-person", "", "", `{`, 400},
		{"add-person", "", "", `{"name":"bob","role":"reader","password":"correct horse"}`, 201},
		{"set-person", "bob", "", `{"role":"editor","link":true}`, 200},
		{"set-person", "ann", "", `{"role":"editor"}`, 409},
		{"set-person", "none", "", `{}`, 404},
		{"set-person", "ann", "", `{"password":""}`, 422},
		{"set-person", "ann", "", `{`, 400},
		{"list-people", "", "", "", 200},
		{"remove-person", "ann", "", "", 409},
		{"remove-person", "none", "", "", 404},
		{"remove-person", "bob", "", "", 204},
	} {
		at, is := where[c.id]
		if !is {
			t.Errorf("there is no operation %s", c.id)
			continue
		}
		asked[c.id] = true
		path := strings.NewReplacer("{id}", c.path, "{seq}", c.path, "{name}", c.path, "{kind}/{value}", c.path).Replace(at[1])
		var headers []string
		if strings.HasPrefix(path, "/api/people") { // with people, a token is required
			headers = []string{"Authorization", "Bearer " + admin}
		}
		a := w.request(t, at[0], path+c.query, c.body, headers...)
		if a.StatusCode != c.want {
			t.Errorf("%s %s%s %s: got %d %s, want %d", at[0], path, c.query, c.body, a.StatusCode, a.body, c.want)
		}
		if c.want >= 400 {
			a.isProblem(t, c.want, "")
		}
		d.answersAs(t, all[c.id], a)
	}
	for id := range all {
		if !asked[id] && !slices.Contains(endless, id) {
			t.Errorf("%s was not asked for: add it to this test", id)
		}
	}
}

func TestOpenAPI_RejectsOtherContentTypes(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	d, where, all := operations(t, w)
	for _, id := range []string{"add-feeds", "set-feed", "save-view"} {
		path := strings.NewReplacer("{id}", w.feed, "{name}", "prepare").Replace(where[id][1])
		a := w.request(t, where[id][0], path, "a text", "Content-Type", "text/plain")
		a.isProblem(t, http.StatusUnsupportedMediaType, "")
		d.answersAs(t, all[id], a)
	}
}

func TestOperations_ReportBrokenMesh(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	d, where, all := operations(t, w)
	w.Mesh.Broken = fmt.Errorf("the mesh is unavailable")
	for id, at := range where {
		if slices.Contains(endless, id) {
			continue // see the tests of streams
		}
		var body string
		switch id {
		case "add-feeds":
			body = `{"urls":["https://d.example/"]}`
		case "export-feeds", "search", "get-retention", "try-retention", "get-item", "import-feeds", "list-imports", "get-import", "list-import-lines", "report-import", "cancel-import", "list-proxies", "discover-feeds", "test-fetch",
			"get-rules", "put-rules", "check-rules", "list-rule-versions", "restore-rules", "test-rules", "backtest-rules", "apply-rules", "train-rules", "diff-rules",
			"list-jobs", "get-job", "cancel-job", "undo-job", "list-spam",
			"list-stories", "get-story", "list-bursts", "get-briefing", "list-duplicates", "list-related", "explain-items", "click-item", "fetch-text",
			"list-reading", "get-folders", "mark-items", "mark-all-read", "list-labels", "get-annotation", "annotate-item", "list-follows", "put-follow", "remove-follow",
			"list-suggestions", "signal-interest", "export-interests", "switch-interests", "forget-interests":
			continue // need no mesh
		case "get-fever", "set-fever", "remove-fever", "list-tokens", "add-token", "remove-token", "list-people", "add-person", "set-person", "remove-person", "suggest", "list-similar", "make-backup",
			"list-views", "get-view", "list-view-items", "save-view", "remove-view", "preview-view", "watch-view", "get-view-series", "report-view-series",
			"list-subscriptions", "get-subscription", "add-subscription", "remove-subscription", "change-subscription", "repeat-delivery", "list-attempts":
			continue // need no mesh
		case "list-feeds":
			continue // see TestFeeds_ListedWithoutSchedule
		case "split-story", "join-stories", "repeat-item", "differ-item":
			continue // see TestStoryEdits_PublishError
		case "report-spam", "release-spam", "label-item", "unlabel-item":
			continue // see TestCorrection_IndexPublishError
		case "set-feed":
			body = `{}`
		case "set-cordon":
			body = `{"drain":true}`
		case "move-feed":
			body = `{"url":"https://moved.example/feed"}`
		case "change-feeds":
			body = `{"do":"refresh","ids":["` + w.feed + `"]}`
		case "set-proxy":
			body = `{"url":"http://proxy.example:3128"}`
		case "remove-feed", "remove-proxy":
			continue // takes from the others what they are asked for; see below
		}
		a := w.request(t, at[0], strings.NewReplacer("{id}", w.feed, "{seq}", "3", "{name}", "prepare", "{kind}", "topic", "{value}", "go").Replace(at[1]), body)
		if id == "get-status" {
			if a.StatusCode != http.StatusOK || !strings.Contains(a.body, `"queues: the mesh is unavailable"`) {
				t.Errorf("status: got %d %s, want the parts that answer, and which do not", a.StatusCode, a.body)
			}
			d.answersAs(t, all[id], a)
			continue
		}
		if id == "begin-reindex" && a.StatusCode == http.StatusAccepted {
			continue
		}
		a.isProblem(t, http.StatusServiceUnavailable, "the mesh is unavailable")
		d.answersAs(t, all[id], a)
		w.Mesh.Tasks[3] = w.Mesh.Tasks[4]
	}
	for _, path := range []string{"/api/feeds/", "/api/proxies/"} { // a proxy that was named as the feed is
		w.request(t, "DELETE", path+w.feed, "").isProblem(t, http.StatusServiceUnavailable, "the mesh is unavailable")
	}
}

func TestNotFound_ReturnsProblem(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	for _, c := range [][2]string{{"GET", "/api/nothing"}, {"GET", "/api/"}, {"POST", "/api/feeds/x/y"}} {
		w.request(t, c[0], c[1], "").isProblem(t, http.StatusNotFound, "this path does not exist")
	}
	for _, c := range [][3]string{
		{"PUT", "/api/feeds", "GET, POST"}, {"PUT", "/api/feeds/" + w.feed, "GET, PATCH, DELETE"}, {"POST", "/api/status", "GET"},
		{"BREW", "/api/status", "GET"}, {"OPTIONS", "/api/status", "GET"},
	} {
		a := w.request(t, c[0], c[1], "")
		if a.isProblem(t, http.StatusMethodNotAllowed, c[2]); a.Header.Get("Allow") != c[2] {
			t.Errorf("%s %s: it allows %s, want %s", c[0], c[1], a.Header.Get("Allow"), c[2])
		}
	}
	if a := w.request(t, "GET", "/any/page", ""); a.StatusCode != 200 || a.body != "the page at /any/page" {
		t.Errorf("a page: got %d %s, want the pages' answer", a.StatusCode, a.body)
	}
	if a := w.request(t, "GET", "/docs", ""); a.body != "the page at /docs" {
		t.Errorf("/docs: got %s, want no page that loads scripts from elsewhere", a.body)
	}
}
