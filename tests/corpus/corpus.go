// Package corpus finds and reads the real documents used by tests. They are stored beside the repository, if
// at all, and are no part of it; without them the tests are skipped.
package corpus

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

// Folder returns a folder of documents, as in Folder(t, "feeds"), or skips the test if it is missing.
func Folder(t testing.TB, names ...string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	root := dir // of the outermost module
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			root = dir
		}
	}
	folder := filepath.Join(append([]string{filepath.Dir(root), "shared", "data"}, names...)...)
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("NOT TESTED: there is no corpus here: %v", err)
	}
	return folder
}

// Bytes reads a file, decompressed if its name ends in ".gz".
func Bytes(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(path, ".gz") {
		b = Gunzip(t, b)
	}
	return b
}

// Gunzip decompresses b, which may be truncated.
func Gunzip(t testing.TB, b []byte) []byte {
	t.Helper()
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

// Lines reads a file with a JSON value on each line.
func Lines[T any](t testing.TB, path string) []T {
	t.Helper()
	var all []T
	for d := json.NewDecoder(bufio.NewReader(bytes.NewReader(Bytes(t, path)))); ; {
		var v T
		if err := d.Decode(&v); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all = append(all, v)
	}
}
