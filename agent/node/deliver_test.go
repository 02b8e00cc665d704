package node

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
)

// Readiness warns of subscriptions for which no agent sends, until one with the role does. The secrets of their receivers are in
// no file.
func TestSubscriptions_NeedAnAgent(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("skipped by -short: runs a node twice")
	}
	ctx := t.Context()
	web := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(web.Close)
	dir := t.TempDir()
	c := settings(filepath.Join(dir, "data"))
	c.Roles = []string{"index", "api"}
	problem := func(r *running) string {
		ready, err := r.Ready(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, check := range ready.Checks {
			if check.Name == "subscriptions" {
				return check.Detail
			}
		}
		return "there is no check"
	}

	r := start(t, c)
	if got := problem(r); got != "" {
		t.Errorf("without subscriptions: %s", got)
	}
	if _, err := client.Call(ctx, r.Client, wire.SaveView, wire.SaveViewRequest{Name: "all", Body: wire.ViewSetting{Definition: "view all = from all"}}); err != nil {
		t.Fatal(err)
	}
	in := wire.AddSubscriptionRequest{}
	in.Body.Views, in.Body.Channel, in.Body.Receiver = []string{"all"}, "webhook", web.URL+"/?key=the-receiver-key"
	added, err := client.Call(ctx, r.Client, wire.AddSubscription, in)
	if err != nil {
		t.Fatal(err)
	}
	if got := problem(r); !strings.Contains(got, "role deliver") {
		t.Errorf("without an agent that sends: got %q", got)
	}
	r.stop()
	for _, text := range []string{"the-receiver-key", added.Secret} {
		if names := filesWith(t, dir, text); len(names) > 0 {
			t.Errorf("%s is in %v", text, names)
		}
	}

	c.Roles = append(c.Roles, "deliver")
	r = start(t, c)
	if got := problem(r); got != "" {
		t.Errorf("with an agent that sends: %s", got)
	}
}
