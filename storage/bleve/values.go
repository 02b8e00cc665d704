package bleve

import (
	"slices"
	"sync"
)

// values numbers the values of a facet from 1, equally in all segments, so that counting needs no strings. It
// never removes a value: their number is bounded by the feeds, categories and days.
type values struct {
	mu      sync.RWMutex
	numbers map[string]uint32
	texts   []string // by number
}

// number returns the number of a value.
func (v *values) number(text string) uint32 {
	v.mu.RLock()
	n := v.numbers[text]
	v.mu.RUnlock()
	if n > 0 {
		return n
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.numbers == nil {
		v.numbers, v.texts = make(map[string]uint32), []string{""}
	}
	if n = v.numbers[text]; n == 0 {
		n = uint32(len(v.texts))
		v.numbers[text] = n
		v.texts = append(v.texts, text)
	}
	return n
}

// all returns the current values, by number.
func (v *values) all() []string {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return slices.Clip(v.texts)
}
