package browser

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"feedmesh/agent/api"
)

// A place is a page of the console, by the name that its pictures have.
type place struct{ name, path string }

// places returns one page of each kind, of what a world has of a word.
func places(t *testing.T, w world, word string) []place {
	t.Helper()
	found, err := w.Search(t.Context(), api.Search{Query: word})
	if err != nil || len(found.Items) == 0 {
		t.Fatalf("search: %d items, %v", len(found.Items), err)
	}
	stories, err := w.Stories(t.Context(), api.StorySearch{})
	if err != nil || len(stories.Stories) == 0 {
		t.Fatalf("stories: %d, %v", len(stories.Stories), err)
	}
	return []place{
		{"search", "/"},
		{"found", "/?q=" + query(word+" -kubernetes")},
		{"nothing-found", "/?q=qwertyuiop"},
		{"mistake", "/?q=" + query(`"never closed`)},
		{"item", "/items/" + found.Items[0].ID},
		{"stories", "/stories"},
		{"story", "/stories/" + stories.Stories[0].ID},
		{"feeds", "/feeds"},
		{"feed", "/feeds/" + found.Items[0].FeedID},
		{"rules", "/rules"},
		{"ruleset", "/rules/classify"},
		{"spam", "/spam"},
		{"mesh", "/mesh"},
		{"statistics", "/statistics"},
		{"help", "/help"},
		{"missing", "/no-such-page"},
	}
}

// query returns a value as it is in an address.
func query(value string) string { return url.QueryEscape(value) }

// status returns what a page must be answered with.
func (p place) status() int {
	switch p.name {
	case "missing":
		return http.StatusNotFound
	case "mistake":
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// TestPagesAreAccessible has axe-core judge every page in light and dark, and
// takes a picture of each: with -artifacts they are kept in -outputdir.
func TestPagesAreAccessible(t *testing.T) {
	axe, err := os.ReadFile("../engines/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Skip("SKIPPED, NOT TESTED: axe-core is not installed; run just engines")
	}
	b := open(t)
	for _, p := range places(t, theWorld(t), "postgresql") {
		for _, scheme := range []string{"light", "dark"} {
			b.prefers(scheme)
			b.visitRefused(p.path, p.status())
			b.picture(p.name + "-" + scheme)
			for _, fault := range b.judged(string(axe)) {
				t.Errorf("%s, %s: %s", p.name, scheme, fault)
			}
		}
	}
}

// judged returns what axe-core finds wrong with the page.
func (b *tab) judged(axe string) []string {
	b.t.Helper()
	report := ask[string](b, axe+`;axe.run(document, {resultTypes: ["violations"]}).then(r => JSON.stringify(r.violations.map(v =>
		v.id + ": " + v.help + ": " + v.nodes.slice(0, 3).map(n => n.html.slice(0, 200) + " " + n.failureSummary).join(" | "))))`)
	var faults []string
	if err := json.Unmarshal([]byte(report), &faults); err != nil {
		b.t.Fatal(err)
	}
	return faults
}

// picture keeps what the whole page looks like.
func (b *tab) picture(name string) {
	b.t.Helper()
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.t.Fatalf("take a picture of %s: %v", name, err)
	}
	if err := os.WriteFile(filepath.Join(b.t.ArtifactDir(), name+".png"), png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func TestPagesFitANarrowPhone(t *testing.T) {
	b := open(t)
	b.do(chromedp.EmulateViewport(320, 800, chromedp.EmulateMobile))
	for _, p := range places(t, theWorld(t), "postgresql") {
		b.visitRefused(p.path, p.status())
		b.picture(p.name + "-narrow")
		if width := ask[int](b, "document.scrollingElement.scrollWidth"); width > 320 {
			widest := ask[string](b, `[...document.querySelectorAll("main *, header *, footer *")].filter(e => e.getBoundingClientRect().right > 321).slice(0, 3).map(e => e.outerHTML.slice(0, 120)).join(" | ")`)
			t.Errorf("%s is %d px wide: %s", p.name, width, widest)
		}
	}
}

// TestPagesAreWholeWithoutScripts follows forms and links only.
func TestPagesAreWholeWithoutScripts(t *testing.T) {
	b := open(t)
	b.withoutScripts()
	for _, p := range places(t, theWorld(t), "postgresql") {
		b.visitRefused(p.path, p.status())
		if p.status() != http.StatusOK {
			continue
		}
		if heading := ask[string](b, `document.querySelector("main h1")?.innerText ?? ""`); heading == "" {
			t.Errorf("%s has no heading without scripts", p.name)
		}
	}
	b.visit("/")
	b.do(chromedp.SendKeys(chromedp.CSS("#q"), "openssl memory\r"))
	b.until("the form has searched", `location.search.includes("q=openssl") && `+contains("main", "OpenSSL"))
	b.click(`main article h2 a, main .items h2 a`)
	b.until("the item is open", `location.pathname.startsWith("/items/") && `+contains("main h1", "OpenSSL"))
}
