package tests

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// A newsboat is the distribution's feed reader of that name with a folder of its own, as an example of
// clients of the Google Reader API.
type newsboat struct {
	t       *testing.T
	program string
	dir     string
}

func newNewsboat(t *testing.T, config, urls string) *newsboat {
	t.Helper()
	program, err := exec.LookPath("newsboat")
	if err != nil {
		t.Skip("NOT TESTED with newsboat, which is not installed: apt-get install newsboat")
	}
	n := &newsboat{t, program, t.TempDir()}
	for name, text := range map[string]string{"config": config, "urls": urls} {
		if err := os.WriteFile(filepath.Join(n.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// command returns newsboat with some arguments, or another program that runs it.
func (n *newsboat) command(args ...string) *exec.Cmd {
	all := append([]string{"-C", filepath.Join(n.dir, "config"), "-u", filepath.Join(n.dir, "urls"), "-c", filepath.Join(n.dir, "cache.db")}, args...)
	c := exec.CommandContext(n.t.Context(), n.program, all...)
	c.Env = []string{"HOME=" + n.dir, "LANG=C.UTF-8", "TERM=xterm", "PATH=" + os.Getenv("PATH")}
	return c
}

// wantUnread reloads all feeds and checks the number of unread articles.
func (n *newsboat) wantUnread(want int) {
	n.t.Helper()
	out, err := n.command("-x", "reload", "print-unread").CombinedOutput()
	if got := strings.TrimSpace(string(out)); err != nil || !strings.HasSuffix(got, fmt.Sprintf("%d unread articles", want)) {
		n.t.Fatalf("newsboat prints %q, %v; want %d unread articles", got, err, want)
	}
}

// press starts newsboat in a terminal and presses keys one by one.
func (n *newsboat) press(keys ...string) {
	n.t.Helper()
	script, err := exec.LookPath("script")
	if err != nil {
		n.t.Skip("NOT TESTED with newsboat's own window: there is no program script")
	}
	boat := n.command()
	c := exec.CommandContext(n.t.Context(), script, "-qec", strings.Join(boat.Args, " "), "/dev/null")
	c.Env = boat.Env
	in, err := c.StdinPipe()
	if err != nil {
		n.t.Fatal(err)
	}
	var shown screen
	c.Stdout, c.Stderr = &shown, &shown
	if err := c.Start(); err != nil {
		n.t.Fatal(err)
	}
	drawn := 0
	for _, key := range keys {
		within(n.t, time.Minute, "newsboat has drawn its window", func() bool { return shown.rests(drawn) })
		drawn = shown.size()
		io.WriteString(in, key)
	}
	if err := c.Wait(); err != nil {
		n.t.Fatalf("newsboat ended with %v: %.2000q", err, shown.String())
	}
}

// A screen collects the output of a program in a terminal.
type screen struct {
	mu      sync.Mutex
	text    strings.Builder
	written time.Time // last output
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.written = time.Now()
	return s.text.Write(p)
}

// rests reports whether the program has written more than a number of bytes, and then paused: it does not
// report otherwise that it waits for a key.
func (s *screen) rests(more int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Len() > more && time.Since(s.written) > 500*time.Millisecond
}

func (s *screen) size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Len()
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// pages serves a feed of n items.
func pages(n int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		var items strings.Builder
		for i := range n {
			items.WriteString(item(fmt.Sprintf("Story number %d of a lighthouse keeper", i), time.Now().Add(-time.Duration(i)*time.Hour)))
		}
		io.WriteString(w, document(items.String()))
	}
}

func TestNewsboat_GoogleReaderAPI(t *testing.T) {
	t.Parallel()
	n := start(t, settings(t.TempDir()), nil)
	n.add(serve(t, pages(3)) + "/feed")
	n.waitSettled()
	boat := newNewsboat(t, fmt.Sprintf(`urls-source "feedhq"
feedhq-url %q
feedhq-login "me"
feedhq-password "any"
feedhq-show-special-feeds no
`, n.Address()), "")
	boat.wantUnread(3)
	// Items read by another client are not unread in newsboat.
	n.post("/reader/api/0/mark-all-as-read", "s=user/-/state/com.google/reading-list")
	boat.wantUnread(0)
	// Items marked unread are read again by newsboat, which syncs the mark.
	ids := n.get("/reader/api/0/stream/items/ids?output=json&s=user/-/state/com.google/reading-list")
	var all []string
	for _, part := range strings.Split(ids, `"id":"`)[1:] {
		id, _, _ := strings.Cut(part, `"`)
		all = append(all, "i="+id)
	}
	n.post("/reader/api/0/edit-tag", strings.Join(all, "&")+"&r=user/-/state/com.google/read")
	boat.wantUnread(3)
	boat.press("A", "q", "y")
	if unread := n.get("/reader/api/0/stream/items/ids?output=json&s=user/-/state/com.google/reading-list&xt=user/-/state/com.google/read"); strings.Contains(unread, `"id"`) {
		t.Errorf("newsboat read all, but unread are %s", unread)
	}
}

func TestNewsboat_Outputs(t *testing.T) {
	t.Parallel()
	n := start(t, settings(t.TempDir()), nil)
	n.add(serve(t, pages(5)) + "/feed")
	n.waitSettled()
	n.put("/api/views/lights", `{"definition":"view lights \"Lights\" = from all where lighthouse"}`)
	for deadline := time.Now().Add(settleTimeout); !strings.Contains(n.get("/api/views/lights"), `"members":5`); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the view is not filled in: %s", n.get("/api/views/lights"))
		}
	}
	front := &statuses{to: n.Address(), seen: map[string][]int{}}
	address := serve(t, front)
	var urls string
	paths := []string{"/outputs/search.rss?q=lighthouse", "/outputs/search.atom?q=keeper", "/outputs/views/lights.rss"}
	for _, path := range paths {
		urls += address + path + "\n"
	}
	boat := newNewsboat(t, "", urls)
	for range 3 {
		boat.wantUnread(5) // it identifies an item by its GUID, in any feed
	}
	for _, path := range paths {
		// On its first run newsboat has no cache for validators.
		if got := fmt.Sprint(front.seen[path]); got != "[200 200 304]" {
			t.Errorf("%s was answered %s, want in the end that nothing is new", path, got)
		}
	}
}

// statuses forwards requests and records their status.
type statuses struct {
	to   string
	mu   sync.Mutex
	seen map[string][]int // by path and query
}

func (s *statuses) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request, err := http.NewRequestWithContext(r.Context(), r.Method, s.to+r.URL.RequestURI(), nil)
	if err == nil {
		request.Header = r.Header.Clone()
		var resp *http.Response
		if resp, err = http.DefaultTransport.RoundTrip(request); err == nil {
			defer resp.Body.Close()
			s.mu.Lock()
			s.seen[r.URL.RequestURI()] = append(s.seen[r.URL.RequestURI()], resp.StatusCode)
			s.mu.Unlock()
			for name, values := range resp.Header {
				w.Header()[name] = values
			}
			w.WriteHeader(resp.StatusCode)
			io.Copy(w, resp.Body)
			return
		}
	}
	http.Error(w, err.Error(), http.StatusBadGateway)
}

// get returns the body of a node's path, which must exist.
func (r *running) get(path string) string { return r.send(http.MethodGet, path, "", "") }

// post sends a form.
func (r *running) post(path, form string) string {
	return r.send(http.MethodPost, path, "application/x-www-form-urlencoded", form)
}

// put sends JSON.
func (r *running) put(path, body string) string {
	return r.send(http.MethodPut, path, "application/json", body)
}

func (r *running) send(method, path, kind, body string) string {
	r.t.Helper()
	request, err := http.NewRequestWithContext(r.t.Context(), method, r.Address()+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	if kind != "" {
		request.Header.Set("Content-Type", kind)
	}
	resp, err := http.DefaultClient.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		r.t.Fatalf("%s %s: got %d %.500s, %v", method, path, resp.StatusCode, text, err)
	}
	return string(text)
}
