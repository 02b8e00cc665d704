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
	WellFormed  bool   `json:"wellformed"` // as an XML parser saw it
	Base        string `json:"base"`
	Expect      string `json:"expect"`
	ContentType string `json:"http_content_type"`
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

// TestCorpusCutOff cuts real documents off in several places: what is left are
// the first entries of the whole document, each as it was there, and it is said
// that the rest is missing.
func TestCorpusCutOff(t *testing.T) {
	root := corpus(t)
	cuts, lost, halves := 0, 0, 0
	for _, s := range lines[sample](t, filepath.Join(root, "manifest.jsonl")) {
		whole := body(t, root, s)
		doc, err := Parse(whole, "", s.URL)
		if err != nil || !s.WellFormed || len(doc.Entries) < 4 || doc.Malformed != "" {
			continue
		}
		for _, percent := range []int{50, 75, 93} {
			part, err := Parse(whole[:len(whole)*percent/100], "", s.URL)
			cuts++
			if err != nil {
				lost++ // nearly all of it is the first entry, or what precedes it
				continue
			}
			checkInvariants(t, s.File, part, err)
			for i, e := range part.Entries {
				if e.Hash == doc.Entries[i].Hash || len(part.Entries) == 1 {
					continue
				}
				// The last one may lack some of its last fields, if these are alike.
				if halves++; i < len(part.Entries)-1 {
					t.Errorf("%s: cut off at %d %%, entry %d of %d is not the one of the whole document", s.File, percent, i, len(part.Entries))
				}
			}
			if len(part.Entries) < len(doc.Entries) && !strings.Contains(part.Malformed, cutOff.String()) {
				t.Errorf("%s: cut off at %d %%, but only %q is said", s.File, percent, part.Malformed)
			}
		}
	}
	t.Logf("%d documents cut off, of %d not one entry is left, %d end with half an entry", cuts, lost, halves)
	if cuts < 500 || lost > cuts/20 || halves > cuts/100 {
		t.Errorf("of %d documents %d are lost, %d end with half an entry", cuts, lost, halves)
	}
}
