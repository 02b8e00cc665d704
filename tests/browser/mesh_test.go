package browser

import (
	"testing"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
)

// TestMesh_UpdatesLive adds a feed while the page is open.
func TestMesh_UpdatesLive(t *testing.T) {
	b := open(t)
	b.visit("/mesh")
	b.until("the page shows that it is live", `document.querySelector("#mesh-live").innerText.toLowerCase().includes("live")`)
	before := evaluate[string](b, `document.querySelector("dl.figures").innerText`)
	b.run(`window.stays = true`)
	w := sharedTestbed(t)
	if _, err := client.Call(t.Context(), w.Client, wire.AddFeeds, wire.AddFeedsRequest{Body: wire.FeedAddresses{URLs: []string{w.room.URL + "/watched.xml"}}}); err != nil {
		t.Fatal(err)
	}
	b.until("the figures update without a reload", `document.querySelector("dl.figures").innerText !== `+quote(before)+` && window.stays`)
}
