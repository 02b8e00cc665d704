package console

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"feedmesh/agent/api"
)

const meshPath = "/mesh"

// A meshSource tells of the mesh and what is in quarantine. A task that is not
// there is [mesh.ErrNoTask].
type meshSource interface {
	Readiness(ctx context.Context) []api.Check
	Quarantine(ctx context.Context, after uint64, limit int) (api.QuarantinePage, error)
	ReplayQuarantined(ctx context.Context, seq uint64) error
	DropQuarantined(ctx context.Context, seq uint64) error
	Proxies(ctx context.Context) (api.Proxies, error)
	SendEvents(w http.ResponseWriter, r *http.Request, as func(api.Told) (name string, data any))
}

func (c *console) meshRoutes(mux *http.ServeMux) {
	mux.HandleFunc(meshPath, c.mesh)
	mux.HandleFunc(meshPath+eventsPath, c.meshEvents)
	mux.HandleFunc("POST "+meshPath+"/quarantine/{seq}/replay", c.decideTask(c.source.ReplayQuarantined))
	mux.HandleFunc("POST "+meshPath+"/quarantine/{seq}/drop", c.decideTask(c.source.DropQuarantined))
	mux.HandleFunc("/status", func(w http.ResponseWriter, r *http.Request) { // its name before it was live
		http.Redirect(w, r, meshPath, http.StatusMovedPermanently)
	})
}

// A meshPage says how the mesh is.
type meshPage struct {
	pager
	Live       liveMesh
	Problems   []string
	Checks     []api.Check
	Made       *stamp
	Quarantine []taskRow
	NoTasks    string // why there are none to show; empty if there are, or none at all
	Proxies    []proxyRow
}

// A taskRow is a task in quarantine.
type taskRow struct {
	Seq             uint64
	Queue, Task     string
	Reason          string
	Attempts        int64
	At              *stamp
	Replay, Discard string // where the forms go
}

type proxyRow struct {
	ID, URL, State, Why string
	Used                *stamp
}

const (
	tasksShown    = 20
	readinessTime = 3 * time.Second
)

// mesh shows how the mesh is. Where a part of it does not answer, the others are
// shown all the same: that is when a person looks.
func (c *console) mesh(w http.ResponseWriter, r *http.Request) {
	now := c.now()
	status, err := c.standing.get(r.Context(), c.source, now)
	if err != nil {
		c.sorry(w, r, err, "The mesh")
		return
	}
	main := meshPage{Live: liveOf(status, now), Problems: status.Problems, Made: stamped(now, now)}
	ready, cancel := context.WithTimeout(r.Context(), readinessTime)
	defer cancel()
	main.Checks = c.source.Readiness(ready)
	after, _ := strconv.ParseUint(r.URL.Query().Get("after"), 10, 64) // what is no number is the first page
	c.showQuarantine(r.Context(), &main, after, now)
	proxies, err := c.source.Proxies(r.Context())
	if err != nil {
		main.Problems = append(main.Problems, "The proxies cannot be listed at the moment.")
	}
	for _, p := range proxies.Proxies {
		row := proxyRow{ID: p.ID, URL: p.URL}
		if p.Health != nil {
			row.State, row.Why, row.Used = p.Health.State, p.Health.Why, stamped(p.Health.Used, now)
		}
		main.Proxies = append(main.Proxies, row)
	}
	c.render(w, r, http.StatusOK, "mesh", page{Title: "Mesh", Here: meshPath, Scripts: []string{"mesh.js"}, Main: main})
}

// showQuarantine has the page show a page of quarantine.
func (c *console) showQuarantine(ctx context.Context, main *meshPage, after uint64, now time.Time) {
	tasks, err := c.source.Quarantine(ctx, after, tasksShown)
	if err != nil {
		main.NoTasks = "What is in quarantine cannot be listed at the moment."
		return
	}
	main.What = "tasks"
	for _, t := range tasks.Tasks {
		at := meshPath + "/quarantine/" + strconv.FormatUint(t.Seq, 10)
		main.Quarantine = append(main.Quarantine, taskRow{
			Seq: t.Seq, Queue: t.Queue, Task: t.Task, Reason: t.Reason, Attempts: int64(t.Attempts), At: stamped(t.At, now), Replay: at + "/replay", Discard: at + "/drop",
		})
	}
	if after > 0 {
		main.First = meshPath + "#quarantine"
		if len(tasks.Tasks) == 0 {
			main.NoTasks = "There are no more."
		}
	}
	if tasks.Next > 0 {
		main.Next = addressOf(meshPath, map[string]string{"after": strconv.FormatUint(tasks.Next, 10)}) + "#quarantine"
	}
}

// decideTask returns what answers a form that decides what becomes of a task.
func (c *console) decideTask(do func(context.Context, uint64) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		seq, err := strconv.ParseUint(r.PathValue("seq"), 10, 64)
		if err != nil {
			c.nothing(w, r)
			return
		}
		if err := do(r.Context(), seq); err != nil {
			c.refused(w, r, err, "The mesh", choice{Label: "What is in quarantine", URL: meshPath + "#quarantine"})
			return
		}
		http.Redirect(w, r, meshPath+"#quarantine", http.StatusSeeOther)
	}
}

// meshEvents tells the page's script what changes, in the words of the page.
func (c *console) meshEvents(w http.ResponseWriter, r *http.Request) {
	c.source.SendEvents(w, r, func(told api.Told) (string, any) {
		if told.State != nil {
			return "state", liveOf(*told.State, c.now())
		}
		return "happened", map[string]string{"text": sentence(told.Happening.Text), "at": told.Happening.At.UTC().Format("15:04:05 UTC")}
	})
}
