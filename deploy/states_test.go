package deploy_test

import (
	"testing"

	"feedmesh/agent/mesh/meshtest"
	"feedmesh/subjects"
)

// The users of the roles that show or report feeds that fail read the states of feeds, and can't change them.
func TestStates_AreReadByAPIAndDeliver(t *testing.T) {
	c := startCluster(t)
	state := subjects.FeedState{FeedID: "feed", State: &subjects.State{URL: "https://feed.example/", Failures: 1}}
	meshtest.PutStates(t, c.join(t, "schedule"), state)
	for _, user := range []string{"api", "deliver"} {
		m := c.join(t, user)
		wait(t, user+" reads it", func() bool {
			failing := 0
			err := m.LoadStates(t.Context(), func(f subjects.FeedState) {
				if f.State.IsFailing() {
					failing++
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			return failing == 1
		})
	}
}
