package opml

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestCorpus reads the lists that people publish, of which two thirds are not
// well-formed: all addresses must be found.
func TestCorpus(t *testing.T) {
	address := regexp.MustCompile(`(?i)\bxmlurl\s*=\s*["'][^"']`)
	files, found := 0, 0
	err := filepath.WalkDir(corpus(t), func(path string, d fs.DirEntry, err error) error {
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

// corpus returns the folder of the shared lists, which lies next to the
// module's root where there is one.
func corpus(t *testing.T) string {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
	}
	root := filepath.Join(filepath.Dir(dir), "shared", "data", "feedlists")
	if _, err := os.Stat(root); err != nil {
		t.Skipf("no corpus of lists here: %v", err)
	}
	return root
}
