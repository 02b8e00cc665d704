package browser

import (
	"context"
	"fmt"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"feedmesh/agent/access"
	"feedmesh/agent/client"
	"feedmesh/agent/wire"
)

// setOffline disconnects the page and its service worker from the network, or connects them.
func (b *tab) setOffline(offline bool) {
	b.t.Helper()
	b.expects("Failed to load resource")
	conditions := network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{Offline: offline, DownloadThroughput: -1, UploadThroughput: -1}},
	}
	state := network.OverrideNetworkStateParams{Offline: offline, DownloadThroughput: -1, UploadThroughput: -1}
	for _, ctx := range []context.Context{b.worker(), b.ctx} { // the page last: it sends to the worker when it is online
		if _, err := chromedp.Call(ctx, network.EmulateNetworkConditionsByRule, conditions); err != nil {
			b.t.Fatal(err)
		}
		if _, err := chromedp.Call(ctx, network.OverrideNetworkState, state); err != nil {
			b.t.Fatal(err)
		}
	}
}

// worker returns the context of the service worker of the tab's page. It runs as long as the context is open.
func (b *tab) worker() context.Context {
	b.t.Helper()
	if b.workerCtx != nil {
		return b.workerCtx
	}
	targets, err := chromedp.Targets(b.ctx)
	if err != nil {
		b.t.Fatal(err)
	}
	own := slices.IndexFunc(targets, func(i *target.Info) bool { return i.TargetID == chromedp.FromContext(b.ctx).Target.TargetID })
	at := slices.IndexFunc(targets, func(i *target.Info) bool {
		return i.Type == "service_worker" && own >= 0 && i.BrowserContextID == targets[own].BrowserContextID
	})
	if at < 0 {
		b.t.Fatalf("no service worker of tab %d in %+v", own, targets)
	}
	ctx, stop := chromedp.NewContext(b.ctx, chromedp.WithTargetID(targets[at].TargetID))
	b.t.Cleanup(stop)
	b.workerCtx = ctx
	return ctx
}

// stored is the number of records of a store of the worker's database.
func stored(store string) string {
	return `(await new Promise((resolve, reject) => {
		const opening = indexedDB.open("feedmesh");
		opening.onerror = reject;
		opening.onsuccess = () => {
			const count = opening.result.transaction("` + store + `").objectStore("` + store + `").count();
			count.onsuccess = () => { opening.result.close(); resolve(count.result); };
		};
	}))`
}

// untilStored waits until a store of the worker has n records.
func (b *tab) untilStored(what, store string, n int64) {
	b.t.Helper()
	b.until("the worker is active", `navigator.serviceWorker.controller?.state === "activated"`)
	evaluate[bool](b, fmt.Sprintf(`(async () => { for (;;) { if (%s === %d) return true; await new Promise((resolve) => setTimeout(resolve, 100)); } })()`, stored(store), n))
}

// post requests a change of marks in the page and returns the status.
func post(body string) string {
	return `fetch("/api/reading/marks", {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(` + body + `)}).then((answer) => answer.status)`
}

// A reader goes offline with the page open, loads it again, reads, and is online later.
func TestOffline_ReadAndMark(t *testing.T) {
	w := sharedTestbed(t)
	w.markAll(t, false)
	total := w.unread(t)
	b, other := open(t), open(t)
	other.visit("/read?show=all")
	b.visit("/read")
	b.untilStored("the unread items are kept", "items", total)
	if got := w.unread(t); got != total {
		t.Errorf("got %d unread items after they were kept, want %d", got, total)
	}
	first, second := evaluate[string](b, rowTitle("0")), evaluate[string](b, rowTitle("1"))

	b.setOffline(true)
	b.run(`location.reload()`)
	b.until("the list is shown without a network", `document.querySelector("#reader[data-shell]") !== null && document.querySelectorAll("#rows li.unread").length === `+fmt.Sprint(total))
	b.until("a line states the time of the items", `!document.querySelector("#offline").hidden && `+contains("#offline", "Offline: items of "))
	b.types("j")
	b.until("j opens the first item", openedTitle+` === `+quote(first)+` && document.querySelector("#pane .content") !== null`)
	b.types("j")
	b.until("j opens the second item", openedTitle+` === `+quote(second)+` && `+openRow+`.classList.contains("read")`)
	b.types("s")
	b.until("s stars it", openRow+`.classList.contains("starred") && document.querySelector("#pane button[name=starred]").textContent === "Remove star"`)
	b.until("the line counts the items with marks", contains("#offline", "; 2 marks will be sent."))
	b.picture("offline")
	if axe, err := os.ReadFile("../engines/node_modules/axe-core/axe.min.js"); err != nil {
		t.Error("axe-core is not installed; run just engines")
	} else {
		for _, fault := range b.judged(string(axe)) {
			t.Error(fault)
		}
	}
	b.types("?")
	b.until("? shows the keys", `document.querySelector("dialog[open] h2") !== null`)
	b.do(chromedp.KeyEvent("\x1b"))
	b.types("gu")
	b.until("read items are no longer in the list of unread ones", `location.search === "" && document.querySelectorAll("#rows li").length === `+fmt.Sprint(total-2))
	if got := w.unread(t); got != total {
		t.Errorf("got %d unread items on the server, want %d", got, total)
	}

	b.setOffline(false)
	b.until("the marks are sent", `document.querySelector("#offline").hidden`)
	if got := w.unread(t); got != total-2 {
		t.Errorf("got %d unread items on the server, want %d", got, total-2)
	}
	other.until("another window shows them", `document.querySelectorAll("#rows li.read").length === 2 && document.querySelectorAll("#rows li.starred").length === 1`)
	b.untilStored("read items are no longer kept", "items", total-2)
}

// The app can be installed, except in the private windows that tests use.
func TestOffline_Installable(t *testing.T) {
	b := open(t)
	b.visit("/read")
	b.until("the worker is active", `navigator.serviceWorker.controller?.state === "activated"`)
	manifest, err := chromedp.Call(b.ctx, page.GetAppManifest, page.GetAppManifestParams{})
	if err != nil || len(manifest.Errors) > 0 || manifest.Data == "" {
		t.Fatalf("manifest: %v, %v, %.50s", err, manifest.Errors, manifest.Data)
	}
	faults, err := chromedp.Call(b.ctx, page.GetInstallabilityErrors, cdp.Empty{})
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range faults.InstallabilityErrors {
		if fault.ErrorID != "in-incognito" {
			t.Errorf("not installable: %s", fault.ErrorID)
		}
	}
}

// The queue keeps the last change of an item and refuses more than 1,000 items. Marks of items that do not exist are dropped.
func TestOffline_QueueIsBounded(t *testing.T) {
	w := sharedTestbed(t)
	w.markAll(t, false)
	b := open(t)
	b.visit("/read?show=all")
	b.untilStored("the unread items are kept", "items", w.unread(t))
	id := evaluate[string](b, `document.querySelector("#rows li").dataset.id`)
	b.setOffline(true)
	for _, c := range []struct {
		body   string
		status int
	}{
		{`{ids: ["` + id + `"], read: true, starred: true}`, 204},
		{`{ids: ["` + id + `"], read: false}`, 204},
		{`{ids: [...Array(999).keys()].map((n) => "missing" + n), read: true}`, 204},
		{`{ids: ["missing0"], read: false}`, 204},
		{`{ids: ["one-more"], read: true}`, 507},
	} {
		if got := evaluate[int](b, post(c.body)); got != c.status {
			t.Errorf("%s: got status %d, want %d", c.body, got, c.status)
		}
	}
	b.untilStored("1,000 marks wait", "marks", 1000)
	b.setOffline(false)
	b.untilStored("the queue is sent", "marks", 0)
	starred, err := client.Call(t.Context(), w.Client, wire.ListReading, wire.ReadingQuery{Show: wire.ShowStarred})
	if err != nil || len(starred.Items) != 1 || starred.Items[0].ID != id || starred.Items[0].Read {
		t.Errorf("got %+v, %v; want the unread and starred item %s", starred.Items, err, id)
	}
}

// Another client and a client whose token is refused find nothing of the former client.
func TestOffline_ClientChanges(t *testing.T) {
	w := sharedTestbed(t)
	w.markAll(t, false)
	made, err := client.Call(t.Context(), w.Client, wire.AddToken, wire.AddTokenRequest{Body: wire.TokenSetting{Name: "offline", Scopes: []access.Scope{access.Read}}})
	if err != nil {
		t.Fatal(err)
	}
	node, err := url.Parse(w.address)
	if err != nil {
		t.Fatal(err)
	}
	var secret atomic.Value // of the client of all requests; empty: the local client
	secret.Store("")
	proxy := httptest.NewServer(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(node)
		if s := secret.Load().(string); s != "" {
			r.Out.Header.Set("Authorization", "Bearer "+s)
		}
	}})
	t.Cleanup(proxy.Close)
	t.Cleanup(proxy.CloseClientConnections) // streams of events
	b := openAt(t, proxy.URL)
	b.visit("/read")
	b.untilStored("the unread items are kept", "items", w.unread(t))
	b.expects("Failed to load resource")
	secret.Store("fm_wrong")
	if got := evaluate[int](b, `fetch("/read", {headers: {"Feedmesh-Part": "rows"}}).then((answer) => answer.status)`); got != 401 {
		t.Errorf("got status %d with a wrong token, want 401", got)
	}
	b.untilStored("nothing is kept for a refused token", "items", 0)
	// The browser shows its login, not the page without a network. The test does not log in.
	if _, err := chromedp.RunResponse(b.ctx, chromedp.Navigate(b.base+"/read")); err == nil || !strings.Contains(err.Error(), "ERR_INVALID_AUTH_CREDENTIALS") {
		t.Errorf("the page with a wrong token: got %v, want the login", err)
	}

	secret.Store("")
	b.do(chromedp.Navigate(b.base + "/read"))
	b.untilStored("the items are kept again", "items", w.unread(t))
	id := evaluate[string](b, `document.querySelector("#rows li").dataset.id`)
	b.setOffline(true)
	if got := evaluate[int](b, post(`{ids: ["`+id+`"], starred: true}`)); got != 204 {
		t.Errorf("offline: got status %d, want 204", got)
	}
	b.untilStored("a mark waits", "marks", 1)
	secret.Store(made.Secret)
	b.setOffline(false)
	b.untilStored("the former client's mark is dropped", "marks", 0)
	secret.Store("")
	starred, err := client.Call(t.Context(), w.Client, wire.ListReading, wire.ReadingQuery{Show: wire.ShowStarred})
	if err != nil || len(starred.Items) != 0 {
		t.Errorf("the former client: got %+v, %v; want no star", starred.Items, err)
	}
	other, err := client.NewClient(w.address, made.Secret)
	if err != nil {
		t.Fatal(err)
	}
	starred, err = client.Call(t.Context(), other, wire.ListReading, wire.ReadingQuery{Show: wire.ShowStarred})
	if err != nil || len(starred.Items) != 0 {
		t.Errorf("the other client: got %+v, %v; want no star", starred.Items, err)
	}
}
