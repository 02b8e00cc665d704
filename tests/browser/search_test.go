package browser

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// titles is an expression: the titles of the results.
const titles = `[...document.querySelectorAll("main [data-list] h2")].map(e => e.innerText.trim())`

func TestSearch_UpdatesWhileTyping(t *testing.T) {
	b := open(t)
	b.visit("/")
	b.run(`window.stays = true`)
	b.run(`document.querySelector("#q").focus()`)
	b.types("opens")
	b.until("items that match the prefix are shown", titles+`.length > 0 && `+titles+`.every(t => t.includes("OpenSSL"))`)
	b.until("the URL contains the query", `new URLSearchParams(location.search).get("q") === "opens"`)
	b.types("sl leaves")
	b.until("a query without matches shows no items", `document.querySelectorAll("main [data-list] h2").length === 0`)
	if !evaluate[bool](b, "window.stays === true") {
		t.Error("the page was reloaded while typing")
	}
	if focus := evaluate[string](b, "document.activeElement.id"); focus != "q" {
		t.Errorf("the focus is on %q, want the search field", focus)
	}
}

// TestSearch_RestOfOlderSearchAbortsNoNewerOne adds words before the response
// to the first one, and delays the response to all of them for longer than
// the page waits before it loads its other parts.
func TestSearch_RestOfOlderSearchAbortsNoNewerOne(t *testing.T) {
	b := open(t)
	b.visit("/")
	b.run(`{
		const field = document.querySelector("#q");
		const enter = text => {
			field.value = text;
			field.dispatchEvent(new InputEvent("input"));
		};
		const quick = window.fetch;
		let first = true;
		window.fetch = async (...args) => {
			if (first) {
				first = false;
				enter("openssl leaves");
			} else if (String(args[0].url ?? args[0]).includes("leaves"))
				await new Promise((done, abort) => {
					setTimeout(done, 1000);
					args[1].signal.addEventListener("abort", () => abort(args[1].signal.reason));
				});
			return quick(...args);
		};
		enter("openssl");
	}`)
	b.until("a query without matches shows no items", `location.search.includes("leaves") && document.querySelectorAll("main [data-list] h2").length === 0`)
}

// TestSearch_LateResponsesAreIgnored delays the first response until a second after the second one.
func TestSearch_LateResponsesAreIgnored(t *testing.T) {
	b := open(t)
	b.visit("/")
	b.run(`{
		const quick = window.fetch;
		window.fetch = async (...args) => {
			const first = decodeURIComponent(String(args[0].url ?? args[0])).includes("q=kubernetes");
			if (first) window.sent = true;
			const answer = await quick(...args);
			if (first) {
				await new Promise(done => setTimeout(done, 1500));
				setTimeout(() => { window.arrived = true; }, 200); // when the page has seen it
			}
			return answer;
		};
	}`)
	b.run(`document.querySelector("#q").focus()`)
	b.types("kubernetes")
	b.until("the first request is in progress", `window.sent`)
	b.run(`document.querySelector("#q").select()`)
	b.types("btrfs")
	b.until("the newer response is shown", titles+`.length === 1 && `+titles+`[0].includes("Btrfs")`)
	b.until("the older response has arrived", `window.arrived`)
	if got := evaluate[[]string](b, titles); len(got) != 1 || !strings.Contains(got[0], "Btrfs") {
		t.Errorf("got %q, want the results of the last input", got)
	}
}

func TestSearch_FiltersPermalinksAndBack(t *testing.T) {
	b := open(t)
	b.visit("/?q=replication+OR+openssl+OR+kubernetes")
	all := evaluate[[]string](b, titles)
	if len(all) < 3 {
		t.Fatalf("found %q, want several", all)
	}
	b.click(`#filters section[aria-labelledby="by-feed"] a, #filters [data-facet="feed"] a`)
	b.until("a filter is applied", `document.querySelector(".chips a") !== null && new URLSearchParams(location.search).get("feed")`)
	some, link := evaluate[[]string](b, titles), evaluate[string](b, "location.pathname + location.search")
	if len(some) == 0 || len(some) >= len(all) {
		t.Errorf("the filter leaves %q of %q, want fewer", some, all)
	}

	other := open(t)
	other.visit(link)
	if got := evaluate[[]string](other, titles); !slices.Equal(got, some) {
		t.Errorf("%s shows %q in another tab, want %q", link, got, some)
	}

	b.do(chromedp.NavigateBack())
	b.until("Back removes the filter", fmt.Sprintf("%s.length === %d", titles, len(all)))
	if got := evaluate[[]string](b, titles); !slices.Equal(got, all) {
		t.Errorf("Back shows %q, want %q", got, all)
	}
	if q := evaluate[string](b, `document.querySelector("#q").value`); !strings.Contains(q, "openssl") {
		t.Errorf("Back leaves %q in the field", q)
	}
	b.do(chromedp.NavigateForward())
	b.until("Forward restores the filter", `document.querySelector(".chips a") !== null`)
}

func TestSearch_ReportsSyntaxErrors(t *testing.T) {
	b := open(t)
	b.visit("/?q=kuberentes")
	b.until("an item is found despite the typo", titles+`.some(t => t.includes("Kubernetes"))`)
	b.until("the page states that matches are close", contains("main", "close"))
	b.visitRefused("/?q=%22never+closed", http.StatusBadRequest)
	b.until("the syntax error is shown", `document.querySelector("main [role=alert], #fault, .fault") !== null`)
}
