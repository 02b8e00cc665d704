package console

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/web/sse"
	"feedmesh/agent/wire"
	"feedmesh/subjects"
)

const meshPath = "/mesh"

func (c meshPages) routes(mux *http.ServeMux) {
	mux.HandleFunc(meshPath, c.mesh)
	mux.HandleFunc(meshPath+eventsPath, c.meshEvents)
	mux.HandleFunc("POST "+meshPath+"/quarantine/{seq}/replay", c.decideTask(c.Quarantine.Replay))
	mux.HandleFunc("POST "+meshPath+"/quarantine/{seq}/drop", c.decideTask(c.Quarantine.Drop))
	mux.HandleFunc("/status", func(w http.ResponseWriter, r *http.Request) { // former path of the page
		http.Redirect(w, r, meshPath, http.StatusMovedPermanently)
	})
}

// A meshPage shows the state of the mesh.
type meshPage struct {
	pager
	Live       liveMesh
	Problems   []string
	Notices    []subjects.Notice
	Checks     []wire.Check
	Made       *timestamp
	Quarantine []taskRow
	NoTasks    string // message if no tasks are listed; empty if the quarantine is empty
	Proxies    []proxyRow
	Retention  *retentionView // nil if it is unknown at the moment
	Backups    []backupRow
	Failing    string // why scheduled backups fail, and what to do
}

// A backupRow is the last backup by schedule or on request.
type backupRow struct {
	Made       *timestamp // nil: none yet
	Size, From string
}

// A taskRow is a quarantined task.
type taskRow struct {
	Seq             uint64
	Queue, Task     string
	Reason          string
	Attempts        int64
	At              *timestamp
	Replay, Discard string // actions of the forms
}

type proxyRow struct {
	ID, URL, State, Reason string
	Used                   *timestamp
}

const (
	tasksShown       = 20
	readinessTimeout = 3 * time.Second
)

// mesh shows the state of the mesh. Parts that fail are reported on the page; the others are still shown.
func (c meshPages) mesh(w http.ResponseWriter, r *http.Request) {
	now := c.Now()
	status, err := c.status(r.Context())
	if err != nil {
		c.showUnavailable(w, r, err, "The mesh")
		return
	}
	main := meshPage{Live: liveOf(status, now), Problems: status.Problems, Notices: status.Notices, Made: newTimestamp(now, now)}
	ready, cancel := context.WithTimeout(r.Context(), readinessTimeout)
	defer cancel()
	main.Checks = c.Status.Readiness(ready)
	after, _ := strconv.ParseUint(r.URL.Query().Get("after"), 10, 64) // 0, the first page, if it is not a number
	c.showQuarantine(r.Context(), &main, after, now)
	if kept, err := c.Retention.Get(r.Context(), wire.None{}); err == nil {
		view := retentionOf(kept, now)
		main.Retention = &view
	} else {
		main.Problems = append(main.Problems, "Retention cannot be shown at the moment.")
	}
	main.Backups, main.Failing = backupsOf(status.Backup, now)
	proxies, err := c.Proxies.List(r.Context(), wire.None{})
	if err != nil {
		main.Problems = append(main.Problems, "The proxies cannot be listed at the moment.")
	}
	for _, p := range proxies.Proxies {
		row := proxyRow{ID: p.ID, URL: p.URL}
		if p.Health != nil {
			row.State, row.Reason, row.Used = p.Health.State, p.Health.Why, newTimestamp(p.Health.Used, now)
		}
		main.Proxies = append(main.Proxies, row)
	}
	c.render(w, r, http.StatusOK, "mesh", page{Title: "Mesh", Here: meshPath, Scripts: []string{"mesh.js"}, Main: main})
}

// backupsOf returns the last backups, and why scheduled ones fail. b may be nil.
func backupsOf(b *wire.BackupState, now time.Time) (rows []backupRow, problem string) {
	if b == nil {
		return nil, ""
	}
	if b.To != "" {
		row := backupRow{Made: newTimestamp(b.Last, now), From: "by schedule, in " + b.To}
		if !b.Last.IsZero() {
			row.Size = size(b.Size)
		}
		rows = append(rows, row)
	}
	if !b.Requested.IsZero() {
		rows = append(rows, backupRow{newTimestamp(b.Requested, now), size(b.RequestedSize), "on request"})
	}
	return rows, b.Problem
}

// showQuarantine adds a page of the quarantine.
func (c meshPages) showQuarantine(ctx context.Context, main *meshPage, after uint64, now time.Time) {
	tasks, err := c.Quarantine.List(ctx, wire.QuarantineSearch{After: after, Limit: tasksShown})
	if err != nil {
		main.NoTasks = "The quarantine cannot be listed at the moment."
		return
	}
	main.What = "tasks"
	for _, t := range tasks.Tasks {
		at := meshPath + "/quarantine/" + strconv.FormatUint(t.Seq, 10)
		main.Quarantine = append(main.Quarantine, taskRow{
			Seq: t.Seq, Queue: t.Queue, Task: t.Task, Reason: t.Reason, Attempts: int64(t.Attempts), At: newTimestamp(t.At, now), Replay: at + "/replay", Discard: at + "/drop",
		})
	}
	if after > 0 {
		main.First = meshPath + "#quarantine"
		if len(tasks.Tasks) == 0 {
			main.NoTasks = "No more tasks."
		}
	}
	if tasks.Next > 0 {
		main.Next = addressOf(meshPath, map[string]string{"after": strconv.FormatUint(tasks.Next, 10)}) + "#quarantine"
	}
}

// decideTask returns a handler that applies an operation to a quarantined task.
func (c meshPages) decideTask(do func(context.Context, wire.BySeq) (wire.None, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		seq, err := strconv.ParseUint(r.PathValue("seq"), 10, 64)
		if err != nil {
			c.notFound(w, r)
			return
		}
		if _, err := do(r.Context(), wire.BySeq{Seq: seq}); err != nil {
			c.showError(w, r, err, "The mesh", choice{Label: "Quarantine", URL: meshPath + "#quarantine"})
			return
		}
		http.Redirect(w, r, meshPath+"#quarantine", http.StatusSeeOther)
	}
}

// meshEvents streams changes of the mesh to the page's script, as formatted text.
func (c meshPages) meshEvents(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel() // closes the stream
	events, err := c.Events.Watch(ctx, access.From(ctx).Key(access.Address(r)))
	if err != nil {
		w.Header().Set("Retry-After", "60")
		http.Error(w, err.Error(), http.StatusTooManyRequests)
		return
	}
	sse.Send(w, r, events, func(event wire.StreamEvent) (string, any) {
		switch {
		case event.Status != nil:
			return "state", liveOf(*event.Status, c.Now())
		case event.Event == nil:
			return "", nil
		}
		return "happened", map[string]string{"text": sentence(event.Event.Text), "at": event.Event.At.UTC().Format("15:04:05 UTC")}
	})
}

// A liveMesh is the part of the mesh page that updates itself, as formatted text. The page is rendered from
// it, and mesh.js replaces changed text.
type liveMesh struct {
	Figures []figure    `json:"figures"`
	Tables  []liveTable `json:"tables"`
}

// A figure is a labelled number on a page.
type figure struct {
	ID    string `json:"id"` // ID of its element
	Label string `json:"-"`
	Value string `json:"value"`
}

// A liveTable is a table of text. The first cell of a row is its header.
type liveTable struct {
	ID      string     `json:"id"` // ID of its heading; its body has "ID-rows"
	Heading string     `json:"-"`
	About   string     `json:"-"`
	Columns []column   `json:"-"`
	Rows    [][]string `json:"rows"`
}

// A column is a table column. Class is the CSS class of its cells.
type column struct{ Label, Class string }

const (
	numberClass = "number"
	wideClass   = "wide"
	unknown     = "–"
)

// liveOf formats the state of the mesh.
func liveOf(s wire.Status, now time.Time) liveMesh {
	return liveMesh{
		Figures: []figure{
			{"known", "Feeds", count(s.Feeds.Stored)}, {"polled", "Polled", count(s.Feeds.Polled)}, {"out", "Being polled", count(s.Feeds.InFlight)},
			{"failing", "Failing", count(s.Feeds.Failing)}, {"gone", "Gone", count(s.Feeds.Gone)},
			{"items", "Items stored", count(s.Items)}, {"indexed", "Searchable", count(s.Indexed)},
		},
		Tables: []liveTable{queueTable(s), agentTable(s, now), activeTable(s, now)},
	}
}

func queueTable(s wire.Status) liveTable {
	t := liveTable{
		ID: "queues", Heading: "Queues", About: "Waiting tasks, in the order of processing.",
		Columns: []column{{"Queue", ""}, {"Tasks", numberClass}, {"Size", numberClass}, {"Full", numberClass}, {"Oldest", numberClass}},
		Rows:    [][]string{},
	}
	for _, q := range s.Queues {
		oldest := unknown
		if q.Tasks > 0 {
			oldest = span(q.Oldest)
		}
		t.Rows = append(t.Rows, []string{q.Queue, count(int64(q.Tasks)), size(int64(q.Bytes)), percent(q.Fill), oldest})
	}
	return t
}

func agentTable(s wire.Status, now time.Time) liveTable {
	t := liveTable{
		ID: "agents", Heading: "Agents", About: "The processes of the mesh and their roles.",
		Columns: []column{
			{"Agent", ""}, {"Roles", wideClass}, {"Version", ""}, {"Cores", numberClass}, {"Memory", numberClass},
			{"Tasks done", numberClass}, {"Started", ""}, {"Last seen", ""},
		},
		Rows: [][]string{},
	}
	for _, a := range s.Agents {
		t.Rows = append(t.Rows, []string{
			a.Host + " " + a.ID, strings.Join(a.Roles, ", "), a.Version, tenth(a.Load), size(a.Memory), count(int64(a.Done)), when(a.Started, now), when(a.Seen, now),
		})
	}
	return t
}

func activeTable(s wire.Status, now time.Time) liveTable {
	t := liveTable{
		ID: "active", Heading: "Active actors", About: "Actors of which one instance is active; the others are on standby.",
		Columns: []column{{"Actor", ""}, {"Agent", ""}, {"Since", ""}}, Rows: [][]string{},
	}
	for _, name := range slices.Sorted(maps.Keys(s.Active)) {
		lease := s.Active[name]
		agent := "none"
		if lease.Agent != "" {
			agent = lease.Host + " " + lease.Agent
		}
		since, _ := time.Parse(time.RFC3339, lease.Since) // zero if it is not set
		t.Rows = append(t.Rows, []string{name, agent, when(since, now)})
	}
	return t
}

// when formats how long ago a time was.
func when(t, now time.Time) string {
	if s := newTimestamp(t, now); s != nil {
		return s.Ago
	}
	return unknown
}
