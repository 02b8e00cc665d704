package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"feedmesh/agent/api"
)

// within waits for something to be so.
func within(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if is() {
			return
		}
	}
	t.Fatalf("not so within %v: %s", patience, what)
}

// TestAListIsImportedBeforeOnesEyes imports what is known, what is new, and what
// is no address.
func TestAListIsImportedBeforeOnesEyes(t *testing.T) {
	w := theWorld(t)
	list := filepath.Join(t.TempDir(), "subscriptions.opml")
	opml := fmt.Sprintf(`<opml version="2.0"><head><title>My feeds</title></head><body><outline text="Folder">
		<outline text="Known" xmlUrl="%[1]s/data-post.xml"/><outline text="New" xmlUrl="%[1]s/a-new-one.xml"/><outline text="Broken" xmlUrl="http://"/></outline></body></opml>`, w.room.URL)
	if err := os.WriteFile(list, []byte(opml), 0o600); err != nil {
		t.Fatal(err)
	}
	b := open(t)
	b.visit("/feeds")
	b.click(`a[href="/imports"]`)
	b.until("there is a form", `document.querySelector("input[type=file]") !== null`)
	b.do(chromedp.SetUploadFiles(chromedp.CSS("input[type=file]"), []string{list}))
	b.click(`form[enctype] button`)
	b.until("it is done, without a word from anybody", `location.pathname.startsWith("/imports/") && document.querySelector("#import-words")?.dataset.running === "false"`)
	b.until("what became of each is told", `(words => words.includes("1 added") && words.includes("1 known") && words.includes("1 with no address"))(document.querySelector("#import-words").innerText)`)
	b.visit("/feeds?q=a-new-one")
	b.until("the new feed is there, with its folder as a tag", contains("#feed-list", "New")+" && "+contains("#feed-list", "Folder"))
}

// TestManyFeedsAreChangedAtOnce tags two feeds by their boxes.
func TestManyFeedsAreChangedAtOnce(t *testing.T) {
	b := open(t)
	b.visit("/feeds?sort=title")
	b.run(`document.querySelectorAll("input[name=id]")[0].click(); document.querySelectorAll("input[name=id]")[1].click()`)
	b.until("it is said how many are chosen", `document.querySelector("#picked").innerText.includes("2")`)
	b.run(`document.querySelector("#do").value = "tag"`)
	b.do(chromedp.SendKeys(chromedp.CSS("#bulk-tags"), "Chosen"))
	b.click(`#feed-list button[type=submit]`)
	within(t, "two feeds have the tag", func() bool {
		page, err := theWorld(t).FindFeeds(t.Context(), api.FeedSearch{FeedFilter: api.FeedFilter{Tag: "Chosen"}})
		return err == nil && len(page.Feeds) == 2
	})
	b.until("it is told what was done", contains("main", "2 feeds"))
	b.visit("/feeds?tag=Chosen")
	if rows := ask[int](b, `document.querySelectorAll(".feed-row").length`); rows != 2 {
		t.Errorf("%d feeds are listed with the tag, want 2", rows)
	}
}

func TestABrokenFeedSaysWhy(t *testing.T) {
	b := open(t)
	b.visit("/feeds?q=" + broken)
	b.until("the list says what is wrong", contains("main", "404"))
	b.click(".feed-row h2 a")
	b.until("its page says it too, and when it is asked next", contains("main", "404")+" && "+contains("main", "Next poll"))
}
