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

// states are the schedule's states of feeds.
type states struct{ *client }

// LoadStates calls each for every state in the schedule bucket. States written meanwhile may be missing: the
// schedule's first write of such a feed then fails, and it loads the states again.
func (s states) LoadStates(ctx context.Context, each func(subjects.FeedState)) error {
	return s.loadAll(ctx, subjects.ScheduleBucket, func(entry jetstream.KeyValueEntry) {
		if entry.Key() == lastDispatchKey {
			return
		}
		state := new(subjects.State)
		if err := json.Unmarshal(entry.Value(), state); err != nil {
			s.log.Warn("feed state decode failed, state is reset", "feed_id", entry.Key(), "err", err)
			return
		}
		each(subjects.FeedState{FeedID: entry.Key(), Revision: entry.Revision(), State: state, Written: entry.Created()})
	})
}

// lastDispatchKey is the key of the last dispatched tasks. It is in the bucket of the feeds to be written
// atomically with them.
const lastDispatchKey = "last-task"

// LastDispatch returns the state that names the last dispatched crawl tasks. PutStates writes it
// together with the states of their feeds.
func (s states) LastDispatch(ctx context.Context) (subjects.FeedState, error) {
	last := subjects.FeedState{FeedID: lastDispatchKey, State: new(subjects.State)}
	kv, err := s.bucket(ctx, subjects.ScheduleBucket)
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
func (s states) State(ctx context.Context, feedID string) (*subjects.State, error) {
	return readValue[subjects.State](ctx, s.client, subjects.ScheduleBucket, feedID)
}

// PutStates writes at most [MaxPutBatch] states, each feed once, all or none, and sets their new revisions.
// It returns [ErrStale] if a state has another revision than expected: then the caller is no longer the
// active schedule.
func (s states) PutStates(ctx context.Context, all []subjects.FeedState) error {
	if len(all) == 0 {
		return nil
	}
	msgs := make([]*nats.Msg, len(all))
	for i, f := range all {
		msg, err := valueMessage(subjects.StateKey(f.FeedID), f.State)
		if err != nil {
			return fmt.Errorf("write state of feed %s: %w", f.FeedID, err)
		}
		msg.Header.Set("Nats-Expected-Last-Subject-Sequence", strconv.FormatUint(f.Revision, 10))
		msgs[i] = msg
	}
	last, err := s.putBatch(ctx, msgs)
	if err != nil {
		return fmt.Errorf("write %d states: %w", len(all), err)
	}
	for i := range all {
		all[i].Revision = last - uint64(len(all)-1-i)
	}
	return nil
}

// DeleteState deletes the state and the polls of a feed that was removed from the store. It is not fenced,
// because the removal in the store precedes every call.
func (s states) DeleteState(ctx context.Context, feedID string) error {
	ctx = perRequestTimeout(ctx)
	for bucket, subject := range map[string]string{
		subjects.ScheduleBucket: subjects.StateKey(feedID),
		subjects.PollBucket:     subjects.PollKey(feedID),
	} {
		stream, err := s.js.Stream(ctx, "KV_"+bucket)
		if err == nil {
			err = stream.Purge(ctx, jetstream.WithPurgeSubject(subject))
		}
		if err != nil {
			return fmt.Errorf("delete state of feed %s: %w", feedID, err)
		}
	}
	return nil
}
