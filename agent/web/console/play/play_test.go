package play

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/storage"
)

func TestOf(t *testing.T) {
	for _, c := range []struct {
		e            storage.Enclosure
		kind, policy string
	}{
		{storage.Enclosure{URL: "https://a.example:8443/1?x=1", Type: "audio/mpeg"}, Audio, "media-src https://a.example:8443"},
		{storage.Enclosure{URL: "http://[::1]:80/1.mp3"}, Audio, "media-src http://[::1]:80"},
		{storage.Enclosure{URL: "https://a.example/1", Type: "video"}, Video, "media-src https://a.example"},
		{storage.Enclosure{URL: "https://www.youtube.com/watch?v=dQw4w9WgXcQ", Type: "video", Player: "YouTube"}, Frame, "frame-src https://www.youtube-nocookie.com"},
		{storage.Enclosure{URL: "https://vimeo.com/1", Type: "video", Player: "Vimeo"}, Frame, "frame-src https://player.vimeo.com"},
		{storage.Enclosure{URL: "https://rumble.com/embed/v1", Type: "video", Player: "Rumble"}, "", ""},
		{storage.Enclosure{URL: "https://a.example/1.m3u8", Type: "application/x-mpegurl"}, "", ""},
		{storage.Enclosure{URL: "https://a.example/1.pdf", Type: "application/pdf"}, "", ""},
		{storage.Enclosure{URL: "https://a.example;script-src*/1.mp3", Type: "audio/mpeg"}, "", ""},
		{storage.Enclosure{URL: "https://*/1.mp3", Type: "audio/mpeg"}, "", ""},
		{storage.Enclosure{URL: "javascript:alert(1)", Type: "audio/mpeg"}, "", ""},
		{storage.Enclosure{Type: "audio/mpeg"}, "", ""},
	} {
		p, ok := Of(c.e)
		if ok != (c.kind != "") || p.Kind != c.kind || ok && p.Policy() != c.policy {
			t.Errorf("%+v: got %+v, %v", c.e, p, ok)
		}
	}
}

// A file behind hosts that count downloads is played from the host that has it. Its content is not downloaded.
func TestResolve_FollowsRedirects(t *testing.T) {
	endless := make(chan struct{})
	files := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "audio/mpeg")
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
		case <-endless:
		}
	}))
	counting := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, files.URL+"/1.mp3?signed", http.StatusFound)
	}))
	t.Cleanup(func() { close(endless); files.Close(); counting.Close() })
	client := fetch.New(fetch.Options{
		UserAgent: "test", Timeout: 10 * time.Second, MaxBody: 1 << 20, MaxCompressed: 1 << 20, Parallel: 1,
		AllowPorts: []netip.AddrPort{netip.MustParseAddrPort(files.Listener.Addr().String()), netip.MustParseAddrPort(counting.Listener.Addr().String())},
	})
	p := Player{Audio, counting.URL + "/1.mp3"}
	if got, want := p.Resolve(t.Context(), client), (Player{Audio, files.URL + "/1.mp3?signed"}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, same := range []Player{{Audio, "http://10.0.0.1/1.mp3"}, {Frame, counting.URL + "/embed"}} {
		if got := same.Resolve(t.Context(), client); got != same {
			t.Errorf("got %v, want %v", got, same)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := p.Resolve(ctx, client); got != p {
		t.Errorf("without an answer: got %v, want %v", got, p)
	}
}
