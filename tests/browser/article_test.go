package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
)

// The share menu of an item works without scripts: the services that are saved by a form are links of each item.
func TestArticle_ShareMenuWithoutScripts(t *testing.T) {
	w := sharedTestbed(t)
	w.markAll(t, false)
	b := open(t)
	b.visit("/read?show=all")
	item := evaluate[string](b, `document.querySelector("#rows a.title").getAttribute("href")`)
	b.withoutScripts()
	b.visit("/read/share")
	b.do(chromedp.SendKeys(chromedp.CSS("#services"), "Linkding|https://l.example/new?url={url}&title={title}"))
	b.run(`document.body.dataset.before = "yes"`)
	b.click(".labelling button")
	b.until("the service is saved", `!document.body.dataset.before && location.pathname === "/read/share" && document.querySelector("#services").value.startsWith("Linkding|") && document.querySelector("[role=alert]") === null`)
	b.visit(item)
	b.run(`document.querySelector(".share").open = true`)
	b.until("the menu has the service", `document.querySelector('.share a[href^="https://l.example/new?url=https%3A%2F%2F"][rel="noopener noreferrer"]').offsetParent !== null`)
	b.until("buttons that need scripts are hidden", `document.querySelector(".share [data-share]:not([hidden])") === null`)
}

// The key S opens the share menu, and the link can be copied.
func TestArticle_ShareByKey(t *testing.T) {
	w := sharedTestbed(t)
	w.markAll(t, false)
	b := open(t)
	b.visit("/read?show=all")
	b.types("j")
	b.until("an item is opened", openedTitle+` !== ""`)
	b.types("S")
	b.until("S opens the menu", `document.querySelector("#pane .share").open`)
	b.until("the copy button is shown", `document.querySelector("#pane [data-share=copy]").offsetParent !== null`)
	b.types("S")
	b.until("S closes it", `!document.querySelector("#pane .share").open`)
}

// The page that plays a file requests nothing before the reader plays it, and continues at the stored position.
func TestArticle_Player(t *testing.T) {
	w := sharedTestbed(t)
	found, err := client.Call(t.Context(), w.Client, wire.ListReading, wire.ReadingQuery{Show: wire.ShowAll, Limit: 200})
	if err != nil {
		t.Fatal(err)
	}
	b := open(t)
	for _, i := range found.Items {
		if i.Title == "Backups that restore" {
			b.visit("/items/" + i.ID)
		}
	}
	b.click(".about .why a[href*='/play/']")
	b.until("the player is shown", `location.pathname.endsWith("/play/0") && document.querySelector("audio").preload === "none"`)
	const loaded = `const audio = document.querySelector("audio"); Object.defineProperty(audio, "duration", {value: 100}); audio.dispatchEvent(new Event("loadedmetadata"));`
	b.run(loaded + `audio.currentTime = 42; Object.defineProperty(audio, "played", {value: {length: 1}}); audio.dispatchEvent(new Event("pause"))`)
	b.run(`location.reload()`)
	b.until("the page is loaded again", `document.querySelector("audio")?.currentTime === 0`)
	b.run(loaded)
	b.until("it continues at the stored position", `document.querySelector("audio").currentTime === 42`)
}

// The button fetches the text of the item's page, within the list.
func TestArticle_FullText(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped by -short: it starts a node and a browser")
	}
	room := servePublishers(map[string][][2]string{"scheduler-news": {{"A fair scheduler", "The kernel scheduler divides the time fairly."}}})
	room.stories = 0
	w, err := newTestbed(room, "Articles")
	if err != nil {
		t.Fatal(err)
	}
	b := openAt(t, w.address)
	b.visit("/read?show=all")
	b.types("j")
	b.until("the summary is shown", `document.querySelector("#pane .content")?.textContent.length < 100`)
	b.click("#pane .full-text button")
	b.until("the article is shown", `document.querySelector("#pane .content")?.textContent.includes("as the maintainers measured") && !document.querySelector("#pane .full-text")`)
	if at := evaluate[string](b, "location.pathname"); at != "/read" {
		t.Errorf("the reader is at %s, want the list", at)
	}
	if text := evaluate[string](b, `document.querySelector("#pane .content").textContent`); strings.Contains(text, "Menu") {
		t.Error("the article contains the navigation of its page")
	}
}

// kinds are items with text that is not plain paragraphs from left to right.
var kinds = map[string][][2]string{"kinds-of-text": {
	{"خبر عن قواعد البيانات", `صدر إصدار جديد من قاعدة البيانات اليوم.</p><ul><li>أسرع</li><li>أصغر</li></ul><p>PostgreSQL 19`},
	{"A long line of code", `Run this:</p><pre><code>` + strings.Repeat("docker run --rm --name database ", 12) + `</code></pre><p>Then wait.`},
	{"A wide table", `Figures:</p><table><tr>` + strings.Repeat("<th>milliseconds</th>", 14) + `</tr><tr>` + strings.Repeat("<td>1234567</td>", 14) + `</tr></table><p>As measured.`},
	{"A word without end", strings.Repeat("Donaudampfschifffahrt", 20)},
	{"A footnote", `A claim<sup id="fnref1"><a href="#fn1">1</a></sup>` + strings.Repeat("<br>Another claim.", 60) + `</p><p id="fn1">The source of it. <a href="#fnref1">Back</a>`},
}}

// Items from right to left, with code, wide tables and long words fit a phone: what is wider scrolls by itself. Footnotes
// are reached within the page.
func TestArticle_KindsOfText(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped by -short: it starts a node and a browser")
	}
	room := servePublishers(kinds)
	room.stories = 0
	w, err := newTestbed(room, "Kinds")
	if err != nil {
		t.Fatal(err)
	}
	found, err := client.Call(t.Context(), w.Client, wire.ListReading, wire.ReadingQuery{Show: wire.ShowAll, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	b := openAt(t, w.address)
	b.do(chromedp.EmulateViewport(390, 800, chromedp.EmulateMobile))
	for _, item := range found.Items {
		b.visit("/read?show=all&open=" + item.ID)
		b.picture(item.ID)
		if width := evaluate[int](b, "document.scrollingElement.scrollWidth"); width > 390 {
			t.Errorf("%s: the page is %d px wide", item.Title, width)
		}
		b.until(item.Title+": from right to left only if it is written so",
			fmt.Sprintf(`["h1", ".content"].every(e => getComputedStyle(document.querySelector("#pane " + e)).direction === (%t ? "rtl" : "ltr"))`, item.Title == kinds["kinds-of-text"][0][0]))
		b.until(item.Title+": code and tables scroll", `[...document.querySelectorAll("#pane pre, #pane table")].every(e => e.scrollWidth > e.clientWidth && getComputedStyle(e).overflowX === "auto")`)
	}
	for _, item := range found.Items {
		if item.Title != "A footnote" {
			continue
		}
		b.visit("/read?show=all&open=" + item.ID)
		for _, id := range []string{"fn1", "fnref1"} {
			b.click(fmt.Sprintf("#pane .content a[href$='-%s']", id))
			b.until(id+" is in view", fmt.Sprintf(`(e => location.hash === "#" + e.id && e.getBoundingClientRect().top >= 0 && e.getBoundingClientRect().bottom <= innerHeight)(document.querySelector("#pane [id$='-%s']"))`, id))
		}
	}
	if len(found.Items) != len(kinds["kinds-of-text"]) {
		t.Errorf("got %d items, want %d", len(found.Items), len(kinds["kinds-of-text"]))
	}
}
