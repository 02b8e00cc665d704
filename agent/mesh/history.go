package mesh

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/subjects"
)

// LoadHosts calls each for every host in the bucket.
func (m *Mesh) LoadHosts(ctx context.Context, each func(subjects.Host)) error {
	return m.loadAll(ctx, subjects.HostBucket, func(entry jetstream.KeyValueEntry) {
		var h subjects.Host
		if err := json.Unmarshal(entry.Value(), &h); err != nil || h.Name == "" {
			m.log.Warn("host record decode failed", "subject", entry.Key(), "err", err)
			return
		}
		each(h)
	})
}

// PutHosts overwrites the records of hosts. It is not fenced: the next poll of a host corrects the last write
// of a deposed schedule.
func (m *Mesh) PutHosts(ctx context.Context, hosts []subjects.Host) error {
	return putAll(ctx, m, hosts, func(h subjects.Host) (*nats.Msg, error) { return valueMessage(subjects.HostKey(h.Name), h) })
}

// FeedPoll is a poll with the ID of its feed.
type FeedPoll struct {
	FeedID string
	subjects.Poll
}

// PutPolls adds polls to the histories of their feeds.
func (m *Mesh) PutPolls(ctx context.Context, polls []FeedPoll) error {
	return putAll(ctx, m, polls, func(p FeedPoll) (*nats.Msg, error) { return valueMessage(subjects.PollKey(p.FeedID), p.Poll) })
}

// Polls returns the last polls of a feed, newest first, at most [subjects.MaxPolls].
func (m *Mesh) Polls(ctx context.Context, feedID string) ([]subjects.Poll, error) {
	kv, err := m.bucket(ctx, subjects.PollBucket)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	entries, err := kv.History(ctx, feedID)
	if errors.Is(err, jetstream.ErrKeyNotFound) || errors.Is(err, jetstream.ErrInvalidKey) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the polls of feed %s: %w", feedID, err)
	}
	polls := make([]subjects.Poll, 0, len(entries))
	for _, entry := range entries {
		var p subjects.Poll
		if err := json.Unmarshal(entry.Value(), &p); err != nil {
			return nil, fmt.Errorf("read the polls of feed %s: %w", feedID, err)
		}
		polls = append(polls, p)
	}
	slices.SortFunc(polls, func(a, b subjects.Poll) int { return b.At.Compare(a.At) })
	return polls, nil
}

// putAll writes a message for each value, in batches.
func putAll[T any](ctx context.Context, m *Mesh, values []T, messageOf func(T) (*nats.Msg, error)) error {
	for chunk := range slices.Chunk(values, MaxPutBatch) {
		msgs := make([]*nats.Msg, len(chunk))
		for i, v := range chunk {
			var err error
			if msgs[i], err = messageOf(v); err != nil {
				return err
			}
		}
		if _, err := m.putBatch(ctx, msgs); err != nil {
			return fmt.Errorf("write %d of %s: %w", len(chunk), msgs[0].Subject, err)
		}
	}
	return nil
}
