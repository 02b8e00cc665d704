package memory

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"testing/fstest"
	"time"
)

const mb = 1 << 20

func TestLimit_ByLiveHeapAndMachine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                  string
		live, available, want int64
	}{
		{"small heap, large machine: half of it", 100 * mb, 24 << 30, 12 << 30},
		{"large heap, large machine: half of it", 2048 * mb, 24 << 30, 12 << 30},
		{"small heap, 1 GB: half of it", 100 * mb, 1024 * mb, 512 * mb},
		{"live heap above half: a quarter more", 480 * mb, 1024 * mb, 632 * mb},
		{"live heap near the size: nine tenths", 900 * mb, 1000 * mb, 900 * mb},
		{"small heap, unknown size: the default", 100 * mb, unknown, 1024 * mb},
		{"large heap, unknown size: half more than live", 2048 * mb, unknown, 3072 * mb},
	} {
		if got := limit(c.live, c.available); got != c.want {
			t.Errorf("%s: got %d MB, want %d MB", c.name, got/mb, c.want/mb)
		}
	}
}

func TestIdle_AtLowAllocationRate(t *testing.T) {
	t.Parallel()
	began := time.Now()
	for _, c := range []struct {
		name                  string
		live, held, allocated uint64 // allocated in the five seconds before
		want                  bool
	}{
		{"after a burst", 50 * mb, 300 * mb, 5 * mb, true},
		{"high allocation rate", 50 * mb, 300 * mb, 500 * mb, false},
		{"free heap is used within half a minute", 50 * mb, 100 * mb, 10 * mb, false},
		{"small free heap", 50 * mb, 60 * mb, 0, false},
		{"free heap small relative to live heap", 400 * mb, 480 * mb, 0, false},
		{"live heap larger than held heap", 50 * mb, 40 * mb, 0, false},
	} {
		before := usage{at: began, allocated: 1000 * mb}
		now := usage{at: began.Add(5 * time.Second), live: c.live, held: c.held, allocated: before.allocated + c.allocated}
		if got := now.idle(before); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

var burst [][]byte

// Not parallel: the heap is shared by all tests.
func TestRelease_OnceAfterBurst(t *testing.T) {
	for range 256 {
		burst = append(burst, make([]byte, mb))
	}
	runtime.GC()
	burst = nil
	runtime.GC() // all of it free
	controller := controller{last: measure()}
	now := measure()
	now.at = controller.last.at.Add(sampleInterval)
	if now.held-now.live < 128*mb {
		t.Skipf("skipped: the runtime returned the heap itself: %d MB held, %d MB live", now.held/mb, now.live/mb)
	}
	controller.release(now)
	if after := measure(); after.held-after.live > minRelease {
		t.Errorf("got %d MB held and %d MB live, want less free heap than before (%d MB held)", after.held/mb, after.live/mb, now.held/mb)
	}
	released := controller.released
	for range 3 {
		next := measure()
		next.at, next.held = controller.last.at.Add(sampleInterval), now.held // as if the release had no effect
		controller.release(next)
	}
	if controller.released != released {
		t.Error("got another release without allocations, want none")
	}
	for after, want := range map[time.Duration]bool{releaseInterval - sampleInterval: false, releaseInterval: true} {
		controller.released = released
		next := measure()
		controller.last.at = released.at.Add(after - sampleInterval)
		next.at, next.held, next.allocated = released.at.Add(after), now.held, released.allocated+256*mb // after another burst
		controller.last.allocated = next.allocated
		controller.release(next)
		if got := controller.released != released; got != want {
			t.Errorf("another burst, %v after a release: got a release: %t, want %t", after, got, want)
		}
	}
}

// Not parallel: the limit applies to the process.
func TestTend_SetsLimitUnlessConfigured(t *testing.T) {
	before := debug.SetMemoryLimit(math.MaxInt64)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()

	t.Setenv("GOMEMLIMIT", "3GiB") // the runtime reads it at startup only
	if err := Tend(cancelled); err != nil || debug.SetMemoryLimit(-1) != math.MaxInt64 {
		t.Errorf("got a limit of %d MB, %v, want the configured limit kept", debug.SetMemoryLimit(-1)/mb, err)
	}
	t.Setenv("GOMEMLIMIT", "")
	if err := Tend(cancelled); err != nil || debug.SetMemoryLimit(-1) > max(machine()/2, defaultLimit) {
		t.Errorf("got a limit of %d MB, %v, want half of %d MB", debug.SetMemoryLimit(-1)/mb, err, machine()/mb)
	}
}

func TestMemorySize_SmallestControlGroup(t *testing.T) {
	t.Parallel()
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for name, c := range map[string]struct {
		files fstest.MapFS
		want  int64
	}{
		"no groups": {fstest.MapFS{}, 1024 * mb},
		"a service": {fstest.MapFS{
			"proc/self/cgroup": file("0::/system.slice/feedmesh.service\n"),
			"sys/fs/cgroup/system.slice/feedmesh.service/memory.max": file("max\n"),
			"sys/fs/cgroup/system.slice/memory.max":                  file("536870912\n"),
		}, 512 * mb},
		"a container": {fstest.MapFS{
			"proc/self/cgroup":         file("0::/\n"),
			"sys/fs/cgroup/memory.max": file("268435456\n"),
		}, 256 * mb},
		"a container with cgroups v1": {fstest.MapFS{
			"proc/self/cgroup":                           file("8:pids:/docker/1\n4:memory:/docker/1\n1:name=systemd:/docker/1\n"),
			"sys/fs/cgroup/memory/memory.limit_in_bytes": file("134217728\n"),
		}, 128 * mb},
		"cgroups v1 without a limit": {fstest.MapFS{
			"proc/self/cgroup":                           file("4:memory:/\n"),
			"sys/fs/cgroup/memory/memory.limit_in_bytes": file("9223372036854771712\n"),
		}, 1024 * mb},
	} {
		if got := memorySize(c.files, 1024*mb); got != c.want {
			t.Errorf("%s: got %d MB, want %d MB", name, got/mb, c.want/mb)
		}
	}
	if available := machine(); runtime.GOOS == "linux" && (available < 64*mb || available == math.MaxInt64) {
		t.Errorf("got machine size %d MB, want at least 64 MB", available/mb)
	}
}

func TestReleaseInterval_ByCostOfCollections(t *testing.T) {
	t.Parallel()
	for cost, want := range map[float64]time.Duration{0: releaseInterval, 0.01: releaseInterval, 0.3: 80 * time.Second} {
		if got := (&controller{cost: cost}).releaseInterval(); got.Round(time.Second) != want {
			t.Errorf("a collection of %v s: got %v, want %v", cost, got, want)
		}
	}
}
