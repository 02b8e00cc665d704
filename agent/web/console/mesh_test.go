package console

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"feedmesh/agent/wire"
	"feedmesh/subjects"
)

func pagesOfMesh() map[string]shown {
	halfDown := hostile()
	halfDown.deskErr = errAway
	ill := hostile()
	ill.status.Problems = []string{evil}
	return map[string]shown{
		"mesh":                   {"/mesh", 200, hostile()},
		"empty mesh":             {"/mesh", 200, &fake{}},
		"end of quarantine":      {"/mesh?after=9", 200, hostile()},
		"odd page of quarantine": {"/mesh?after=%3Cscript%3E", 200, hostile()},
		"mesh half down":         {"/mesh", 200, halfDown},
		"mesh with problems":     {"/mesh", 200, ill},
		"mesh down":              {"/mesh", 503, brokenMesh()},
	}
}

func TestMeshPage_OldPathRedirects(t *testing.T) {
	r := serve(hostile(), "GET", "/status")
	if r.StatusCode != http.StatusMovedPermanently || r.Header.Get("Location") != "/mesh" {
		t.Errorf("got %d to %q, want 301 to /mesh", r.StatusCode, r.Header.Get("Location"))
	}
}

func TestMeshPage_ShowsStatus(t *testing.T) {
	page := parse(t, body(t, serve(hostile(), "GET", "/mesh")))
	said := words(page)
	for _, want := range []string{
		"Feeds3", "crawl21.5 KB<1 %1 minute", "quarantine10 B0 %0 seconds", "schedulenone–", "OK store", "Failed", "1 hour ago", "rests: ",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("the page does not say %q: %s", want, said)
		}
	}
	if got, want := link(page, "More tasks"), "/mesh?after=7#quarantine"; got != want {
		t.Errorf("more tasks are at %q, want %q", got, want)
	}
}

func TestMeshPage_NamesFailedParts(t *testing.T) {
	source := hostile()
	source.deskErr = errAway
	said := body(t, serve(source, "GET", "/mesh"))
	for _, want := range []string{"The quarantine cannot be listed", "The proxies cannot be listed"} {
		if !strings.Contains(said, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if strings.Contains(said, "127.0.0.1") {
		t.Error("the page tells the address of the store")
	}
}

func TestMeshPage_ReplayAndDropTasks(t *testing.T) {
	source := hostile()
	for _, c := range []struct {
		target string
		status int
	}{
		{"/mesh/quarantine/7/replay", 303}, {"/mesh/quarantine/7/drop", 303}, {"/mesh/quarantine/8/replay", 404}, {"/mesh/quarantine/x/drop", 404},
	} {
		r := post(source, c.target, nil)
		if r.StatusCode != c.status || c.status == 303 && r.Header.Get("Location") != "/mesh#quarantine" {
			t.Errorf("%s: got %d to %q, want %d", c.target, r.StatusCode, r.Header.Get("Location"), c.status)
		}
		if get := serve(source, "GET", c.target); get.StatusCode == 303 || get.StatusCode == 200 {
			t.Errorf("GET %s: got %d: reading must change nothing", c.target, get.StatusCode)
		}
	}
	if want := []string{"replay 7", "drop 7"}; !slices.Equal(source.redirectOrExplain, want) {
		t.Errorf("got %q done, want %q", source.redirectOrExplain, want)
	}
}

func TestMeshEvents_FormattedText(t *testing.T) {
	source := hostile()
	source.event = []wire.StreamEvent{
		{Status: &wire.Status{Items: 1234567, Agents: []subjects.Agent{{ID: "a", Host: evil}}}},
		{Event: &wire.MeshEvent{Kind: "agent.joined", At: noon, Text: "agent a joined"}},
	}
	got := body(t, serve(source, "GET", "/mesh/events"))
	for _, want := range []string{"event: state\ndata: " + `{"figures":[`, `{"id":"items","value":"1,234,567"}`, `{"id":"agents","rows":[["\u003cscript`, "event: happened\ndata: " + `{"at":"12:00:00 UTC","text":"Agent a joined."}`} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want %s in it", got, want)
		}
	}
	page := parse(t, body(t, serve(source, "GET", "/mesh")))
	ids := map[string]bool{}
	for n := range page.Descendants() {
		ids[attr(n, "id")] = true
	}
	live := liveOf(source.status, noon)
	for _, f := range live.Figures {
		if !ids[f.ID] {
			t.Errorf("the page has no %s for its script to change", f.ID)
		}
	}
	for _, table := range live.Tables {
		if !ids[table.ID+"-rows"] {
			t.Errorf("the page has no %s-rows for its script to change", table.ID)
		}
		for _, row := range table.Rows {
			if len(row) != len(table.Columns) {
				t.Errorf("%s has a row of %d cells and %d columns", table.ID, len(row), len(table.Columns))
			}
		}
	}
}
