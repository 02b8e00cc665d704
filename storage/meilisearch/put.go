package meilisearch

import (
	"bytes"
	"context"
	"errors"
	"slices"

	upstream "github.com/meilisearch/meilisearch-go"

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
		for len(items) > 0 {
			var docs []line
			docs, items = nextPayload(items)
			if err := w.put(ctx, docs, rejected); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return w.failed(ctx, "index items", err)
	}
	if len(rejected.IDs) > 0 {
		return rejected
	}
	return nil
}

// StoriesApart implements [storage.Index]: each document contains the coverage of its story.
func (*writer) StoriesApart() bool { return false }

const (
	// batchSize is the maximum number of items for one call of Put.
	batchSize = 2000

	// maxTasks is the number of tasks at the server: one waits while the other is in progress, so that the server does not wait
	// for the next.
	maxTasks = 2
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

// A line is an encoded document.
type line struct {
	id   string // of the item
	json []byte
}

// nextPayload returns the documents of the first items, up to maxPayload, and the remaining items.
func nextPayload(items []storage.IndexItem) (docs []line, left []storage.IndexItem) {
	for size := 0; len(docs) < len(items); {
		it := &items[len(docs)]
		doc := line{it.ID, documentOf(it)}
		if size += len(doc.json); size > maxPayload && len(docs) > 0 {
			break
		}
		docs = append(docs, doc)
	}
	return docs, items[len(docs):]
}

// put indexes the documents. Meilisearch rejects a whole task for one bad document: then put retries the
// halves, and so on, until only bad documents remain.
func (w *writer) put(ctx context.Context, docs []line, rejected *storage.RejectedError) error {
	err := w.add(ctx, docs)
	var why *rejection
	if !errors.As(err, &why) {
		return err
	}
	if len(docs) > 1 {
		half := len(docs) / 2
		if err := w.put(ctx, docs[:half], rejected); err != nil {
			return err
		}
		return w.put(ctx, docs[half:], rejected)
	}
	if rejected.Err = why; !slices.Contains(rejected.IDs, docs[0].id) {
		rejected.IDs = append(rejected.IDs, docs[0].id)
	}
	return nil
}

// add indexes the documents as one task.
func (w *writer) add(ctx context.Context, docs []line) error {
	if err := w.prepare(ctx); err != nil {
		return err
	}
	var payload bytes.Buffer
	for _, doc := range docs {
		payload.Write(doc.json)
	}
	key := string(attrID)
	err := w.run(ctx, func() (*upstream.TaskInfo, error) {
		info, err := w.index.AddDocumentsNdjsonWithContext(ctx, payload.Bytes(),
			&upstream.DocumentOptions{PrimaryKey: &key})
		return info, rejectedPayload(err)
	})
	if err != nil {
		return err
	}
	// If the index was deleted meanwhile, the task created it without settings.
	return w.prepare(ctx)
}

// Delete implements [storage.Index].
func (w *writer) Delete(ctx context.Context, ids ...string) error {
	var keys []string
	for _, id := range ids {
		if key := keyOf(id); key != "" && len(key) <= maxKey { // other keys cannot exist
			keys = append(keys, key)
		}
	}
	err := w.take(ctx, len(keys), func() error {
		for chunk := range slices.Chunk(keys, maxPayload/maxKey) {
			err := w.run(ctx, func() (*upstream.TaskInfo, error) {
				return w.index.DeleteDocumentsWithContext(ctx, chunk, nil)
			})
			if why := (*rejection)(nil); err != nil && !(errors.As(err, &why) && why.code == indexNotFound) {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return w.failed(ctx, "delete items from the index", err)
	}
	return nil
}
