package browser

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// titles is an expression: the titles of what was found.
const titles = `[...document.querySelectorAll("main [data-list] h2")].map(e => e.innerText.trim())`

func TestSearchFollowsWhatIsTyped(t *testing.T) {
	b := open(t)
	b.visit("/")
	b.run(`window.stays = true`)
	b.run(`document.querySelector("#q").focus()`)
	b.types("opens")
	b.until("the items of the unfinished word are there", titles+`.length > 0 && `+titles+`.every(t => t.includes("OpenSSL"))`)
	b.until("the address says what is searched for", `new URLSearchParams(location.search).get("q") === "opens"`)
	b.types("sl leaves")
	b.until("words that no item has find none", `document.querySelectorAll("main [data-list] h2").length === 0`)
	if !ask[bool](b, "window.stays === true") {
		t.Error("the page was loaded anew while somebody typed")
	}
	if focus := ask[string](b, "document.activeElement.id"); focus != "q" {
		t.Errorf("the focus is on %q, want it where somebody types", focus)
	}
}

// TestLateAnswersDoNotReplaceNewerOnes has the first answer come a second after
// the second one.
func TestLateAnswersDoNotReplaceNewerOnes(t *testing.T) {
	b := open(t)
	b.visit("/")
	b.run(`{
		const quick = window.fetch;
		window.fetch = async (...args) => {
			const answer = await quick(...args);
			if (decodeURIComponent(String(args[0].url ?? args[0])).includes("q=kubernetes")) await new Promise(done => setTimeout(done, 1500));
			return answer;
		};
	}`)
	b.run(`document.querySelector("#q").focus()`)
	b.types("kubernetes")
	time.Sleep(300 * time.Millisecond) // the first is under way
	b.run(`document.querySelector("#q").select()`)
	b.types("btrfs")
	b.until("the newer answer is there", titles+`.length === 1 && `+titles+`[0].includes("Btrfs")`)
	time.Sleep(2 * time.Second) // the older one would be by now
	if got := ask[[]string](b, titles); len(got) != 1 || !strings.Contains(got[0], "Btrfs") {
		t.Errorf("in the end there is %q, want what was typed last", got)
	}
}

func TestFiltersPermalinksAndBack(t *testing.T) {
	b := open(t)
	b.visit("/?q=replication+OR+openssl+OR+kubernetes")
	all := ask[[]string](b, titles)
	if len(all) < 3 {
		t.Fatalf("found %q, want several", all)
	}
	b.click(`#filters section[aria-labelledby="by-feed"] a, #filters [data-facet="feed"] a`)
	b.until("a filter is in force", `document.querySelector(".chips a") !== null && new URLSearchParams(location.search).get("feed")`)
	some, link := ask[[]string](b, titles), ask[string](b, "location.pathname + location.search")
	if len(some) == 0 || len(some) >= len(all) {
		t.Errorf("the filter leaves %q of %q, want fewer", some, all)
	}

	other := open(t)
	other.visit(link)
	if got := ask[[]string](other, titles); !slices.Equal(got, some) {
		t.Errorf("%s shows %q to somebody else, want %q", link, got, some)
	}

	b.do(chromedp.NavigateBack())
	b.until("Back has all again", fmt.Sprintf("%s.length === %d", titles, len(all)))
	if got := ask[[]string](b, titles); !slices.Equal(got, all) {
		t.Errorf("Back shows %q, want %q", got, all)
	}
	if q := ask[string](b, `document.querySelector("#q").value`); !strings.Contains(q, "openssl") {
		t.Errorf("Back leaves %q in the field", q)
	}
	b.do(chromedp.NavigateForward())
	b.until("Forward has the filter again", `document.querySelector(".chips a") !== null`)
}

func TestMistakesAreForgivenAndTold(t *testing.T) {
	b := open(t)
	b.visit("/?q=kuberentes")
	b.until("an item is found all the same", titles+`.some(t => t.includes("Kubernetes"))`)
	b.until("and it is said so", contains("main", "close"))
	b.visitRefused("/?q=%22never+closed", http.StatusBadRequest)
	b.until("the fault is told", `document.querySelector("main [role=alert], #fault, .fault") !== null`)
}
