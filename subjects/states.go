package subjects

// StateSubject is the subject of requests for the states of feeds, as [StateRequest]. Each active partition of the schedule
// answers with a [StateResponse]. It is in no stream.
const StateSubject = "states"

// MaxStateFeeds is the maximum number of feeds of a [StateRequest]: a batch whose response fits into a message.
const MaxStateFeeds = 1000

// StateRequest is a request for the states of feeds.
type StateRequest struct {
	FeedIDs []string `json:"feeds"`
}

// StateResponse is the response of a partition of the schedule.
type StateResponse struct {
	Partition  int               `json:"partition"`  // its number, from 0
	Partitions int               `json:"partitions"` // of the schedule
	States     map[string]*State `json:"states"`     // by feed ID, without the feeds of other partitions
}
