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
	"feedmesh/agent/web/locale"
	"feedmesh/agent/web/sse"
	"feedmesh/agent/wire"
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
	Problems   []locale.Text
	Limited    []locale.Text // work that is done with less than was set
	Notices    []notice
	Checks     []checkRow
	Made       *locale.Timestamp
	Quarantine []taskRow
	NoTasks    locale.Text // message if no tasks are listed; nil if the quarantine is empty
	Proxies    []proxyRow
	Retention  *retentionView // nil if it is unknown at the moment
	Backups    []backupRow
	Failing    locale.Text // why scheduled backups fail, and what to do
}

// A notice is a fault that was corrected.
type notice struct {
	At   time.Time
	Text locale.Text
}

// A checkRow is the health of a dependency.
type checkRow struct {
	wire.Check
	Name, Detail locale.Text
}

// A backupRow is the last backup by schedule or on request.
type backupRow struct {
	Made       *locale.Timestamp // nil: none yet
	Size, From locale.Text
}

// A taskRow is a quarantined task.
type taskRow struct {
	Seq             uint64
	Queue, Task     string
	Reason          locale.Text
	Attempts        int64
	At              *locale.Timestamp
	Replay, Discard string // actions of the forms
}

type proxyRow struct {
	ID, URL       string
	State, Reason locale.Text
	Used          *locale.Timestamp
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
		c.showUnavailable(w, r, err, locale.T("The mesh"))
		return
	}
	main := meshPage{Live: liveOf(status, now), Problems: composed(status.Problems), Made: locale.NewTimestamp(now, now)}
	for _, limited := range status.Limited {
		main.Limited = append(main.Limited, locale.Composed(limited))
	}
	for _, n := range status.Notices {
		main.Notices = append(main.Notices, notice{n.At, locale.Composed(n.Text)})
	}
	ready, cancel := context.WithTimeout(r.Context(), readinessTimeout)
	defer cancel()
	for _, check := range c.Status.Readiness(ready) {
		main.Checks = append(main.Checks, checkRow{check, locale.Composed(check.Name), locale.Composed(check.Detail)})
	}
	after, _ := strconv.ParseUint(r.URL.Query().Get("after"), 10, 64) // 0, the first page, if it is not a number
	c.showQuarantine(r.Context(), &main, after, now)
	if kept, err := c.Retention.Get(r.Context(), wire.None{}); err == nil {
		view := retentionOf(kept, now)
		main.Retention = &view
	} else {
		main.Problems = append(main.Problems, locale.T("Retention cannot be shown at the moment."))
	}
	main.Backups, main.Failing = backupsOf(status.Backup, now)
	proxies, err := c.Proxies.List(r.Context(), wire.None{})
	if err != nil {
		main.Problems = append(main.Problems, locale.T("The proxies cannot be listed at the moment."))
	}
	for _, p := range proxies.Proxies {
		row := proxyRow{ID: p.ID, URL: p.URL}
		if p.Health != nil {
			row.State, row.Reason, row.Used = locale.Composed(p.Health.State), locale.Composed(p.Health.Why), locale.NewTimestamp(p.Health.Used, now)
		}
		main.Proxies = append(main.Proxies, row)
	}
	c.render(w, r, http.StatusOK, "mesh", page{Title: locale.T("Mesh"), Here: meshPath, Scripts: []string{"mesh.js"}, Main: main})
}

// backupsOf returns the last backups, and why scheduled ones fail. b may be nil.
func backupsOf(b *wire.BackupState, now time.Time) (rows []backupRow, problem locale.Text) {
	if b == nil {
		return nil, nil
	}
	if b.To != "" {
		row := backupRow{Made: locale.NewTimestamp(b.Last, now), From: locale.T("by schedule, in %s", b.To)}
		if !b.Last.IsZero() {
			row.Size = locale.Bytes(b.Size)
		}
		rows = append(rows, row)
	}
	if !b.Requested.IsZero() {
		rows = append(rows, backupRow{locale.NewTimestamp(b.Requested, now), locale.Bytes(b.RequestedSize), locale.T("on request")})
	}
	return rows, locale.Composed(b.Problem)
}

// showQuarantine adds a page of the quarantine.
func (c meshPages) showQuarantine(ctx context.Context, main *meshPage, after uint64, now time.Time) {
	tasks, err := c.Quarantine.List(ctx, wire.QuarantineSearch{After: after, Limit: tasksShown})
	if err != nil {
		main.NoTasks = locale.T("The quarantine cannot be listed at the moment.")
		return
	}
	main.More = locale.T("More tasks")
	for _, t := range tasks.Tasks {
		at := meshPath + "/quarantine/" + strconv.FormatUint(t.Seq, 10)
		main.Quarantine = append(main.Quarantine, taskRow{
			Seq: t.Seq, Queue: t.Queue, Task: t.Task, Reason: locale.Composed(t.Reason), Attempts: int64(t.Attempts), At: locale.NewTimestamp(t.At, now), Replay: at + "/replay", Discard: at + "/drop",
		})
	}
	if after > 0 {
		main.First = meshPath + "#quarantine"
		if len(tasks.Tasks) == 0 {
			main.NoTasks = locale.T("No more tasks.")
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
			c.showError(w, r, err, locale.T("The mesh"), choice{Label: locale.T("Quarantine"), URL: meshPath + "#quarantine"})
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
	language := locale.From(r)
	sse.Send(w, r, events, func(event wire.StreamEvent) sse.Event {
		switch {
		case event.Status != nil:
			return sse.Event{Name: "state", Data: liveOf(*event.Status, c.Now()).in(language)}
		case event.Event == nil || event.Event.Text == "":
			return sse.Event{}
		}
		return sse.Event{Name: "happened", Data: map[string]string{"text": locale.Sentence(locale.Composed(event.Event.Text)).In(language), "at": event.Event.At.UTC().Format("15:04:05 UTC")}}
	})
}

// A liveMesh is the part of the mesh page that updates itself. The page is rendered from it, and mesh.js replaces
// changed text.
type liveMesh struct {
	Figures []figure
	Tables  []liveTable
}

// A figure is a labelled number on a page.
type figure struct {
	ID           string // ID of its element
	Label, Value locale.Text
}

// A liveTable is a table of text. The first cell of a row is its header.
type liveTable struct {
	ID             string // ID of its heading; its body has "ID-rows"
	Heading, About locale.Text
	Columns        []column
	Rows           [][]locale.Text
}

// A column is a table column. Class is the CSS class of its cells.
type column struct {
	Label locale.Text
	Class string
}

const (
	numberClass = "number"
	wideClass   = "wide"
	unknown     = "–"
)

// A liveState is the text of a [liveMesh] in a language, as mesh.js reads it.
type liveState struct {
	Figures []figureState `json:"figures"`
	Tables  []tableState  `json:"tables"`
}

type figureState struct {
	ID    string `json:"id"`
	Value string `json:"value"`
}

type tableState struct {
	ID   string     `json:"id"`
	Rows [][]string `json:"rows"`
}

func (m liveMesh) in(l *locale.Language) liveState {
	var s liveState
	for _, f := range m.Figures {
		s.Figures = append(s.Figures, figureState{f.ID, f.Value.In(l)})
	}
	for _, t := range m.Tables {
		rows := make([][]string, len(t.Rows))
		for i, row := range t.Rows {
			for _, cell := range row {
				rows[i] = append(rows[i], cell.In(l))
			}
		}
		s.Tables = append(s.Tables, tableState{t.ID, rows})
	}
	return s
}

// liveOf describes the state of the mesh.
func liveOf(s wire.Status, now time.Time) liveMesh {
	return liveMesh{
		Figures: []figure{
			{"known", locale.T("Feeds"), locale.Count(s.Feeds.Stored)}, {"polled", locale.T("Polled"), locale.Count(s.Feeds.Polled)},
			{"out", locale.T("Being polled"), locale.Count(s.Feeds.InFlight)}, {"failing", locale.T("Failing"), locale.Count(s.Feeds.Failing)},
			{"gone", locale.T("Gone"), locale.Count(s.Feeds.Gone)}, {"items", locale.T("Items stored"), locale.Count(s.Items)},
			{"indexed", locale.T("Searchable"), locale.Count(s.Indexed)},
		},
		Tables: []liveTable{queueTable(s), agentTable(s, now), activeTable(s, now)},
	}
}

func queueTable(s wire.Status) liveTable {
	t := liveTable{
		ID: "queues", Heading: locale.T("Queues"), About: locale.T("Waiting tasks, in the order of processing."),
		Columns: []column{
			{locale.T("Queue"), ""}, {locale.T("Tasks"), numberClass}, {locale.T("Size"), numberClass}, {locale.T("Full"), numberClass},
			{locale.T("Oldest"), numberClass},
		},
	}
	for _, q := range s.Queues {
		oldest := locale.Text(locale.Data(unknown))
		if q.Tasks > 0 {
			oldest = locale.Span(q.Oldest)
		}
		t.Rows = append(t.Rows, []locale.Text{
			locale.Data(q.Queue), locale.Count(int64(q.Tasks)), locale.Bytes(int64(q.Bytes)), locale.Percent(q.Fill), oldest,
		})
	}
	return t
}

func agentTable(s wire.Status, now time.Time) liveTable {
	t := liveTable{
		ID: "agents", Heading: locale.T("Agents"), About: locale.T("The processes of the mesh and their roles."),
		Columns: []column{
			{locale.T("Agent"), ""}, {locale.T("Roles"), wideClass}, {locale.T("Version"), ""}, {locale.T("Cores"), numberClass},
			{locale.T("Memory"), numberClass}, {locale.T("Tasks done"), numberClass}, {locale.T("State"), ""}, {locale.T("Started"), ""}, {locale.T("Last seen"), ""},
		},
	}
	for _, a := range s.Agents {
		t.Rows = append(t.Rows, []locale.Text{
			locale.Data(a.Host + " " + a.ID), locale.Data(strings.Join(a.RoleNames(), ", ")), locale.Data(a.Version), locale.Data(tenth(a.Load)),
			locale.Bytes(a.Memory), locale.Count(int64(a.Done)), locale.Composed(a.State()), when(a.Started, now), when(a.Seen, now),
		})
	}
	return t
}

func activeTable(s wire.Status, now time.Time) liveTable {
	t := liveTable{
		ID: "active", Heading: locale.T("Active actors"), About: locale.T("Actors of which one instance is active; the others are on standby."),
		Columns: []column{{locale.T("Actor"), ""}, {locale.T("Agent"), ""}, {locale.T("Since"), ""}, {locale.T("Reason"), ""}},
	}
	for _, name := range slices.Sorted(maps.Keys(s.Active)) {
		lease := s.Active[name]
		agent, reason := locale.T("none"), locale.Text(locale.Data(""))
		if lease.Agent != "" {
			agent = locale.Data(lease.Host + " " + lease.Agent)
		}
		if lease.Agent != "" && lease.Reason != "" { // agents of older versions state none
			reason = locale.Composed(lease.Reason.Text())
		}
		t.Rows = append(t.Rows, []locale.Text{locale.Data(name), agent, when(lease.Start(), now), reason})
	}
	return t
}

// when returns how long ago a time was.
func when(t, now time.Time) locale.Text {
	if t.IsZero() {
		return locale.Data(unknown)
	}
	return locale.Ago(now.Sub(t))
}
