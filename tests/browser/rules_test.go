package browser

import (
	"testing"

	"github.com/chromedp/chromedp"

	"feedmesh/agent/api"
)

// TestRulesAreTriedBeforeTheyAreSaved writes a rule with a mistake, mends it, and
// sees what it would change.
func TestRulesAreTriedBeforeTheyAreSaved(t *testing.T) {
	b := open(t)
	b.visit("/rules")
	b.click(`a[href="/rules/classify"]`)
	b.until("the rules are open", `document.querySelector("#text") !== null`)
	write := func(text string) {
		b.run(`const text = document.querySelector("#text"); text.value = ` + quote(text) + `; text.dispatchEvent(new Event("input", {bubbles: true}))`)
	}
	write("-- own.rules --\ncategory databases when (vacuum | bloat\n")
	b.until("the fault is told while one writes, by its line", contains("#faults", "own.rules:1:"))
	write("-- own.rules --\ncategory housekeeping when vacuum | bloat score 5\n")
	b.until("what is mended is sound", contains("#faults", "sound"))
	b.do(chromedp.Click(chromedp.CSS(`button[name=do][value=test]`), chromedp.NodeVisible))
	b.until("the back-test tells what would change", contains("main", "housekeeping"))
	w := theWorld(t)
	found, err := w.Search(t.Context(), api.Search{Query: "vacuum"})
	if err != nil || len(found.Items) != 1 {
		t.Fatalf("found %d items, %v", len(found.Items), err)
	}
	for _, category := range found.Items[0].Categories {
		if category == "housekeeping" {
			t.Error("the back-test changed an item")
		}
	}
}
