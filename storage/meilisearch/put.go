package meilisearch

import (
	"bytes"
	"context"
	"errors"
	"slices"

	upstream "github.com/meilisearch/meilisearch-go"

	"feedmesh/storage"
)

// maxPayload is how many bytes of documents a task has at most, but for one
// that is larger alone. Meilisearch takes 100 MB.
const maxPayload = 16 << 20

// maxKey is the longest ID that a document can have, in bytes.
const maxKey = 511

// Put implements [storage.Index]. The more items at a time, the cheaper each:
// every call is at least one task, which takes Meilisearch some 50 ms however
// little is in it.
func (x *Index) Put(ctx context.Context, items ...storage.Indexed) error {
	refused := &storage.RefusedError{}
	err := x.take(ctx, len(items), func() error {
		for len(items) > 0 {
			var docs []line
			docs, items = nextPayload(items)
			if err := x.put(ctx, docs, refused); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return x.failed(ctx, "index items", err)
	}
	if len(refused.IDs) > 0 {
		return refused
	}
	return nil
}

// take calls f, if there are any things to do, while no one else has a task at
// the server.
func (x *Index) take(ctx context.Context, things int, f func() error) error {
	if err := ctx.Err(); err != nil || things == 0 {
		return err
	}
	select {
	case x.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-x.turn }()
	return f()
}

// A line is a document on its way.
type line struct {
	id   string // of the item
	json []byte
}

// nextPayload returns the documents of the first items, as many as a task may
// have, and the items left.
func nextPayload(items []storage.Indexed) (docs []line, left []storage.Indexed) {
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

// put indexes the documents. Meilisearch refuses a task whole for one bad
// document: then the halves are tried, and so on, until those alone are left.
func (x *Index) put(ctx context.Context, docs []line, refused *storage.RefusedError) error {
	err := x.add(ctx, docs)
	var why *refusal
	if !errors.As(err, &why) {
		return err
	}
	if len(docs) > 1 {
		half := len(docs) / 2
		if err := x.put(ctx, docs[:half], refused); err != nil {
			return err
		}
		return x.put(ctx, docs[half:], refused)
	}
	if refused.Err = why; !slices.Contains(refused.IDs, docs[0].id) {
		refused.IDs = append(refused.IDs, docs[0].id)
	}
	return nil
}

// add indexes the documents as one task.
func (x *Index) add(ctx context.Context, docs []line) error {
	if err := x.prepare(ctx); err != nil {
		return err
	}
	var payload bytes.Buffer
	for _, doc := range docs {
		payload.Write(doc.json)
	}
	key := string(attrID)
	err := x.run(ctx, func() (*upstream.TaskInfo, error) {
		info, err := x.index.AddDocumentsNdjsonWithContext(ctx, payload.Bytes(),
			&upstream.DocumentOptions{PrimaryKey: &key})
		return info, refusedPayload(err)
	})
	if err != nil {
		return err
	}
	// If someone deleted the index since, the task has made one without settings.
	return x.prepare(ctx)
}

// Delete implements [storage.Index].
func (x *Index) Delete(ctx context.Context, ids ...string) error {
	var keys []string
	for _, id := range ids {
		if key := keyOf(id); key != "" && len(key) <= maxKey { // others it can't have
			keys = append(keys, key)
		}
	}
	err := x.take(ctx, len(keys), func() error {
		for chunk := range slices.Chunk(keys, maxPayload/maxKey) {
			err := x.run(ctx, func() (*upstream.TaskInfo, error) {
				return x.index.DeleteDocumentsWithContext(ctx, chunk, nil)
			})
			if why := (*refusal)(nil); err != nil && !(errors.As(err, &why) && why.code == indexNotFound) {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return x.failed(ctx, "delete items from the index", err)
	}
	return nil
}
