package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Limits per 1,000 words of all texts of the project; docs/style.md explains them.
// Standard words are words of queues, storage and networks: packages about these have a limit
// of their own, since texts about languages and feeds have little use for them.
const (
	maxPersonifying    = 1.0
	maxWhatClauses     = 0.5
	minStandard        = 5.0
	minStandardSystems = 8.0
)

// systems are the folders about queues, storage and networks.
var systems = []string{"agent/mesh", "agent/role", "agent/trace", "agent/websub", "subjects", "storage"}

func TestProject_IsWrittenInPlainTechnicalEnglish(t *testing.T) {
	texts, err := read("../..")
	if err != nil {
		t.Fatal(err)
	}
	c := total(texts)
	if c.words < 50_000 {
		t.Fatalf("read %d words only: the counter misses texts", c.words)
	}
	personifying, what, standard := c.perThousand(c.personifying), c.perThousand(c.whatClauses), c.perThousand(c.standard)
	t.Logf("%d words; per 1,000: personifying verbs %.2f, what-clauses %.2f, standard words %.2f", c.words, personifying, what, standard)
	if personifying > maxPersonifying {
		t.Errorf("%.2f personifying verbs per 1,000 words, want at most %.1f: go run ./tools/prose -v lists them", personifying, maxPersonifying)
	}
	if what > maxWhatClauses {
		t.Errorf("%.2f what-clauses per 1,000 words, want at most %.1f: go run ./tools/prose -v lists them", what, maxWhatClauses)
	}
	if standard < minStandard {
		t.Errorf("%.2f standard words per 1,000 words, want at least %.1f", standard, minStandard)
	}

	var those []text
	for _, folder := range systems {
		found, err := read("../../" + folder)
		if err != nil {
			t.Fatal(err)
		}
		those = append(those, found...)
	}
	c = total(those)
	standard = c.perThousand(c.standard)
	t.Logf("%d words about queues, storage and networks; per 1,000: standard words %.2f", c.words, standard)
	if standard < minStandardSystems {
		t.Errorf("%.2f standard words per 1,000 words in %v, want at least %.1f", standard, systems, minStandardSystems)
	}
}

func TestCount_FindsEveryForm(t *testing.T) {
	c := count("It tells what it knows: the cache was told, a known host. Retries of workers; nothing lived, living or died.")
	want := counts{words: 20, personifying: 6, whatClauses: 1, standard: 3}
	if c != want {
		t.Errorf("got %+v, want %+v", c, want)
	}
}

func TestRead_FindsCommentsTagsMessagesAndMarkdown(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.go", `// Package a caches.
package a

import ("errors"; "log/slog")

type s struct {
	A int `+"`help:\"Lock the\" doc:\"pool.\"`"+`
}

func (s) Help() string { return "retry text" }

func f() { slog.Info("batch written"); errors.New("buffer " + "full"); g("worker") }
`)
	write("a_test.go", "// timeout\npackage a\n")
	write("a.md", "one timeout\n```\nworker\n```\n")
	texts, err := read(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, found := range texts {
		all = append(all, found.text)
	}
	if got := strings.Join(all, "|"); total(texts).standard != 7 {
		t.Errorf("got %d standard words of 7 in %q", total(texts).standard, got)
	}
}
