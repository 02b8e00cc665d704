package browser

import (
	"flag"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

var at = flag.String("browser.at", "", "address of a node to measure, with as many items as wanted; by default that of the tests, which has few")

// BenchmarkKeypressToPaint types eight keys a second, like a fast user, and measures from each key to the
// frame that shows its results.
func BenchmarkKeypressToPaint(b *testing.B) {
	base := *at
	if base == "" {
		base = sharedTestbed(b).address
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
	lags := evaluate[[]float64](p, "window.lags")
	if len(lags) < keys/2 {
		b.Fatalf("%d of %d keys changed the page", len(lags), keys)
	}
	slices.Sort(lags)
	b.ReportMetric(lags[len(lags)/2], "p50-ms")
	b.ReportMetric(lags[len(lags)*95/100], "p95-ms")
	b.ReportMetric(lags[len(lags)-1], "max-ms")
	b.ReportMetric(float64(len(lags)), "paints")
}
