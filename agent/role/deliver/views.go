package deliver

import (
	"context"
	"fmt"
	"sync"
	"time"

	"feedmesh/classify/view"
	"feedmesh/storage"
)

// viewsAge is the age at which names and settings of views are read again.
const viewsAge = time.Minute

// A viewCache has the views by number, at most [storage.MaxViews]. It may be used concurrently.
type viewCache struct {
	store storage.Store

	mu   sync.Mutex
	read time.Time
	all  map[int64]view.View
}

// get returns the view with the number. A view that was removed is empty; one whose definition is
// unreadable has only its name.
func (c *viewCache) get(ctx context.Context, number int64) (view.View, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, is := c.all[number]
	if is && time.Since(c.read) < viewsAge {
		return v, nil
	}
	stored, err := storage.Views(c.store).List(ctx)
	if err != nil {
		return v, fmt.Errorf("read views: %w", err)
	}
	c.all, c.read = make(map[int64]view.View, len(stored)), time.Now()
	for _, one := range stored {
		parsed, err := view.Parse(one.Definition)
		if err != nil {
			parsed = view.View{Name: one.Name}
		}
		c.all[one.Number] = parsed
	}
	if _, is := c.all[number]; !is {
		c.all[number] = view.View{} // so that a removed view is not looked up each time
	}
	return c.all[number], nil
}
