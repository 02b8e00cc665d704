package main

import (
	"os"
	"strings"
	"testing"
)

func TestDocument_IsCurrent(t *testing.T) {
	want, err := document()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/configuration.md is not current: go run ./tools/configuration > docs/configuration.md")
	}
	if !strings.Contains(want, "| `--crawl-timeout` | `FEEDMESH_CRAWL_TIMEOUT` | `timeout` | `30s` |") {
		t.Error("the page lacks --crawl-timeout with its environment variable, key and default")
	}
}
