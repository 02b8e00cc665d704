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

// A tab is a person at the console. Whatever a page writes to the browser's
// console, and whatever it asks of another host, is a fault of its own.
type tab struct {
	t    testing.TB
	ctx  context.Context
	base string // address of the console

	mu     sync.Mutex
	faults []string
	known  string // what the browser says of a page that is refused, as it should be
}

// patience is how long a page may take to become what a test waits for.
const patience = 20 * time.Second

// open starts a browser with an empty tab for a person at the usual world.
func open(t testing.TB) *tab { return openAt(t, theWorld(t).address) }

// openAt starts a browser with an empty tab, 1280 by 900, for the console at an
// address.
func openAt(t testing.TB, base string) *tab {
	t.Helper()
	b := &tab{t: t, ctx: chromium.Open(t, 3*time.Minute), base: base}
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

// complaint notes what a page wrote to the console, unless that is known.
func (b *tab) complaint(message string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.known == "" || !strings.Contains(message, b.known) {
		b.faults = append(b.faults, "console: "+message)
	}
}

func (b *tab) listen(event any) {
	if sent, ok := event.(*network.EventRequestWillBeSent); ok {
		if to := sent.Request.URL; !strings.HasPrefix(to, b.base+"/") && !strings.HasPrefix(to, "data:") && !strings.HasPrefix(to, "about:") {
			b.fault("a request left: " + to)
		}
	}
}

// do carries out the steps, each within patience.
func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	for i, step := range steps {
		ctx, cancel := context.WithTimeout(b.ctx, patience)
		err := chromedp.Do(ctx, step)
		cancel()
		if err != nil {
			b.t.Fatalf("step %d: %v; the page is %s", i+1, err, b.glance())
		}
	}
}

// visit goes to a path of the console.
func (b *tab) visit(path string) {
	b.t.Helper()
	b.visitRefused(path, http.StatusOK)
}

// visitRefused goes to a path that must be answered with the status. The browser
// complains of any but 200, soon after.
func (b *tab) visitRefused(path string, status int) {
	b.t.Helper()
	b.mu.Lock()
	b.known = ""
	if status != http.StatusOK {
		b.known = fmt.Sprintf("responded with a status of %d", status)
	}
	b.mu.Unlock()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	response, err := chromedp.RunResponse(ctx, chromedp.Navigate(b.base+path))
	if err != nil {
		b.t.Fatalf("%s: %v", path, err)
	}
	if response != nil && response.Status != int64(status) {
		b.t.Errorf("%s: status %d, want %d", path, response.Status, status)
	}
}

// glance returns where the tab is and how its page begins, for a failed test.
func (b *tab) glance() string {
	ctx, cancel := context.WithTimeout(b.ctx, 5*time.Second)
	defer cancel()
	text, _ := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + ": " + document.querySelector("main")?.innerText.slice(0, 1500)`))
	return text
}

// ask evaluates an expression in a tab's page.
func ask[T any](b *tab, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	got, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return got
}

// run has a tab's page carry out a statement.
func (b *tab) run(statement string) {
	b.t.Helper()
	ask[bool](b, "(() => {"+statement+"; return true; })()")
}

// until waits for an expression to be true, on a page that is loaded with all its
// scripts, and which may be a new one.
func (b *tab) until(what, expression string) {
	b.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(b.ctx, 5*time.Second)
		is, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`document.readyState === "complete" && !!(`+expression+")"))
		cancel()
		if err == nil && is {
			return
		}
	}
	b.t.Fatalf("not so within %v: %s; the page is %s", patience, what, b.glance())
}

// click follows what the selector selects, which must be there and seen.
func (b *tab) click(selector string) {
	b.t.Helper()
	b.do(chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
}

// types presses keys, wherever the focus is.
func (b *tab) types(keys string) {
	b.t.Helper()
	for _, key := range keys {
		b.do(chromedp.KeyEvent(string(key)))
	}
}

// withoutScripts has pages run none from now on.
func (b *tab) withoutScripts() {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		b.t.Fatal(err)
	}
}

// prefers has the person's system be "light" or "dark".
func (b *tab) prefers(scheme string) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	}); err != nil {
		b.t.Fatal(err)
	}
}

// contains returns an expression: whether the text of what is selected has words.
func contains(selector, words string) string {
	return fmt.Sprintf(`document.querySelector(%q)?.innerText.includes(%q)`, selector, words)
}

// quote returns a text as a script has it.
func quote(text string) string { return fmt.Sprintf("%q", text) }
