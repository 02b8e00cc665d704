package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
)

// within waits for a condition.
func within(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(pageTimeout); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if is() {
			return
		}
	}
	t.Fatalf("condition not met within %v: %s", pageTimeout, what)
}

// TestFeeds_ImportShowsProgress imports stored feeds, new feeds and an invalid URL.
func TestFeeds_ImportShowsProgress(t *testing.T) {
	w := sharedTestbed(t)
	list := filepath.Join(t.TempDir(), "subscriptions.opml")
	opml := fmt.Sprintf(`<opml version="2.0"><head><title>My feeds</title></head><body><outline text="Folder">
		<outline text="Known" xmlUrl="%[1]s/data-post.xml"/><outline text="New" xmlUrl="%[1]s/a-new-one.xml"/><outline text="Broken" xmlUrl="http://"/></outline></body></opml>`, w.room.URL)
	if err := os.WriteFile(list, []byte(opml), 0o600); err != nil {
		t.Fatal(err)
	}
	b := open(t)
	b.visit("/feeds")
	b.click(`a[href="/imports"]`)
	b.until("the form is shown", `document.querySelector("input[type=file]") !== null`)
	b.do(chromedp.SetUploadFiles(chromedp.CSS("input[type=file]"), []string{list}))
	b.click(`form[enctype] button`)
	b.until("the import completes without further input", `location.pathname.startsWith("/imports/") && document.querySelector("#import-words")?.dataset.running === "false"`)
	b.until("the result of each feed is shown", `(words => words.includes("1 added") && words.includes("1 existing") && words.includes("1 invalid"))(document.querySelector("#import-words").innerText)`)
	b.visit("/feeds?q=a-new-one")
	b.until("the new feed is listed, with its folder as a tag", contains("#feed-list", "New")+" && "+contains("#feed-list", "Folder"))
}

// TestFeeds_BatchEdit tags two feeds by their check boxes.
func TestFeeds_BatchEdit(t *testing.T) {
	b := open(t)
	b.visit("/feeds?sort=title")
	b.run(`document.querySelectorAll("input[name=id]")[0].click(); document.querySelectorAll("input[name=id]")[1].click()`)
	b.until("the number of selected feeds is shown", `document.querySelector("#picked").innerText.includes("2")`)
	b.run(`document.querySelector("#do").value = "tag"`)
	b.do(chromedp.SendKeys(chromedp.CSS("#bulk-tags"), "Chosen"))
	b.click(`#feed-list button[type=submit]`)
	within(t, "two feeds have the tag", func() bool {
		page, err := client.Call(t.Context(), sharedTestbed(t).Client, wire.ListFeeds, wire.FeedSearch{FeedFilter: wire.FeedFilter{Tag: "Chosen"}})
		return err == nil && len(page.Feeds) == 2
	})
	b.until("the result is shown", contains("main", "2 feeds"))
	b.visit("/feeds?tag=Chosen")
	if rows := evaluate[int](b, `document.querySelectorAll(".feed-row").length`); rows != 2 {
		t.Errorf("%d feeds are listed with the tag, want 2", rows)
	}
}

func TestFeeds_BrokenFeedShowsTheReason(t *testing.T) {
	b := open(t)
	b.visit("/feeds?q=" + broken)
	b.until("the list shows the error", contains("main", "404"))
	b.click(".feed-row th a")
	b.until("its page shows the error and the next poll", contains("main", "404")+" && "+contains("main", "Next poll"))
}
