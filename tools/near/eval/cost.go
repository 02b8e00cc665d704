package eval

import (
	"runtime"
	"slices"
	"time"

	"feedmesh/classify/near"
)

// A Cost reports time and memory of an index.
type Cost struct {
	Items      int           `json:"items"`
	Duplicates int           `json:"duplicates"`
	Place50    time.Duration `json:"place_p50"` // to place an item, in nanoseconds
	Place99    time.Duration `json:"place_p99"`
	Sketch50   time.Duration `json:"sketch_p50"` // to sketch an item before placement
	Sketch99   time.Duration `json:"sketch_p99"`
	Bytes      int           `json:"bytes"` // of memory for a stored item
}

// Costs measures the placement of the items of both halves in turn.
func Costs(items []Item, s near.Settings) Cost {
	before := heap()
	x := near.NewIndex(s)
	c := Cost{Items: len(items)}
	sketching, placing := make([]time.Duration, len(items)), make([]time.Duration, len(items))
	for i, item := range items {
		began := time.Now()
		mark := item.mark(&s)
		made := time.Now()
		as := x.Place(mark)
		placing[i], sketching[i] = time.Since(made), made.Sub(began)
		c.Duplicates += number(as.DuplicateOf != "")
	}
	c.Bytes = (heap() - before - 16*len(items)) / max(1, x.Len())
	c.Place50, c.Place99 = quantiles(placing)
	c.Sketch50, c.Sketch99 = quantiles(sketching)
	runtime.KeepAlive(items)
	return c
}

// heap returns the bytes in use after a garbage collection.
func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

func quantiles(times []time.Duration) (p50, p99 time.Duration) {
	if len(times) == 0 {
		return 0, 0
	}
	slices.Sort(times)
	return times[len(times)/2], times[len(times)*99/100]
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
