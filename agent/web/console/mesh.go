package console

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/web/sse"
	"feedmesh/agent/wire"
)

const meshPath = "/mesh"

// A meshSource provides the state of the mesh and the quarantine. Its methods return [mesh.ErrNoTask] for a
// missing task.
type meshSource interface {
	Readiness(ctx context.Context) []wire.Check
	Quarantine(ctx context.Context, after uint64, limit int) (wire.QuarantinePage, error)
	ReplayQuarantined(ctx context.Context, seq uint64) error
	DropQuarantined(ctx context.Context, seq uint64) error
	Proxies(ctx context.Context) (wire.Proxies, error)
	Watch(ctx context.Context, client string) (<-chan wire.StreamEvent, error)
}

func (c *console) meshRoutes(mux *http.ServeMux) {
	mux.HandleFunc(meshPath, c.mesh)
	mux.HandleFunc(meshPath+eventsPath, c.meshEvents)
	mux.HandleFunc("POST "+meshPath+"/quarantine/{seq}/replay", c.decideTask(c.source.ReplayQuarantined))
	mux.HandleFunc("POST "+meshPath+"/quarantine/{seq}/drop", c.decideTask(c.source.DropQuarantined))
	mux.HandleFunc("/status", func(w http.ResponseWriter, r *http.Request) { // former path of the page
		http.Redirect(w, r, meshPath, http.StatusMovedPermanently)
	})
}

// A meshPage shows the state of the mesh.
type meshPage struct {
	pager
	Live       liveMesh
	Problems   []string
	Checks     []wire.Check
	Made       *timestamp
	Quarantine []taskRow
	NoTasks    string // message if no tasks are listed; empty if the quarantine is empty
	Proxies    []proxyRow
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
func (c *console) mesh(w http.ResponseWriter, r *http.Request) {
	now := c.now()
	status, err := c.statusCache.get(r.Context(), c.source, now)
	if err != nil {
		c.showUnavailable(w, r, err, "The mesh")
		return
	}
	main := meshPage{Live: liveOf(status, now), Problems: status.Problems, Made: newTimestamp(now, now)}
	ready, cancel := context.WithTimeout(r.Context(), readinessTimeout)
	defer cancel()
	main.Checks = c.source.Readiness(ready)
	after, _ := strconv.ParseUint(r.URL.Query().Get("after"), 10, 64) // 0, the first page, if it is not a number
	c.showQuarantine(r.Context(), &main, after, now)
	proxies, err := c.source.Proxies(r.Context())
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

// showQuarantine adds a page of the quarantine.
func (c *console) showQuarantine(ctx context.Context, main *meshPage, after uint64, now time.Time) {
	tasks, err := c.source.Quarantine(ctx, after, tasksShown)
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
func (c *console) decideTask(do func(context.Context, uint64) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		seq, err := strconv.ParseUint(r.PathValue("seq"), 10, 64)
		if err != nil {
			c.notFound(w, r)
			return
		}
		if err := do(r.Context(), seq); err != nil {
			c.showError(w, r, err, "The mesh", choice{Label: "Quarantine", URL: meshPath + "#quarantine"})
			return
		}
		http.Redirect(w, r, meshPath+"#quarantine", http.StatusSeeOther)
	}
}

// meshEvents streams changes of the mesh to the page's script, as formatted text.
func (c *console) meshEvents(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel() // closes the stream
	events, err := c.source.Watch(ctx, access.From(ctx).Key(access.Address(r)))
	if err != nil {
		w.Header().Set("Retry-After", "60")
		http.Error(w, err.Error(), http.StatusTooManyRequests)
		return
	}
	sse.Send(w, r, events, func(event wire.StreamEvent) (string, any) {
		if event.Status != nil {
			return "state", liveOf(*event.Status, c.now())
		}
		return "happened", map[string]string{"text": sentence(event.Event.Text), "at": event.Event.At.UTC().Format("15:04:05 UTC")}
	})
}
