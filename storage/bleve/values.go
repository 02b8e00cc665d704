package bleve

import (
	"slices"
	"sync"
)

// Values gives numbers, from 1, to the values of a facet, the same ones in all
// segments, so that they are counted without their texts. It forgets none: there
// are as many as there were feeds, categories and days.
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

// all returns the values so far, by number.
func (v *values) all() []string {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return slices.Clip(v.texts)
}
