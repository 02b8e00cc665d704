//go:build linux

package faults

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A survey is a work whose processes are sampled.
type survey struct {
	*work
	start time.Time
	lasts time.Duration // planned, then actual duration
	quiet atomic.Bool   // no fault is active, and the mesh has recovered

	mu     sync.Mutex
	series []*series
	now    string // active faults
	so     int    // number of injected faults
}

const (
	lookEvery        = 5 * time.Second
	progressInterval = time.Minute

	// calmAfter is the time after a fault from which the mesh counts as quiet. Younger processes are not
	// sampled either.
	calmAfter = 10 * time.Second
)

func newSurvey(w *work, lasts time.Duration) *survey {
	return &survey{work: w, start: time.Now(), lasts: lasts}
}

// calm pauses without faults.
func (s *survey) calm(d time.Duration) {
	until := time.Now().Add(d)
	time.Sleep(min(d, calmAfter))
	s.quiet.Store(true)
	time.Sleep(time.Until(until))
	s.quiet.Store(false)
}

// happen injects faults, and logs them.
func (s *survey) happen(runs []*run) {
	var ids []string
	for _, r := range runs {
		ids = append(ids, r.id)
	}
	s.during(strings.Join(ids, "+"), 0)
	s.work.happen(runs)
	s.during("", len(runs))
}

func (s *survey) during(now string, more int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now, s.so = now, s.so+more
}

// watch samples the processes in quiet periods, and logs a progress report each minute, until done is closed.
func (s *survey) watch(done <-chan struct{}) {
	samples, reports := time.NewTicker(lookEvery), time.NewTicker(progressInterval)
	defer samples.Stop()
	defer reports.Stop()
	for {
		select {
		case <-done:
			return
		case <-samples.C:
			if s.quiet.Load() {
				s.sample()
			}
		case <-reports.C:
			s.progress()
		}
	}
}

// sample samples all values.
func (s *survey) sample() {
	for i, a := range slices.Concat(s.agents, s.spared) {
		if !a.Running() || a.age() < calmAfter {
			continue
		}
		held := memoryBound
		if i < 2 { // they may become clusterers
			held = clusterBound
		}
		s.note(a.Name+" memory", "MB", held, float64(a.memory())/(1<<20))
		s.note(a.Name+" heap", "MB", held, a.metric("go_memstats_next_gc_bytes")/(1<<20)) // at which the garbage collector runs
		s.note(a.Name+" goroutines", "", countBound, a.metric("go_goroutines"))
		s.note(a.Name+" open files", "", countBound, float64(a.openFiles()))
	}
	for _, name := range []string{"nats", "postgres", "meilisearch"} {
		s.note("disk of "+name, "MB", nil, float64(occupied(filepath.Join(s.dir, name)))/(1<<20))
	}
	if n, err := s.streamed(); err == nil {
		s.note("streams and buckets", "MB", nil, float64(n)/(1<<20))
	}
	stored, _ := s.ledger.stand(s.began, time.Now())
	s.note(itemsStored, "", nil, float64(stored))
}

const itemsStored = "items stored"

// items returns the number of items stored at the middle of the last quarter, NaN if not sampled.
func (s *survey) items() float64 {
	i := slices.IndexFunc(s.series, func(one *series) bool { return one.what == itemsStored })
	if i < 0 {
		return math.NaN()
	}
	return s.series[i].quarters(s.lasts)[3]
}

// note adds a value to its series; 0 is a missing value.
func (s *survey) note(what, unit string, b *bound, value float64) {
	if value == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.series, func(one *series) bool { return one.what == what })
	if i < 0 {
		i = len(s.series)
		s.series = append(s.series, &series{what: what, unit: unit, bound: b})
	}
	s.series[i].values = append(s.series[i].values, sample{time.Since(s.start), value})
}

// streamed returns the bytes of all streams and buckets, counting one replica of each.
func (m *mesh) streamed() (n uint64, err error) {
	list := m.js.ListStreams(m.ctx)
	for info := range list.Info() {
		n += info.State.Bytes
	}
	return n, list.Err()
}

// occupied returns the disk usage of a folder, ignoring files that vanish meanwhile.
func occupied(dir string) (n int64) {
	filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := d.Info(); err == nil {
			n += info.Sys().(*syscall.Stat_t).Blocks * 512
		}
		return nil
	})
	return n
}

// progress logs a progress report.
func (s *survey) progress() {
	served, absent, _ := s.ledger.absent(s.began, time.Now())
	var memory []string
	for _, a := range slices.Concat(s.agents, s.spared) {
		memory = append(memory, fmt.Sprint(a.memory()>>20))
	}
	s.mu.Lock()
	so, now := s.so, s.now
	s.mu.Unlock()
	errors, panics := s.errorCounts()
	s.logf("%v of %v: %d faults so far, now %s; %d entries served, %d of them not stored yet; MB of agents %s; %d kinds of errors, %d panics, %d unexpected exits",
		time.Since(s.start).Round(time.Second), s.lasts, so, cmp.Or(now, "none"), served, absent, strings.Join(memory, " "), len(errors), panics, s.crashes())
}

// errorCounts returns the counts of the agents' error messages and of panics.
func (m *mesh) errorCounts() (errors map[string]int, panics int) {
	errors = map[string]int{}
	for _, a := range m.all() {
		own, n := a.journal.faulty()
		panics += n
		for message, times := range own {
			errors[message] += times
		}
	}
	return errors, panics
}

// words prints the agents' error messages.
func (s *survey) words() string {
	errors, panics := s.errorCounts()
	var b strings.Builder
	fmt.Fprintf(&b, "\n%d panics; errors that agents logged:\n", panics)
	for _, message := range slices.Sorted(maps.Keys(errors)) {
		fmt.Fprintf(&b, "%6d  %s\n", errors[message], message)
	}
	return b.String()
}

// leaks returns the series that exceed their bounds, and panics.
func (s *survey) leaks() (list []string) {
	if _, panics := s.errorCounts(); panics > 0 {
		list = append(list, fmt.Sprintf("%d panics", panics))
	}
	items := s.items()
	for _, one := range s.series {
		if why := one.leak(s.lasts, items); why != "" {
			list = append(list, why)
		}
	}
	return list
}
