//go:build linux

package faults

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// killNATS kills a NATS server every five seconds.
func killNATS(m *mesh, r *run) {
	for r.left(5 * time.Second) {
		u := m.nats[r.random.IntN(len(m.nats))]
		m.logf("kill %s", u.Name)
		r.hits.Add(1)
		u.end(syscall.SIGKILL)
	}
	m.serversBack(r)
}

// serversBack waits until all NATS servers are healthy. One that was restarted on a full disk is unhealthy until it
// is restarted once more, which the supervisor does after a minute.
func (m *mesh) serversBack(r *run) {
	for i, s := range m.servers.Servers {
		for deadline := time.Now().Add(2 * time.Minute); !m.nats[i].serves() || s.Healthy() != nil; time.Sleep(100 * time.Millisecond) {
			if time.Now().After(deadline) {
				r.miss("%s is not healthy after two minutes: %v", s.Name, s.Healthy())
				break
			}
		}
	}
}

// logConsumers logs the state of the consumers of a queue.
func (m *mesh) logConsumers(queue string) {
	stream, err := m.js.Stream(m.ctx, queue)
	if err != nil {
		m.logf("queue %s: %v", queue, err)
		return
	}
	m.logf("queue %s: %+v", queue, stream.CachedInfo().State)
	consumers := stream.ListConsumers(m.ctx)
	for c := range consumers.Info() {
		m.logf("consumer %s: delivered %v, acknowledged %v, %d pending, %d not acknowledged, %d redelivered, %d requests, cluster %+v",
			c.Name, c.Delivered, c.AckFloor, c.NumPending, c.NumAckPending, c.NumRedelivered, c.NumWaiting, c.Cluster)
	}
	if err := consumers.Err(); err != nil {
		m.logf("queue %s: %v", queue, err)
	}
}

// Times after which an unhealthy NATS server is restarted: after a full disk it does not recover without a restart.
const (
	illTime      = 15 * time.Second
	startIllTime = 45 * time.Second // for a server that was started meanwhile
)

// nurse restarts NATS servers that stay unhealthy, like an operator's watchdog, until ctx ends.
func (m *mesh) nurse(ctx context.Context, i int) {
	well := time.Now()
	for ; ctx.Err() == nil; time.Sleep(500 * time.Millisecond) {
		s, u := m.servers.Servers[i], m.nats[i]
		starts := !u.serves() && u.age() < startIllTime
		if u.isolated.Load() || !u.Running() || starts || s.Healthy() == nil {
			well = time.Now()
		} else if time.Since(well) > illTime {
			m.logf("%s stays ill, it is restarted: %v", s.Name, s.Healthy())
			u.end(syscall.SIGTERM)
		}
	}
}

// loseStreams deletes all streams and buckets under load and, in the long form, sometimes the folders of all
// servers.
func loseStreams(m *mesh, r *run) {
	for first := true; first || r.long && r.left(time.Minute); first = false {
		r.hits.Add(1)
		names := m.js.StreamNames(m.ctx)
		for name := range names.Name() {
			if err := m.js.DeleteStream(m.ctx, name); err != nil {
				m.logf("delete stream %s: %v", name, err)
			}
		}
		m.logf("all streams and buckets are deleted")
		if !r.long {
			r.rest()
		} else if r.left(time.Minute) {
			r.hits.Add(1)
			m.wipeNATS(r)
		}
	}
}

// wipeNATS deletes the files of all servers.
func (m *mesh) wipeNATS(r *run) {
	for _, u := range m.nats {
		u.halt(syscall.SIGKILL, time.Minute)
	}
	for i := range m.servers.Servers {
		m.removeFiles(r, i)
	}
	m.logf("all NATS servers have lost their files")
	for _, u := range m.nats {
		u.resume()
	}
	time.Sleep(2 * restartAfter)
	m.serversBack(r)
}

// removeFiles removes the files of a NATS server. Its folder is that of its disk.
func (m *mesh) removeFiles(r *run, i int) {
	files, err := filepath.Glob(filepath.Join(m.servers.Servers[i].Data, "*"))
	for _, file := range files {
		err = errors.Join(err, os.RemoveAll(file))
	}
	if err != nil {
		r.miss("%v", err)
	}
}

// leaveTimeout is the time within which agents leave a NATS server that hangs.
const leaveTimeout = 15 * time.Second

// hangNATS stops a NATS server without closing its connections. Agents must leave it.
func hangNATS(m *mesh, r *run) {
	for first := true; first || r.left(30*time.Second); first = false {
		u := m.nats[r.random.IntN(len(m.nats))]
		m.logf("%s hangs", u.Name)
		r.hits.Add(1)
		u.isolated.Store(true)
		u.Signal(syscall.SIGSTOP)
		began := time.Now()
		last := began
		for time.Since(began) < 20*time.Second {
			if m.meshFails() {
				last = time.Now()
			}
		}
		u.Signal(syscall.SIGCONT)
		u.isolated.Store(false)
		m.logf("agents were without NATS for %v", last.Sub(began).Round(100*time.Millisecond))
		if last.Sub(began) > leaveTimeout {
			r.miss("agents were without NATS for %v after %s hung", last.Sub(began).Round(time.Second), u.Name)
		}
		m.serversBack(r)
	}
}

// meshFails reports whether the check of NATS fails in an agent.
func (m *mesh) meshFails() bool {
	for _, a := range m.agents {
		ready, err := a.api.Ready(m.ctx)
		if err != nil || ill(ready, "mesh") {
			return true
		}
	}
	return false
}

// partNATS separates a NATS server from the others, and then fills the disk of one.
func partNATS(m *mesh, r *run) {
	share := r.lasts / 2
	i := r.random.IntN(len(m.nats))
	m.logf("%s is separated from the others", m.nats[i].Name)
	r.hits.Add(1)
	m.nats[i].isolated.Store(true)
	for _, p := range m.routes[i] {
		p.partition(true)
	}
	began := time.Now()
	err := eventually(noticeTimeout, func() error {
		if m.servers.Servers[i].Healthy() == nil {
			return errors.New("it is healthy")
		}
		return nil
	})
	if err != nil {
		r.miss("%s does not report that it is separated: %v", m.nats[i].Name, err)
	}
	time.Sleep(time.Until(began.Add(share)))
	for _, p := range m.routes[i] {
		p.partition(false)
	}
	m.nats[i].isolated.Store(false)
	m.logf("%s is back", m.nats[i].Name)
	m.serversBack(r)

	if name := m.nats[r.random.IntN(len(m.nats))].Name; m.disks[name] != nil {
		m.full(r, share, name)
	} else {
		m.logf("NOT TESTED: %s has no disk of its own that could be full", name)
	}
	m.serversBack(r)
}

// damagedTimeout is the time within which a NATS server with damaged files serves, or else its files are removed.
const damagedTimeout = 20 * time.Second

// damageNATS flips random bits in the files of a NATS server while it is down. If it does not start any more, its
// files are removed, as the documentation says: it copies the streams from the others.
func damageNATS(m *mesh, r *run) {
	for first := true; first || r.left(time.Minute); first = false {
		i := r.random.IntN(len(m.nats))
		m.nats[i].halt(syscall.SIGKILL, time.Minute)
		n, err := flipBits(m.servers.Servers[i].Data, 40, r.random)
		if err != nil {
			r.miss("%v", err)
		}
		m.logf("%d bits in the files of %s were flipped", n, m.nats[i].Name)
		r.hits.Add(1)
		m.nats[i].resume()
		err = eventually(damagedTimeout, func() error {
			if !m.nats[i].serves() {
				return errors.New("it does not serve")
			}
			return m.servers.Servers[i].Healthy()
		})
		if err != nil {
			m.logf("the files of %s are removed: %v: %s", m.nats[i].Name, err, lastLines(m.nats[i].Log(), 1))
			m.nats[i].halt(syscall.SIGKILL, time.Minute)
			m.removeFiles(r, i)
			m.nats[i].resume()
			time.Sleep(2 * restartAfter)
		}
		m.serversBack(r)
	}
	r.rest()
}

// flipBits flips one bit each in n random places of the files in a folder, and returns the number flipped.
func flipBits(dir string, n int, random *rand.Rand) (flipped int, err error) {
	var files []string
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	for range n {
		path := files[random.IntN(len(files))]
		data, err := os.ReadFile(path)
		if err != nil {
			return flipped, err
		}
		if len(data) == 0 {
			continue
		}
		data[random.IntN(len(data))] ^= 1 << random.IntN(8)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return flipped, err
		}
		flipped++
	}
	return flipped, nil
}
