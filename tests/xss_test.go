package tests

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"feedmesh/classify/text"
	"feedmesh/tests/chromium"
)

// TestClean_NothingRunsInABrowser opens a collection of script injections in a browser, cleaned, on pages
// without a content security policy. No script may run, no request may leave except for images, and no
// navigation may happen. Uncleaned, many of them must run: otherwise the test would be blind.
func TestClean_NothingRunsInABrowser(t *testing.T) {
	t.Parallel()
	raw := attacks(t)
	b := openBrowser(t)

	var some []string // a sample of them, because they are slow
	for i := 0; i < len(raw); i += 3 {
		some = append(some, raw[i])
	}
	var ran []int
	b.open(t, "<!doctype html><title>as they came</title>")
	b.evaluate(t, frames(some), &ran)
	t.Logf("%d of %d attacks run without cleaning", len(ran), len(some))
	if len(ran) < len(some)/4 { // others load, send or navigate, or ran in older browsers
		t.Errorf("only %d of %d attacks run without cleaning, want at least a quarter for a meaningful test", len(ran), len(some))
	}

	for name, rules := range ruleSets(t) {
		items, images := cleaned(t, rules, raw)
		distinct := slices.Compact(slices.Sorted(slices.Values(items)))
		b.open(t, "<!doctype html><title>cleaned</title><script>"+hooks+"</script><body><div>"+strings.Join(distinct, "</div>\n<div>")+"</div>")
		var faults []string
		b.evaluate(t, fmt.Sprintf("(%s)(%d)", inspect, len(distinct)), &faults)
		for _, fault := range faults {
			t.Errorf("%s rules: %s", name, fault)
		}
		alone := slices.Compact(slices.Sorted(slices.Values(items[:len(raw)])))
		b.evaluate(t, frames(alone), &ran)
		for _, i := range ran {
			t.Errorf("%s rules: %q runs", name, alone[i])
		}
		b.check(t, name, images)
	}
}

// attacks returns the collection of injections; see the file.
func attacks(t *testing.T) []string {
	t.Helper()
	file, err := os.ReadFile("../classify/text/testdata/xss.txt")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for line := range strings.SplitSeq(string(file), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		list = append(list, strings.Map(func(r rune) rune {
			if r >= '\u2400' && r <= '\u241F' {
				return r - '\u2400' // the picture of a control character
			}
			return r
		}, line))
	}
	if len(list) < 300 {
		t.Fatalf("got %d attacks, want at least 300", len(list))
	}
	return list
}

// ruleSets returns the default rules, and a set that allows the maximum.
func ruleSets(t *testing.T) map[string]*text.Rules {
	t.Helper()
	generous, err := text.Parse([]byte(`{
		"attributes": {
			"*": ["dir", "lang"], "a": ["href", "title"], "abbr": ["title"], "acronym": ["title"], "blockquote": ["cite"], "code": ["class"],
			"del": ["cite", "datetime"], "details": ["open"], "dfn": ["title"], "img": ["src", "alt", "title", "width", "height"], "ins": ["cite", "datetime"],
			"li": ["value"], "ol": ["start", "type", "reversed"], "q": ["cite"], "td": ["colspan", "rowspan"], "th": ["colspan", "rowspan", "scope"], "time": ["datetime"]
		},
		"embeds": ["video.example"],
		"images": {"data": 8192, "pixels": []},
		"links": {"schemes": ["http", "https", "mailto", "tel", "xmpp", "irc", "ircs", "magnet", "ftp", "gemini"], "tracking": []},
		"tails": []
	}`))
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*text.Rules{"default": text.Default(), "generous": generous}
}

// cleaned cleans each attack, first alone and then within other markup. It also returns the URLs of images,
// which may be loaded.
func cleaned(t *testing.T, rules *text.Rules, raw []string) (items []string, images map[string]bool) {
	t.Helper()
	base, err := url.Parse("https://page.example/")
	if err != nil {
		t.Fatal(err)
	}
	images = make(map[string]bool)
	for _, around := range []string{"%s", "<p>a%sb</p>", "<table><tr><td>%s", "<svg>%s</svg>", "<math><mtext>%s", "<noscript>%s</noscript>", "<ul><li><a href=x>%s"} {
		for _, attack := range raw {
			got := rules.Clean(strings.Replace(around, "%s", attack, 1), base, "")
			items = append(items, got.HTML)
			for _, image := range got.Images {
				images[image] = true
			}
		}
	}
	return items, images
}

// hooks records the first actions of any injected script.
const hooks = `
var ran = [];
for (const name of ["alert", "confirm", "prompt", "print", "open", "msgbox"]) window[name] = () => { ran.push(name); };
Object.defineProperty(window, "pwned", {set() { ran.push("pwned"); }, get() { return undefined; }});
`

// inspect checks a page of n items: executed scripts, every element and attribute in the DOM, and the result
// of parsing their markup once more. It returns the violations.
const inspect = `n => {
	const faults = [], events = ["click", "mouseover", "mouseenter", "focus", "focusin", "blur", "load", "error", "toggle", "animationstart", "transitionend", "scroll", "wheel", "copy", "paste", "input", "submit"];
	const forbidden = new Set(["script", "style", "object", "embed", "applet", "form", "input", "button", "select", "textarea", "svg", "math", "base", "meta", "link", "template", "noscript", "frame", "frameset", "video", "audio", "xss", "x", "marquee", "body", "html", "dialog", "portal", "title", "xmp", "plaintext"]);
	const look = (e, item) => {
		const fault = what => faults.push(what + " in " + item.slice(0, 300));
		if (e.namespaceURI !== "http://www.w3.org/1999/xhtml" || forbidden.has(e.localName)) fault(e.namespaceURI + " " + e.localName);
		for (const a of e.attributes) {
			if (a.name === "id" && /^anchor-[\w:.-]{1,64}$/.test(a.value)) continue; // of a footnote
			if (/^on|^style$|^id$|^name$|^srcdoc$|^srcset$|^target$|^ping$|^action$|^formaction$|:/.test(a.name)) fault("attribute " + a.name);
		}
		if (e.href !== undefined && !["http:", "https:", "mailto:", "tel:", "xmpp:", "irc:", "ircs:", "magnet:", "ftp:", "gemini:"].includes(e.protocol)) fault("link to " + e.href);
		if (e.localName === "img" && !/^(https?:|data:image\/(png|gif|jpeg|webp);)/.test(e.src)) fault("image " + e.src);
		if (e.localName === "iframe" && (!e.src.startsWith("https://video.example/") || e.getAttribute("sandbox") !== "allow-same-origin allow-scripts")) fault("document " + e.src);
		for (const type of events) e.dispatchEvent(new Event(type, {bubbles: true, cancelable: true}));
		if (e.focus) e.focus();
	};
	window.addEventListener("click", e => e.preventDefault(), true);
	window.addEventListener("submit", e => e.preventDefault(), true);
	const items = document.querySelectorAll("body > div");
	if (items.length !== n || document.body.children.length !== n) faults.push("got " + items.length + " of " + n + " items on the page, and " + document.body.children.length + " elements: one broke out");
	for (const item of items) {
		const markup = item.innerHTML;
		for (const e of item.querySelectorAll("*")) look(e, markup);
		const again = document.createElement("div");
		document.body.append(again);
		again.innerHTML = markup;
		for (const e of again.querySelectorAll("*")) look(e, markup);
		const same = s => s.replaceAll("<pre>\n", "<pre>"); // browsers leave out a line feed there
		if (same(again.innerHTML) !== same(markup)) faults.push("read again it is " + again.innerHTML.slice(0, 300) + " and was " + markup.slice(0, 300));
		again.remove();
	}
	if (ran.length > 0) faults.push("ran " + ran.join(" "));
	return faults;
}`

// frames returns a script that opens each item in its own frame, performs user actions on it, and returns the
// numbers of those with executed scripts.
func frames(items []string) string {
	list, err := json.Marshal(items)
	if err != nil {
		panic(err) // strings
	}
	hook, err := json.Marshal("<!doctype html><script>" + hooks + "</script><body>")
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`(async () => {
	const items = %s, hook = %s, ran = [];
	const pause = ms => new Promise(done => setTimeout(done, ms));
	const poke = frame => {
		const doc = frame.contentDocument;
		if (!doc) return;
		for (const e of doc.querySelectorAll("*")) {
			try {
				for (const type of ["mouseover", "pointerover", "mouseenter", "focusin", "toggle", "input"]) e.dispatchEvent(new Event(type, {bubbles: true}));
				if (e.focus) e.focus();
				const link = e.closest("a");
				if (!link || link.protocol === "javascript:") e.click ? e.click() : e.dispatchEvent(new Event("click", {bubbles: true}));
			} catch (fault) {}
		}
	};
	for (let start = 0; start < items.length; start += 200) {
		const loads = [], batch = items.slice(start, start + 200).map(item => {
			const frame = document.createElement("iframe");
			frame.sandbox = "allow-scripts allow-same-origin allow-forms";
			frame.srcdoc = hook + item;
			document.body.append(frame);
			loads.push(new Promise(done => { frame.onload = done; }));
			return frame;
		});
		const windows = batch.map(frame => frame.contentWindow);
		await Promise.race([Promise.all(loads), pause(3000)]); // some never load
		batch.forEach(poke);
		await pause(100);
		batch.forEach((frame, i) => {
			try {
				if (windows[i].ran.length > 0) ran.push(start + i);
			} catch (fault) {}
			frame.remove();
		});
	}
	return ran;
})()`, list, hook)
}

// A browser opens test pages and records their side effects.
type browser struct {
	ctx    context.Context
	server *httptest.Server

	mu       sync.Mutex
	page     string   // content of the page
	requests []string // kind and URL of each request to other servers
	dialogs  []string
	moves    []string // navigations and opened windows of the page
}

// openBrowser starts a browser with access to a test server only.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	b := &browser{ctx: chromium.Open(t, 5*time.Minute)}
	b.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		fmt.Fprint(w, b.page)
	}))
	t.Cleanup(b.server.Close)
	if err := chromedp.Listen(b.ctx, b.note); err != nil {
		t.Fatalf("start the browser: %v", err)
	}
	if err := chromedp.ListenBrowser(b.ctx, b.note); err != nil {
		t.Fatal(err)
	}
	return b
}

// note records an event.
func (b *browser) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch event := event.(type) {
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(event.Request.URL, b.server.URL) && !strings.HasPrefix(event.Request.URL, "data:") {
			b.requests = append(b.requests, fmt.Sprint(event.Type, " ", event.Request.URL))
		}
	case *page.EventJavascriptDialogOpening:
		b.dialogs = append(b.dialogs, event.Message)
		go chromedp.Call(b.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{})
	case *page.EventFrameNavigated:
		if event.Frame.ParentID == "" && event.Frame.URL != b.server.URL+"/" {
			b.moves = append(b.moves, event.Frame.URL)
		}
	case *page.EventWindowOpen:
		b.moves = append(b.moves, event.URL)
	case *target.EventTargetCreated:
		if event.TargetInfo.Type == "page" && event.TargetInfo.OpenerID != "" {
			b.moves = append(b.moves, event.TargetInfo.URL)
		}
	}
}

// open shows a page, and clears the records.
func (b *browser) open(t *testing.T, markup string) {
	t.Helper()
	b.mu.Lock()
	b.page = markup
	b.mu.Unlock()
	if err := chromedp.Do(b.ctx, chromedp.Navigate("about:blank")); err != nil {
		t.Fatal(err)
	}
	b.mu.Lock()
	b.requests, b.dialogs, b.moves = nil, nil, nil
	b.mu.Unlock()
	if err := chromedp.Do(b.ctx, chromedp.Navigate(b.server.URL+"/")); err != nil {
		t.Fatal(err)
	}
}

// evaluate runs a script in the page and waits for its result.
func (b *browser) evaluate(t *testing.T, script string, into any) {
	t.Helper()
	got, err := chromedp.Run(b.ctx, chromedp.Evaluate[[]byte](script, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	decode(t, got, into)
}

// check reports the page's actions that only images may do.
func (b *browser) check(t *testing.T, name string, images map[string]bool) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, request := range slices.Compact(slices.Sorted(slices.Values(b.requests))) {
		kind, address, _ := strings.Cut(request, " ")
		embedded := name == "generous" && kind == "Document" && strings.HasPrefix(address, "https://video.example/")
		if !embedded && (kind != "Image" || !images[address]) {
			t.Errorf("%s rules: request left: %s", name, request)
		}
	}
	if len(b.dialogs) > 0 || len(b.moves) > 0 {
		t.Errorf("%s rules: got dialogs %q and navigation to %q, want none", name, b.dialogs, b.moves)
	}
	t.Logf("%s rules: %d requests for images", name, len(b.requests))
}
