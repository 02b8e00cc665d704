package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"feedmesh/classify/near"
)

func TestNearEval_CopiesAndTitles(t *testing.T) {
	text := strings.Repeat("the quick brown fox jumps over the lazy dog and the cat looks on from the wall ", 4)
	var b strings.Builder
	for _, group := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		for _, relation := range []string{"original", "planet"} {
			b.WriteString(`{"id":"` + group + relation + `","title":"Title of ` + group + `","body":"` + group + " " + text + group + `","url":"https://` + group + `.org/","dup_group":"` + group + `","relation":"` + relation + `"}` + "\n")
		}
	}
	for _, test := range []struct{ name, text, fault string }{
		{"copies", b.String(), ""},
		{"no labels", `{"id":"1","title":"One"}`, "no item with a dup_group or a story"},
		{"no JSON", "{", "line 1"},
	} {
		name := filepath.Join(t.TempDir(), "items.jsonl")
		if err := os.WriteFile(name, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		result, err := evaluateNear(name, near.Default())
		if test.fault != "" {
			if err == nil || !strings.Contains(err.Error(), test.fault) {
				t.Errorf("%s: got error %v, want %q in it", test.name, err, test.fault)
			}
			continue
		}
		if err != nil || len(result.Copies) < 9 || result.Copies[0].Recall != 1 || result.Cost.Items != 16 {
			t.Errorf("%s: got %v, %+v, want all methods, and all copies found", test.name, err, result)
			continue
		}
		var out strings.Builder
		if err := result.print(&out); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"METHOD", "PLANET", "ours, placed in turn", "SimHash", "bytes per stored item"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: the output lacks %q:\n%s", test.name, want, out.String())
			}
		}
	}
}

func TestNearEval_RejectsInvalidShares(t *testing.T) {
	if err := (&nearEvalCommand{Title: 1.5}).Validate(); err == nil || !strings.Contains(err.Error(), "--title") {
		t.Errorf("got %v, want it to name the flag", err)
	}
}
