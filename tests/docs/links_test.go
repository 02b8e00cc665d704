// Package docs checks the project's documents: their links, and the commands of the
// README, each of which is executed.
package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

const root = "../.."

var link = regexp.MustCompile(`!?\[[^\]]*\]\(([^)\s]+)\)`)

func TestDocuments_HaveNoBrokenLinks(t *testing.T) {
	checked := 0
	for _, document := range documents(t) {
		for _, found := range link.FindAllStringSubmatch(prose(read(t, document)), -1) {
			target := found[1]
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			checked++
			file, anchor, _ := strings.Cut(target, "#")
			path := document
			if file != "" {
				path = filepath.Join(filepath.Dir(document), file)
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s links to %s, which does not exist", document, target)
				continue
			}
			if anchor != "" && !slices.Contains(anchors(read(t, path)), anchor) {
				t.Errorf("%s links to %s: heading not found", document, target)
			}
		}
	}
	if checked < 30 {
		t.Errorf("checked %d links, want at least 30: the test misses documents", checked)
	}
}

func TestREADME_IsShortAndShowsAScreenshot(t *testing.T) {
	readme := read(t, filepath.Join(root, "README.md"))
	if words := len(strings.Fields(readme)); words > 1200 {
		t.Errorf("the README has %d words, want at most 1,200", words)
	}
	if !regexp.MustCompile(`!\[[^\]]+\]\(docs/images/\w+\.png\)`).MatchString(readme) {
		t.Error("the README shows no screenshot")
	}
}

func TestDocuments_AreReachableFromTheREADME(t *testing.T) {
	reached := map[string]bool{}
	var visit func(document string)
	visit = func(document string) {
		if reached[document] || !strings.HasSuffix(document, ".md") {
			return
		}
		reached[document] = true
		for _, found := range link.FindAllStringSubmatch(prose(read(t, document)), -1) {
			if file, _, _ := strings.Cut(found[1], "#"); file != "" && !strings.Contains(file, "://") {
				visit(filepath.Join(filepath.Dir(document), file))
			}
		}
	}
	visit(filepath.Join(root, "README.md"))
	for _, document := range documents(t) {
		if strings.HasPrefix(document, filepath.Join(root, "docs")) && !reached[document] {
			t.Errorf("%s cannot be reached from the README", document)
		}
	}
}

// documents returns the paths of all Markdown documents of the project.
func documents(t *testing.T) []string {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (slices.Contains([]string{"node_modules", "testdata", "data", "results", "bin"}, entry.Name()) || entry.Name() == ".git"):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".md"):
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// prose returns a document without its code blocks and inline code.
func prose(document string) string {
	var kept strings.Builder
	inCode := false
	for line := range strings.Lines(document) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			inCode = !inCode
			continue
		}
		if !inCode {
			kept.WriteString(regexp.MustCompile("`[^`]*`").ReplaceAllString(line, "code"))
		}
	}
	return kept.String()
}

// anchors returns the anchors of a document's headings, as GitHub makes them.
func anchors(document string) []string {
	var all []string
	for line := range strings.Lines(document) {
		heading, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " ")
		if !ok || !strings.HasPrefix(line, "#") {
			continue
		}
		all = append(all, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(heading)))
	}
	return all
}
