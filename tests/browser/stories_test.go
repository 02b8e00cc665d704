package browser

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
)

// TestStory_SplitAndJoin removes an item from the story of three publishers, and adds it again.
func TestStory_SplitAndJoin(t *testing.T) {
	w := sharedTestbed(t)
	found, err := client.Call(t.Context(), w.Client, wire.SearchItems, wire.Search{Query: "title:postgresql title:released lang:en", Duplicates: true})
	if err != nil || len(found.Items) == 0 {
		t.Fatalf("found %d items, %v", len(found.Items), err)
	}
	story := found.Items[0].StoryID
	items := func(id string) int {
		view, err := client.Call(t.Context(), w.Client, wire.GetStory, wire.ByID{ID: id})
		if err != nil {
			return 0
		}
		return view.Items
	}
	before := items(story)

	b := open(t)
	b.visit("/stories")
	b.click(`main [data-list] a[href="/stories/` + story + `"]`)
	b.until("its story is shown", `location.pathname === "/stories/`+story+`"`)
	b.click("details.together:has(input[name=item]) summary") // the first, as below
	splitItem := evaluate[string](b, `document.querySelector("form[action$='/split'] input[name=item]").value`)
	b.click(`form[action$="/split"]:has(input[name=item]) button`)
	within(t, "the item has left the story", func() bool { return items(story) == before-1 })
	b.until("the form is answered", `document.querySelector("form[action$='/split'] input[value='`+splitItem+`']") === null`) // a visit would abort it
	item, err := client.Call(t.Context(), w.Client, wire.GetItem, wire.ByID{ID: splitItem})
	if err != nil || item.StoryID == story {
		t.Fatalf("the split item is still in story %s, %v", item.StoryID, err)
	}

	join := func() {
		b.visit("/stories/" + story)
		b.do(chromedp.SendKeys(chromedp.CSS("#story"), b.base+"/stories/"+item.StoryID))
		b.click(`form[action$="/join"] button`)
	}
	join()
	sent := time.Now()
	within(t, "the story has all items again", func() bool {
		if items(story) == before {
			return true
		}
		if time.Since(sent) > 20*time.Second { // the page was replaced while the address was typed, as on a busy machine
			t.Logf("the form is sent again; the page: %.500s", evaluate[string](b, "document.body.innerText"))
			join()
			sent = time.Now()
		}
		return false
	})
	b.until("the form is answered", `!document.querySelector("#story")?.value`)
	b.visit("/items/" + splitItem)
	b.until("the item links to the story", `document.querySelector('main a[href="/stories/`+story+`"]') !== null`)
}

func TestItem_LinksToSimilarItems(t *testing.T) {
	w := sharedTestbed(t)
	found, err := client.Call(t.Context(), w.Client, wire.SearchItems, wire.Search{Query: "vacuum bloat"})
	if err != nil || len(found.Items) != 1 {
		t.Fatalf("found %d items, %v", len(found.Items), err)
	}
	b := open(t)
	b.visit("/items/" + found.Items[0].ID)
	b.until("related items are shown", contains("main", "Similar items")+` && document.querySelectorAll("section[aria-labelledby=similar] a").length > 0`)
}
