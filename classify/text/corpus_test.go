package text_test

import (
	"bytes"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"feedmesh/agent/role/parse/feed"
	"feedmesh/classify/text"
	"feedmesh/tests/corpus"
)

// TestCorpus_CleanKeepsWords cleans the items of real feeds and compares the words with those of a parser
// that drops invisible elements only. Only a tail may be missing.
func TestCorpus_CleanKeepsWords(t *testing.T) {
	items, tails, lost := 0, 0, 0
	var size int64
	base := &url.URL{Scheme: "https", Host: "a.example", Path: "/"}
	for _, file := range documents(t) {
		doc, err := feed.Parse(file.body, "", file.url)
		if err != nil {
			continue
		}
		for _, e := range doc.Entries {
			items++
			size += int64(len(e.HTML))
			got := text.Default().Clean(e.HTML, base, file.url)
			if repeated := text.Default().Clean(got.HTML, base, file.url); repeated.HTML != got.HTML || repeated.Text != got.Text {
				t.Errorf("%s: cleaning %.100q again changed it", file.name, got.HTML)
			}
			before, after := words(seen(t, e.HTML)), words(text.PlainText(embedded.ReplaceAllString(got.HTML, "")))
			if slices.Equal(before, after) {
				continue
			}
			if at := len(after); at < len(before) && slices.Equal(before[:at], after) {
				tails++
				if tail := strings.Join(before[at:], " "); len(tail) > 400 {
					t.Errorf("%s: got no more than %d words, want %q as well", file.name, at, tail)
				}
				continue
			}
			lost++
			at := 0
			for at < min(len(before), len(after)) && before[at] == after[at] {
				at++
			}
			t.Logf("%s: got %q, want %q", file.name, after[at:min(at+8, len(after))], before[at:min(at+8, len(before))])
		}
	}
	t.Logf("%d items, %d MB: %d lost a tail, %d differ in their words", items, size>>20, tails, lost)
	if items < 5000 || lost > items/500 {
		t.Errorf("%d of %d items differ in their words, want at most one in 500", lost, items)
	}
}

// embedded finds the links that replace embedded media, whose words are ours.
var embedded = regexp.MustCompile(`(<br>)?<a href="[^"]*" rel="[^"]*">(Video|Audio|Embedded content): [^<]*</a>`)

// words returns the letters and digits of s as words, whatever separates them.
func words(s string) []string {
	var list []string
	for _, w := range text.Words(s) {
		list = append(list, w.Text)
	}
	return list
}

// seen returns the text of markup as displayed by a browser, from its tree.
func seen(t *testing.T, markup string) string {
	context := &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
	nodes, err := html.ParseFragmentWithOptions(strings.NewReader(markup), context, html.ParseOptionEnableScripting(false))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	var visit func(n *html.Node)
	visit = func(n *html.Node) {
		switch {
		case n.Type == html.TextNode:
			b.WriteString(n.Data)
		case n.Type == html.ElementNode && slices.Contains(unread, n.Data):
			return
		case n.Type == html.ElementNode && slices.Contains(breaks, n.Data):
			b.WriteByte(' ')
			defer b.WriteByte(' ')
		}
		for child := range n.ChildNodes() {
			visit(child)
		}
	}
	for _, n := range nodes {
		visit(n)
	}
	return hints.Replace(b.String())
}

// hints removes characters that only control line breaks.
var hints = strings.NewReplacer("\u200B", "", "\u00AD", "", "\u2060", "", "\uFEFF", "")

// unread are elements whose contents are not text; breaks separate words.
var (
	unread = strings.Fields("script style iframe object applet audio video canvas svg math select datalist button textarea map template title noframes noembed meter progress")
	breaks = strings.Fields("address article aside blockquote br caption center dd details dir div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 " +
		"header hgroup hr legend li listing main menu nav ol p plaintext pre section summary table tbody td tfoot th thead tr ul xmp")
)

// A document is a feed as served by its host.
type document struct {
	name, url string
	body      []byte
}

// documents returns real feeds.
func documents(t *testing.T) (list []document) {
	t.Helper()
	root := corpus.Folder(t, "feeds")
	for _, s := range corpus.Lines[struct{ File, URL string }](t, filepath.Join(root, "manifest.jsonl")) {
		body := corpus.Bytes(t, filepath.Join(root, s.File))
		if bytes.HasPrefix(body, []byte{0x1F, 0x8B}) { // packed by its host, too
			body = corpus.Gunzip(t, body)
		}
		list = append(list, document{s.File, s.URL, body})
	}
	return list
}
