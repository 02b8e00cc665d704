package mesh

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/subjects"
)

// states are the schedule's states of feeds.
type states struct{ *client }

// A StateSource is the active schedule of this process, whose states are newer than those of the bucket. Its methods may
// be called concurrently.
type StateSource interface {
	States(each func(subjects.FeedState))  // calls each for every feed; each must not wait
	State(feedID string) *subjects.State   // nil for an unknown feed
	WriteStates(ctx context.Context) error // writes the states that are newer than those of the bucket
}

// ServeStates makes LoadStates and State return the states of the active schedule until end is called.
func (c *client) ServeStates(from StateSource) (end func()) {
	c.active.Store(&from)
	return func() { c.active.CompareAndSwap(&from, nil) }
}

// LoadStates calls each for every state of the active schedule if it is in this process; otherwise for every readable
// state in the schedule bucket.
func (s states) LoadStates(ctx context.Context, each func(subjects.FeedState)) error {
	if active := s.active.Load(); active != nil {
		(*active).States(each)
		return nil
	}
	return s.values().each(ctx, withoutLastDispatch(each))
}

// RestoreStates is [states.LoadStates] for the active schedule: it moves unreadable states to the quarantine, so
// that the feeds' next states can be written. States written meanwhile may be missing: the schedule's first write
// of such a feed then fails, and it restores the states again.
func (s states) RestoreStates(ctx context.Context, each func(subjects.FeedState)) error {
	return s.values().load(ctx, withoutLastDispatch(each))
}

func withoutLastDispatch(each func(subjects.FeedState)) func(jetstream.KeyValueEntry, *subjects.State) {
	return func(entry jetstream.KeyValueEntry, state *subjects.State) {
		if entry.Key() != lastDispatchKey {
			each(subjects.FeedState{FeedID: entry.Key(), Revision: entry.Revision(), State: state, Written: entry.Created()})
		}
	}
}

func (s states) values() values[subjects.State] {
	return values[subjects.State]{s.client, subjects.ScheduleBucket, checkState}
}

func checkState(id string, state *subjects.State) error {
	if id != lastDispatchKey && state.URL == "" {
		return errors.New("state without a URL")
	}
	return nil
}

// lastDispatchKey is the key of the last dispatched tasks. It is in the bucket of the feeds to be written
// atomically with them.
const lastDispatchKey = "last-task"

// LastDispatch returns the state that names the last dispatched crawl tasks; none if RestoreStates removed it.
// PutStates writes it together with the states of their feeds.
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
	if err != nil {
		return last, fmt.Errorf("read the last dispatch: %w", err)
	}
	last.Revision = entry.Revision()
	if last.State, err = s.values().decode(entry); err != nil {
		return last, fmt.Errorf("read the last dispatch: %w", err)
	}
	return last, nil
}

// State returns the schedule's state of a feed, or nil if none exists.
func (s states) State(ctx context.Context, feedID string) (*subjects.State, error) {
	if active := s.active.Load(); active != nil {
		return (*active).State(feedID), nil
	}
	return s.values().get(ctx, feedID)
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

// copiedBuckets are the buckets that a backup has: what polling needs to continue. Proxies are probed again, polls
// are only shown.
var copiedBuckets = []string{subjects.ScheduleBucket, subjects.HostBucket, subjects.SubscriptionBucket}

// CopySchedule calls each for every value of the buckets of which polling continues, as bytes.
func (s states) CopySchedule(ctx context.Context, each func(bucket, key string, value []byte) error) error {
	if active := s.active.Load(); active != nil {
		if err := (*active).WriteStates(ctx); err != nil {
			return err
		}
	}
	for _, bucket := range copiedBuckets {
		var failed error
		raw := values[json.RawMessage]{s.client, bucket, nil}
		err := raw.each(ctx, func(entry jetstream.KeyValueEntry, _ *json.RawMessage) {
			if failed == nil && (bucket != subjects.ScheduleBucket || entry.Key() != lastDispatchKey) {
				failed = each(bucket, entry.Key(), entry.Value())
			}
		})
		if err := errors.Join(err, failed); err != nil {
			return err
		}
	}
	return nil
}

// ReplaceSchedule empties the buckets of [states.CopySchedule] and writes the values that read passes on; values of
// other buckets are left out. Feeds that were in flight are due. No schedule may be active.
func (s states) ReplaceSchedule(ctx context.Context, read func(ctx context.Context, each func(bucket, key string, value []byte) error) error) error {
	for _, bucket := range copiedBuckets {
		stream, err := s.js.Stream(perRequestTimeout(ctx), "KV_"+bucket)
		if err == nil {
			err = stream.Purge(perRequestTimeout(ctx))
		}
		if err != nil {
			return fmt.Errorf("empty bucket %s: %w", bucket, err)
		}
	}
	batches := map[string][]*nats.Msg{}
	flush := func(bucket string) error {
		msgs := batches[bucket]
		batches[bucket] = nil
		if len(msgs) == 0 {
			return nil
		}
		if _, err := s.putBatch(ctx, msgs); err != nil {
			return fmt.Errorf("write %d values of bucket %s: %w", len(msgs), bucket, err)
		}
		return nil
	}
	err := read(ctx, func(bucket, key string, value []byte) error {
		if !slices.Contains(copiedBuckets, bucket) {
			return nil
		}
		msg := nats.NewMsg(subjects.ValueKey(bucket, key))
		msg.Data = slices.Clone(value)
		if bucket == subjects.ScheduleBucket {
			msg.Data = landed(msg.Data)
		}
		if batches[bucket] = append(batches[bucket], msg); len(batches[bucket]) == MaxPutBatch {
			return flush(bucket)
		}
		return nil
	})
	for _, bucket := range copiedBuckets {
		if err == nil {
			err = flush(bucket)
		}
	}
	return err
}

// landed returns a state as bytes, due now if its feed was in flight: the task is not in the queues of another mesh.
func landed(value []byte) []byte {
	var state subjects.State
	if json.Unmarshal(value, &state) != nil || state.Crawl == "" {
		return value
	}
	state.Crawl, state.CrawlReason, state.Due, state.Unconditional = "", "", time.Time{}, false
	state.Next, state.Reason = time.Now().UTC(), "in flight when the backup was made"
	if due, err := json.Marshal(state); err == nil {
		return due
	}
	return value
}
