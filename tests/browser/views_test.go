package browser

import "testing"

// watchRequests records the requests of a page for previews, and the texts of its live region.
const watchRequests = `
	window.stays = true;
	window.requests = [];
	window.said = [];
	const fetched = window.fetch;
	window.fetch = (url, options) => {
		const entry = { text: options.body.get("definition"), aborted: false };
		requests.push(entry);
		options.signal.addEventListener("abort", () => { entry.aborted = true; });
		return window.failing ? Promise.reject(new TypeError("failed")) : fetched(url, options);
	};
	new MutationObserver(() => said.push(document.getElementById("live").textContent)).observe(document.getElementById("live"), {childList: true})`

// previewed is an expression: the titles of the items of the preview.
const previewed = `[...document.querySelectorAll("#preview h3 a")].map(e => e.innerText.trim())`

func TestViews_PreviewFollowsTheText(t *testing.T) {
	b := open(t)
	b.visit("/views/edit")
	b.run(watchRequests)
	b.run(`const text = document.getElementById("definition"); text.focus(); text.select()`)
	b.types("view p = from all where openssl")
	b.until("the items are shown", previewed+`.length > 0 && `+previewed+`.every(t => t.includes("OpenSSL")) && document.querySelector("#preview svg") !== null`)
	items := evaluate[[]string](b, previewed)
	if focus := evaluate[string](b, "document.activeElement.id"); focus != "definition" {
		t.Errorf("the focus is on %q, want the text", focus)
	}
	requests := evaluate[int](b, "requests.length")

	b.types(" windo")
	b.types("w ") // its value is missing
	b.until("the error is shown with its place", contains("#problem", "Window takes hours")+` && `+contains("#problem", "Line 1, column 39")+` && document.getElementById("definition").ariaInvalid === "true"`)
	if got := evaluate[[]string](b, previewed); len(got) != len(items) {
		t.Errorf("got the items %q beside an error, want those of before: %q", got, items)
	}
	b.until("the page states that the preview is older", `!document.getElementById("preview-old").hidden && `+contains("#preview-old", "last text without errors"))
	caret := evaluate[[]float64](b, `(() => {
		const pre = document.querySelector("#problem pre"), range = document.createRange(), caret = pre.querySelector("span > span").nextSibling;
		range.setStart(caret, 0); range.setEnd(caret, 1);
		const at = range.getBoundingClientRect().left;
		range.selectNodeContents(pre.firstChild);
		range.setEnd(pre.firstChild, 38);
		return [at, range.getBoundingClientRect().right];
	})()`)
	if d := caret[0] - caret[1]; d < -1 || d > 1 {
		t.Errorf("the caret is at %.1f, want %.1f, below the end of the text", caret[0], caret[1])
	}
	b.types("5w")
	b.until("the preview is that of the text again", `document.getElementById("preview-old").hidden && document.querySelector("#problem > *") === null && `+previewed+`.length > 0`)

	sent := evaluate[int](b, "requests.length")
	b.run(`const text = document.getElementById("definition"); text.dispatchEvent(new InputEvent("input")); scrollTo(0, 120)`)
	b.run(`window.late = false; setTimeout(() => { window.late = true; }, 600)`) // twice the pause
	b.until("the pause is over", "late")
	if got := evaluate[int](b, "requests.length"); got != sent || sent == requests {
		t.Errorf("got %d requests, %d before an input without a change", got, sent)
	}

	// A newer request replaces one that has no answer yet.
	b.run(`
		const text = document.getElementById("definition"), now = window.fetch;
		window.fetch = (url, options) => new Promise((done, failed) => {
			options.signal.addEventListener("abort", () => { window.replaced = true; failed(options.signal.reason); });
		});
		text.value = "view p = from all where kubernetes"; text.dispatchEvent(new InputEvent("input"));
		setTimeout(() => { window.fetch = now; text.value = "view p = from all where btrfs"; text.dispatchEvent(new InputEvent("input")); }, 600)`)
	b.until("the newer preview is shown", `window.replaced && `+previewed+`.length === 1 && `+previewed+`[0].includes("Btrfs")`)
	if y := evaluate[float64](b, "scrollY"); y != 120 {
		t.Errorf("the page is scrolled to %.0f, want 120", y)
	}
	want := `["1 item","Window takes hours`
	said := evaluate[string](b, "JSON.stringify(said)")
	if n := evaluate[int](b, `said.filter((words, i) => words === said[i - 1]).length`); n > 0 || len(said) < len(want) {
		t.Errorf("the live region got %s, want each state once", said)
	}

	b.run(`window.failing = true; const text = document.getElementById("definition"); text.value += " limit 5"; text.dispatchEvent(new InputEvent("input"))`)
	b.until("the failure is stated, beside the last preview", contains("#preview-old", "the server did not answer")+` && `+previewed+`.length === 1`)
	b.run(`window.failing = false`)
	b.click("button[value=preview]")
	b.until("the button repeats the request", `document.getElementById("preview-old").hidden && `+previewed+`.length === 1 && window.stays`)

	b.withoutScripts()
	b.visit("/views/edit?definition=" + query("view p = from all where btrfs"))
	b.click("button[value=preview]")
	b.until("the preview is shown without scripts", `document.querySelectorAll("#preview h3 a").length === 1`)
}
