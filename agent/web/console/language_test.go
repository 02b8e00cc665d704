package console

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// TestPages_Russian checks that nothing stays English on the Russian pages but data, code and names. Data is marked in
// the pages: by bdi, by a direction or by a language of its own.
func TestPages_Russian(t *testing.T) {
	for name, p := range pages(t) {
		t.Run(name, func(t *testing.T) {
			russian := parse(t, string(p.russian))
			if lang := attr(elements(russian, "html")[0], "lang"); lang != "ru" {
				t.Errorf("lang %q", lang)
			}
			english := interfaceTexts(parse(t, string(p.body)))
			for _, text := range interfaceTexts(russian) {
				if slices.Contains(english, text) && englishWord.MatchString(properNames.ReplaceAllString(text, "")) {
					t.Errorf("%q is not translated", text)
				}
			}
		})
	}
}

// englishWord is a word that is no abbreviation.
var englishWord = regexp.MustCompile(`[A-Za-z]?[a-z]{2,}`)

// properNames are the same in all languages: names, hostile data, and errors that name what was requested.
var properNames = regexp.MustCompile(
	`feedmesh( test)?|example\.org|Atom|JSON Feed|.*alert.*|en"><script>|There is no rule set .*|Back-test none: .*|Version 9 of rules classify: .*`)

// interfaceTexts returns the texts and titles of a page that are not marked as data.
func interfaceTexts(n *html.Node) (texts []string) {
	if n.Type == html.TextNode {
		return []string{strings.Join(strings.Fields(n.Data), " ")}
	}
	if slices.Contains([]string{"bdi", "code", "kbd", "pre", "script", "style", "textarea", "title"}, n.Data) || n.Data != "html" && attr(n, "lang") != "" && attr(n, "lang") != "ru" ||
		attr(n, "dir") == "auto" {
		return nil
	}
	for _, name := range []string{"alt", "aria-label", "placeholder", "title"} {
		if value := attr(n, name); value != "" {
			texts = append(texts, value)
		}
	}
	for child := range n.ChildNodes() {
		texts = append(texts, interfaceTexts(child)...)
	}
	return texts
}
