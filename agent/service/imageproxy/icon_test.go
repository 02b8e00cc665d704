package imageproxy_test

import (
	"bytes"
	"errors"
	"image"
	"strings"
	"testing"
	"time"

	ico "github.com/sergeymakinen/go-ico"

	"feedmesh/agent/service/imageproxy"
	"feedmesh/storage"
)

// finalIcon requests the icon of the feed until it is final.
func finalIcon(t *testing.T, proxy *imageproxy.Proxy) imageproxy.Picture {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		icon, final, err := proxy.Icon(t.Context(), "feed")
		switch {
		case err != nil:
			t.Fatal(err)
		case final:
			return icon
		case time.Now().After(deadline):
			t.Fatal("the icon is not final after 20 s")
		case icon.Type != "image/svg+xml":
			t.Fatalf("got %s while the icon is fetched, want a letter", icon.Type)
		}
	}
}

func TestIcon_OfTheSite(t *testing.T) {
	small, large := asPNG(t, drawn(40, 40, true)), asPNG(t, drawn(200, 200, false))
	var old bytes.Buffer
	if err := ico.EncodeAll(&old, []image.Image{drawn(16, 16, false), drawn(32, 32, false)}); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name  string
		files map[string][]byte
		kind  string
		width int
	}{
		{"the page names it", map[string][]byte{"/": []byte(`<link rel=icon href=/a.png sizes=40x40><link rel=apple-touch-icon href=/b.png>`), "/a.png": small, "/b.png": large}, "image/png", 40},
		{"the first is missing", map[string][]byte{"/": []byte(`<link rel=icon href=/a.png sizes=40x40><link rel=apple-touch-icon href=/b.png>`), "/b.png": large}, "image/jpeg", 48},
		{"a file of icons at the usual path", map[string][]byte{"/favicon.ico": old.Bytes()}, "image/jpeg", 32},
		{"none", map[string][]byte{"/": []byte("<p>No icon")}, "image/svg+xml", 0},
		{"none that can be decoded", map[string][]byte{"/favicon.ico": old.Bytes()[:30]}, "image/svg+xml", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newPublisher(t)
			p.files, p.title = test.files, "<Blog>"
			folder := t.TempDir()
			icon := finalIcon(t, p.open(folder, 1<<20, storage.Item{}))
			if icon.Type != test.kind {
				t.Fatalf("got %s, want %s", icon.Type, test.kind)
			}
			if test.width == 0 {
				if text := string(icon.Content); !strings.Contains(text, ">B</text>") {
					t.Errorf("got %s, want the letter B", text)
				}
				before := p.requests.Load()
				if finalIcon(t, p.open("", 0, storage.Item{})); p.requests.Load() != before {
					t.Error("a proxy without a cache fetches icons")
				}
				return
			}
			if config, _, err := image.DecodeConfig(bytes.NewReader(icon.Content)); err != nil || config.Width != test.width {
				t.Errorf("got a width of %d, %v; want %d", config.Width, err, test.width)
			}
			before := p.requests.Load()
			if again := finalIcon(t, p.open(folder, 1<<20, storage.Item{})); !bytes.Equal(again.Content, icon.Content) || p.requests.Load() != before {
				t.Errorf("after a restart: got %d bytes and %d requests, want the cached icon", len(again.Content), p.requests.Load()-before)
			}
		})
	}
}

// A site that can't be cached, or that has no icon, is not requested at each view.
func TestIcon_FailuresAreRecorded(t *testing.T) {
	p := newPublisher(t)
	p.full = errors.New("the disk is full")
	p.files["/favicon.ico"] = asPNG(t, drawn(16, 16, false))
	proxy := p.open(t.TempDir(), 1<<20, storage.Item{})
	finalIcon(t, proxy)
	before := p.requests.Load()
	for range 5 {
		finalIcon(t, proxy)
	}
	if n := p.requests.Load(); n != before {
		t.Errorf("got %d further requests, want none", n-before)
	}
}
