package simulate

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/opml"
	reader "feedmesh/agent/role/parse/feed"
)

// newWeb returns a web of a number of feeds on one host, with changed settings, and serves it until the test
// ends.
func newWeb(t *testing.T, feeds int, change func(*Settings)) (*Web, *Server) {
	t.Helper()
	s := Settings{Feeds: feeds, Hosts: 1, Seed: 1, Rate: 3}
	if change != nil {
		change(&s)
	}
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	w, err := NewWeb(s)
	if err != nil {
		t.Fatal(err)
	}
	server, err := w.Serve("127.0.0.1:0", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close(); w.Close() })
	return w, server
}

// client does not follow redirects.
var client = &http.Client{
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Timeout:       20 * time.Second,
}

// get requests a URL; headers are pairs of name and value. It returns the body and the read error.
func get(t *testing.T, url string, headers ...string) (*http.Response, []byte, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := client.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response, body, err
}

func TestWeb_SameSeedGivesSameFeeds(t *testing.T) {
	t.Parallel()
	documents := func(seed uint64, feeds int) (all [][]byte) {
		w, err := NewWeb(Settings{Feeds: feeds, Hosts: 1, Seed: seed, Rate: 3})
		if err != nil {
			t.Fatal(err)
		}
		for i := range feeds {
			p := w.publisher(i)
			all = append(all, p.render(p.shown(noon)))
		}
		return all
	}
	a, b, other := documents(1, 20), documents(1, 20), documents(2, 20)
	for i := range a {
		if !bytes.Equal(a[i], b[i]) {
			t.Errorf("feed %d differs from itself", i)
		}
		if bytes.Equal(a[i], other[i]) {
			t.Errorf("feed %d is the same with another seed", i)
		}
	}
}

// A reader finds all fields in every format.
func TestWeb_EveryFormatIsParsedCompletely(t *testing.T) {
	t.Parallel()
	w, server := newWeb(t, 60, nil)
	seen := map[string]int{}
	for i, f := range w.Feeds(server.Port) {
		response, body, err := get(t, f.URL)
		if err != nil {
			t.Fatal(err)
		}
		contentType := response.Header.Get("Content-Type")
		seen[contentType]++
		d, err := reader.Parse(body, contentType, f.URL)
		if err != nil {
			t.Errorf("feed %d, %s: %v", i, contentType, err)
			continue
		}
		p := w.publisher(i)
		shown := p.shown(time.Now())
		if len(d.Entries) != shown.to-shown.from || d.Title != siteTitle(i) {
			t.Errorf("feed %d, %s: got %d entries of %q, want %d", i, contentType, len(d.Entries), d.Title, shown.to-shown.from)
			continue
		}
		for n, e := range d.Entries {
			seq := shown.to - 1 - n
			title, text := p.text(seq)
			if e.Title != title || e.Link != Link(i, seq) || !e.Published.Equal(p.at(seq)) || strings.TrimSpace(e.HTML) != strings.TrimSpace(text) {
				t.Errorf("entry %d of feed %d, %s: got %+v; want %q of %v, %q", seq, i, contentType, e, title, p.at(seq), text)
			}
		}
	}
	if len(seen) != 4 {
		t.Errorf("got %v, want four formats", seen)
	}
}

func TestWeb_WindowsAreBounded(t *testing.T) {
	t.Parallel()
	w, _ := newWeb(t, 2000, nil)
	for i := range 2000 {
		p := w.publisher(i)
		shown := p.shown(noon)
		if n := shown.to - shown.from; p.window < 10 || p.window > 50 || n > p.window || n < p.window && shown.from > 0 {
			t.Errorf("feed %d shows %d entries of a window of %d; want it full, of 10 to 50", i, n, p.window)
		}
	}
}

func TestWeb_SomeFeedsHaveNoValidators(t *testing.T) {
	t.Parallel()
	w, _ := newWeb(t, 2000, nil)
	counts := map[[2]bool]int{}
	for i := range 2000 {
		p := w.publisher(i)
		counts[[2]bool{p.tags, p.dates}]++
	}
	for kind, want := range map[[2]bool]int{{true, true}: 1200, {true, false}: 400, {false, true}: 200, {false, false}: 200} {
		if got := counts[kind]; got < want*8/10 || got > want*12/10 {
			t.Errorf("ETag %v, Last-Modified %v: got %d feeds, want some %d", kind[0], kind[1], got, want)
		}
	}
}

// Unchanged documents are not sent again to clients with validators.
func TestWeb_UnchangedFeedsReturn304(t *testing.T) {
	t.Parallel()
	w, server := newWeb(t, 40, nil)
	for i, f := range w.Feeds(server.Port) {
		p := w.publisher(i)
		first, _, err := get(t, f.URL)
		if err != nil {
			t.Fatal(err)
		}
		var validators []string
		for ours, theirs := range map[string]string{"ETag": "If-None-Match", "Last-Modified": "If-Modified-Since"} {
			if v := first.Header.Get(ours); v != "" {
				validators = append(validators, theirs, v)
			}
		}
		if got, want := len(validators) > 0, p.tags || p.dates; got != want {
			t.Errorf("feed %d: got %v, want validators: %v", i, first.Header, want)
		}
		want := http.StatusNotModified
		if !p.tags && !p.dates {
			want = http.StatusOK
		}
		repeated, body, err := get(t, f.URL, validators...)
		if err != nil || repeated.StatusCode != want && w.publisher(i).published(time.Now()) == p.published(time.Now()) || want == http.StatusNotModified && len(body) > 0 {
			t.Errorf("feed %d: got %d, %d bytes, %v; want %d", i, repeated.StatusCode, len(body), err, want)
		}
		if other, _, err := get(t, f.URL, "If-None-Match", `"other"`); err != nil || other.StatusCode != http.StatusOK {
			t.Errorf("feed %d, with validators of another version: got %v, %v; want the document", i, other, err)
		}
	}
}

func TestWeb_MostFeedsUseGzip(t *testing.T) {
	t.Parallel()
	w, server := newWeb(t, 40, nil)
	packed := 0
	for _, f := range w.Feeds(server.Port) {
		response, body, err := get(t, f.URL) // the transport requests gzip and decompresses it
		if err != nil {
			t.Fatal(err)
		}
		if response.Uncompressed {
			packed++
		}
		plain, bare, err := get(t, f.URL, "Accept-Encoding", "identity")
		if err != nil || plain.Header.Get("Content-Encoding") != "" || !bytes.Equal(bare, body) {
			t.Errorf("%s: got other bytes in gzip than plain", f.URL)
		}
	}
	if packed < 30 || packed == 40 {
		t.Errorf("got %d of 40 feeds in gzip, want most", packed)
	}
}

func TestWeb_ListContainsAllFeedsOnTheirHosts(t *testing.T) {
	t.Parallel()
	w, server := newWeb(t, 7, func(s *Settings) { s.Hosts = 3 })
	_, body, err := get(t, fmt.Sprintf("http://127.0.0.1:%d/feeds.opml", server.Port))
	if err != nil {
		t.Fatal(err)
	}
	list, err := opml.Read(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	got, want := map[string]bool{}, map[string]bool{}
	for i, f := range w.Feeds(server.Port) {
		want[fmt.Sprintf("http://127.1.0.%d:%d/feed/%d", 1+i%3, server.Port, i)] = true
		if response, _, err := get(t, f.URL); err != nil || response.StatusCode != http.StatusOK {
			t.Errorf("%s: got %v, %v; want it served there", f.URL, response, err)
		}
	}
	for _, f := range list {
		got[f.URL] = true
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", slices.Collect(maps.Keys(got)), slices.Collect(maps.Keys(want)))
	}
}

func TestWeb_MissingPathsAreNotFound(t *testing.T) {
	t.Parallel()
	_, server := newWeb(t, 2, nil)
	for _, path := range []string{"/", "/feed/", "/feed/2", "/feed/-1", "/feed/x", "/new/0", "/log"} {
		if response, _, err := get(t, fmt.Sprintf("http://127.0.0.1:%d%s", server.Port, path)); err != nil || response.StatusCode != http.StatusNotFound {
			t.Errorf("%s: got %v, %v; want 404", path, response, err)
		}
	}
}

func TestCache_IsBounded(t *testing.T) {
	t.Parallel()
	var d documents
	body := make([]byte, 1<<20)
	for i := range 100 {
		d.get(documentKey{feed: i}, span{0, 1}, func() []byte { return body })
		d.get(documentKey{feed: i}, span{0, 2}, func() []byte { return body })
	}
	if d.size > maxCacheBytes || d.size != len(d.entries)<<20 || len(d.entries) < 20 {
		t.Errorf("got %d documents of %d bytes in all, want at most %d", len(d.entries), d.size, maxCacheBytes)
	}
	d.get(documentKey{feed: 1000}, span{0, 2}, func() []byte { return []byte("a") })
	for _, c := range []struct {
		shown span
		want  string
	}{{span{0, 2}, "a"}, {span{1, 2}, "b"}, {span{1, 3}, "c"}, {span{1, 3}, "c"}} {
		got := d.get(documentKey{feed: 1000}, c.shown, func() []byte { return []byte(c.want) })
		if string(got) != c.want {
			t.Errorf("entries %v: got %s, want %s", c.shown, got, c.want)
		}
	}
}

func TestSettings_ValidateErrors(t *testing.T) {
	t.Parallel()
	got := Settings{Feeds: 0, Hosts: 100_000, Rate: -1}.Validate()
	want := `feeds: 0 is not between 1 and 1000000
hosts: 100000 is not between 1 and 62500
rate: -1 is not between 0 and 50 items a day`
	if got == nil || got.Error() != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
