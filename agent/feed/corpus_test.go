package feed

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A sample is a line of the corpus's manifest or of its list of encodings.
type sample struct {
	File        string `json:"file"`
	URL         string `json:"url"`
	Root        string `json:"root"`
	BodyGzip    bool   `json:"body_gzip"`
	Base        string `json:"base"`
	Expect      string `json:"expect"`
	ContentType string `json:"http_content_type"`
}

// A reading is what another parser read from a document.
type reading struct {
	File    string `json:"file"`
	Entries []struct {
		Title string `json:"title"`
		Link  string `json:"link"`
	} `json:"entries"`
}

// minimum is how many documents of the corpus we have been seen to read.
const minimum = 384

// TestCorpus reads feeds as they are. What another parser reads from them is a
// second opinion: see the list of disagreements with -v.
func TestCorpus(t *testing.T) {
	root := corpus(t)
	references := make(map[string]reading)
	for _, r := range lines[reading](t, filepath.Join(root, "reference.jsonl.gz")) {
		references[r.File] = r
	}
	read, agree := 0, 0
	samples := lines[sample](t, filepath.Join(root, "manifest.jsonl"))
	for _, s := range samples {
		doc, err := Parse(body(t, root, s), "", s.URL)
		checkInvariants(t, s.File, doc, err)
		if len(doc.Entries) > 0 {
			read++
		}
		want := len(references[s.File].Entries)
		if len(doc.Entries) == want {
			agree++
			continue
		}
		t.Logf("%s: %d entries, reference %d, error %v", s.File, len(doc.Entries), want, err)
	}
	t.Logf("%d documents: %d with entries, %d with as many as the reference", len(samples), read, agree)
	if read < minimum {
		t.Errorf("%d documents have entries, want %d", read, minimum)
	}
}

// TestCorpusEncodings reads one document in many encodings. All but those
// marked as beyond rescue must yield entries, and where the encoding is told
// the same ones.
func TestCorpusEncodings(t *testing.T) {
	root := corpus(t)
	for _, s := range lines[sample](t, filepath.Join(root, "encodings.jsonl")) {
		doc, err := Parse(body(t, root, s), s.ContentType, s.URL)
		checkInvariants(t, s.File, doc, err)
		if len(doc.Entries) == 0 {
			t.Errorf("%s: no entries: %v", s.File, err)
		}
		if s.Expect == "base" {
			continue
		}
		base, err := Parse(body(t, root, sample{File: s.Base}), "", s.URL)
		if err != nil {
			t.Fatalf("%s: %v", s.Base, err)
		}
		if same(doc, base) {
			continue
		}
		if s.Expect == "same" {
			t.Errorf("%s: entries differ from those of %s", s.File, s.Base)
		} else {
			t.Logf("%s: entries differ from those of %s (%s)", s.File, s.Base, s.Expect)
		}
	}
}

func same(a, b Document) bool {
	if len(a.Entries) != len(b.Entries) || a.Title != b.Title {
		return false
	}
	for i := range a.Entries {
		if a.Entries[i].Hash != b.Entries[i].Hash || a.Entries[i].Key != b.Entries[i].Key {
			return false
		}
	}
	return true
}

// corpus returns the folder of the shared corpus, which lies next to the
// module's root where there is one.
func corpus(t testing.TB) string {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
	}
	root := filepath.Join(filepath.Dir(dir), "shared", "data", "feeds")
	if _, err := os.Stat(root); err != nil {
		t.Skipf("no corpus of feeds here: %v", err)
	}
	return root
}

// body returns a document of the corpus as it was published.
func body(t testing.TB, root string, s sample) []byte {
	b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(s.File)))
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(s.File, ".gz") {
		b = gunzip(t, b)
	}
	if s.BodyGzip {
		b = gunzip(t, b)
	}
	return b
}

func gunzip(t testing.TB, b []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	b, err = io.ReadAll(r)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(err)
	}
	return b
}

// lines reads a file of JSON objects, one a line.
func lines[T any](t testing.TB, path string) []T {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(path, ".gz") {
		b = gunzip(t, b)
	}
	var all []T
	for d := json.NewDecoder(bufio.NewReader(bytes.NewReader(b))); ; {
		var v T
		if err := d.Decode(&v); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all = append(all, v)
	}
}
