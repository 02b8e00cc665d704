package deliver

import (
	"context"
	"fmt"
	"slices"
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

	byName map[string]view.View // those whose definition is readable
}

// get returns the view with the number. A view that was removed is empty; one whose definition is
// unreadable has only its name.
func (c *viewCache) get(ctx context.Context, number int64) (view.View, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, is := c.all[number]
	if err := c.refresh(ctx, is); err != nil {
		return c.all[number], err
	}
	if _, is := c.all[number]; !is {
		c.all[number] = view.View{} // so that a removed view is not looked up each time
	}
	return c.all[number], nil
}

// refresh reads the views if those in the cache are too old, or one that is needed is not in it.
func (c *viewCache) refresh(ctx context.Context, isComplete bool) error {
	if isComplete && time.Since(c.read) < viewsAge {
		return nil
	}
	stored, err := storage.Views(c.store).List(ctx)
	if err != nil {
		return fmt.Errorf("read views: %w", err)
	}
	c.all, c.byName, c.read = make(map[int64]view.View, len(stored)), make(map[string]view.View, len(stored)), time.Now()
	for _, one := range stored {
		parsed, err := view.Parse(one.Definition)
		if err == nil {
			c.byName[one.Name] = parsed
		} else {
			parsed = view.View{Name: one.Name}
		}
		c.all[one.Number] = parsed
	}
	return nil
}

// sources returns which feeds the views with these numbers read, directly and through other views. Views that were removed and those
// with an unreadable definition get no items, and read none.
func (c *viewCache) sources(ctx context.Context, numbers []int64) (sources, error) {
	var names []string
	for _, number := range numbers {
		v, err := c.get(ctx, number)
		if err != nil {
			return sources{}, err
		}
		names = append(names, v.Name)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := sources{feeds: map[string]bool{}, tags: map[string]bool{}, hosts: map[string]bool{}}
	seen := map[string]bool{}
	for len(names) > 0 {
		name := names[len(names)-1]
		names = names[:len(names)-1]
		v, is := c.byName[name]
		if !is || seen[name] {
			continue
		}
		seen[name] = true
		s.add(v)
		names = append(names, v.Reads()...)
	}
	return s, nil
}

// sources are the feeds that views read.
type sources struct {
	all                bool
	feeds, tags, hosts map[string]bool
}

func (s *sources) add(v view.View) {
	s.all = s.all || len(v.From) == 0
	for _, from := range v.From {
		switch from.Kind {
		case view.Feed:
			s.feeds[from.Value] = true
		case view.Tag:
			s.tags[from.Value] = true
		case view.Host:
			s.hosts[from.Value] = true
		}
	}
}

// has reports whether a feed is among the sources. One of a host has its address or its site there.
func (s *sources) has(f *failingFeed) bool {
	return s.all || s.feeds[f.id] ||
		slices.ContainsFunc(f.tags, func(tag string) bool { return s.tags[tag] }) ||
		slices.ContainsFunc(f.hosts, func(host string) bool { return s.hosts[host] })
}
