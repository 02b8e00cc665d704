package browser

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"feedmesh/tests/chromium"
)

// A tab is a browser tab with the console. Messages on the browser's console and requests to other hosts fail
// the test.
type tab struct {
	t    testing.TB
	ctx  context.Context
	base string // base URL of the console
	also string // prefix of other URLs that pages may request; empty: none

	workerCtx context.Context // of the page's service worker, once a test has attached to it

	mu       sync.Mutex
	faults   []string
	expected string // the browser's expected message for an error page
	lost     string // its message for pictures that their publishers do not serve, if there are any
}

// pageTimeout is the timeout of a wait for a page.
const pageTimeout = time.Minute

// open opens an empty tab for the shared node.
func open(t testing.TB) *tab { return openAt(t, sharedTestbed(t).address) }

// openAt opens an empty tab, 1280 by 900, for the console at a URL.
func openAt(t testing.TB, base string) *tab {
	t.Helper()
	b := &tab{t: t, ctx: chromium.Open(t, 10*time.Minute), base: base}
	if err := chromedp.Listen(b.ctx, b.listen); err != nil {
		t.Fatalf("start the browser: %v", err)
	}
	b.do(chromedp.EmulateViewport(1280, 900))
	go func() {
		for message, err := range chromedp.Console(b.ctx) {
			if err != nil {
				return
			}
			if message.IsException() || message.Type == "error" || message.Type == "warning" {
				b.complaint(message.String())
			}
		}
	}()
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, fault := range b.faults {
			t.Error(fault)
		}
	})
	return b
}

func (b *tab) fault(what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = append(b.faults, what)
}

// complaint records a console message, unless it is expected.
func (b *tab) complaint(message string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, expected := range []string{b.expected, b.lost} {
		if expected != "" && strings.Contains(message, expected) {
			return
		}
	}
	b.faults = append(b.faults, "console: "+message)
}

func (b *tab) listen(event any) {
	if sent, ok := event.(*network.EventRequestWillBeSent); ok {
		to := sent.Request.URL
		if isAlso := b.also != "" && strings.HasPrefix(to, b.also); !isAlso && !strings.HasPrefix(to, b.base+"/") && !strings.HasPrefix(to, "data:") && !strings.HasPrefix(to, "about:") {
			b.fault("a request left: " + to)
		}
	}
}

// do executes steps, each with the timeout patience.
func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	for i, step := range steps {
		ctx, cancel := context.WithTimeout(b.ctx, pageTimeout)
		err := chromedp.Do(ctx, step)
		cancel()
		if err != nil {
			b.t.Fatalf("step %d: %v; the page is %s", i+1, err, b.glance())
		}
	}
}

// expects sets the message that the browser may log until the next visit.
func (b *tab) expects(message string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expected = message
}

// visit opens a path of the console.
func (b *tab) visit(path string) {
	b.t.Helper()
	b.visitRefused(path, http.StatusOK)
}

// visitRefused opens a path that must return an error status. The browser logs a message for it soon after.
func (b *tab) visitRefused(path string, status int) {
	b.t.Helper()
	expected := ""
	if status != http.StatusOK {
		expected = fmt.Sprintf("responded with a status of %d", status)
	}
	b.expects(expected)
	ctx, cancel := context.WithTimeout(b.ctx, pageTimeout)
	defer cancel()
	response, err := chromedp.RunResponse(ctx, chromedp.Navigate(b.base+path))
	if err != nil {
		b.t.Fatalf("%s: %v", path, err)
	}
	if response != nil && response.Status != int64(status) {
		b.t.Errorf("%s: status %d, want %d", path, response.Status, status)
	}
}

// glance returns the URL and the beginning of the page, for the message of a failed test.
func (b *tab) glance() string {
	ctx, cancel := context.WithTimeout(b.ctx, 5*time.Second)
	defer cancel()
	text, _ := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + ": " + document.querySelector("main")?.innerText.slice(0, 1500)`))
	return text
}

// evaluate evaluates an expression in the page.
func evaluate[T any](b *tab, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, pageTimeout)
	defer cancel()
	got, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return got
}

// run executes a statement in the page.
func (b *tab) run(statement string) {
	b.t.Helper()
	evaluate[bool](b, "(() => {"+statement+"; return true; })()")
}

// until waits until an expression is true, on a page with all its scripts loaded, which may be a new page.
func (b *tab) until(what, expression string) {
	b.t.Helper()
	for deadline := time.Now().Add(pageTimeout); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(b.ctx, 5*time.Second)
		is, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`document.readyState === "complete" && !!(`+expression+")"))
		cancel()
		if err == nil && is {
			return
		}
	}
	b.t.Fatalf("condition not met within %v: %s; the page is %s", pageTimeout, what, b.glance())
}

// click clicks the element of a selector, which must be visible.
func (b *tab) click(selector string) {
	b.t.Helper()
	b.do(chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
}

// types presses keys in the focused element.
func (b *tab) types(keys string) {
	b.t.Helper()
	for _, key := range keys {
		b.do(chromedp.KeyEvent(string(key)))
	}
}

// withoutScripts disables scripts from now on.
func (b *tab) withoutScripts() {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		b.t.Fatal(err)
	}
}

// prefers sets the color scheme to "light" or "dark".
func (b *tab) prefers(scheme string) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	}); err != nil {
		b.t.Fatal(err)
	}
}

// contains returns an expression: whether the text of the selected element contains words.
func contains(selector, words string) string {
	return fmt.Sprintf(`document.querySelector(%q)?.innerText.includes(%q)`, selector, words)
}

// quote returns a text as a script literal.
func quote(text string) string { return fmt.Sprintf("%q", text) }
