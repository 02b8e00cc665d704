//go:build linux

package faults

import (
	"context"
	"errors"
	"net/http"
	"syscall"
	"time"

	"feedmesh/agent/api"
)

// storeGoes has PostgreSQL restart in two ways, stay down for a while, and lose all
// connections.
func storeGoes(m *mesh, r *run) {
	down := 10 * time.Second
	if r.long {
		down = 30 * time.Second
	}
	for first := true; first || r.long && time.Now().Before(r.until); first = false {
		m.say("PostgreSQL restarts, fast")
		r.hits.Add(1)
		m.store.halt(syscall.SIGINT, time.Minute)
		m.stayDown(r, m.store, "store", down)

		m.say("PostgreSQL ends all connections")
		r.hits.Add(1)
		err := m.pg.Exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'feedmesh'`)
		if err != nil {
			r.miss("%v", err)
		}
		time.Sleep(time.Second)

		m.say("PostgreSQL restarts, at once")
		r.hits.Add(1)
		m.store.halt(syscall.SIGQUIT, time.Minute)
		m.store.resume()
		m.engineBack(r, m.store)
		r.left(20 * time.Second)
	}
}

// searchGoes has Meilisearch be down, answer late, and lose its index.
func searchGoes(m *mesh, r *run) {
	share := r.lasts / 3
	m.say("Meilisearch is down")
	m.search.halt(syscall.SIGKILL, time.Minute)
	m.stayDown(r, m.search, "index", share)
	m.say("Meilisearch answers after 5 s")
	m.proxy.slow(5 * time.Second)
	time.Sleep(share)
	m.proxy.slow(0)
	m.say("its index is deleted")
	if err := m.deleteIndex(); err != nil {
		r.miss("%v", err)
	}
	m.later.Go(func() { m.awaitFound(r) })
}

// awaitFound waits until nearly all that is stored can be found again.
func (m *mesh) awaitFound(r *run) {
	for began := time.Now(); r.found < r.back; time.Sleep(time.Second) {
		status, err := m.status()
		r.found = time.Since(began)
		if err == nil && status.Indexed*share >= status.Items*(share-1) {
			m.say("%s: %d of %d items can be found after %v", r.id, status.Indexed, status.Items, r.found.Round(time.Second))
			return
		}
	}
	r.miss("what is stored can't be found after %v", r.back)
}

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
	return nil
}

// toldWithin is the time within which an agent must say that something is wrong.
const toldWithin = 15 * time.Second

// stayDown keeps an engine down for a time, in which an agent's readiness must tell
// so, and returns when it is back.
func (m *mesh) stayDown(r *run, u *unit, check string, down time.Duration) {
	began := time.Now()
	m.tells(r, check)
	time.Sleep(time.Until(began.Add(down)))
	u.resume()
	m.engineBack(r, u)
}

// tells fails the run unless an agent's readiness soon tells that a check is not
// well.
func (m *mesh) tells(r *run, check string) {
	for began := time.Now(); time.Since(began) < toldWithin; time.Sleep(200 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(m.ctx, toldWithin)
		ready, err := m.agents[0].api.Ready(ctx)
		cancel()
		if err == nil && !ready.Ready && ill(ready, check) {
			m.say("%s is told to be away after %v", check, time.Since(began).Round(100*time.Millisecond))
			return
		}
	}
	r.miss("readiness does not tell within %v that %s is away", toldWithin, check)
}

func ill(ready api.Readiness, check string) bool {
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

// fillDisks leaves no room on the disks of all engines, in the long form one after
// another, and then gives it back.
func fillDisks(m *mesh, r *run) {
	names := []string{"postgres", "meilisearch", "nats"}
	for _, name := range names {
		if m.disks[name] == nil {
			m.say("NOT TESTED: %s has no disk of its own that could be full", name)
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

// full leaves no room on disks for a time.
func (m *mesh) full(r *run, d time.Duration, names ...string) {
	m.say("no room on the disks of %v", names)
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
	m.say("there is room again")
}

// disksBack waits until all engines serve.
func (m *mesh) disksBack(r *run) {
	m.engineBack(r, m.store)
	m.engineBack(r, m.search)
	m.serversBack(r)
}
