//go:build linux

package faults

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
	"feedmesh/subjects"
)

// noticeTimeout is the time within which a fault of state must be reported.
const noticeTimeout = 30 * time.Second

// awaitNotice fails the run unless the status of the mesh soon reports a corrected fault with a text.
func (m *mesh) awaitNotice(r *run, text string) {
	began := time.Now()
	err := eventually(noticeTimeout, func() error {
		status, err := m.status()
		for _, n := range status.Notices {
			if strings.Contains(n.Text, text) {
				return nil
			}
		}
		return fmt.Errorf("the notices are %v (%v)", status.Notices, err)
	})
	if err != nil {
		r.miss("no notice %q: %v", text, err)
		return
	}
	m.logf("%s: %q is reported after %v", r.id, text, time.Since(began).Round(100*time.Millisecond))
}

// garbage writes unreadable values under keys of every bucket, and publishes unreadable messages to every queue.
// Those of queues and of the schedule must be quarantined, whole.
func garbage(m *mesh, r *run) {
	quarantined := m.quarantined(r)
	wanted, others := map[string]bool{}, map[string]bool{}
	for _, name := range m.streamNames(r) {
		switch bucket, is := strings.CutPrefix(name, "KV_"); {
		case is && bucket == subjects.ScheduleBucket:
			m.garbageIn(r, bucket, wanted)
		case is:
			m.garbageIn(r, bucket, others)
		case name != subjects.QuarantineStream && name != subjects.EventStream:
			m.garbageTo(r, name, wanted)
		}
	}
	for value := range others {
		m.garbage.Store(value, true)
	}
	r.hits.Add(int64(len(wanted) + len(others)))
	m.logf("%d unreadable values and messages were written", len(wanted)+len(others))
	r.rest()
	if a := m.holder("schedule"); a != nil {
		a.end(syscall.SIGTERM) // another reads the whole bucket
	}
	err := eventually(r.back, func() error { return errors.Join(m.takeGarbage(wanted), m.noRegionTasks()) })
	if err != nil {
		r.miss("%v", err)
	}
	if n := m.quarantined(r); n > quarantined {
		m.logQuarantine()
		r.miss("%d more tasks are in quarantine", n-quarantined)
	}
}

func (m *mesh) streamNames(r *run) (list []string) {
	names := m.js.StreamNames(m.ctx)
	for name := range names.Name() {
		list = append(list, name)
	}
	if err := names.Err(); err != nil {
		r.miss("list the streams: %v", err)
	}
	slices.Sort(list) // so that the seed decides
	return list
}

// unreadable returns a value that no agent writes, different from all others.
func (r *run) unreadable() string {
	forms := []string{"{", "[1,2] ", `"text" `, "\x00\xff\xfe", `{"url":7,"name":7} `, strings.Repeat("\xf0", 5000)}
	return forms[r.random.IntN(len(forms))] + fmt.Sprint(r.random.Uint64(), "}")
}

// keysDamaged is the number of keys of a bucket that get unreadable values.
const keysDamaged = 10

// garbageIn writes unreadable values under some keys of a bucket and under a new one.
func (m *mesh) garbageIn(r *run, bucket string, written map[string]bool) {
	kv, err := m.js.KeyValue(m.ctx, bucket)
	if err != nil {
		r.miss("open bucket %s: %v", bucket, err)
		return
	}
	keys, err := kv.Keys(m.ctx)
	if err != nil && !errors.Is(err, jetstream.ErrNoKeysFound) {
		r.miss("list bucket %s: %v", bucket, err)
	}
	slices.Sort(keys)
	r.random.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	for _, key := range append(keys[:min(len(keys), keysDamaged)], "no-such-key") {
		value := r.unreadable()
		if _, err := kv.Put(m.ctx, key, []byte(value)); err != nil {
			r.miss("write %s to bucket %s: %v", key, bucket, err)
			continue
		}
		written[value] = true
	}
}

// garbageTo publishes unreadable messages to each subject of a queue.
func (m *mesh) garbageTo(r *run, queue string, published map[string]bool) {
	stream, err := m.js.Stream(m.ctx, queue)
	if err != nil {
		r.miss("open queue %s: %v", queue, err)
		return
	}
	partition := "en"
	if queue == subjects.ObserveQueue.Name { // whose partitions have numbers from 1 on
		partition = strconv.Itoa(*partitionsFlag - 1)
	}
	for _, pattern := range stream.CachedInfo().Config.Subjects {
		subject := strings.NewReplacer("*", partition, ">", partition).Replace(pattern)
		if subject == queue+".0" {
			continue // no process takes it: partition 0 has the subject without a number
		}
		for range 3 {
			value := r.unreadable()
			if _, err := m.js.Publish(m.ctx, subject, []byte(value)); err != nil {
				r.miss("publish to %s: %v", subject, err)
				continue
			}
			if pattern != regionTasks { // whose tasks are removed, because the region has no crawlers
				published[value] = true
			}
		}
	}
}

// regionTasks is the subject of crawl tasks for regions.
const regionTasks = "crawl.*.*"

// noRegionTasks returns an error while tasks of regions are queued.
func (m *mesh) noRegionTasks() error {
	stream, err := m.js.Stream(m.ctx, subjects.CrawlQueue.Name)
	if err != nil {
		return err
	}
	info, err := stream.Info(m.ctx, jetstream.WithSubjectFilter(regionTasks))
	if err == nil && len(info.State.Subjects) > 0 {
		err = fmt.Errorf("tasks of a region without crawlers are queued: %v", info.State.Subjects)
	}
	return err
}

// takeGarbage drops what garbage wrote from the quarantine, and returns an error while any that is wanted is not
// there, whole.
func (m *mesh) takeGarbage(wanted map[string]bool) error {
	return m.request(func(ctx context.Context, c *client.Client) error {
		page, err := client.Call(ctx, c, wire.ListQuarantine, wire.QuarantineSearch{Limit: 500})
		if err != nil {
			return err
		}
		for _, listed := range page.Tasks {
			q, err := client.Call(ctx, c, wire.GetQuarantined, wire.BySeq{Seq: listed.Seq})
			if err != nil {
				return err
			}
			value := string(q.Data())
			if _, own := m.garbage.Load(value); !own && !wanted[value] {
				continue
			}
			if _, err := client.Call(ctx, c, wire.DropQuarantined, wire.BySeq{Seq: q.Seq}); err != nil {
				return err
			}
			delete(wanted, value)
			m.garbage.Delete(value)
		}
		if len(wanted) > 0 {
			return fmt.Errorf("%d unreadable values and messages are not in quarantine, such as %.40q", len(wanted), slices.Sorted(maps.Keys(wanted))[0])
		}
		return nil
	})
}

// shiftClock shifts the clock of the active schedule's agent 1 h ahead, back, 1 h behind, and back.
func shiftClock(m *mesh, r *run) {
	pause := r.lasts / 4
	for _, shift := range []time.Duration{time.Hour, 0, -time.Hour, 0} {
		a := m.holder("schedule")
		if a == nil {
			r.miss("no agent reports an active schedule")
			return
		}
		m.shift(r, a, shift)
		if shift != 0 {
			m.awaitNotice(r, "the system clock jumped")
		}
		time.Sleep(pause)
		m.shift(r, a, 0)
	}
}

// shift shifts an agent's clock.
func (m *mesh) shift(r *run, a *agent, by time.Duration) {
	if by != 0 {
		m.logf("the clock of %s is shifted by %v", a.Name, by)
	}
	r.hits.Add(1)
	if err := os.WriteFile(a.clock, []byte(by.String()), 0o600); err != nil {
		r.miss("%v", err)
	}
}

// storeGoesBack replaces the files of PostgreSQL by a copy that is some seconds older.
func storeGoesBack(m *mesh, r *run) {
	data := filepath.Join(m.dir, "postgres", "data")
	before := data + ".before"
	copyFiles := func(from, to string) {
		if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
			r.miss("copy PostgreSQL's files: %v: %s", err, out)
		}
	}
	m.store.halt(syscall.SIGINT, time.Minute)
	copyFiles(data, before)
	m.store.resume()
	m.engineBack(r, m.store)
	r.rest()
	m.store.halt(syscall.SIGQUIT, time.Minute)
	if err := os.RemoveAll(data); err != nil {
		r.miss("%v", err)
	}
	copyFiles(before, data)
	if err := os.RemoveAll(before); err != nil {
		r.miss("%v", err)
	}
	r.hits.Add(1)
	m.logf("PostgreSQL has the files of %v ago", time.Since(r.began).Round(time.Second))
	m.store.resume()
	m.engineBack(r, m.store)
	m.awaitNotice(r, "the store went back to an older state")
}

// startWithout starts an agent while an engine is away. It must report which, and start when the engine is back.
func startWithout(m *mesh, r *run) {
	for _, engine := range []struct {
		check string
		units []*unit
	}{{"index", []*unit{m.search}}, {"store", []*unit{m.store}}, {"mesh", m.nats}} {
		r.hits.Add(1)
		for _, u := range engine.units {
			u.halt(syscall.SIGINT, time.Minute)
		}
		a := m.newAgent("started without "+engine.check, stores)
		m.register(a)
		if err := a.Start(); err != nil {
			r.miss("%v", err)
		}
		began := time.Now()
		m.awaitFailedCheckOf(r, a, engine.check)
		m.logf("%s reports it after %v", a.Name, time.Since(began).Round(100*time.Millisecond))
		for _, u := range engine.units {
			u.resume()
		}
		for _, u := range engine.units {
			m.engineBack(r, u)
		}
		err := eventually(r.back, func() error {
			ready, err := a.api.Ready(m.ctx)
			if err == nil && !ready.Ready {
				err = fmt.Errorf("%v", ready.Checks)
			}
			return err
		})
		if err != nil {
			r.miss("%s does not become ready: %v: %s", a.Name, err, lastLines(a.Log(), 3))
		}
		a.dismiss(time.Minute)
	}
}
