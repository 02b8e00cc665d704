package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

func TestEverythingIsReachedByKeys(t *testing.T) {
	b := open(t)
	b.visit("/stories")
	b.types("/")
	b.until("/ goes to the search", `document.activeElement.id === "q"`)
	b.types("gsj") // in a field they are letters
	b.until("keys are letters while somebody types", `document.querySelector("#q").value === "gsj"`)
	b.do(chromedp.KeyEvent("\x1b"))

	b.visit("/")
	b.types("j")
	b.until("j goes to the first item", `document.activeElement.closest("[data-list] > *") === document.querySelector("[data-list]").children[0]`)
	b.types("jj")
	b.until("and on", `document.activeElement.closest("[data-list] > *") === document.querySelector("[data-list]").children[2]`)
	b.types("k")
	b.until("k goes back", `document.activeElement.closest("[data-list] > *") === document.querySelector("[data-list]").children[1]`)
	want := ask[string](b, `document.querySelector("[data-list]").children[1].querySelector("h2").innerText.trim()`)
	b.types("o")
	b.until("o opens it", `location.pathname.startsWith("/items/")`)
	if got := ask[string](b, `document.querySelector("main h1").innerText.trim()`); got != want {
		t.Errorf("o opens %q, want %q", got, want)
	}

	b.types("?")
	b.until("? tells of the keys", `document.querySelector("dialog[open]") !== null`)
	b.do(chromedp.KeyEvent("\x1b"))
	b.until("Esc closes that", `document.querySelector("dialog[open]") === null`)
	for key, path := range map[string]string{"s": "/stories", "f": "/feeds", "r": "/rules", "m": "/mesh", "t": "/statistics", "h": "/"} {
		b.types("g" + key)
		b.until("g "+key+" goes to "+path, `location.pathname === "`+path+`"`)
	}

	// Without any of them: Tab alone leads through all that can be used.
	b.visit("/")
	b.run(`document.activeElement.blur()`)
	b.types("\t")
	b.until("first the link past the menu", `document.activeElement.classList.contains("skip")`)
	b.types("\r")
	b.until("it leads to the content", `document.activeElement.id === "main"`)
	reached := 0
	for range 12 {
		b.types("\t")
		if ask[bool](b, `document.activeElement.closest("main") !== null`) {
			reached++
		}
		if !ask[bool](b, `(e => { const s = getComputedStyle(e); return s.outlineStyle !== "none" || s.boxShadow !== "none"; })(document.activeElement)`) {
			t.Errorf("the focus cannot be seen on %s", ask[string](b, "document.activeElement.outerHTML.slice(0, 200)"))
		}
	}
	if reached < 12 {
		t.Errorf("Tab reaches %d of 12 things within the content", reached)
	}
}
