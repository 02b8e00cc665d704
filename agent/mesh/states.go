package mesh

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/subjects"
)

// states are the schedule's states of feeds.
type states struct{ *client }

// LoadStates calls each for every state of the active schedule if it is in this process; otherwise for every readable
// state in the journal.
func (s states) LoadStates(ctx context.Context, each func(subjects.FeedState)) error {
	if active := s.active.Load(); active != nil {
		(*active).States(each)
		return nil
	}
	feeds, err := s.readStates(ctx)
	for id, state := range feeds {
		each(subjects.FeedState{FeedID: id, State: state})
	}
	return err
}

// lastDispatchKey is the ID of the state that names the last dispatched tasks. It is in the journal of the feeds to be
// written atomically with them.
const lastDispatchKey = "last-task"

// StatesOf returns the schedule's states of feeds, by feed ID. Feeds without a state are missing. The active schedule returns
// them; without its response the journal is read whole, which takes as long for many feeds as for one.
func (s states) StatesOf(ctx context.Context, feedIDs ...string) (map[string]*subjects.State, error) {
	found := make(map[string]*subjects.State, len(feedIDs))
	if active := s.active.Load(); active != nil {
		for _, id := range feedIDs {
			if state := (*active).State(id); state != nil {
				found[id] = state
			}
		}
		return found, nil
	}
	all := true
	for some := range slices.Chunk(feedIDs, subjects.MaxStateFeeds) {
		if all = s.requestStates(ctx, some, found); !all {
			break
		}
	}
	if all {
		return found, nil
	}
	written, err := s.findStates(ctx, slices.DeleteFunc(slices.Clone(feedIDs), func(id string) bool { return found[id] != nil }))
	maps.Copy(written, found)
	return written, err
}

// DeletePolls deletes the polls of a feed that was removed from the store.
func (s states) DeletePolls(ctx context.Context, feedID string) error {
	ctx = perRequestTimeout(ctx)
	stream, err := s.js.Stream(ctx, "KV_"+subjects.PollBucket)
	if err == nil {
		err = stream.Purge(ctx, jetstream.WithPurgeSubject(subjects.PollKey(feedID)))
	}
	if err != nil {
		return fmt.Errorf("delete the polls of feed %s: %w", feedID, err)
	}
	return nil
}

// copiedBuckets are the buckets that a backup has: what polling needs to continue. Proxies are probed again, polls
// are only shown.
var copiedBuckets = []string{subjects.ScheduleBucket, subjects.HostBucket, subjects.SubscriptionBucket}

// CopySchedule calls each for every value of the buckets of which polling continues, as bytes. Keys do not depend on the number of
// partitions: the schedule's is the ID of a feed, the value its state as JSON; that of a host is [subjects.HostID].
func (s states) CopySchedule(ctx context.Context, each func(bucket, key string, value []byte) error) error {
	if active := s.active.Load(); active != nil {
		if err := (*active).WriteStates(ctx); err != nil {
			return err
		}
	}
	feeds, err := s.readStates(ctx)
	if err != nil {
		return err
	}
	for id, state := range feeds {
		value, err := json.Marshal(state)
		if err != nil {
			return fmt.Errorf("state of feed %s: %w", id, err)
		}
		if err := each(subjects.ScheduleBucket, id, value); err != nil {
			return err
		}
	}
	for _, bucket := range copiedBuckets[1:] {
		var failed error
		raw := values[json.RawMessage]{client: s.client, bucket: bucket}
		err := raw.each(ctx, func(entry jetstream.KeyValueEntry, _ *json.RawMessage) {
			key := entry.Key()
			if bucket == subjects.HostBucket {
				key = key[strings.LastIndexByte(key, '.')+1:]
			}
			if failed == nil {
				failed = each(bucket, key, entry.Value())
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
	partitions, err := s.Partitions(ctx)
	if err != nil {
		return err
	}
	journals, feeds := make([]*Journal, partitions), make([][]subjects.FeedState, partitions)
	for i := range journals {
		if journals[i], err = s.OpenJournal(ctx, i, partitions, func(subjects.FeedState) {}); err != nil {
			return err
		}
	}
	batches := map[string][]*nats.Msg{}
	err = read(ctx, func(bucket, key string, value []byte) error {
		switch {
		case !slices.Contains(copiedBuckets, bucket):
			return nil
		case bucket == subjects.ScheduleBucket:
			state, err := landed(value)
			if err != nil {
				s.log.Warn("unreadable state left out", "feed_id", key, "err", err) // its feed is polled as a new one
				return nil
			}
			i := subjects.PartitionOf(state.URL, partitions)
			if feeds[i] = append(feeds[i], subjects.FeedState{FeedID: key, State: state}); len(feeds[i]) < MaxEntry {
				return nil
			}
			err = journals[i].Put(ctx, feeds[i], nil)
			feeds[i] = nil
			return err
		}
		if bucket == subjects.HostBucket {
			var host subjects.Host
			if err := json.Unmarshal(value, &host); err != nil {
				s.log.Warn("unreadable record of a host left out", "key", key, "err", err) // its next poll writes a new one
				return nil
			}
			key = subjects.HostKey(host.Name, partitions)
		}
		msg := nats.NewMsg(subjects.ValueKey(bucket, key))
		msg.Data = slices.Clone(value)
		if batches[bucket] = append(batches[bucket], msg); len(batches[bucket]) < MaxPutBatch {
			return nil
		}
		err := s.putValues(ctx, bucket, batches[bucket])
		batches[bucket] = nil
		return err
	})
	for i, journal := range journals {
		if err == nil {
			err = journal.Put(ctx, feeds[i], nil)
		}
	}
	for bucket, msgs := range batches {
		if err == nil && len(msgs) > 0 {
			err = s.putValues(ctx, bucket, msgs)
		}
	}
	return err
}

// putValues writes values of a bucket, all or none.
func (s states) putValues(ctx context.Context, bucket string, msgs []*nats.Msg) error {
	if _, err := s.putBatch(ctx, msgs); err != nil {
		return fmt.Errorf("write %d values of bucket %s: %w", len(msgs), bucket, err)
	}
	return nil
}

// landed decodes a state; it is due now if its feed was in flight: the task is not in the queues of another mesh.
func landed(value []byte) (*subjects.State, error) {
	state := new(subjects.State)
	if err := json.Unmarshal(value, state); err != nil {
		return nil, err
	}
	if state.Crawl != "" {
		state.EndCrawl()
		state.Next, state.Reason = time.Now().UTC(), "in flight when the backup was made"
	}
	return state, nil
}
