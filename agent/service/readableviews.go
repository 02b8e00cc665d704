package service

import (
	"bytes"
	"cmp"
	"context"
	"sync"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/service/reading"
	"feedmesh/classify/view"
	"feedmesh/storage"
)

// readableViews are the views as reading lists.
type readableViews struct{ *Views }

// Readable implements [reading.ViewSource].
func (s readableViews) Readable(ctx context.Context, limit int) (readable []reading.View, err error) {
	views, err := s.cache.get(ctx, s.Store, s.Now())
	client := access.From(ctx)
	for _, v := range views {
		if len(readable) == limit {
			break
		}
		if mayRead(client, v.owner, v.readers) {
			readable = append(readable, v.View)
		}
	}
	return readable, err
}

// Find implements [reading.ViewSource].
func (s readableViews) Find(ctx context.Context, name string) (reading.View, error) {
	v, err := s.read(ctx, name)
	return listedViewOf(v).View, err
}

// A listedView is what lists need of a view.
type listedView struct {
	reading.View
	owner   string
	readers view.Readers
}

func listedViewOf(v readView) listedView {
	list := reading.View{Name: v.Name, Title: cmp.Or(v.Title, v.Name), Number: v.stored.Number, Window: time.Duration(v.Window)}
	return listedView{list, v.stored.Owner, v.Readers}
}

// viewAge is the maximum age of a [viewCache], for a change whose announcement failed.
const viewAge = time.Minute

// A viewCache caches what lists need of all views, some 200 bytes a view, until the note changes that announces changes of views. It is locked
// during a read, so that concurrent requests share it.
type viewCache struct {
	mu    sync.Mutex
	note  []byte
	at    time.Time
	views []listedView // ordered by name
}

// get returns all views. The caller must not change them.
func (c *viewCache) get(ctx context.Context, from storage.Store, now time.Time) ([]listedView, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	note, err := storage.Notes(from).Read(ctx, storage.ViewsChanged)
	if err != nil {
		return nil, err
	}
	if age := now.Sub(c.at); c.views != nil && age >= 0 && age < viewAge && bytes.Equal(note, c.note) {
		return c.views, nil
	}
	stored, err := storage.Views(from).List(ctx)
	if err != nil {
		return nil, err
	}
	c.views = convert(stored, func(one storage.View) listedView { return listedViewOf(readViewOf(one)) })
	c.note, c.at = note, now
	return c.views, nil
}
