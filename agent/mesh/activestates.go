package mesh

import (
	"context"
	"encoding/json"
	"time"

	"github.com/nats-io/nats.go"

	"feedmesh/subjects"
)

// A StateSource is the active schedule of a partition in this process, whose states are newer than those of the bucket. Its
// methods may be called concurrently.
type StateSource interface {
	States(each func(subjects.FeedState))  // calls each for every feed; each must not wait
	State(feedID string) *subjects.State   // nil for an unknown feed
	WriteStates(ctx context.Context) error // writes the states that are newer than those of the bucket
}

// ServeStates answers StatesOf of all processes with the states of an active partition of the schedule, one of so many, until
// end is called. The methods of this process use a schedule of one partition directly.
func (s states) ServeStates(partition, partitions int, from StateSource) (end func()) {
	if partitions == 1 {
		s.active.Store(&from)
	}
	var sub *nats.Subscription
	if !s.alone {
		var err error
		sub, err = s.conn.Subscribe(subjects.StateSubject, func(msg *nats.Msg) { s.respond(msg, partition, partitions, from) })
		if err != nil {
			s.log.Warn("requests for states are not answered: other agents read the states of the last write", "err", err)
		}
	}
	return func() {
		s.active.CompareAndSwap(&from, nil)
		if sub != nil {
			sub.Unsubscribe() // fails only without a connection, where it is not needed
		}
	}
}

// respond answers a request for states.
func (s states) respond(msg *nats.Msg, partition, partitions int, from StateSource) {
	var request subjects.StateRequest
	if err := json.Unmarshal(msg.Data, &request); err != nil || len(request.FeedIDs) > subjects.MaxStateFeeds {
		s.log.Warn("unreadable request for states", "feeds", len(request.FeedIDs), "err", err)
		return
	}
	response := subjects.StateResponse{Partition: partition, Partitions: partitions, States: map[string]*subjects.State{}}
	for _, id := range request.FeedIDs {
		if state := from.State(id); state != nil {
			response.States[id] = state
		}
	}
	data, err := json.Marshal(response)
	if err == nil {
		err = msg.Respond(data)
	}
	if err != nil {
		s.log.Warn("response with states failed", "feeds", len(request.FeedIDs), "err", err)
	}
}

// stateTimeout is the timeout of a request for states. A partition that still loads its states from the bucket does not answer.
const stateTimeout = time.Second

// requestStates adds the states that active schedules have of feeds to found, by feed ID, and reports whether it is complete: the
// other feeds have none.
func (s states) requestStates(ctx context.Context, feedIDs []string, found map[string]*subjects.State) bool {
	ctx, cancel := context.WithTimeout(ctx, stateTimeout)
	defer cancel()
	data, err := json.Marshal(subjects.StateRequest{FeedIDs: feedIDs})
	if err != nil {
		return false
	}
	responses := s.conn.NewInbox()
	sub, err := s.conn.SubscribeSync(responses)
	if err != nil {
		return false
	}
	defer sub.Unsubscribe()
	if err := s.conn.PublishRequest(subjects.StateSubject, responses, data); err != nil {
		return false
	}
	answered, left := map[int]bool{}, make(map[string]bool, len(feedIDs))
	for _, id := range feedIDs {
		left[id] = true
	}
	for {
		msg, err := sub.NextMsgWithContext(ctx)
		if err != nil { // no partition is active, or some did not answer
			return false
		}
		var r subjects.StateResponse
		if err := json.Unmarshal(msg.Data, &r); err != nil {
			s.log.Warn("unreadable response with states", "err", err)
			continue
		}
		for id, state := range r.States {
			found[id] = state
			delete(left, id)
		}
		if answered[r.Partition] = true; len(answered) == r.Partitions || len(left) == 0 {
			return true
		}
	}
}
