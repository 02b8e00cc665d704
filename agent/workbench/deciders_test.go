package workbench

import (
	"sync"

	"feedmesh/classify"
)

// A deciderFunc is a function that implements Decider.
type deciderFunc func(classify.Document) classify.Decision

func (f deciderFunc) Decide(d classify.Document) classify.Decision { return f(d) }

// oneByOne returns a decider that serializes calls.
func oneByOne(by Decider) Decider {
	var mu sync.Mutex
	return deciderFunc(func(d classify.Document) classify.Decision {
		mu.Lock()
		defer mu.Unlock()
		return by.Decide(d)
	})
}
