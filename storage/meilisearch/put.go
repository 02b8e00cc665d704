package meilisearch

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	upstream "github.com/meilisearch/meilisearch-go"
	"golang.org/x/sync/errgroup"

	"feedmesh/storage"
)

// maxPayload bounds the bytes of documents in a task, except for a single larger document. Meilisearch
// accepts 100 MB.
const maxPayload = 16 << 20

// maxKey is the maximum length of a document's key, in bytes.
const maxKey = 511

// A writer implements the methods of [storage.Index] that write.
type writer struct {
	*connection
	tasks chan struct{} // an element for each task at the server
}

// Put implements [storage.Index]. Large batches are cheapest per item: every call is at least one task, which
// takes Meilisearch about 50 ms even if it is small.
func (w *writer) Put(ctx context.Context, items ...storage.IndexItem) error {
	rejected := &storage.RejectedError{}
	err := w.take(ctx, len(items), func() error {
		return w.putParts(ctx, items, rejected)
	})
	if err != nil {
		return w.failed(ctx, "index items", err)
	}
	if len(rejected.IDs) > 0 {
		return rejected
	}
	return nil
}

// putParts indexes the items in their parts, in all at the same time, so that new items do not wait for old ones.
func (w *writer) putParts(ctx context.Context, items []storage.IndexItem, rejected *storage.RejectedError) error {
	all, err := w.readParts(ctx)
	if err != nil {
		return err
	}
	var reporting sync.Mutex
	group, each := errgroup.WithContext(storage.WithAccepted(ctx, func() {
		reporting.Lock()
		defer reporting.Unlock()
		storage.ReportAccepted(ctx)
	}))
	refused := make([]storage.RejectedError, len(all))
	for i, p := range all {
		if own := p.itemsOf(items); len(own) > 0 {
			group.Go(func() error {
				if err := w.put(each, p.name, own, &refused[i]); err != nil {
					return err
				}
				return w.deleteElsewhere(each, all, p, own)
			})
		}
	}
	err = group.Wait()
	for _, r := range refused {
		rejected.IDs, rejected.Err = append(rejected.IDs, r.IDs...), cmp.Or(rejected.Err, r.Err)
	}
	return err
}

// deleteElsewhere deletes the documents of items of a part from all others. An item of a feed that was removed and added again is seen
// for the first time again, and may have been in another part.
func (w *writer) deleteElsewhere(ctx context.Context, all parts, own part, items []storage.IndexItem) error {
	ids := make([]string, len(items))
	for i, it := range items {
		ids[i] = it.ID
	}
	keys := keysOf(ids)
	for _, p := range all {
		if p.name == own.name || p.documents == 0 || len(keys) == 0 {
			continue
		}
		hits := make([]hit, len(keys))
		for i, key := range keys {
			hits[i] = hit{ID: key, part: p.name}
		}
		docs, err := w.documents(ctx, hits)
		if err != nil {
			return err
		}
		found := make([]string, len(docs))
		for i, d := range docs {
			found[i] = d.ID
		}
		if err := w.delete(ctx, p.name, found); err != nil {
			return err
		}
	}
	return nil
}

// StoriesApart implements [storage.Index]: each document contains the coverage of its story.
func (*writer) StoriesApart() bool { return false }

const (
	// batchSize is the maximum number of items for one call of Put.
	batchSize = 2000

	// maxTasks is the number of tasks of this process at the server: some wait while one is in progress, and are processed
	// together then. The larger an index, the longer takes each task, whatever its size.
	maxTasks = 4
)

// Batches implements [storage.Index].
func (*writer) Batches() (size, concurrent int) { return batchSize, maxTasks }

// take calls f, unless the batch is empty, when there are less than maxTasks.
func (w *writer) take(ctx context.Context, things int, f func() error) error {
	if err := ctx.Err(); err != nil || things == 0 {
		return err
	}
	select {
	case w.tasks <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-w.tasks }()
	return f()
}

// nextPayload returns the documents of the first n items, up to maxPayload.
func nextPayload(items []storage.IndexItem) (payload []byte, n int) {
	for i := range items {
		doc := documentOf(&items[i])
		if n > 0 && len(payload)+len(doc) > maxPayload {
			break
		}
		payload = append(payload, doc...)
		n++
	}
	return payload, n
}

// put indexes the items. Meilisearch rejects a whole task for one bad document: then put retries the
// halves, and so on, until only bad documents remain.
func (w *writer) put(ctx context.Context, index string, items []storage.IndexItem, rejected *storage.RejectedError) error {
	for len(items) > 0 {
		payload, n := nextPayload(items)
		err := w.add(ctx, index, payload)
		why := (*rejection)(nil)
		switch {
		case err != nil && !errors.As(err, &why):
			return err
		case err != nil && n > 1:
			for _, half := range [][]storage.IndexItem{items[:n/2], items[n/2 : n]} {
				if err := w.put(ctx, index, half, rejected); err != nil {
					return err
				}
			}
		case err != nil:
			if rejected.Err = why; !slices.Contains(rejected.IDs, items[0].ID) {
				rejected.IDs = append(rejected.IDs, items[0].ID)
			}
		}
		items = items[n:]
	}
	return nil
}

// add indexes the documents as one task.
func (w *writer) add(ctx context.Context, index string, payload []byte) error {
	if err := w.prepare(ctx, index); err != nil {
		return err
	}
	key := string(attrID)
	err := w.run(ctx, func() (*upstream.TaskInfo, error) {
		info, err := w.server.Index(index).AddDocumentsNdjsonWithContext(ctx, payload, &upstream.DocumentOptions{PrimaryKey: &key})
		payload = nil // not in memory while the task waits
		if err == nil {
			storage.ReportAccepted(ctx) // the server processes tasks in the order of their acceptance
		}
		return info, rejectedPayload(err)
	})
	if err != nil {
		return err
	}
	// If the index was deleted meanwhile, the task created it without settings.
	return w.prepare(ctx, index)
}

// keysOf returns the keys of the items that can be in the index.
func keysOf(ids []string) (keys []string) {
	for _, id := range ids {
		if key := keyOf(id); key != "" && len(key) <= maxKey {
			keys = append(keys, key)
		}
	}
	return keys
}

// Delete implements [storage.Index].
func (w *writer) Delete(ctx context.Context, ids ...string) error {
	keys := keysOf(ids)
	err := w.take(ctx, len(keys), func() error {
		all, err := w.readParts(ctx)
		if err != nil {
			return err
		}
		// From all parts: the days of deleted items are not known, and a put of them may wait in the queue.
		group, ctx := errgroup.WithContext(ctx)
		for _, p := range all {
			group.Go(func() error { return w.delete(ctx, p.name, keys) })
		}
		return group.Wait()
	})
	if err != nil {
		return w.failed(ctx, "delete items from the index", err)
	}
	return nil
}

// delete deletes the documents with the keys from an index.
func (w *writer) delete(ctx context.Context, index string, keys []string) error {
	for chunk := range slices.Chunk(keys, maxPayload/maxKey) {
		err := w.run(ctx, func() (*upstream.TaskInfo, error) {
			return w.server.Index(index).DeleteDocumentsWithContext(ctx, chunk, nil)
		})
		if why := (*rejection)(nil); err != nil && !(errors.As(err, &why) && why.code == indexNotFound) {
			return err
		}
	}
	return nil
}
