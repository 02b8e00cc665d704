package rest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"feedmesh/agent/service/servicetest"
)

func TestMain(m *testing.M) { servicetest.Main(m) }

func TestTestFetch_ComparesWithGofeed(t *testing.T) {
	documents := map[string]string{
		"/sound":   `<rss version="2.0"><channel><title>a</title><item><title>One</title><link>https://example.org/1</link></item></channel></rss>`,
		"/date":    `<rss version="2.0"><channel><title>a</title><item><title>One</title><link>https://example.org/1</link><pubDate>2 ноября 2026 г. 10:00</pubDate></item></channel></rss>`,
		"/damaged": `<rss version="2.0"><channel><title>a</title><item><title>One</title><link>https://example.org/1</link></item><item><title>Two`,
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, documents[r.URL.Path]) }))
	defer web.Close()
	w := newTestbed(t)
	for path, want := range map[string]string{
		"/sound":   "1 entries, 1 same, 0 differ, error false",
		"/date":    "1 entries, 0 same, 1 differ, error false",
		"/damaged": "0 entries, 0 same, 0 differ, error true",
	} {
		got, body := w.tested(t, fmt.Sprintf(`{"url": %q, "compare": true}`, web.URL+path))
		if got.Comparison == nil {
			t.Fatalf("%s: no comparison: %s", path, body)
		}
		c := got.Comparison
		if s := fmt.Sprintf("%d entries, %d same, %d differ, error %v", c.Entries, c.Same, c.Differ, c.Error != ""); s != want {
			t.Errorf("%s: got %s (%s), want %s", path, s, c.Error, want)
		}
		if !strings.HasPrefix(c.Parser, "gofeed") {
			t.Errorf("%s: the parser is %q", path, c.Parser)
		}
	}
	if got, _ := w.tested(t, fmt.Sprintf(`{"url": %q}`, web.URL+"/sound")); got.Comparison != nil {
		t.Errorf("a comparison that was not requested: %+v", got.Comparison)
	}
}
