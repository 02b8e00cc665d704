package mesh

import (
	"cmp"
	"context"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/subjects"
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

// values are the values of a bucket: JSON of one type, or what its UnmarshalBinary reads. The bucket's writer puts an
// unreadable value into quarantine; readers log and skip it.
type values[T any] struct {
	*client
	bucket  string
	keys    string                              // filter of the keys in a scan, such as "3.>"; empty: all
	check   func(key string, value *T) error    // reports whether the value belongs to the key; may be nil
	deleted func(entry jetstream.KeyValueEntry) // is called for deleted keys in a scan; may be nil
}

func (v values[T]) decode(entry jetstream.KeyValueEntry) (*T, error) {
	value := new(T)
	unmarshal := func() error { return json.Unmarshal(entry.Value(), value) }
	if binary, ok := any(value).(encoding.BinaryUnmarshaler); ok {
		unmarshal = func() error { return binary.UnmarshalBinary(entry.Value()) }
	}
	if err := unmarshal(); err != nil {
		return nil, err
	}
	if v.check != nil {
		if err := v.check(entry.Key(), value); err != nil {
			return nil, err
		}
	}
	return value, nil
}

// each calls do for the newest value of every key, and skips unreadable values.
func (v values[T]) each(ctx context.Context, do func(entry jetstream.KeyValueEntry, value *T)) error {
	return v.scan(ctx, do, v.skip)
}

// load is [values.each] for the bucket's writer: it moves unreadable values to the quarantine.
func (v values[T]) load(ctx context.Context, do func(entry jetstream.KeyValueEntry, value *T)) error {
	var unreadable []jetstream.KeyValueEntry
	var causes []error
	err := v.scan(ctx, do, func(entry jetstream.KeyValueEntry, cause error) {
		unreadable, causes = append(unreadable, entry), append(causes, cause)
	})
	for i, entry := range unreadable {
		err = errors.Join(err, v.remove(ctx, entry, causes[i]))
	}
	return err
}

// scanTimeout is the timeout of the next value of a bucket that is read whole: a server does not send the values of a
// damaged file, nor an error.
const scanTimeout = 15 * time.Second

// scan calls do for the newest readable value of every key, and damaged for every other.
func (v values[T]) scan(ctx context.Context, do func(jetstream.KeyValueEntry, *T), damaged func(jetstream.KeyValueEntry, error)) error {
	kv, err := v.client.bucket(ctx, v.bucket)
	if err != nil {
		return err
	}
	watcher, err := kv.Watch(ctx, cmp.Or(v.keys, ">"))
	if err != nil {
		return fmt.Errorf("read bucket %s: %w", v.bucket, err)
	}
	defer watcher.Stop()
	idle := time.NewTimer(scanTimeout)
	defer idle.Stop()
	for {
		idle.Reset(scanTimeout)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-idle.C:
			err := fmt.Errorf("read bucket %s: NATS sent no value for %v: if it still does not after a restart, the files of the bucket are damaged: stop the server, "+
				"move its JetStream folder away (of an agent: nats in its data folder) and start it again; the schedule is rebuilt from the store", v.bucket, scanTimeout)
			v.scanned(v.bucket, err)
			return err
		case entry, open := <-watcher.Updates():
			if !open {
				return fmt.Errorf("read bucket %s: connection lost", v.bucket)
			}
			if entry == nil { // all values were read
				v.scanned(v.bucket, nil)
				return nil
			}
			if entry.Operation() != jetstream.KeyValuePut {
				if v.deleted != nil {
					v.deleted(entry)
				}
				continue
			}
			if value, err := v.decode(entry); err != nil {
				damaged(entry, err)
			} else {
				do(entry, value)
			}
		}
	}
}

// all returns every readable value of a small bucket, by key.
func (v values[T]) all(ctx context.Context) (map[string]T, error) {
	byKey := map[string]T{}
	err := v.each(ctx, func(entry jetstream.KeyValueEntry, value *T) { byKey[entry.Key()] = *value })
	return byKey, err
}

// get returns the value of a key, or nil if none exists or it is unreadable.
func (v values[T]) get(ctx context.Context, key string) (*T, error) {
	kv, err := v.client.bucket(ctx, v.bucket)
	if err != nil {
		return nil, err
	}
	entry, err := kv.Get(perRequestTimeout(ctx), key)
	if errors.Is(err, jetstream.ErrKeyNotFound) || errors.Is(err, jetstream.ErrInvalidKey) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s of bucket %s: %w", key, v.bucket, err)
	}
	value, err := v.decode(entry)
	if err != nil {
		v.skip(entry, err)
		return nil, nil
	}
	return value, nil
}

// skip logs an unreadable value, once for each of its revisions.
func (v values[T]) skip(entry jetstream.KeyValueEntry, cause error) {
	if v.firstSkip(subjects.ValueKey(v.bucket, entry.Key()), entry.Revision()) {
		v.log.Warn("unreadable value skipped", "bucket", v.bucket, "key", entry.Key(), "err", cause)
	}
}

// remove moves an unreadable value to the quarantine. A value that was written since remains.
func (v values[T]) remove(ctx context.Context, entry jetstream.KeyValueEntry, cause error) error {
	if err := v.quarantineValue(ctx, v.bucket, entry.Key(), entry.Revision(), entry.Value(), cause); err != nil {
		return err
	}
	stream, err := v.js.Stream(perRequestTimeout(ctx), "KV_"+v.bucket)
	if err == nil {
		err = stream.Purge(perRequestTimeout(ctx), jetstream.WithPurgeSubject(subjects.ValueKey(v.bucket, entry.Key())), jetstream.WithPurgeSequence(entry.Revision()+1))
	}
	if err != nil {
		return fmt.Errorf("remove the unreadable value %s of bucket %s: %w", entry.Key(), v.bucket, err)
	}
	return nil
}

// quarantineValue stores an unreadable value of a bucket in the quarantine, whole.
func (c *client) quarantineValue(ctx context.Context, bucket, key string, revision uint64, value []byte, cause error) error {
	c.log.Error("unreadable value put into quarantine", "bucket", bucket, "key", key, "err", cause)
	q := subjects.Quarantined{
		Queue: bucket, Subject: subjects.ValueKey(bucket, key), Task: placeID(key, revision),
		Reason: "unreadable value: " + cause.Error(), Attempts: 1, At: time.Now().UTC(),
	}
	q.SetMessage(value)
	return quarantineTask(ctx, c, q)
}
