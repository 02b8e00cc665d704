//go:build linux

package faults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"syscall"
	"time"

	"feedmesh/agent/client"
)

// storeGoes restarts PostgreSQL in two ways, stops it for a while, and closes all its connections.
func storeGoes(m *mesh, r *run) {
	down := 10 * time.Second
	if r.long {
		down = 30 * time.Second
	}
	for first := true; first || r.long && time.Now().Before(r.until); first = false {
		m.logf("PostgreSQL restarts, fast")
		r.hits.Add(1)
		m.store.halt(syscall.SIGINT, time.Minute)
		m.stayDown(r, m.store, "store", down)

		m.logf("PostgreSQL ends all connections")
		r.hits.Add(1)
		err := m.pg.Exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'feedmesh'`)
		if err != nil {
			r.miss("%v", err)
		}
		time.Sleep(time.Second)

		m.logf("PostgreSQL restarts immediately")
		r.hits.Add(1)
		m.store.halt(syscall.SIGQUIT, time.Minute)
		m.store.resume()
		m.engineBack(r, m.store)
		r.left(20 * time.Second)
	}
}

// searchGoes stops Meilisearch, delays its responses, and deletes its index.
func searchGoes(m *mesh, r *run) {
	share := r.lasts / 3
	m.logf("Meilisearch is down")
	m.search.halt(syscall.SIGKILL, time.Minute)
	m.stayDown(r, m.search, "index", share)
	m.logf("Meilisearch answers after 5 s")
	m.proxy.slow(5 * time.Second)
	time.Sleep(share)
	m.proxy.slow(0)
	m.logf("its index is deleted")
	if err := m.deleteIndex(); err != nil {
		r.miss("%v", err)
	}
	m.awaitFound(r) // the next fault would end the agent that repairs the index
}

// awaitFound waits until nearly all stored items are searchable again.
func (m *mesh) awaitFound(r *run) {
	for began := time.Now(); r.found < r.back; time.Sleep(time.Second) {
		status, err := m.status()
		r.found = time.Since(began)
		if err == nil && status.Indexed*share >= status.Items*(share-1) {
			m.logf("%s: %d of %d items can be found after %v", r.id, status.Indexed, status.Items, r.found.Round(time.Second))
			return
		}
	}
	r.miss("stored items are not searchable after %v", r.back)
}

// deleteIndex deletes the index of Meilisearch, and waits until it is gone.
func (m *mesh) deleteIndex() error {
	request, err := http.NewRequestWithContext(m.ctx, http.MethodDelete, m.meili.URL()+"/indexes/items", nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+m.meili.Key())
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		return errors.New("delete the index: " + response.Status)
	}
	var task struct {
		UID int64 `json:"taskUid"`
	}
	if err := json.NewDecoder(response.Body).Decode(&task); err != nil {
		return fmt.Errorf("delete the index: %w", err)
	}
	return eventually(time.Minute, func() error { return m.taskSucceeded(task.UID) })
}

// taskSucceeded returns an error unless a task of Meilisearch succeeded.
func (m *mesh) taskSucceeded(uid int64) error {
	request, err := http.NewRequestWithContext(m.ctx, http.MethodGet, fmt.Sprint(m.meili.URL(), "/tasks/", uid), nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+m.meili.Key())
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var task struct{ Status string }
	if err := json.NewDecoder(response.Body).Decode(&task); err != nil {
		return err
	}
	if task.Status != "succeeded" {
		return fmt.Errorf("task %d of Meilisearch is %q", uid, task.Status)
	}
	return nil
}

// reportTimeout is the time within which an agent must report a failed check.
const reportTimeout = 15 * time.Second

// stayDown stops an engine for a time, in which an agent's readiness must report it, and returns after its
// restart.
func (m *mesh) stayDown(r *run, u *unit, check string, down time.Duration) {
	began := time.Now()
	m.awaitFailedCheck(r, check)
	time.Sleep(time.Until(began.Add(down)))
	u.resume()
	m.engineBack(r, u)
}

// awaitFailedCheck fails the run unless the readiness of the first agent soon reports a failed check.
func (m *mesh) awaitFailedCheck(r *run, check string) { m.awaitFailedCheckOf(r, m.agents[0], check) }

func (m *mesh) awaitFailedCheckOf(r *run, a *agent, check string) {
	for began := time.Now(); time.Since(began) < reportTimeout; time.Sleep(200 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(m.ctx, reportTimeout)
		ready, err := a.api.Ready(ctx)
		cancel()
		if err == nil && !ready.Ready && ill(ready, check) {
			m.logf("%s is reported as unavailable after %v", check, time.Since(began).Round(100*time.Millisecond))
			return
		}
	}
	r.miss("readiness of %s does not report within %v that %s is unavailable", a.Name, reportTimeout, check)
}

func ill(ready client.Readiness, check string) bool {
	for _, c := range ready.Checks {
		if c.Name == check && !c.OK {
			return true
		}
	}
	return false
}

// engineBack waits until an engine serves again.
func (m *mesh) engineBack(r *run, u *unit) {
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if u.serves() {
			return
		}
		if time.Now().After(deadline) {
			r.miss("%s is not back after a minute: %s", u.Name, lastLines(u.Log(), 3))
			return
		}
	}
}

// fillDisks fills the disks of all engines, in the long form one after another, and frees them again.
func fillDisks(m *mesh, r *run) {
	names := []string{"postgres", "meilisearch", "nats-0", "nats-1", "nats-2"}
	for _, name := range names {
		if m.disks[name] == nil {
			m.logf("NOT TESTED: %s has no disk of its own that could be full", name)
			return
		}
	}
	if !r.long {
		m.full(r, time.Until(r.until), names...)
	}
	for i := 0; r.long && r.left(30*time.Second); i++ {
		m.full(r, time.Minute, names[i%len(names)])
		m.disksBack(r)
	}
	m.disksBack(r)
}

// full fills disks for a time.
func (m *mesh) full(r *run, d time.Duration, names ...string) {
	m.logf("no room on the disks of %v", names)
	r.hits.Add(1)
	for _, name := range names {
		if err := m.disks[name].fill(); err != nil {
			r.miss("%v", err)
		}
	}
	time.Sleep(d)
	for _, name := range names {
		if err := m.disks[name].free(); err != nil {
			r.miss("%v", err)
		}
	}
	m.logf("there is room again")
}

// disksBack waits until all engines serve.
func (m *mesh) disksBack(r *run) {
	m.engineBack(r, m.store)
	m.engineBack(r, m.search)
	m.serversBack(r)
}
