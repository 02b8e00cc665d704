package browser

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
)

// unread returns the number of unread items of the node's only client.
func (w testbed) unread(t *testing.T) int64 {
	t.Helper()
	folders, err := client.Call(t.Context(), w.Client, wire.GetFolders, wire.FolderQuery{})
	if err != nil {
		t.Fatal(err)
	}
	return folders.Unread
}

// markAll marks all items as read or unread.
func (w testbed) markAll(t *testing.T, read bool) {
	t.Helper()
	page, err := client.Call(t.Context(), w.Client, wire.ListReading, wire.ReadingQuery{Show: wire.ShowAll, Limit: 200})
	if err != nil {
		t.Fatal(err)
	}
	no := false
	var ids []string
	for _, i := range page.Items {
		ids = append(ids, i.ID)
	}
	if _, err := client.Call(t.Context(), w.Client, wire.MarkItems, wire.MarkItemsRequest{Body: wire.Marks{IDs: ids, Read: &read, Starred: &no}}); err != nil {
		t.Fatal(err)
	}
}

const (
	openedTitle = `(document.querySelector("#pane h1")?.innerText.trim() ?? "")`
	openRow     = `document.querySelector("#rows [aria-current]").closest("li")`
)

// rowTitle is the title of a row of the list without its word for screen readers.
func rowTitle(n string) string {
	return `document.querySelectorAll("#rows li")[` + n + `].querySelector(".title").lastChild.textContent.trim()`
}

// unreadShown is whether the page shows a number of unread items of all feeds.
func unreadShown(n int64) string {
	return fmt.Sprintf(`document.querySelector("#folders .count").innerText.includes("%d")`, n)
}

// The next item is shown in the task of its key, and read only once it is opened.
func TestReading_NextItemIsPrefetched(t *testing.T) {
	w := sharedTestbed(t)
	w.markAll(t, false)
	b := open(t)
	b.visit("/read")
	total := w.unread(t)
	b.until("all unread items are listed", `document.querySelectorAll("#rows li.unread").length > 3`)
	first, second, third := evaluate[string](b, rowTitle("0")), evaluate[string](b, rowTitle("1")), evaluate[string](b, rowTitle("2"))
	loaded := func(row string) string {
		return fmt.Sprintf(`performance.getEntriesByName(document.querySelectorAll("#rows li")[%s].querySelector("a").href).length === 1`, row)
	}
	b.types("j")
	b.until("the first item is opened", openedTitle+` === `+quote(first))
	b.until("the second is loaded", loaded("1"))
	b.until("only the first is read", unreadShown(total-1))
	if got := w.unread(t); got != total-1 {
		t.Errorf("got %d unread items after one was opened, want %d", got, total-1)
	}
	press := func(key string) string {
		return evaluate[string](b, `(dispatchEvent(new KeyboardEvent("keypress", {key: `+quote(key)+`})), `+openedTitle+`)`)
	}
	if got := press("j"); got != second {
		t.Errorf("got %q after j, want %q at once", got, second)
	}
	press("m") // it is sent after the request that marks the item as read
	b.until("the third is loaded", loaded("2"))
	b.until("the second is unread", openRow+`.classList.contains("unread") && `+unreadShown(total-1))
	if got := press("j"); got != third {
		t.Errorf("got %q after j, want %q at once", got, third)
	}
	b.until("the third is read", unreadShown(total-2))
	if got := press("k"); got != third {
		t.Errorf("got %q after k, want %q until the request ends: the fourth was loaded", got, third)
	}
	b.until("k opens the second", openedTitle+` === `+quote(second))
}

// A reader needs the keyboard only: opening, marking, starring, the list of starred items, mark all read and undo.
func TestReading_ByKeys(t *testing.T) {
	w := sharedTestbed(t)
	w.markAll(t, false)
	b := open(t)
	b.do(chromedp.EmulateViewport(1280, 900))
	b.visit("/read")
	total := w.unread(t)
	b.until("all unread items are listed", `document.querySelectorAll("#rows li.unread").length > 3`)
	first, second := evaluate[string](b, rowTitle("0")), evaluate[string](b, rowTitle("1"))
	b.types("j")
	b.until("j opens the first item beside the list", openedTitle+` === `+quote(first))
	b.types("j")
	b.until("j opens the second item", openedTitle+` === `+quote(second))
	b.until("it is marked as read in the list", openRow+`.classList.contains("read")`)
	b.until("the number of unread items follows", unreadShown(total-2))
	if got := w.unread(t); got != total-2 {
		t.Errorf("got %d unread items after two were opened, want %d", got, total-2)
	}
	b.types("m")
	b.until("m marks it as unread", openRow+`.classList.contains("unread") && `+unreadShown(total-1))
	if got := w.unread(t); got != total-1 {
		t.Errorf("got %d unread items after m, want %d", got, total-1)
	}
	b.types("s")
	b.until("s stars it", openRow+`.classList.contains("starred") && document.querySelector("#pane button[name=starred]").textContent === "Remove star"`)
	b.types("k")
	b.until("k opens the first item again", openedTitle+` === `+quote(first))
	b.types("gb")
	b.until("g b lists starred items", `location.search === "?show=starred" && document.querySelectorAll("#rows li").length === 1 && `+rowTitle("0")+` === `+quote(second))
	b.types("j")
	b.until("j opens it", openedTitle+` === `+quote(second))
	b.types("l")
	b.until("l moves the focus to the labels of the open item", `document.activeElement.name === "labels" && document.querySelector("#pane .annotation").open`)
	b.run(`document.querySelector("#pane [name=labels]").value = "to read"; document.querySelector("#pane [name=note]").value = "A note."; document.querySelector("#pane .annotation form").requestSubmit()`)
	b.until("the item is labelled", `document.querySelector(".item-labels a")?.innerText === "to read" && document.querySelector("#pane [name=note]")?.value === "A note."`)
	b.types("m")
	b.until("m marks it as unread again", openRow+`.classList.contains("unread")`)
	b.types("gu")
	b.until("g u lists unread items", `location.pathname === "/read" && location.search === "" && document.querySelector("#rows li") !== null`)
	b.types("a")
	b.until("a marks all as read", `document.querySelector("#undo button")?.textContent === "Undo" && document.querySelectorAll("#rows li").length === 0`)
	if got := w.unread(t); got != 0 {
		t.Errorf("got %d unread items after all were marked as read", got)
	}
	b.run(`document.querySelector("#undo button").click()`)
	b.until("Undo restores the list", `document.querySelectorAll("#rows li.unread").length > 3`)
	if got := w.unread(t); got != total-1 {
		t.Errorf("got %d unread items after undo, want %d", got, total-1)
	}
}

// At least 20 items are visible at 1280 x 900 before one is opened.
func TestReading_RowsOnScreen(t *testing.T) {
	w := sharedTestbed(t)
	w.markAll(t, false)
	b := open(t)
	b.do(chromedp.EmulateViewport(1280, 900))
	b.visit("/read?show=all")
	height := evaluate[float64](b, `document.querySelector("#rows li").getBoundingClientRect().height`)
	top := evaluate[float64](b, `document.querySelector("#rows").getBoundingClientRect().top`)
	if rows := int((900 - top) / height); rows < 20 {
		t.Errorf("%d rows of %.0f px fit below %.0f px, want at least 20", rows, height, top)
	} else {
		t.Logf("%d rows at 1280 x 900", rows)
	}
}

// A mark appears in the client's other windows within a second, also one made by another program.
func TestReading_OtherWindows(t *testing.T) {
	w := sharedTestbed(t)
	w.markAll(t, false)
	a, b := open(t), open(t)
	a.visit("/read?show=all")
	b.visit("/read?show=all")
	a.types("j")
	a.until("the item is opened", openedTitle+` !== ""`)
	b.until("it is read in the other window", `document.querySelector("#rows li").classList.contains("read")`)
	id := evaluate[string](b, `document.querySelector("#rows li").dataset.id`)
	yes := true
	if _, err := client.Call(t.Context(), w.Client, wire.MarkItems, wire.MarkItemsRequest{Body: wire.Marks{IDs: []string{id}, Starred: &yes}}); err != nil {
		t.Fatal(err)
	}
	for _, window := range []*tab{a, b} {
		window.until("a star set by another program appears", `document.querySelector("#rows li").classList.contains("starred")`)
	}
}

// An item that is left at once is a signal for suggestions, once they are switched on.
func TestReading_DwellTime(t *testing.T) {
	w := sharedTestbed(t)
	w.markAll(t, false)
	turn := func(on bool) {
		if _, err := client.Call(context.WithoutCancel(t.Context()), w.Client, wire.SwitchInterests, wire.SwitchInterestsRequest{Body: wire.InterestSwitch{On: on}}); err != nil {
			t.Error(err)
		}
	}
	turn(true)
	defer turn(false)
	b := open(t)
	b.visit("/read?show=all")
	b.types("j")
	b.until("the first item is opened", openedTitle+` !== ""`)
	id := evaluate[string](b, `document.querySelector("#pane article").dataset.id`)
	b.types("j")
	b.until("the second item is opened", `document.querySelector("#pane article").dataset.id !== `+quote(id))
	left := wire.InterestSignal{ID: id, Signal: "left"}
	for deadline := time.Now().Add(pageTimeout); ; time.Sleep(50 * time.Millisecond) {
		learned, err := client.Call(t.Context(), w.Client, wire.ExportInterests, wire.None{})
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(learned.Signals, func(s wire.InterestSignalAt) bool { return s.InterestSignal == left }) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("got the signals %v, want that %s was left", learned.Signals, id)
		}
	}
}

// On a phone an item replaces the list; a swipe marks an item.
func TestReading_ByTouch(t *testing.T) {
	w := sharedTestbed(t)
	w.markAll(t, false)
	b := open(t)
	b.do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile))
	b.visit("/read?show=all")
	swipe := func(to int) string {
		return `(row => { const box = row.getBoundingClientRect(); const at = x => new Touch({identifier: 1, target: row, clientX: box.left + x, clientY: box.top + 5});
			row.dispatchEvent(new TouchEvent("touchstart", {bubbles: true, touches: [at(150)], changedTouches: [at(150)]}));
			row.dispatchEvent(new TouchEvent("touchend", {bubbles: true, cancelable: true, touches: [], changedTouches: [at(` + fmt.Sprint(to) + `)]})); })(document.querySelectorAll("#rows li")[1])`
	}
	b.run(swipe(40))
	b.until("a swipe to the left marks as read", `document.querySelectorAll("#rows li")[1].classList.contains("read")`)
	b.run(swipe(260))
	b.until("a swipe to the right stars", `document.querySelectorAll("#rows li")[1].classList.contains("starred")`)
	title := evaluate[string](b, rowTitle("0"))
	b.run(`document.querySelector("#rows a.title").click()`)
	b.until("the item replaces the list", openedTitle+` === `+quote(title)+` && document.querySelector("#rows").offsetParent === null`)
	b.picture("reading-phone")
	b.run(`document.querySelector("#close").click()`)
	b.until("the list is back", `document.querySelector("#rows").offsetParent !== null && document.querySelector("#rows li").classList.contains("read")`)
}

// A marks the items above, B the older ones, N opens the next feed with unread items.
func TestReading_MarkSeveralByKeys(t *testing.T) {
	w := sharedTestbed(t)
	w.markAll(t, false)
	b := open(t)
	b.visit("/read")
	total := w.unread(t)
	b.until("all unread items are listed", `document.querySelectorAll("#rows li.unread").length > 3`)
	b.types("nnn") // to the third item, without opening it
	b.types("A")
	b.until("A marks the item and those above as read", `[...document.querySelectorAll("#rows li")].every((row, n) => row.classList.contains(n < 3 ? "read" : "unread"))`)
	b.until("it can be undone", `document.querySelector("#undo button")?.textContent === "Undo"`)
	if got := w.unread(t); got != total-3 {
		t.Errorf("got %d unread items after A, want %d", got, total-3)
	}
	b.run(`document.querySelector("#undo button").click()`)
	b.until("Undo marks them as unread", `document.querySelectorAll("#rows li.read").length === 0`)

	b.types("N")
	b.until("N opens the list of a feed", `new URLSearchParams(location.search).has("feed") && document.querySelector("#rows li") !== null`)
	first := evaluate[string](b, `location.search`)
	b.types("N")
	b.until("N opens the list of the next feed", `new URLSearchParams(location.search).has("feed") && location.search !== `+quote(first))

	b.visit("/read")
	older := evaluate[int64](b, `[...document.querySelectorAll("#rows li")].filter((row) => Date.parse(row.dataset.time) <= Date.parse(document.querySelectorAll("#rows li")[2].dataset.time)).length`)
	b.types("nnn")
	b.types("B")
	b.until("B marks the item and all older ones as read", `document.querySelector("#undo button")?.textContent === "Undo"`)
	if got, want := w.unread(t), total-older; got != want {
		t.Errorf("got %d unread items after B, want %d", got, want)
	}
}

// Items are marked as read by scrolling only where the reader has switched it on.
func TestReading_MarkByScrolling(t *testing.T) {
	w := sharedTestbed(t)
	w.markAll(t, false)
	total := w.unread(t)
	b := open(t)
	b.do(chromedp.EmulateViewport(390, 500, chromedp.EmulateMobile))
	b.visit("/read")
	b.until("it is off", `document.querySelector("#scroll-read").getAttribute("aria-pressed") === "false"`)
	b.click("#scroll-read")
	b.until("it is on", `document.querySelector("#scroll-read").getAttribute("aria-pressed") === "true"`)
	// A row counts once it was visible.
	evaluate[bool](b, `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(true))))`)
	b.run(`scrollTo(0, document.querySelectorAll("#rows li")[2].getBoundingClientRect().top + 5)`)
	b.until("the items above are read", `document.querySelectorAll("#rows li.read").length >= 2 && document.querySelectorAll("#rows li")[0].classList.contains("read")`)
	b.until("it can be undone", `document.querySelector("#undo button")?.textContent === "Undo"`)
	if got := w.unread(t); got == total {
		t.Error("no item is read")
	}
	b.run(`document.querySelector("#undo button").click()`)
	b.until("Undo marks them as unread", `document.querySelectorAll("#rows li.read").length === 0`)
	b.visit("/read")
	b.until("it is remembered", `document.querySelector("#scroll-read").getAttribute("aria-pressed") === "true"`)
}
