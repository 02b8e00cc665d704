package browser

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
)

// A place is a page of the console, with the name of its pictures.
type place struct{ name, path string }

// places returns one page of each kind, for a search word.
func places(t *testing.T, w testbed, word string) []place {
	t.Helper()
	found, err := client.Call(t.Context(), w.Client, wire.SearchItems, wire.Search{Query: word})
	if err != nil || len(found.Items) == 0 {
		t.Fatalf("search: %d items, %v", len(found.Items), err)
	}
	stories, err := client.Call(t.Context(), w.Client, wire.ListStories, wire.StorySearch{})
	if err != nil || len(stories.Stories) == 0 {
		t.Fatalf("stories: %d, %v", len(stories.Stories), err)
	}
	if _, err := client.Call(t.Context(), w.Client, wire.SwitchInterests, wire.SwitchInterestsRequest{Body: wire.InterestSwitch{On: true}}); err != nil {
		t.Fatal(err)
	}
	return []place{
		{"news", "/news"},
		{"follows", "/news/follows"},
		{"briefing", "/briefing"},
		{"search", "/"},
		{"found", "/?q=" + query(word+" -kubernetes")},
		{"nothing-found", "/?q=qwertyuiop"},
		{"mistake", "/?q=" + query(`"never closed`)},
		{"reading", "/read?show=all"},
		{"reading-cards", "/read?show=all&layout=cards"},
		{"reading-open", "/read?show=all&open=" + found.Items[0].ID},
		{"for-you", "/for-you"},
		{"item", "/items/" + found.Items[0].ID},
		{"stories", "/stories"},
		{"story", "/stories/" + stories.Stories[0].ID},
		{"feeds", "/feeds"},
		{"feed", "/feeds/" + found.Items[0].FeedID},
		{"rules", "/rules"},
		{"ruleset", "/rules/classify"},
		{"spam", "/spam"},
		{"mesh", "/mesh"},
		{"views", "/views"},
		{"view", "/views/show/" + addView(t, w, word)},
		{"view-editor", "/views/edit?name=" + word},
		{"view-graph", "/views/graph"},
		{"statistics", "/statistics"},
		{"people", "/people"},
		{"tokens", "/tokens"},
		{"help", "/help"},
		{"reference", "/docs/api"},
		{"widget", "/widget"},
		{"missing", "/no-such-page"},
	}
}

// addView adds a view of the items with a word, waits until the node has filled it in, and returns its name.
func addView(t *testing.T, w testbed, word string) string {
	t.Helper()
	in := wire.SaveViewRequest{Name: word, Body: wire.ViewSetting{Definition: "view " + word + " for everyone = from all where " + word + " once story labels " + word}}
	if _, err := client.Call(t.Context(), w.Client, wire.SaveView, in); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		v, err := client.Call(t.Context(), w.Client, wire.GetView, wire.ViewName{Name: word})
		if err != nil {
			t.Fatal(err)
		}
		if v.Filled && v.Members > 0 {
			return word
		}
	}
	t.Fatalf("view %s was not filled in within a minute", word)
	return ""
}

// query escapes a value for a URL.
func query(value string) string { return url.QueryEscape(value) }

// status returns the expected status of a page.
func (p place) status() int {
	switch p.name {
	case "missing":
		return http.StatusNotFound
	case "mistake":
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// TestPages_AreAccessible checks every page with axe-core in all themes, and takes a picture of each: with -artifacts
// they are stored in -outputdir. The theme of high contrast must have the contrast of WCAG level AAA.
func TestPages_AreAccessible(t *testing.T) {
	axe, err := os.ReadFile("../engines/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Skip("SKIPPED, NOT TESTED: axe-core is not installed; run just engines")
	}
	b := open(t)
	for _, p := range places(t, sharedTestbed(t), "postgresql") {
		for _, look := range []struct{ name, scheme, theme string }{
			{"light", "light", "system"}, {"dark", "dark", "system"}, {"contrast", "light", "contrast"}, {"contrast-dark", "dark", "contrast"},
		} {
			b.prefers(look.scheme)
			b.visitRefused(p.path, p.status())
			var rules []string
			if look.theme == "contrast" {
				b.run(`document.documentElement.dataset.theme = "contrast"`)
				rules = append(rules, "color-contrast-enhanced")
			}
			b.picture(p.name + "-" + look.name)
			for _, fault := range b.judged(string(axe), rules...) {
				t.Errorf("%s, %s: %s", p.name, look.name, fault)
			}
		}
	}
}

// The footer's button changes the theme, and the choice lasts.
func TestPages_Themes(t *testing.T) {
	b := open(t)
	b.prefers("light")
	b.visit("/")
	for _, want := range []string{"light", "dark", "contrast"} {
		b.run(`document.getElementById("look").click()`)
		b.visit("/feeds")
		if got := evaluate[string](b, `document.documentElement.dataset.theme ?? ""`); got != want {
			t.Errorf("got the theme %q after the click, want %q", got, want)
		}
	}
	if got := evaluate[string](b, `getComputedStyle(document.body).color`); got != "rgb(0, 0, 0)" {
		t.Errorf("text is %s in high contrast, want black", got)
	}
	b.run(`document.getElementById("look").click()`)
	b.visit("/feeds")
	if got := evaluate[string](b, `document.documentElement.dataset.theme ?? ""`); got != "" {
		t.Errorf("got the theme %q, want that of the system again", got)
	}
}

// judged returns the violations that axe-core finds on the page by its default rules and others.
func (b *tab) judged(axe string, rules ...string) []string {
	b.t.Helper()
	more := map[string]map[string]bool{}
	for _, rule := range rules {
		more[rule] = map[string]bool{"enabled": true}
	}
	options, err := json.Marshal(map[string]any{"resultTypes": []string{"violations"}, "rules": more})
	if err != nil {
		b.t.Fatal(err)
	}
	report := evaluate[string](b, axe+`;axe.run(document, `+string(options)+`).then(r => JSON.stringify(r.violations.map(v =>
		v.id + ": " + v.help + ": " + v.nodes.slice(0, 3).map(n => n.html.slice(0, 200) + " " + n.failureSummary).join(" | "))))`)
	var faults []string
	if err := json.Unmarshal([]byte(report), &faults); err != nil {
		b.t.Fatal(err)
	}
	return faults
}

// picture stores a picture of the whole page.
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

func TestPages_FitANarrowPhone(t *testing.T) {
	b := open(t)
	b.do(chromedp.EmulateViewport(320, 800, chromedp.EmulateMobile))
	all := places(t, sharedTestbed(t), "postgresql")
	for _, language := range []string{"en", "ru"} {
		b.visit("/help")
		if language != "en" {
			b.click(`button[name=language][value=` + language + `]`)
			b.until("the page has the chosen language", `document.documentElement.lang === "`+language+`"`)
		}
		for _, p := range all {
			b.visitRefused(p.path, p.status())
			b.picture(p.name + "-narrow-" + language)
			if width := evaluate[int](b, "document.scrollingElement.scrollWidth"); width > 320 {
				widest := evaluate[string](b, `[...document.querySelectorAll("main *, header *, footer *")].filter(e => e.getBoundingClientRect().right > 321).slice(0, 3).map(e => e.outerHTML.slice(0, 120)).join(" | ")`)
				t.Errorf("%s is %d px wide in %s: %s", p.name, width, language, widest)
			}
		}
	}
	b.visit("/read")
	if got := evaluate[string](b, `document.getElementById("look").textContent`); got != "Тема: как в системе" {
		t.Errorf("the text of a script is %q, want Russian", got)
	}
}

// TestPages_WorkWithoutScripts uses forms and links only.
func TestPages_WorkWithoutScripts(t *testing.T) {
	b := open(t)
	b.withoutScripts()
	for _, p := range places(t, sharedTestbed(t), "postgresql") {
		b.visitRefused(p.path, p.status())
		if p.status() != http.StatusOK {
			continue
		}
		if heading := evaluate[string](b, `document.querySelector("main h1")?.innerText ?? ""`); heading == "" {
			t.Errorf("%s has no heading without scripts", p.name)
		}
	}
	b.visit("/")
	b.do(chromedp.SendKeys(chromedp.CSS("#q"), "openssl memory\r"))
	b.until("the search results are shown", `location.search.includes("q=openssl") && `+contains("main", "OpenSSL"))
	b.click(`main article h2 a, main .items h2 a`)
	b.until("the item is shown", `location.pathname.startsWith("/items/") && `+contains("main h1", "OpenSSL"))
}
