package rest

import (
	"compress/gzip"
	"io"
	"strings"
	"testing"
)

func TestCompressed_LongTexts(t *testing.T) {
	w := newTestbed(t)
	plain := w.request(t, "GET", "/openapi.json", "", "Accept-Encoding", "identity")
	for name, test := range map[string]struct {
		path, accepted string
		compressed     bool
	}{
		"a description":            {"/openapi.json", "gzip, deflate, br", true},
		"to a client without gzip": {"/openapi.json", "br", false},
		"a short answer":           {"/api/feeds/" + w.feed, "gzip", false},
	} {
		a := w.request(t, "GET", test.path, "", "Accept-Encoding", test.accepted)
		if got := a.Header.Get("Content-Encoding") == "gzip"; a.StatusCode != 200 || got != test.compressed {
			t.Errorf("%s: got %d %v, want it compressed: %v", name, a.StatusCode, a.Header, test.compressed)
		}
		if a.Header.Get("Vary") == "" && test.path == "/openapi.json" {
			t.Errorf("%s: caches would give it to any client: %v", name, a.Header)
		}
		if !test.compressed {
			continue
		}
		r, err := gzip.NewReader(strings.NewReader(a.body))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil || string(text) != plain.body || len(a.body) > len(text)/4 {
			t.Errorf("%s: got %d bytes of %d, %v; want a quarter and the same text", name, len(a.body), len(text), err)
		}
	}
}

// A compressed answer is revalidated by the tag of the text.
func TestCompressed_NotModified(t *testing.T) {
	w := newTestbed(t)
	first := w.request(t, "GET", "/api/search?limit=100&facets=true", "", "Accept-Encoding", "gzip")
	second := w.request(t, "GET", "/api/search?limit=100&facets=true", "", "Accept-Encoding", "gzip", "If-None-Match", first.Header.Get("ETag"))
	if first.StatusCode != 200 || second.StatusCode != 304 || second.body != "" {
		t.Errorf("got %d with tag %q, then %d %q; want 304", first.StatusCode, first.Header.Get("ETag"), second.StatusCode, second.body)
	}
}
