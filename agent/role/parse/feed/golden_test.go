package feed

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the .golden.json files")

// TestGolden parses the documents in testdata and compares them with the files beside them.
func TestGolden(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.*")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, ".golden.json") {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			body, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			doc, err := Parse(body, "", "https://feeds.example/")
			if err != nil {
				t.Fatal(err)
			}
			checkInvariants(t, path, doc, err)
			var got bytes.Buffer
			e := json.NewEncoder(&got)
			e.SetEscapeHTML(false)
			e.SetIndent("", "  ")
			if err := e.Encode(doc); err != nil {
				t.Fatal(err)
			}
			golden := strings.TrimSuffix(path, filepath.Ext(path)) + ".golden.json"
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("got %s\nwant %s", got.Bytes(), want)
			}
		})
	}
}

// TestParse_DoesNotAliasTheBody: the caller may reuse the body's buffer after Parse returns.
func TestParse_DoesNotAliasTheBody(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.*")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	for _, path := range paths {
		body, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want, failed := Parse(bytes.Clone(body), "", "https://feeds.example/")
		got, err := Parse(body, "", "https://feeds.example/")
		for i := range body {
			body[i] = 'x'
		}
		if fmt.Sprint(err) != fmt.Sprint(failed) || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: what was read changed with its bytes: got %+v, %v, want %+v, %v", path, got, err, want, failed)
		}
	}
}
