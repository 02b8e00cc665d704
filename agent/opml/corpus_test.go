package opml

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"feedmesh/tests/corpus"
)

// TestCorpus reads published lists, of which two thirds are malformed: all URLs must be found.
func TestCorpus(t *testing.T) {
	address := regexp.MustCompile(`(?i)\bxmlurl\s*=\s*["'][^"']`)
	files, found := 0, 0
	err := filepath.WalkDir(corpus.Folder(t, "feedlists"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".opml") && !strings.HasSuffix(path, ".xml") {
			return err
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name := filepath.Base(path)
		feeds, err := Read(bytes.NewReader(body))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if want := len(address.FindAll(body, -1)); len(feeds) != want {
			t.Errorf("%s: %d feeds, want %d", name, len(feeds), want)
		}
		for _, f := range feeds {
			if strings.ContainsAny(f.URL, " <>\"") || len(f.Title) > 300 {
				t.Errorf("%s, line %d: %+v does not look right", name, f.Line, f)
			}
		}
		files, found = files+1, found+len(feeds)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d lists with %d feeds", files, found)
}

// TestCorpus_RoundTrips writes the feeds of all lists as one list and reads it again: no feed is lost or
// changed.
func TestCorpus_RoundTrips(t *testing.T) {
	type line struct {
		URL, Title, Site string
		Category         []string
	}
	want := map[string]Feed{}
	var list []Feed
	for _, f := range corpus.Lines[line](t, filepath.Join(corpus.Folder(t, "feedlists"), "all-feeds.jsonl.gz")) {
		feed := Feed{URL: f.URL, Title: clean(f.Title), Site: clean(f.Site)}
		for _, name := range f.Category {
			feed.Tags = append(feed.Tags, clean(name))
		}
		if _, twice := want[feed.URL]; twice {
			continue
		}
		want[feed.URL] = feed
		list = append(list, feed)
	}
	var out bytes.Buffer
	if err := Write(&out, "all", list); err != nil {
		t.Fatal(err)
	}
	got, err := Read(&out)
	if err != nil || len(got) != len(list) {
		t.Fatalf("got %d feeds and %v, want %d", len(got), err, len(list))
	}
	for _, f := range got {
		f.Line = 0
		if w := want[f.URL]; !reflect.DeepEqual(f, w) {
			t.Errorf("got %+v, want %+v", f, w)
		}
	}
	t.Logf("%d feeds", len(got))
}
