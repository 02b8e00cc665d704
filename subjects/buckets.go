package subjects

import (
	"encoding/base32"
	"time"

	"feedmesh/storage"
)

// Names of the buckets.
const (
	ScheduleBucket = "schedule" // feed ID: State
	HostBucket     = "hosts"    // host: Host
	PollBucket     = "polls"    // feed ID: Poll, the last PollsKept of them
	LeaseBucket    = "leases"   // name of what one actor does alone: Lease
	AgentBucket    = "agents"   // agent ID: Agent
	RuleBucket     = "rules"    // name of a set: Rules
	ProxyBucket    = "proxies"  // proxy ID: Proxy

	AnswerBucket       = "answers"       // of a request that may come again: what it was answered, see package agent/api
	SubscriptionBucket = "subscriptions" // its token: a feed's subscription at its hub, see package agent/websub
)

// PollsKept is how many polls the history of a feed goes back.
const PollsKept = 50

// ProxyExpiry is how long what is known of a proxy is kept. It is written again
// several times an hour, unless the proxy is gone.
const ProxyExpiry = 6 * time.Hour

// AnswerExpiry is how long what a request was answered is kept.
const AnswerExpiry = 24 * time.Hour

// AgentExpiry is how long an agent that says nothing counts as in the mesh.
const AgentExpiry = 20 * time.Second

func keyPrefix(bucket string) string { return "$KV." + bucket + "." }

// StateKey returns the subject that holds the state of a feed.
func StateKey(feedID string) string { return keyPrefix(ScheduleBucket) + feedID }

// HostKey returns the subject that holds what is known of a host.
func HostKey(host string) string { return keyPrefix(HostBucket) + HostID(host) }

// HostID returns a host's key in its bucket: a name may have in it what a subject
// may not.
func HostID(host string) string {
	return base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString([]byte(host))
}

// PollKey returns the subject that holds the last polls of a feed.
func PollKey(feedID string) string { return keyPrefix(PollBucket) + feedID }

// ProxyKey returns the subject that holds what is known of a proxy.
func ProxyKey(id string) string { return keyPrefix(ProxyBucket) + id }

// RuleKey returns the subject that holds the rules in force of a set.
func RuleKey(set string) string { return keyPrefix(RuleBucket) + set }

// SubscriptionKey returns the subject that holds the subscription with a token.
func SubscriptionKey(token string) string { return keyPrefix(SubscriptionBucket) + token }

// A FeedState is what the schedule bucket holds of one feed.
type FeedState struct {
	FeedID   string
	Revision uint64 // 0: none yet
	State    *State
	Written  time.Time // when, by the servers' clock, if it was loaded
}

// A State is what the schedule knows of a feed.
type State struct {
	URL          string `json:"url"`
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"last_modified,omitempty"`
	BodyHash     string `json:"body_hash,omitempty"`

	Tier   string    `json:"tier"`
	Rate   float64   `json:"rate,omitempty"`   // items a day; 0 if unknown
	Model  []byte    `json:"model,omitempty"`  // when it publishes: see package agent/policy
	Next   time.Time `json:"next,omitzero"`    // when it is due; zero: never
	Reason string    `json:"reason,omitempty"` // why then, in words
	Crawl  string    `json:"crawl,omitempty"`  // task it is handed out in; empty if it is not
	Due    time.Time `json:"due,omitzero"`     // when it was due, as that task says

	Pinned   bool             `json:"pinned,omitempty"`    // a person wants it read as often as possible
	FullText bool             `json:"full_text,omitempty"` // a person wants its items with the text of the pages they link to
	Request  *storage.Request `json:"request,omitempty"`   // how it wants to be asked; nil: as all others

	Polled       time.Time `json:"polled,omitzero"` // last time word of it came
	Outcome      Outcome   `json:"outcome,omitempty"`
	Status       int       `json:"status,omitempty"` // HTTP status of the last poll
	Error        string    `json:"error,omitempty"`  // of the last poll, in words
	Class        string    `json:"class,omitempty"`  // of that error
	Failures     int       `json:"failures,omitempty"`
	Weight       float64   `json:"weight,omitempty"`       // of these failures, together
	FailingSince time.Time `json:"failing_since,omitzero"` // when the first of them was
	Changed      time.Time `json:"changed,omitzero"`       // last time it brought items
	Whole        bool      `json:"whole,omitempty"`        // it is out without its validators, to see whether they are true
	MaxAge       int       `json:"max_age,omitempty"`      // seconds for which its last answer said to keep it
	Hints        *Hints    `json:"hints,omitempty"`        // what its last document says of when to read it
	Malformed    string    `json:"malformed,omitempty"`    // what of that was mended, in words
	Heavy        bool      `json:"heavy,omitempty"`        // large, and never answers 304
	Moves        string    `json:"moves,omitempty"`        // where it was seen to move for good, if that was not done yet
	MoveSeen     int       `json:"move_seen,omitempty"`    // how often, in a row
	Pushed       float64   `json:"pushed,omitempty"`       // trust in its hub's pushes, 0 to 1
	PushUntil    time.Time `json:"push_until,omitzero"`    // how long its hub has agreed to push, as known when this was written
}

// Hints are what a document says of when to read it, and where it lives.
type Hints struct {
	TTL       int    `json:"ttl,omitempty"`        // minutes
	Period    int    `json:"period,omitempty"`     // minutes
	SkipHours uint32 `json:"skip_hours,omitempty"` // bit h for hour h, UTC
	SkipDays  uint8  `json:"skip_days,omitempty"`  // bit d for time.Weekday d, UTC
	Window    int    `json:"window,omitempty"`     // entries in it
	Zone      *int   `json:"zone,omitempty"`       // minutes east of UTC in which its dates are written; nil: not known
	Hub       string `json:"hub,omitempty"`        // WebSub hub
	Self      string `json:"self,omitempty"`       // address it gives as its own
}

// A Host is what the schedule knows of a host.
type Host struct {
	Name    string        `json:"name"`
	Spacing time.Duration `json:"spacing,omitempty"` // between starts of requests, where it is more than the default
	Until   time.Time     `json:"until,omitzero"`    // it asked, for all its feeds, to be left alone until then
	Why     string        `json:"why,omitempty"`     // in words, if either of these is set

	Way      string    `json:"way,omitempty"`      // ID of the proxy that brings answers where the direct way does not
	WaySince time.Time `json:"way_since,omitzero"` // when that was found
	Checked  time.Time `json:"checked,omitzero"`   // last time its validators were put to the test
	Lied     time.Time `json:"lied,omitzero"`      // when they were last found to be wrong

	Polls    int64     `json:"polls"`
	Failures int64     `json:"failures,omitempty"` // of these
	Took     float64   `json:"took,omitempty"`     // seconds an answer takes of late
	Status   int       `json:"status,omitempty"`   // of the last answer
	Class    string    `json:"class,omitempty"`    // of its error
	Asked    time.Time `json:"asked,omitzero"`     // when the last request began
}

// A Poll is one request for a feed, as its history keeps it.
type Poll struct {
	At     time.Time     `json:"at"`
	Took   time.Duration `json:"took"`
	Status int           `json:"status,omitempty"` // HTTP; 0 without an answer
	Size   int64         `json:"size,omitempty"`   // bytes of the document
	Class  string        `json:"class,omitempty"`  // of error
	Way    string        `json:"way,omitempty"`    // ID of the proxy it went by
	Before int           `json:"before,omitempty"` // polls just before it that brought nothing new, and of which nothing is kept
}

// A Proxy is what the schedule knows of a proxy.
type Proxy struct {
	ID     string    `json:"id"`
	Used   time.Time `json:"used,omitzero"`   // last time it brought a host's answer
	Passed time.Time `json:"passed,omitzero"` // last time it passed a probe
	Asked  time.Time `json:"asked,omitzero"`  // last time a probe of it was handed out

	Failures int       `json:"failures,omitempty"` // in a row
	InUse    bool      `json:"in_use,omitempty"`   // the last of them was a feed's, not a probe's
	Why      string    `json:"why,omitempty"`      // of the last of them, in words
	Until    time.Time `json:"until,omitzero"`     // it rests until then, and until it passes a probe; zero: it does not rest
}

// ScheduleLease is the name of the lease that the active schedule holds.
const ScheduleLease = "schedule"

// A Lease says who is the one active actor of its name.
type Lease struct {
	Agent string `json:"agent"`           // empty if it was given back
	Beat  int64  `json:"beat"`            // rises with each renewal
	Host  string `json:"host,omitempty"`  // where that agent runs
	Since string `json:"since,omitempty"` // when it became active, RFC 3339

	Feeds *Counts `json:"feeds,omitempty"` // of the schedule, at the last renewal
}

// Counts say how many of the feeds that the schedule knows are how.
type Counts struct {
	Polled  int64 `json:"polled"`  // their first poll has ended
	Failing int64 `json:"failing"` // their last poll failed
	Gone    int64 `json:"gone"`    // they are polled no more, at their hosts' wish
	Out     int64 `json:"out"`     // they are being polled
}

// Add counts a feed with this state n times more.
func (c *Counts) Add(s *State, n int64) {
	switch {
	case s.Outcome == Gone:
		c.Gone += n
	case s.Failures > 0:
		c.Failing += n
	}
	if !s.Polled.IsZero() {
		c.Polled += n
	}
	if s.Crawl != "" {
		c.Out += n
	}
}

// Rules are a version of a rule set that is in force.
type Rules struct {
	Version int64  `json:"version"`
	Text    []byte `json:"text"` // gzip
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

	Rules map[string]int64 `json:"rules,omitempty"` // version in force of each set it goes by; 0: the program's own
}
