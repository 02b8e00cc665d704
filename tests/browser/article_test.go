package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
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
	b.click(".labelling button")
	b.until("the service is saved", `location.pathname === "/read/share" && document.querySelector("#services").value.startsWith("Linkding|") && document.querySelector("[role=alert]") === null`)
	b.visit(item)
	b.click(".share summary")
	b.until("the menu is open, with the service", `document.querySelector(".share").open && document.querySelector('.share a[href^="https://l.example/new?url=https%3A%2F%2F"][rel="noopener noreferrer"]').offsetParent !== null`)
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
