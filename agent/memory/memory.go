// Package memory bounds what this process takes of its machine's memory, and
// gives back what a burst of work has left lying about. It tends the whole
// process, however many nodes there are in it.
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
	// lookEvery is how often it is looked how much memory there is in use.
	lookEvery = 5 * time.Second

	// generous is how large the heap may grow before it is collected more often than
	// it has doubled, where it is not known how much there is.
	generous = 1 << 30

	// lasting is how long what lies about would have to last, at the rate at which
	// memory is taken of late, to be given back.
	lasting = 30 * time.Second

	// worth is the least that is given back: it takes a collection or two.
	worth = 8 << 20

	// forgetEvery is how often the pages of the program's file are given back. What
	// is in use is back within milliseconds.
	forgetEvery = time.Minute

	// little is how many bytes a second are taken, at most, where there is hardly
	// anything to do.
	little = 4 << 20
)

// Tend keeps this process within bounds until ctx ends. The bounds are soft: what
// lives has its room, and a collector that would do nothing else is none.
//
// Who sets GOMEMLIMIT sets the bound, and who sets GOGC by how much the heap grows.
func Tend(ctx context.Context) error {
	room, ours, paced := roomIn(os.DirFS("/"), machine()), os.Getenv("GOMEMLIMIT") == "", os.Getenv("GOGC") == ""
	tender, bound, pace := tender{last: look()}, int64(0), mostGrowth
	for {
		if most := limit(int64(tender.last.live), room); ours && most != bound {
			debug.SetMemoryLimit(most) // the world stops for it
			bound = most
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(lookEvery):
		}
		now := look()
		if percent := growth(now.taking(tender.last)); paced && percent != pace {
			debug.SetGCPercent(percent)
			pace = percent
		}
		tender.tidy(now)
	}
}

// A tender knows how it was when it looked last, and when it gave back last.
type tender struct {
	last     use
	gaveBack uint64    // bytes taken since the process began, by then
	forgot   time.Time // the pages of the program's file
}

// limit returns how many bytes the Go runtime may take where live of them are in
// use, and the process may take room.
func limit(live, room int64) int64 {
	most := room / 2 // the files of engines need room in the page cache
	if room == unknown {
		most = max(generous, live*3/2)
	}
	return min(max(most, live*5/4+32<<20), room/10*9) // and less than a quarter free is collected without end
}

// tidy gives back what lies about, if it is much and little is taken of late, and at
// rest, from time to time, what was read of the program.
func (t *tender) tidy(now use) {
	if now.idle(t.last) && now.taken-t.gaveBack > max(worth, now.live/4) {
		runtime.GC() // what is in pools is let go by the second collection
		debug.FreeOSMemory()
		now = look()
		t.gaveBack = now.taken
	}
	if now.at.Sub(t.forgot) >= forgetEvery && now.taking(t.last) < little {
		forgetProgram()
		t.forgot = now.at
	}
	t.last = now
}

// A use is how memory is used, in bytes.
type use struct {
	at    time.Time
	live  uint64 // in use when it was collected last
	held  uint64 // of the heap, whether in use or not
	taken uint64 // since the process began
}

// idle reports whether much of what is held is not in use, and will not be soon,
// at the rate since before.
func (u use) idle(before use) bool {
	if u.held < u.live {
		return false
	}
	lies := u.held - u.live
	return lies > max(worth, u.live/4) && float64(lies) > u.taking(before)*lasting.Seconds()
}

// taking returns how many bytes a second were taken since before.
func (u use) taking(before use) float64 {
	return float64(u.taken-before.taken) / u.at.Sub(before.at).Seconds()
}

func look() use {
	s := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/allocs:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}, {Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(s)
	return use{
		at: time.Now(), live: s[0].Value.Uint64(), taken: s[1].Value.Uint64(),
		held: s[2].Value.Uint64() + s[3].Value.Uint64() + s[4].Value.Uint64(),
	}
}
