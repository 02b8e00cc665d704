package mesh

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"feedmesh/subjects"
)

// ErrStale says that somebody else changed what we were about to change.
var ErrStale = errors.New("changed by somebody else in the meantime")

// MaxStates is the most states that [Mesh.PutStates] writes at once.
const MaxStates = 1000

// A FeedState is what the schedule bucket holds of a feed.
type FeedState struct {
	FeedID   string
	Revision uint64 // 0: none yet
	State    *subjects.State
	Written  time.Time // when, by the servers' clock, if it was loaded
}

// LoadStates calls each with every state in the schedule bucket. States that are
// written meanwhile may be missing: a schedule that loads them fails at its first
// write of such a one, and loads them again.
func (m *Mesh) LoadStates(ctx context.Context, each func(FeedState)) error {
	kv, err := m.bucket(ctx, subjects.ScheduleBucket)
	if err != nil {
		return err
	}
	watcher, err := kv.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		return fmt.Errorf("read bucket %s: %w", subjects.ScheduleBucket, err)
	}
	defer watcher.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case entry, open := <-watcher.Updates():
			if !open {
				return fmt.Errorf("read bucket %s: the connection was lost", subjects.ScheduleBucket)
			}
			if entry == nil {
				return nil // all there was
			}
			if entry.Key() == lastTask {
				continue
			}
			var s subjects.State
			if err := json.Unmarshal(entry.Value(), &s); err != nil {
				m.log.Warn("unreadable state is made anew", "feed_id", entry.Key(), "err", err)
				continue
			}
			each(FeedState{FeedID: entry.Key(), Revision: entry.Revision(), State: &s, Written: entry.Created()})
		}
	}
}

// lastTask is the key of the task that was handed out last, which stands beside
// the feeds so that it is written together with theirs.
const lastTask = "last-task"

// LastTask returns the state that names the crawl task handed out last, to be
// written by [Mesh.PutStates] together with those of the feeds in it.
func (m *Mesh) LastTask(ctx context.Context) (FeedState, error) {
	last := FeedState{FeedID: lastTask, State: new(subjects.State)}
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
	kv, err := m.bucket(ctx, subjects.ScheduleBucket)
	if err != nil {
		return nil, err
	}
	entry, err := kv.Get(eachBounded(ctx), feedID)
	if errors.Is(err, jetstream.ErrKeyNotFound) || errors.Is(err, jetstream.ErrInvalidKey) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read state of feed %s: %w", feedID, err)
	}
	s := new(subjects.State)
	if err := json.Unmarshal(entry.Value(), s); err != nil {
		return nil, fmt.Errorf("read state of feed %s: %w", feedID, err)
	}
	return s, nil
}

// PutStates writes the states, at most [MaxStates], each feed once, all or
// none, and sets their new revisions. It returns [ErrStale] if any has another
// revision by now than the one given: then the caller is not the one active
// schedule any more.
//
// The batch is one fsync, where so many single writes would be as many.
func (m *Mesh) PutStates(ctx context.Context, states []FeedState) error {
	if len(states) == 0 {
		return nil
	}
	batch := nuid.Next()
	for i, s := range states {
		msg, err := stateMessage(s)
		if err != nil {
			return err
		}
		msg.Header.Set("Nats-Batch-Id", batch)
		msg.Header.Set("Nats-Batch-Sequence", strconv.Itoa(i+1))
		if i < len(states)-1 {
			if err := m.conn.PublishMsg(msg); err != nil {
				return fmt.Errorf("write states: %w", err)
			}
			continue
		}
		msg.Header.Set("Nats-Batch-Commit", "1")
		last, err := m.commit(ctx, msg)
		if err != nil {
			return fmt.Errorf("write %d states: %w", len(states), err)
		}
		for j := range states {
			states[j].Revision = last - uint64(len(states)-1-j)
		}
	}
	return nil
}

// DropState forgets the state of a feed that is no longer in the store. It is
// not fenced: whoever says so, the store has said it first.
func (m *Mesh) DropState(ctx context.Context, feedID string) error {
	ctx = eachBounded(ctx)
	stream, err := m.js.Stream(ctx, "KV_"+subjects.ScheduleBucket)
	if err == nil {
		err = stream.Purge(ctx, jetstream.WithPurgeSubject(subjects.StateKey(feedID)))
	}
	if err != nil {
		return fmt.Errorf("forget state of feed %s: %w", feedID, err)
	}
	return nil
}

func stateMessage(s FeedState) (*nats.Msg, error) {
	msg := nats.NewMsg(subjects.StateKey(s.FeedID))
	msg.Header.Set("Nats-Expected-Last-Subject-Sequence", strconv.FormatUint(s.Revision, 10))
	data, err := json.Marshal(s.State)
	if err != nil {
		return nil, fmt.Errorf("write state of feed %s: %w", s.FeedID, err)
	}
	msg.Data = data
	return msg, nil
}

// commit sends the last message of a batch and returns its sequence number.
func (m *Mesh) commit(ctx context.Context, msg *nats.Msg) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	reply, err := m.conn.RequestMsgWithContext(ctx, msg)
	if err != nil {
		return 0, err
	}
	var ack struct {
		Seq   uint64              `json:"seq"`
		Error *jetstream.APIError `json:"error"`
	}
	if err := json.Unmarshal(reply.Data, &ack); err != nil {
		return 0, fmt.Errorf("read the server's answer: %w", err)
	}
	switch {
	case ack.Error == nil:
		return ack.Seq, nil
	case isStale(ack.Error):
		return 0, errors.Join(ErrStale, ack.Error)
	}
	return 0, ack.Error
}
