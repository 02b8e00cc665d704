package console

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/service"
	"feedmesh/agent/service/servicetest"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// hostileMesh sets the state of the mesh: queues, an agent, leases, a proxy, and tasks enough for a second page of the
// quarantine.
func (s *site) hostileMesh(t *testing.T) {
	t.Helper()
	s.Mesh.Queues = []subjects.Depth{{Queue: "crawl", Tasks: 2, Bytes: 1500, Oldest: 75, Fill: .001}, {Queue: subjects.QuarantineStream, Tasks: 1}}
	s.Mesh.Processes = []subjects.Agent{
		{ID: "a", Host: evil, Roles: []string{"crawl", evil}, Started: noon, Seen: noon, Memory: 1 << 20, Rules: map[string]int64{"classify": 3}},
		{ID: "b", Started: noon, Seen: noon, Rules: map[string]int64{"classify": 2}},
	}
	s.Mesh.Holders = map[string]subjects.Lease{evil: {Agent: "a", Host: evil, Since: "2026-09-29T11:00:00Z"}, "schedule": {}}
	s.Checks = []wire.Check{{Name: "store", OK: true}, {Name: evil, Detail: evil}}
	for seq := uint64(7); seq < 7+2*tasksShown; seq++ {
		s.Mesh.Tasks[seq] = subjects.Quarantined{Seq: seq, Queue: evil, Task: evil, Reason: evil, Attempts: 5, At: noon, Message: []byte(`"x"`)}
	}
	for _, p := range []storage.Proxy{{ID: evil, URL: "javascript:alert(1)" + evil}, {ID: "quiet"}} {
		must(t, storage.Proxies(s.Store).Put(t.Context(), p))
	}
	s.Mesh.Proxies[evil] = &subjects.Proxy{LastUsed: noon, RestUntil: noon.Add(time.Hour), Reason: evil}
}

// halfDown returns a site whose store is closed and whose quarantine cannot be read.
func halfDown(t *testing.T) *site {
	t.Helper()
	s := hostile(t)
	must(t, s.Store.Close())
	s.Mesh.Broken = errUnavailable
	return s
}

func pagesOfMesh(t *testing.T, all sites) map[string]shown {
	half := halfDown(t)
	return map[string]shown{
		"mesh":                   {"/mesh", 200, all.hostile},
		"empty mesh":             {"/mesh", 200, all.empty},
		"end of quarantine":      {"/mesh?after=99", 200, all.hostile},
		"odd page of quarantine": {"/mesh?after=%3Cscript%3E", 200, all.hostile},
		"mesh half down":         {"/mesh", 200, half},
		"mesh with problems":     {"/mesh", 200, half},
		"mesh down":              {"/mesh", 503, all.hung},
	}
}

func TestMeshPage_OldPathRedirects(t *testing.T) {
	r := serve(hostile(t), "GET", "/status")
	if r.StatusCode != http.StatusMovedPermanently || r.Header.Get("Location") != "/mesh" {
		t.Errorf("got %d to %q, want 301 to /mesh", r.StatusCode, r.Header.Get("Location"))
	}
}

func TestMeshPage_ShowsBackups(t *testing.T) {
	state := &wire.BackupState{To: "/backups", Last: noon.Add(-time.Hour), Size: 3 << 20, Problem: "since 10:00:00 UTC: backups to /backups fail", Requested: noon.Add(-2 * time.Hour), RequestedSize: 1 << 20}
	site := newSite(t, func(d *service.Deps) { d.BackupState = func() *wire.BackupState { return state } })
	text := words(parse(t, body(t, serve(site, "GET", "/mesh"))))
	for _, want := range []string{"since 10:00:00 UTC: backups to /backups fail", "by schedule, in /backups1 hour ago3.1 MB", "on request2 hours ago1 MB"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q: %s", want, text)
		}
	}
	state = &wire.BackupState{To: "/backups"}
	if text := words(parse(t, body(t, serve(site, "GET", "/mesh")))); !strings.Contains(text, "by schedule, in /backupsnone yet") {
		t.Errorf("before the first backup: %s", text)
	}
	state = nil
	if text := words(parse(t, body(t, serve(site, "GET", "/mesh")))); strings.Contains(text, "Backups") {
		t.Errorf("without backups: %s", text)
	}
}

func TestMeshPage_ShowsStatus(t *testing.T) {
	page := parse(t, body(t, serve(hostile(t), "GET", "/mesh")))
	said := words(page)
	for _, want := range []string{
		"Feeds3", "Polled2", "Failing1", "crawl21.5 KB<1 %1 minute", "quarantine10 B0 %0 seconds", "schedulenone–", "OK store", "Failed", "1 hour ago", "rests: ",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("the page does not say %q: %s", want, said)
		}
	}
	if got, want := link(page, "More tasks"), "/mesh?after=26#quarantine"; got != want {
		t.Errorf("more tasks are at %q, want %q", got, want)
	}
}

func TestMeshPage_NamesFailedParts(t *testing.T) {
	said := words(parse(t, body(t, serve(halfDown(t), "GET", "/mesh"))))
	for _, want := range []string{"The quarantine cannot be listed", "The proxies cannot be listed"} {
		if !strings.Contains(said, want) {
			t.Errorf("the page does not say %q: %s", want, said)
		}
	}
	// The problems of the status name the errors of parts, for the operator; the page adds no others.
	for _, secret := range []string{"127.0.0.1", "list proxies"} {
		if strings.Contains(said, secret) {
			t.Errorf("the page says %q: %s", secret, said)
		}
	}
}

func TestMeshPage_ReplayAndDropTasks(t *testing.T) {
	source := newSite(t)
	for _, c := range []struct {
		target string
		status int
	}{
		{"/mesh/quarantine/7/replay", 303}, {"/mesh/quarantine/7/drop", 303}, {"/mesh/quarantine/8/replay", 404}, {"/mesh/quarantine/x/drop", 404},
	} {
		source.Mesh.Tasks = map[uint64]subjects.Quarantined{7: {Seq: 7}, 9: {Seq: 9}}
		if get := serve(source, "GET", c.target); get.StatusCode == 303 || get.StatusCode == 200 || len(source.Mesh.Tasks) != 2 {
			t.Errorf("GET %s: got %d: reading must change nothing", c.target, get.StatusCode)
		}
		r := post(source, c.target, nil)
		if r.StatusCode != c.status || c.status == 303 && r.Header.Get("Location") != "/mesh#quarantine" {
			t.Errorf("%s: got %d to %q, want %d", c.target, r.StatusCode, r.Header.Get("Location"), c.status)
		}
		if _, is := source.Mesh.Tasks[7]; is == (c.status == 303) || source.Mesh.Tasks[9].Seq != 9 {
			t.Errorf("%s: the quarantine has %+v", c.target, source.Mesh.Tasks)
		}
	}
	if want := []string{"replay 7", "drop 7"}; !slices.Equal(source.Mesh.Decisions, want) {
		t.Errorf("got %q done, want %q", source.Mesh.Decisions, want)
	}
}

func TestMeshEvents_FormattedText(t *testing.T) {
	source := newSite(t)
	source.hostileMesh(t)
	source.AddFeeds(t, storage.Feed{ID: "f", URL: "https://f.example/", Added: noon})
	source.Mesh.Events = make(chan subjects.Event, 1)
	source.Mesh.Events <- subjects.Event{Kind: "agent.joined", At: noon, Text: "agent a joined"}
	servicetest.Start(t, "events", source.Events.Run)
	server := httptest.NewServer(asLocal(Handler(source.Service)))
	t.Cleanup(server.Close)
	r, err := http.Get(server.URL + "/mesh/events")
	must(t, err)
	defer r.Body.Close()
	got := ""
	for lines := bufio.NewScanner(r.Body); lines.Scan() && !(strings.Contains(got, "event: state\ndata: {") && strings.Contains(got, "event: happened\ndata: {")); {
		got += lines.Text() + "\n"
	}
	for _, want := range []string{"event: state\ndata: " + `{"figures":[`, `{"id":"known","value":"1"}`, `{"id":"agents","rows":[["\u003cscript`, "event: happened\ndata: " + `{"at":"12:00:00 UTC","text":"Agent a joined."}`} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want %s in it", got, want)
		}
	}
	page := parse(t, body(t, serve(source, "GET", "/mesh")))
	ids := map[string]bool{}
	for n := range page.Descendants() {
		ids[attr(n, "id")] = true
	}
	status, err := source.Status.Get(t.Context(), wire.None{})
	must(t, err)
	live := liveOf(status, noon)
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
