package browser

import (
	"flag"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

var at = flag.String("browser.at", "", "address of a node to measure, with as many items as wanted; by default that of the tests, which has few")

// BenchmarkKeypressToPaint types as a quick person does, eight keys a second, and
// measures from each key to the frame that shows what was found for it.
func BenchmarkKeypressToPaint(b *testing.B) {
	base := *at
	if base == "" {
		base = theWorld(b).address
	}
	p := openAt(b, base)
	p.visit("/")
	p.run(`
		window.lags = [];
		let pressed = 0;
		addEventListener("keydown", () => { pressed = performance.now(); }, true);
		new MutationObserver(() => {
			const since = pressed;
			pressed = 0;
			if (since) requestAnimationFrame(() => setTimeout(() => lags.push(performance.now() - since)));
		}).observe(document.getElementById("results"), {childList: true, subtree: true});
		document.querySelector("#q").focus()`)
	keys := 0
	for range b.N {
		for _, words := range []string{"postgresql repl", "kubernetes cluster", "new release of linux", "openssl hole", "быстрая база данных"} {
			p.run(`document.querySelector("#q").value = ""`)
			for _, key := range words {
				p.do(chromedp.KeyEvent(string(key)))
				keys++
				time.Sleep(125 * time.Millisecond)
			}
		}
	}
	lags := ask[[]float64](p, "window.lags")
	if len(lags) < keys/2 {
		b.Fatalf("%d of %d keys changed what is seen", len(lags), keys)
	}
	slices.Sort(lags)
	b.ReportMetric(lags[len(lags)/2], "p50-ms")
	b.ReportMetric(lags[len(lags)*95/100], "p95-ms")
	b.ReportMetric(lags[len(lags)-1], "max-ms")
	b.ReportMetric(float64(len(lags)), "paints")
}
