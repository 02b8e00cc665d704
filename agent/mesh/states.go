package mesh

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/subjects"
)

// ErrStale is returned for a write based on an outdated revision.
var ErrStale = errors.New("changed by another writer in the meantime")

// LoadStates calls each for every state in the schedule bucket. States written meanwhile may be missing: the
// schedule's first write of such a feed then fails, and it loads the states again.
func (m *Mesh) LoadStates(ctx context.Context, each func(subjects.FeedState)) error {
	return m.loadAll(ctx, subjects.ScheduleBucket, func(entry jetstream.KeyValueEntry) {
		if entry.Key() == lastDispatchKey {
			return
		}
		s := new(subjects.State)
		if err := json.Unmarshal(entry.Value(), s); err != nil {
			m.log.Warn("feed state decode failed, state is reset", "feed_id", entry.Key(), "err", err)
			return
		}
		each(subjects.FeedState{FeedID: entry.Key(), Revision: entry.Revision(), State: s, Written: entry.Created()})
	})
}

// loadAll calls each for the newest value of every key in a bucket.
func (m *Mesh) loadAll(ctx context.Context, bucket string, each func(jetstream.KeyValueEntry)) error {
	kv, err := m.bucket(ctx, bucket)
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
func readValue[T any](ctx context.Context, m *Mesh, bucket, key string) (*T, error) {
	kv, err := m.bucket(ctx, bucket)
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

// lastDispatchKey is the key of the last dispatched tasks. It is in the bucket of the feeds to be written
// atomically with them.
const lastDispatchKey = "last-task"

// LastDispatch returns the state that names the last dispatched crawl tasks. [Mesh.PutStates] writes it
// together with the states of their feeds.
func (m *Mesh) LastDispatch(ctx context.Context) (subjects.FeedState, error) {
	last := subjects.FeedState{FeedID: lastDispatchKey, State: new(subjects.State)}
	kv, err := m.bucket(ctx, subjects.ScheduleBucket)
	if err != nil {
		return last, err
	}
	entry, err := kv.Get(perRequestTimeout(ctx), lastDispatchKey)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return last, nil
	}
	if err == nil {
		last.Revision, err = entry.Revision(), json.Unmarshal(entry.Value(), last.State)
	}
	if err != nil {
		return last, fmt.Errorf("read the last dispatch: %w", err)
	}
	return last, nil
}

// State returns the schedule's state of a feed, or nil if none exists.
func (m *Mesh) State(ctx context.Context, feedID string) (*subjects.State, error) {
	return readValue[subjects.State](ctx, m, subjects.ScheduleBucket, feedID)
}

// PutStates writes at most [MaxPutBatch] states, each feed once, all or none, and sets their new revisions.
// It returns [ErrStale] if a state has another revision than expected: then the caller is no longer the
// active schedule.
func (m *Mesh) PutStates(ctx context.Context, states []subjects.FeedState) error {
	if len(states) == 0 {
		return nil
	}
	msgs := make([]*nats.Msg, len(states))
	for i, s := range states {
		msg, err := valueMessage(subjects.StateKey(s.FeedID), s.State)
		if err != nil {
			return fmt.Errorf("write state of feed %s: %w", s.FeedID, err)
		}
		msg.Header.Set("Nats-Expected-Last-Subject-Sequence", strconv.FormatUint(s.Revision, 10))
		msgs[i] = msg
	}
	last, err := m.putBatch(ctx, msgs)
	if err != nil {
		return fmt.Errorf("write %d states: %w", len(states), err)
	}
	for i := range states {
		states[i].Revision = last - uint64(len(states)-1-i)
	}
	return nil
}

// DeleteState deletes the state and the polls of a feed that was removed from the store. It is not fenced,
// because the removal in the store precedes every call.
func (m *Mesh) DeleteState(ctx context.Context, feedID string) error {
	ctx = perRequestTimeout(ctx)
	for bucket, subject := range map[string]string{
		subjects.ScheduleBucket: subjects.StateKey(feedID),
		subjects.PollBucket:     subjects.PollKey(feedID),
	} {
		stream, err := m.js.Stream(ctx, "KV_"+bucket)
		if err == nil {
			err = stream.Purge(ctx, jetstream.WithPurgeSubject(subject))
		}
		if err != nil {
			return fmt.Errorf("delete state of feed %s: %w", feedID, err)
		}
	}
	return nil
}
