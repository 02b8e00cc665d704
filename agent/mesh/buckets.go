package mesh

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// bucket opens a bucket. If it was deleted, bucket creates it again, empty.
func (c *client) bucket(ctx context.Context, name string) (jetstream.KeyValue, error) {
	ctx = perRequestTimeout(ctx)
	kv, err := c.js.KeyValue(ctx, name)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		c.redeclare(ctx)
		kv, err = c.js.KeyValue(ctx, name)
	}
	if err != nil {
		return nil, fmt.Errorf("open bucket %s: %w", name, err)
	}
	return kv, nil
}

// loadAll calls each for the newest value of every key in a bucket.
func (c *client) loadAll(ctx context.Context, bucket string, each func(jetstream.KeyValueEntry)) error {
	kv, err := c.bucket(ctx, bucket)
	if err != nil {
		return err
	}
	watcher, err := kv.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		return fmt.Errorf("read bucket %s: %w", bucket, err)
	}
	defer watcher.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case entry, open := <-watcher.Updates():
			if !open {
				return fmt.Errorf("read bucket %s: connection lost", bucket)
			}
			if entry == nil {
				return nil // all values were read
			}
			each(entry)
		}
	}
}

// readValue returns the value of a key in a bucket, or nil if none exists.
func readValue[T any](ctx context.Context, c *client, bucket, key string) (*T, error) {
	kv, err := c.bucket(ctx, bucket)
	if err != nil {
		return nil, err
	}
	entry, err := kv.Get(perRequestTimeout(ctx), key)
	if errors.Is(err, jetstream.ErrKeyNotFound) || errors.Is(err, jetstream.ErrInvalidKey) {
		return nil, nil
	}
	value := new(T)
	if err == nil {
		err = json.Unmarshal(entry.Value(), value)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s of bucket %s: %w", key, bucket, err)
	}
	return value, nil
}

// readAll returns every value of a small bucket, by key.
func readAll[V any](ctx context.Context, c *client, bucket string) (map[string]V, error) {
	kv, err := c.bucket(ctx, bucket)
	if err != nil {
		return nil, err
	}
	watcher, err := kv.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		return nil, fmt.Errorf("read bucket %s: %w", bucket, err)
	}
	defer watcher.Stop()
	values := map[string]V{}
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case entry, open := <-watcher.Updates():
			if entry == nil || !open {
				return values, nil
			}
			var v V
			if err := json.Unmarshal(entry.Value(), &v); err != nil {
				return nil, fmt.Errorf("read %s of bucket %s: %w", entry.Key(), bucket, err)
			}
			values[entry.Key()] = v
		}
	}
}
