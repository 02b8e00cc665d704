package subjects

import "time"

// Names of the buckets.
const (
	ScheduleBucket = "schedule" // feed ID: State
	LeaseBucket    = "leases"   // name of what one actor does alone: Lease
	AgentBucket    = "agents"   // agent ID: Agent
)

// AgentExpiry is how long an agent that says nothing counts as in the mesh.
const AgentExpiry = 20 * time.Second

func keyPrefix(bucket string) string { return "$KV." + bucket + "." }

// StateKey returns the subject that holds the state of a feed.
func StateKey(feedID string) string { return keyPrefix(ScheduleBucket) + feedID }

// A State is what the schedule knows of a feed.
type State struct {
	URL          string `json:"url"`
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"last_modified,omitempty"`
	BodyHash     string `json:"body_hash,omitempty"`

	Tier   string    `json:"tier"`
	Rate   float64   `json:"rate,omitempty"`   // items a day; 0 if unknown
	Next   time.Time `json:"next,omitzero"`    // when it is due; zero: never
	Reason string    `json:"reason,omitempty"` // why then, in words
	Crawl  string    `json:"crawl,omitempty"`  // task it is handed out in; empty if it is not
	Due    time.Time `json:"due,omitzero"`     // when it was due, as that task says

	Polled   time.Time `json:"polled,omitzero"` // last time word of it came
	Outcome  Outcome   `json:"outcome,omitempty"`
	Status   int       `json:"status,omitempty"` // HTTP status of the last poll
	Error    string    `json:"error,omitempty"`  // of the last poll, in words
	Class    string    `json:"class,omitempty"`  // of that error
	Failures int       `json:"failures,omitempty"`
	Changed  time.Time `json:"changed,omitzero"` // last time it brought items
}

// A Lease says who is the one active actor of its name.
type Lease struct {
	Agent string `json:"agent"`           // empty if it was given back
	Beat  int64  `json:"beat"`            // rises with each renewal
	Host  string `json:"host,omitempty"`  // where that agent runs
	Since string `json:"since,omitempty"` // when it became active, RFC 3339
}

// An Agent says what one process does in the mesh.
type Agent struct {
	ID      string    `json:"id"`
	Host    string    `json:"host"`
	Version string    `json:"version"`
	Schema  int       `json:"schema"` // newest version of tasks that it reads
	Roles   []string  `json:"roles"`
	Store   string    `json:"store,omitempty"` // ID of the store it has open
	Index   string    `json:"index,omitempty"` // the index it has open: a folder of its host, or "meilisearch"
	Started time.Time `json:"started"`
	Seen    time.Time `json:"seen"`
	Load    float64   `json:"load"`   // cores used of late
	Memory  int64     `json:"memory"` // bytes held by the process
	Done    uint64    `json:"done"`   // tasks since it started
}
