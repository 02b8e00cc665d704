package interest

import (
	"context"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"feedmesh/classify/interest"
	"feedmesh/storage"
)

// rounded returns a count with three decimals.
func rounded(v float64) float64 { return math.Round(v*1000) / 1000 }

const (
	maxKnown    = 4 * maxCandidates // items, some 300 bytes each
	knownMaxAge = time.Hour         // after which corrected labels and moved stories take effect
)

// A knownItem has what ranking needs of an item.
type knownItem struct {
	keys  []interest.Key
	story string
	read  time.Time
}

// A featureCache caches the features of items, which are the same for all clients: to read and stem 2,000 items takes
// longer than to rank them.
type featureCache struct {
	mu    sync.Mutex
	items map[string]knownItem // by ID
}

// get returns the cached items among the marked, and the IDs of the others.
func (c *featureCache) get(marked []storage.MarkedItem, now time.Time) (known map[string]knownItem, missing []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known = make(map[string]knownItem, len(marked))
	for _, m := range marked {
		if k, is := c.items[m.ItemID]; is && now.Sub(k.read) < knownMaxAge {
			known[m.ItemID] = k
		} else {
			missing = append(missing, m.ItemID)
		}
	}
	return known, missing
}

// put caches items. A full cache drops those that are old, else all.
func (c *featureCache) put(items map[string]knownItem, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.items)+len(items) > maxKnown {
		maps.DeleteFunc(c.items, func(_ string, k knownItem) bool { return now.Sub(k.read) >= knownMaxAge })
	}
	if c.items == nil || len(c.items)+len(items) > maxKnown {
		c.items = map[string]knownItem{}
	}
	maps.Copy(c.items, items)
}

// known returns what ranking needs of items by ID, without those that no longer exist.
func (i *Interests) known(ctx context.Context, marked []storage.MarkedItem) (map[string]knownItem, error) {
	now := i.now()
	known, missing := i.features.get(marked, now)
	if len(missing) == 0 {
		return known, nil
	}
	items, err := i.store.Items(ctx, missing...)
	if err != nil {
		return nil, err
	}
	read := make(map[string]knownItem, len(items))
	for _, item := range items {
		features := interest.Features(documentOf(item, ""))
		k := knownItem{keys: make([]interest.Key, len(features)), story: item.StoryID, read: now}
		for n, f := range features {
			k.keys[n] = f.Key
		}
		read[item.ID] = k
	}
	i.features.put(read, now)
	maps.Copy(known, read)
	return known, nil
}

const (
	maxListed      = 200 // clients
	maxListedItems = 100
)

// A listedCache has the items that each client was shown last: those that were not opened are passed over. It belongs to a
// process: where an item is opened at another one, nothing counts as passed over.
type listedCache struct {
	mu       sync.Mutex
	byClient map[string][]string
}

// put replaces the list of a client. A full cache drops any other.
func (c *listedCache) put(client string, items []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, is := c.byClient[client]; !is && len(c.byClient) >= maxListed {
		for other := range c.byClient {
			delete(c.byClient, other)
			break
		}
	}
	c.byClient[client] = items[:min(len(items), maxListedItems)]
}

// above returns the items between an opened one and the last opened above it, at most maxPassed, and takes them and the
// opened one from the list.
func (c *listedCache) above(client, item string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.byClient[client]
	n := slices.Index(list, item)
	if n < 0 {
		return nil
	}
	c.byClient[client] = list[n+1:]
	return slices.Clone(list[max(0, n-maxPassed):n])
}
