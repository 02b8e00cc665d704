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

func TestTheHeapIsBoundedByWhatLivesAndWhatTheMachineHas(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what             string
		live, room, want int64
	}{
		{"a small heap on a large machine may double", 100 * mb, 24 << 30, 12 << 30},
		{"a large one too", 2048 * mb, 24 << 30, 12 << 30},
		{"on a machine of 1 GB half is for others", 100 * mb, 1024 * mb, 512 * mb},
		{"what lives there keeps room to work", 480 * mb, 1024 * mb, 632 * mb},
		{"but never all that the machine has", 900 * mb, 1000 * mb, 900 * mb},
		{"on a machine that does not say a small one may double", 100 * mb, unknown, 1024 * mb},
		{"and a large one grows by half", 2048 * mb, unknown, 3072 * mb},
	} {
		if got := limit(c.live, c.room); got != c.want {
			t.Errorf("%s: got %d MB, want %d MB", c.what, got/mb, c.want/mb)
		}
	}
}

func TestMemoryIsGivenBackWhenLittleIsTaken(t *testing.T) {
	t.Parallel()
	began := time.Now()
	for _, c := range []struct {
		what              string
		live, held, taken uint64 // taken in the five seconds before
		want              bool
	}{
		{"a burst is over", 50 * mb, 300 * mb, 5 * mb, true},
		{"work goes on", 50 * mb, 300 * mb, 500 * mb, false},
		{"what lies about is used in half a minute", 50 * mb, 100 * mb, 10 * mb, false},
		{"little lies about", 50 * mb, 60 * mb, 0, false},
		{"little for so large a heap", 400 * mb, 480 * mb, 0, false},
		{"more lives than when it was collected last", 50 * mb, 40 * mb, 0, false},
	} {
		before := use{at: began, taken: 1000 * mb}
		now := use{at: began.Add(5 * time.Second), live: c.live, held: c.held, taken: before.taken + c.taken}
		if got := now.idle(before); got != c.want {
			t.Errorf("%s: got %v, want %v", c.what, got, c.want)
		}
	}
}

var burst [][]byte

// It is not parallel: the heap is everybody's.
func TestWhatABurstLeavesIsGivenBackOnce(t *testing.T) {
	for range 256 {
		burst = append(burst, make([]byte, mb))
	}
	runtime.GC()
	burst = nil
	runtime.GC() // all of it lies about
	tender := tender{last: look()}
	now := look()
	now.at = tender.last.at.Add(lookEvery)
	if now.held-now.live < 128*mb {
		t.Skipf("the runtime has given back by itself: %d MB held, %d MB live", now.held/mb, now.live/mb)
	}
	tender.tidy(now)
	if after := look(); after.held-after.live > worth {
		t.Errorf("%d MB are held and %d MB live, %d MB were held before", after.held/mb, after.live/mb, now.held/mb)
	}
	gave := tender.gaveBack
	for range 3 {
		next := look()
		next.at, next.held = tender.last.at.Add(lookEvery), now.held // as if it could not be given back
		tender.tidy(next)
	}
	if tender.gaveBack != gave {
		t.Error("it was given back again, though nothing was taken")
	}
}

// It is not parallel: the limit is everybody's.
func TestTheBoundIsSetAtOnceUnlessSomebodyHas(t *testing.T) {
	before := debug.SetMemoryLimit(math.MaxInt64)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	over, cancel := context.WithCancel(t.Context())
	cancel()

	t.Setenv("GOMEMLIMIT", "3GiB") // read when the process began, so that only what we set is seen
	if err := Tend(over); err != nil || debug.SetMemoryLimit(-1) != math.MaxInt64 {
		t.Errorf("a limit of somebody's own became %d MB, %v", debug.SetMemoryLimit(-1)/mb, err)
	}
	t.Setenv("GOMEMLIMIT", "")
	if err := Tend(over); err != nil || debug.SetMemoryLimit(-1) > max(machine()/2, generous) {
		t.Errorf("got a limit of %d MB, %v, want half of %d MB", debug.SetMemoryLimit(-1)/mb, err, machine()/mb)
	}
}

func TestRoomIsThatOfTheNarrowestGroup(t *testing.T) {
	t.Parallel()
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for what, c := range map[string]struct {
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
		"an old container": {fstest.MapFS{
			"proc/self/cgroup":                           file("8:pids:/docker/1\n4:memory:/docker/1\n1:name=systemd:/docker/1\n"),
			"sys/fs/cgroup/memory/memory.limit_in_bytes": file("134217728\n"),
		}, 128 * mb},
		"an old one without a bound": {fstest.MapFS{
			"proc/self/cgroup":                           file("4:memory:/\n"),
			"sys/fs/cgroup/memory/memory.limit_in_bytes": file("9223372036854771712\n"),
		}, 1024 * mb},
	} {
		if got := roomIn(c.files, 1024*mb); got != c.want {
			t.Errorf("%s: got %d MB, want %d MB", what, got/mb, c.want/mb)
		}
	}
	if room := machine(); runtime.GOOS == "linux" && (room < 64*mb || room == math.MaxInt64) {
		t.Errorf("this machine has %d MB", room/mb)
	}
}
