package browser

import (
	"testing"
)

// TestTheMeshIsWatchedLive adds a feed while the page is open.
func TestTheMeshIsWatchedLive(t *testing.T) {
	b := open(t)
	b.visit("/mesh")
	b.until("the page says that it is live", `document.querySelector("#mesh-live").innerText.toLowerCase().includes("live")`)
	before := ask[string](b, `document.querySelector("dl.figures").innerText`)
	b.run(`window.stays = true`)
	w := theWorld(t)
	if _, err := w.AddFeeds(t.Context(), []string{w.room.URL + "/watched.xml"}, nil); err != nil {
		t.Fatal(err)
	}
	b.until("the figures change by themselves", `document.querySelector("dl.figures").innerText !== `+quote(before)+` && window.stays`)
}
