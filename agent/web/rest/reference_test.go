package rest

import (
	"regexp"
	"strings"
	"testing"

	"feedmesh/agent/web/reference"
)

// The page has every operation of the description, with its parameters and an example.
func TestReference_HasAllOperations(t *testing.T) {
	w := newTestbed(t)
	a := w.request(t, "GET", reference.Path, "")
	if a.StatusCode != 200 || a.Header.Get("Content-Type") != "text/html; charset=utf-8" || !strings.Contains(a.Header.Get("Content-Security-Policy"), "style-src 'self'") {
		t.Fatalf("got %d %v, want a page", a.StatusCode, a.Header)
	}
	shown := map[string]string{}
	for _, part := range strings.Split(a.body, "<details id=\"")[1:] {
		id, rest, _ := strings.Cut(part, "\"")
		shown[id] = rest
	}
	number := 0
	for path, operations := range getJSON[description](t, w, "/openapi.json").Paths {
		for method, o := range operations {
			number++
			part := shown[o.OperationID]
			for _, want := range append([]string{"<b>" + strings.ToUpper(method) + "</b> " + path, "curl", "<h3>Answer 2", "Scope <code>"}, parameterNames(o)...) {
				if !strings.Contains(part, want) {
					t.Errorf("%s: the page lacks %q", o.OperationID, want)
				}
			}
		}
	}
	if len(shown) != number {
		t.Errorf("got %d operations, want %d", len(shown), number)
	}
	style := regexp.MustCompile(`href="(/docs/api-[0-9a-f]+\.css)"`).FindStringSubmatch(a.body)
	if style == nil {
		t.Fatal("the page has no style sheet")
	}
	if s := w.request(t, "GET", style[1], ""); s.StatusCode != 200 || !strings.Contains(s.Header.Get("Cache-Control"), "immutable") {
		t.Errorf("got %d %v, want a style sheet", s.StatusCode, s.Header)
	}
	if again := w.request(t, "GET", reference.Path, "", "If-None-Match", a.Header.Get("ETag")); again.StatusCode != 304 {
		t.Errorf("got %d on the same tag, want 304", again.StatusCode)
	}
}

func parameterNames(o operation) (names []string) {
	for _, p := range o.Parameters {
		names = append(names, "<code>"+p.Name+"</code>")
	}
	return names
}
