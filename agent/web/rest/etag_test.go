package rest

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"feedmesh/storage"
)

func TestETag_NotModified(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	for _, path := range []string{"/api/search?q=kernel", "/api/items/" + w.item, "/api/feeds", "/api/status", "/api/stories", "/api/tokens", "/api/feeds/export", "/api/rules/prepare", "/api/proxies"} {
		a := w.request(t, "GET", path, "")
		tag := a.Header.Get("ETag")
		if a.StatusCode != 200 || tag == "" || a.Header.Get("Cache-Control") != "private, no-cache" {
			t.Errorf("%s: got %d %v, want a tag, and that it is the client's own", path, a.StatusCode, a.Header)
		}
		for _, known := range []string{tag, `"x", ` + tag, "*", strings.TrimPrefix(tag, "W/")} {
			b := w.request(t, "GET", path, "", "If-None-Match", known)
			if b.StatusCode != http.StatusNotModified || b.body != "" || b.Header.Get("ETag") != tag || b.Header.Get("Content-Type") != "" || b.Header.Get("Cache-Control") == "" {
				t.Errorf("%s with %s: got %d %v %s, want 304 with only the tag", path, known, b.StatusCode, b.Header, b.body)
			}
		}
		if b := w.request(t, "GET", path, "", "If-None-Match", `W/"another"`); b.StatusCode != 200 || b.body != a.body {
			t.Errorf("%s with another tag: got %d, want the body", path, b.StatusCode)
		}
		if b := w.request(t, "HEAD", path, ""); b.StatusCode != 200 || b.Header.Get("ETag") != tag || b.body != "" {
			t.Errorf("HEAD %s: got %d %v, want the same tag", path, b.StatusCode, b.Header)
		}
	}
	before := w.request(t, "GET", "/api/feeds", "").Header.Get("ETag")
	if _, err := w.Store.SetFeed(t.Context(), w.feed, storage.Settings{Tags: []string{"new"}}); err != nil {
		t.Fatal(err)
	}
	if b := w.request(t, "GET", "/api/feeds", "", "If-None-Match", before); b.StatusCode != 200 || b.Header.Get("ETag") == before {
		t.Errorf("after a change: got %d %s, want the body with another tag", b.StatusCode, b.Header.Get("ETag"))
	}
	for _, path := range []string{"/api/items/none", "/api/search?limit=x"} {
		if a := w.request(t, "GET", path, "", "If-None-Match", "*"); a.StatusCode/100 != 4 || a.Header.Get("ETag") != "" {
			t.Errorf("%s: got %d %v, want a problem without a tag", path, a.StatusCode, a.Header)
		}
	}
}

func TestETag_RulesIfMatch(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	tag := w.request(t, "GET", "/api/rules/prepare", "").Header.Get("ETag")
	if a := w.request(t, "PUT", "/api/rules/prepare", "keep tables", "If-Match", tag, "Content-Type", "text/plain"); a.StatusCode != 200 {
		t.Errorf("got %d %s, want it saved", a.StatusCode, a.body)
	}
	w.request(t, "PUT", "/api/rules/prepare", "keep none", "If-Match", tag, "Content-Type", "text/plain").isProblem(t, http.StatusConflict, "")
}

func TestETag_LongBodiesAndStreamsPassThrough(t *testing.T) {
	t.Parallel()
	reached := make(chan bool)
	web := httptest.NewServer(withETag(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/long":
			for range 3 {
				io.WriteString(w, strings.Repeat("x", maxETagBody/2))
			}
		case "/api/stream":
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "data: x\n\n")
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Error(err)
			}
			<-reached
		case "/api/most":
			io.WriteString(w, strings.Repeat("x", maxETagBody))
		}
	})))
	t.Cleanup(web.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	get := func(path string) *http.Response {
		r, _ := http.NewRequestWithContext(ctx, "GET", web.URL+path, nil)
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { resp.Body.Close() })
		return resp
	}
	for path, want := range map[string]int{"/api/long": 3 * maxETagBody / 2, "/api/most": maxETagBody} {
		resp := get(path)
		b, err := io.ReadAll(resp.Body)
		if tag := resp.Header.Get("ETag"); err != nil || len(b) != want || (tag == "") != (want > maxETagBody) {
			t.Errorf("%s: got %d bytes with tag %q, %v; want %d, a tag for the shorter", path, len(b), tag, err, want)
		}
	}
	b := make([]byte, 9)
	resp := get("/api/stream")
	if _, err := io.ReadFull(resp.Body, b); err != nil || string(b) != "data: x\n\n" || resp.Header.Get("ETag") != "" {
		t.Errorf("a stream: got %q, %v, want each event at once", b, err)
	}
	close(reached)
}
