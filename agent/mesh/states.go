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

// ErrStale says that somebody else changed what we were about to change.
var ErrStale = errors.New("changed by somebody else in the meantime")

// LoadStates calls each with every state in the schedule bucket. States that are
// written meanwhile may be missing: a schedule that loads them fails at its first
// write of such a one, and loads them again.
func (m *Mesh) LoadStates(ctx context.Context, each func(subjects.FeedState)) error {
	return m.loadAll(ctx, subjects.ScheduleBucket, func(entry jetstream.KeyValueEntry) {
		if entry.Key() == lastTask {
			return
		}
		s := new(subjects.State)
		if err := json.Unmarshal(entry.Value(), s); err != nil {
			m.log.Warn("unreadable state is made anew", "feed_id", entry.Key(), "err", err)
			return
		}
		each(subjects.FeedState{FeedID: entry.Key(), Revision: entry.Revision(), State: s, Written: entry.Created()})
	})
}

// loadAll calls each with the newest value of every key in a bucket.
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
				return fmt.Errorf("read bucket %s: the connection was lost", bucket)
			}
			if entry == nil {
				return nil // all there was
			}
			each(entry)
		}
	}
}

// read returns the value of a key in a bucket, or nil if there is none.
func read[T any](ctx context.Context, m *Mesh, bucket, key string) (*T, error) {
	kv, err := m.bucket(ctx, bucket)
	if err != nil {
		return nil, err
	}
	entry, err := kv.Get(eachBounded(ctx), key)
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

// lastTask is the key of the tasks that were handed out last, which stands beside
// the feeds so that it is written together with theirs.
const lastTask = "last-task"

// LastTask returns the state that names the crawl tasks handed out last, to be
// written by [Mesh.PutStates] together with those of the feeds in them.
func (m *Mesh) LastTask(ctx context.Context) (subjects.FeedState, error) {
	last := subjects.FeedState{FeedID: lastTask, State: new(subjects.State)}
	kv, err := m.bucket(ctx, subjects.ScheduleBucket)
	if err != nil {
		return last, err
	}
	entry, err := kv.Get(eachBounded(ctx), lastTask)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return last, nil
	}
	if err == nil {
		last.Revision, err = entry.Revision(), json.Unmarshal(entry.Value(), last.State)
	}
	if err != nil {
		return last, fmt.Errorf("read the last task: %w", err)
	}
	return last, nil
}

// State returns what the schedule bucket holds of a feed, or nil if nothing.
func (m *Mesh) State(ctx context.Context, feedID string) (*subjects.State, error) {
	return read[subjects.State](ctx, m, subjects.ScheduleBucket, feedID)
}

// PutStates writes the states, at most [MaxBatch], each feed once, all or none,
// and sets their new revisions. It returns [ErrStale] if any has another
// revision by now than the one given: then the caller is not the one active
// schedule any more.
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

// DropState forgets the state and the polls of a feed that is no longer in the
// store. It is not fenced: whoever says so, the store has said it first.
func (m *Mesh) DropState(ctx context.Context, feedID string) error {
	ctx = eachBounded(ctx)
	for bucket, subject := range map[string]string{
		subjects.ScheduleBucket: subjects.StateKey(feedID),
		subjects.PollBucket:     subjects.PollKey(feedID),
	} {
		stream, err := m.js.Stream(ctx, "KV_"+bucket)
		if err == nil {
			err = stream.Purge(ctx, jetstream.WithPurgeSubject(subject))
		}
		if err != nil {
			return fmt.Errorf("forget state of feed %s: %w", feedID, err)
		}
	}
	return nil
}
