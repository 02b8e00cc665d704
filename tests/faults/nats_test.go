//go:build linux

package faults

import (
	"context"
	"os"
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

// serversBack waits until all NATS servers are healthy.
func (m *mesh) serversBack(r *run) {
	for i, s := range m.servers.Servers {
		for deadline := time.Now().Add(time.Minute); !m.nats[i].serves() || s.Healthy() != nil; time.Sleep(100 * time.Millisecond) {
			if time.Now().After(deadline) {
				r.miss("%s is not well after a minute: %v", s.Name, s.Healthy())
				break
			}
		}
	}
}

// illTime is the time after which an unhealthy NATS server is restarted: after a full disk it does not
// recover without a restart.
const illTime = 15 * time.Second

// nurse restarts NATS servers that stay unhealthy, like an operator's watchdog, until ctx ends.
func (m *mesh) nurse(ctx context.Context, i int) {
	well := time.Now()
	for ; ctx.Err() == nil; time.Sleep(500 * time.Millisecond) {
		s, u := m.servers.Servers[i], m.nats[i]
		if !u.serves() || s.Healthy() == nil {
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
	for _, s := range m.servers.Servers {
		if err := os.RemoveAll(s.Data); err != nil {
			r.miss("%v", err)
		}
	}
	m.logf("all NATS servers have lost their files")
	for _, u := range m.nats {
		u.resume()
	}
	time.Sleep(2 * restartAfter)
	m.serversBack(r)
}
