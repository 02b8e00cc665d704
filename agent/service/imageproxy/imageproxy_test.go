package imageproxy_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/service/imageproxy"
	"feedmesh/storage"
)

// drawn returns a picture of a size, half of it transparent on request.
func drawn(width, height int, transparent bool) image.Image {
	p := image.NewNRGBA(image.Rect(0, 0, width, height))
	for x := range width {
		for y := range height {
			a := uint8(255)
			if transparent && x < width/2 {
				a = 0
			}
			p.SetNRGBA(x, y, color.NRGBA{uint8(x), uint8(y), 120, a})
		}
	}
	return p
}

func asPNG(t *testing.T, p image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// claiming returns a PNG file whose header states a size, with little content.
func claiming(t *testing.T, width, height uint32) []byte {
	b := asPNG(t, drawn(1, 1, false))
	binary.BigEndian.PutUint32(b[16:], width)
	binary.BigEndian.PutUint32(b[20:], height)
	binary.BigEndian.PutUint32(b[29:], crc32.ChecksumIEEE(b[12:29]))
	return b
}

// A publisher serves pictures by path and counts the requests.
type publisher struct {
	*httptest.Server
	files    map[string][]byte
	feed     string // address of the item's feed
	title    string // of the feed
	full     error  // of the disk
	requests atomic.Int64
	wait     chan struct{} // requests of /slow end when it is closed
}

func newPublisher(t *testing.T) *publisher {
	p := &publisher{files: map[string][]byte{}, wait: make(chan struct{})}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.requests.Add(1)
		if r.Header.Get("Cookie") != "" || r.Header.Get("Referer") != "" {
			t.Errorf("%s is requested with %v", r.URL, r.Header)
		}
		switch r.URL.Path {
		case "/private":
			http.Redirect(w, r, "http://10.1.2.3/i.png", http.StatusFound)
			return
		case "/endless":
			for chunk := bytes.Repeat([]byte("x"), 1<<16); ; {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		case "/slow":
			<-p.wait
		}
		content, is := p.files[r.URL.Path]
		if !is {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "image/png") // whatever it is
		w.Write(content)
	}))
	t.Cleanup(p.Close)
	p.feed = p.URL + "/feed"
	return p
}

// A oneItem is a store with an item and its feed.
type oneItem struct {
	item storage.Item
	feed storage.Feed
}

func (o oneItem) Items(_ context.Context, ids ...string) ([]storage.Item, error) {
	if slices.Contains(ids, o.item.ID) {
		return []storage.Item{o.item}, nil
	}
	return nil, nil
}

func (o oneItem) Feed(context.Context, string) (storage.Feed, error) { return o.feed, nil }

// open returns a proxy for an item.
func (p *publisher) open(folder string, limit int64, item storage.Item) *imageproxy.Proxy {
	client := func(allowed ...netip.AddrPort) *fetch.Client {
		return fetch.New(fetch.Options{UserAgent: "test", Timeout: 10 * time.Second, MaxBody: 1 << 20, MaxCompressed: 1 << 20, Parallel: 4, AllowPorts: allowed})
	}
	return imageproxy.New(imageproxy.Options{
		Store: oneItem{item, storage.Feed{ID: "feed", URL: p.feed, Title: p.title}}, Fetcher: client(netip.MustParseAddrPort(p.Listener.Addr().String())), Public: client(),
		Folder: folder, Limit: limit, Space: func() error { return p.full }, Log: slog.New(slog.DiscardHandler),
	})
}

// proxy returns a proxy for an item whose images are all the publisher's paths, and a function that requests one.
func (p *publisher) proxy(t *testing.T, folder string, limit int64, paths ...string) func(path string, size imageproxy.Size) (imageproxy.Picture, error) {
	t.Helper()
	item := storage.Item{ID: "item", FeedID: "feed"}
	for _, path := range paths {
		item.Images = append(item.Images, p.URL+path)
	}
	proxy := p.open(folder, limit, item)
	return func(path string, size imageproxy.Size) (imageproxy.Picture, error) {
		parts := strings.Split(imageproxy.Path(item.ID, p.URL+path, size), "/")
		return proxy.Of(t.Context(), parts[2], parts[4], imageproxy.Size(parts[5]))
	}
}

func TestOf_ReducesPictures(t *testing.T) {
	p := newPublisher(t)
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, drawn(2000, 1000, false), nil); err != nil {
		t.Fatal(err)
	}
	p.files = map[string][]byte{
		"/photo": photo.Bytes(), "/logo": asPNG(t, drawn(400, 100, true)), "/small": asPNG(t, drawn(50, 40, false)), "/tall": asPNG(t, drawn(100, 3000, false)),
	}
	get := p.proxy(t, t.TempDir(), 1<<20, "/photo", "/logo", "/small", "/tall")
	for _, test := range []struct {
		path          string
		size          imageproxy.Size
		kind          string
		width, height int
	}{
		{"/photo", imageproxy.Small, "image/jpeg", 320, 160},
		{"/photo", imageproxy.Large, "image/jpeg", 1280, 640},
		{"/logo", imageproxy.Small, "image/png", 320, 80},
		{"/small", imageproxy.Small, "image/jpeg", 50, 40},
		{"/tall", imageproxy.Small, "image/jpeg", 21, 640},
	} {
		made, err := get(test.path, test.size)
		if err != nil {
			t.Errorf("%s: %v", test.path, err)
			continue
		}
		config, _, err := image.DecodeConfig(bytes.NewReader(made.Content))
		if err != nil || made.Type != test.kind || config.Width != test.width || config.Height != test.height {
			t.Errorf("%s, %s: got %s of %d x %d, %v; want %s of %d x %d", test.path, test.size, made.Type, config.Width, config.Height, err, test.kind, test.width, test.height)
		}
	}
}

func TestOf_RefusesWhatIsNoPicture(t *testing.T) {
	p := newPublisher(t)
	p.files = map[string][]byte{
		"/html": []byte("<!DOCTYPE html><script>alert(1)</script>"), "/svg": []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`),
		"/cut": asPNG(t, drawn(300, 300, false))[:200], "/bomb": claiming(t, 50_000, 50_000), "/empty": {}, "/overflow": claiming(t, 1<<31-1, 1<<31-1),
	}
	paths := []string{"/html", "/svg", "/cut", "/bomb", "/overflow", "/empty", "/missing", "/private", "/endless"}
	get := p.proxy(t, t.TempDir(), 1<<20, paths...)
	for _, path := range paths {
		if made, err := get(path, imageproxy.Small); !errors.Is(err, imageproxy.ErrNoPicture) || made.Content != nil {
			t.Errorf("%s: got %d bytes, %v; want ErrNoPicture", path, len(made.Content), err)
		}
	}
	before := p.requests.Load()
	if _, err := get("/html", imageproxy.Small); !errors.Is(err, imageproxy.ErrNoPicture) || p.requests.Load() != before {
		t.Errorf("got %v, and %d further requests; want a failure that is recorded", err, p.requests.Load()-before)
	}
}

// Only pictures of stored items are fetched.
func TestOf_NotOfAnItem(t *testing.T) {
	p := newPublisher(t)
	get := p.proxy(t, "", 0, "/known")
	if _, err := get("/unknown", imageproxy.Small); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("another address: got %v, want ErrNotFound", err)
	}
	if _, err := get("/known", "huge"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("another size: got %v, want ErrNotFound", err)
	}
	if n := p.requests.Load(); n != 0 {
		t.Errorf("got %d requests, want none", n)
	}
}

// A feed may be in a private network that it was allowed for; others can't have this network requested.
func TestOf_PrivateNetworkOfAnotherFeed(t *testing.T) {
	p := newPublisher(t)
	p.files["/a"] = asPNG(t, drawn(10, 10, false))
	for feed, shown := range map[string]bool{p.URL + "/feed": true, "https://evil.example/feed": false, "http://127.0.0.1/feed": false, "": false} {
		p.feed = feed
		if _, err := p.proxy(t, "", 0, "/a")("/a", imageproxy.Small); (err == nil) != shown || err != nil && !errors.Is(err, imageproxy.ErrNoPicture) {
			t.Errorf("of the feed %q: got %v, want it shown: %v", feed, err, shown)
		}
	}
}

func TestOf_ConcurrentRequestsShareAFetch(t *testing.T) {
	p := newPublisher(t)
	p.files["/slow"] = asPNG(t, drawn(10, 10, false))
	get := p.proxy(t, t.TempDir(), 1<<20, "/slow")
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := get("/slow", imageproxy.Small); err != nil {
				t.Error(err)
			}
		})
	}
	for p.requests.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	close(p.wait)
	all.Wait()
	if n := p.requests.Load(); n != 1 {
		t.Errorf("got %d requests, want one", n)
	}
}

func TestCache_KeptWithinItsLimit(t *testing.T) {
	p := newPublisher(t)
	folder := filepath.Join(t.TempDir(), "pictures")
	var paths []string
	for n := range 12 {
		paths = append(paths, fmt.Sprint("/", n))
		p.files[paths[n]] = asPNG(t, drawn(100+n, 100, true))
	}
	one := size(t, p, paths[:1])
	limit := 10*one + one/2
	get := p.proxy(t, folder, limit, paths...)
	request := func(path string, fetched bool) {
		t.Helper()
		before := p.requests.Load()
		if _, err := get(path, imageproxy.Small); err != nil {
			t.Fatal(err)
		}
		if got := p.requests.Load() > before; got != fetched {
			t.Errorf("%s is fetched: %v, want %v", path, got, fetched)
		}
	}
	for _, path := range paths[:9] {
		request(path, true)
	}
	request(paths[0], false) // and is the last used
	for _, path := range paths[9:] {
		request(path, true)
	}
	request(paths[0], false)
	request(paths[1], true)
	if got := used(t, folder); got > limit {
		t.Errorf("%d bytes are cached, want at most %d", got, limit)
	}

	// A restarted process has the same files, without damaged and unfinished ones.
	files, err := filepath.Glob(folder + "/*.png")
	if err != nil || len(files) < 8 {
		t.Fatalf("got %v, %v", files, err)
	}
	for _, file := range files {
		if err := os.Truncate(file, 40); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(folder+"/x.part", []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	get = p.proxy(t, folder, limit, paths...)
	request(paths[0], true)
	request(paths[0], false)
	if _, err := os.Stat(folder + "/x.part"); !os.IsNotExist(err) {
		t.Errorf("an unfinished file stays: %v", err)
	}
}

// size returns the size of the cached file of a picture.
func size(t *testing.T, p *publisher, paths []string) int64 {
	t.Helper()
	folder := t.TempDir()
	if _, err := p.proxy(t, folder, 1<<20, paths...)(paths[0], imageproxy.Small); err != nil {
		t.Fatal(err)
	}
	return used(t, folder)
}

func used(t *testing.T, folder string) (bytes int64) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		bytes += info.Size()
	}
	return bytes
}

// A cache must not take the space that the store needs.
func TestCache_FullDisk(t *testing.T) {
	p := newPublisher(t)
	p.files["/a"] = asPNG(t, drawn(10, 10, false))
	p.full = errors.New("the disk is full")
	folder := t.TempDir()
	get := p.proxy(t, folder, 1<<20, "/a")
	if made, err := get("/a", imageproxy.Small); err != nil || len(made.Content) == 0 {
		t.Errorf("got %d bytes, %v; want a picture", len(made.Content), err)
	}
	if n := used(t, folder); n != 0 {
		t.Errorf("%d bytes are cached", n)
	}
}

// Without a usable folder pictures are shown all the same.
func TestCache_UnusableFolder(t *testing.T) {
	p := newPublisher(t)
	p.files["/a"] = asPNG(t, drawn(10, 10, false))
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	get := p.proxy(t, file+"/pictures", 1<<20, "/a")
	if made, err := get("/a", imageproxy.Small); err != nil || len(made.Content) == 0 {
		t.Errorf("got %d bytes, %v", len(made.Content), err)
	}
}
