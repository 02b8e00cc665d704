// Package memory bounds the memory of this process and returns free heap to the OS after a burst. [Tend]
// applies to the whole process, however many nodes it runs. The bound is that of the machine or of the
// control group.
package memory

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// sampleInterval is the interval of measurements.
	sampleInterval = 2 * time.Second

	// defaultLimit is the minimum memory limit if the size of the machine's memory is not known.
	defaultLimit = 1 << 30

	// minIdle is how long free heap must be expected to stay unused, at the current allocation rate, before
	// it is returned to the OS.
	minIdle = 30 * time.Second

	// minRelease is the minimum amount to return; a release costs one or two collections.
	minRelease = 8 << 20

	// releaseInterval is the minimum interval of releases: bursts each few seconds would cause two collections each. It is
	// longer if those would take more than releaseShare of a core.
	releaseInterval = 20 * time.Second
	releaseShare    = 0.0075

	// codeReleaseInterval is the interval at which the pages of the program's file are released. Pages in use
	// are loaded again within milliseconds.
	codeReleaseInterval = 20 * time.Second
)

// Tend adjusts the memory limit and the garbage collector until ctx ends. The limits are soft: they always
// exceed the live heap, to avoid continuous collection.
//
// GOMEMLIMIT overrides the limit, and GOGC overrides the growth of the heap.
func Tend(ctx context.Context) error {
	available, setLimit, setGrowth := memorySize(os.DirFS("/"), machine()), os.Getenv("GOMEMLIMIT") == "", os.Getenv("GOGC") == ""
	first := measure()
	controller, bound, pace := controller{last: first, collected: first}, int64(0), maxGrowth
	for {
		if most := limit(int64(controller.last.live), available); setLimit && most != bound {
			debug.SetMemoryLimit(most) // stops the world, so only on changes
			bound = most
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(sampleInterval):
		}
		now := measure()
		if percent := controller.growth(now); setGrowth && percent != pace {
			debug.SetGCPercent(percent)
			pace = percent
		}
		controller.release(now)
	}
}

// controller holds the last measurement and the last releases.
type controller struct {
	last         usage
	collected    usage     // at the last measurement after a collection
	cost         float64   // CPU time of the collections before it, in seconds each
	busy         float64   // CPU time of the process before it, in seconds a second
	released     usage     // at the last release
	codeReleased time.Time // last release of the program's pages
}

// growth returns the GOGC percentage at the allocation rate since the last measurement. The runtime updates CPU times at
// the end of a collection only, so they are compared over whole collections.
func (t *controller) growth(now usage) int {
	if n := now.collections - t.collected.collections; n > 0 {
		t.cost = (now.collecting - t.collected.collecting) / float64(n)
		t.busy = (now.working - t.collected.working) / now.at.Sub(t.collected.at).Seconds()
		t.collected = now
	}
	return growth(float64(now.live), now.allocRate(t.last), t.cost, t.busy)
}

// limit returns the memory limit of the Go runtime in bytes. live is the size of the live heap, and room the
// memory size of this process.
func limit(live, available int64) int64 {
	most := available / 2 // the other half is page cache for the engines' files
	if available == unknown {
		most = max(defaultLimit, live*3/2)
	}
	return min(max(most, live*5/4+32<<20), available/10*9) // with less than a quarter free the collector would run continuously
}

// release returns free heap to the OS if it is large and the allocation rate is low, and releases the pages of the
// program from time to time.
func (t *controller) release(now usage) {
	if now.idle(t.last) && now.allocated-t.released.allocated > max(minRelease, now.live/4) && now.at.Sub(t.released.at) >= t.releaseInterval() {
		runtime.GC() // pools are freed by the second collection
		debug.FreeOSMemory()
		now = measure()
		t.released = now
	}
	if now.at.Sub(t.codeReleased) >= codeReleaseInterval {
		releaseCode()
		t.codeReleased = now.at
	}
	t.last = now
}

// releaseInterval returns the minimum interval of releases at the cost of a collection.
func (t *controller) releaseInterval() time.Duration {
	return max(releaseInterval, time.Duration(2*t.cost/releaseShare*float64(time.Second)))
}

// usage is a measurement of the memory, in bytes, and of CPU time, in seconds.
type usage struct {
	at          time.Time
	live        uint64  // live heap at the last collection
	held        uint64  // heap memory, used or free
	allocated   uint64  // total allocated since the start
	collections uint64  // garbage collections since the start
	collecting  float64 // CPU time of collections since the start
	working     float64 // CPU time of the process since the start
}

// idle reports whether much of the heap is free, and would stay free for minIdle at the allocation rate since
// before.
func (u usage) idle(before usage) bool {
	if u.held < u.live {
		return false
	}
	free := u.held - u.live
	return free > max(minRelease, u.live/4) && float64(free) > u.allocRate(before)*minIdle.Seconds()
}

// allocRate returns the allocation rate since before, in bytes a second.
func (u usage) allocRate(before usage) float64 {
	return float64(u.allocated-before.allocated) / u.at.Sub(before.at).Seconds()
}

func measure() usage {
	s := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/allocs:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}, {Name: "/memory/classes/heap/free:bytes"},
		{Name: "/gc/cycles/total:gc-cycles"}, {Name: "/cpu/classes/gc/total:cpu-seconds"},
		{Name: "/cpu/classes/total:cpu-seconds"}, {Name: "/cpu/classes/idle:cpu-seconds"},
	}
	metrics.Read(s)
	return usage{
		at: time.Now(), live: s[0].Value.Uint64(), allocated: s[1].Value.Uint64(),
		held:        s[2].Value.Uint64() + s[3].Value.Uint64() + s[4].Value.Uint64(),
		collections: s[5].Value.Uint64(), collecting: s[6].Value.Float64(), working: s[7].Value.Float64() - s[8].Value.Float64(),
	}
}
