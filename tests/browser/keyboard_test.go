package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

func TestKeyboard_ReachesAllControls(t *testing.T) {
	b := open(t)
	b.visit("/stories")
	b.types("/")
	b.until("/ focuses the search field", `document.activeElement.id === "q"`)
	b.types("gsj") // in a text field they are letters
	b.until("keys enter letters in a text field", `document.querySelector("#q").value === "gsj"`)
	b.do(chromedp.KeyEvent("\x1b"))

	b.visit("/")
	b.types("j")
	b.until("j selects the first item", `document.activeElement.closest("[data-list] > *") === document.querySelector("[data-list]").children[0]`)
	b.types("jj")
	b.until("j selects the next item", `document.activeElement.closest("[data-list] > *") === document.querySelector("[data-list]").children[2]`)
	b.types("k")
	b.until("k selects the previous item", `document.activeElement.closest("[data-list] > *") === document.querySelector("[data-list]").children[1]`)
	want := evaluate[string](b, `document.querySelector("[data-list]").children[1].querySelector("h2").innerText.trim()`)
	b.types("o")
	b.until("o opens the item", `location.pathname.startsWith("/items/")`)
	if got := evaluate[string](b, `document.querySelector("main h1").innerText.trim()`); got != want {
		t.Errorf("o opens %q, want %q", got, want)
	}

	b.types("?")
	b.until("? shows the keys", `document.querySelector("dialog[open]") !== null`)
	b.do(chromedp.KeyEvent("\x1b"))
	b.until("Esc closes the help", `document.querySelector("dialog[open]") === null`)
	for key, path := range map[string]string{"s": "/stories", "f": "/feeds", "r": "/rules", "m": "/mesh", "t": "/statistics", "h": "/"} {
		b.types("g" + key)
		b.until("g "+key+" opens "+path, `location.pathname === "`+path+`"`)
	}

	// Without shortcuts: Tab alone reaches all controls.
	b.visit("/")
	b.run(`document.activeElement.blur()`)
	b.types("\t")
	b.until("Tab focuses the skip link first", `document.activeElement.classList.contains("skip")`)
	b.types("\r")
	b.until("the skip link leads to the content", `document.activeElement.id === "main"`)
	reached := 0
	for range 12 {
		b.types("\t")
		if evaluate[bool](b, `document.activeElement.closest("main") !== null`) {
			reached++
		}
		if !evaluate[bool](b, `(e => { const s = getComputedStyle(e); return s.outlineStyle !== "none" || s.boxShadow !== "none"; })(document.activeElement)`) {
			t.Errorf("the focus cannot be seen on %s", evaluate[string](b, "document.activeElement.outerHTML.slice(0, 200)"))
		}
	}
	if reached < 12 {
		t.Errorf("Tab reaches %d of 12 things within the content", reached)
	}
}
