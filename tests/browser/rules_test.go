package browser

import (
	"testing"

	"github.com/chromedp/chromedp"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
)

// TestRules_PreviewBeforeSaving writes a rule with an error, corrects it, and checks the preview of its
// changes.
func TestRules_PreviewBeforeSaving(t *testing.T) {
	b := open(t)
	b.visit("/rules")
	b.click(`a[href="/rules/classify"]`)
	b.until("the rules are shown", `document.querySelector("#text") !== null`)
	write := func(text string) {
		b.run(`const text = document.querySelector("#text"); text.value = ` + quote(text) + `; text.dispatchEvent(new Event("input", {bubbles: true}))`)
	}
	write("-- own.rules --\ncategory databases when (vacuum | bloat\n")
	b.until("the error is shown while typing, with its line", contains("#faults", "own.rules:1:"))
	write("-- own.rules --\ncategory housekeeping when vacuum | bloat score 5\n")
	b.until("the corrected rules have no errors", contains("#faults", "No errors"))
	b.do(chromedp.Click(chromedp.CSS(`button[name=do][value=test]`), chromedp.NodeVisible))
	b.until("the backtest lists the changes", contains("main", "housekeeping"))
	w := sharedTestbed(t)
	found, err := client.Call(t.Context(), w.Client, wire.SearchItems, wire.Search{Query: "vacuum"})
	if err != nil || len(found.Items) != 1 {
		t.Fatalf("found %d items, %v", len(found.Items), err)
	}
	for _, category := range found.Items[0].Categories {
		if category == "housekeeping" {
			t.Error("the back-test changed an item")
		}
	}
}
