package subjects

import (
	"encoding/base32"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"feedmesh/storage"
)

// Names of the buckets. The comments give key and value.
const (
	ScheduleBucket = "schedule" // see mesh.Journal
	HostBucket     = "hosts"    // HostKey of a host: Host
	PollBucket     = "polls"    // feed ID: the last MaxPolls Poll values
	LeaseBucket    = "leases"   // lease name: Lease
	AgentBucket    = "agents"   // agent ID: Agent
	RuleBucket     = "rules"    // rule set name: Rules
	CordonBucket   = "cordons"  // CordonKey of an agent's name: Cordon
	ProxyBucket    = "proxies"  // proxy ID: Proxy

	ResponseBucket     = "answers"       // hash of a repeatable request: its response, see package agent/service
	SubscriptionBucket = "subscriptions" // token: a feed's subscription at its WebSub hub, see package agent/websub
)

// MaxPolls bounds the poll history of a feed.
const MaxPolls = 50

// ProxyExpiry bounds the age of a proxy's record. Records of configured proxies are rewritten several times
// an hour.
const ProxyExpiry = 6 * time.Hour

// ResponseExpiry is how long the response to a request with an idempotency key is stored for its retries.
const ResponseExpiry = 24 * time.Hour

// AgentExpiry is the timeout of heartbeats: for so long an agent without one still counts as part of the mesh.
const AgentExpiry = 20 * time.Second

const valuePrefix = "$KV."

func keyPrefix(bucket string) string { return valuePrefix + bucket + "." }

// ValueKey returns the subject of a value of a bucket.
func ValueKey(bucket, key string) string { return keyPrefix(bucket) + key }

// HostKey returns the key of a host's record in its bucket: its ID, after the host's partition if the schedule has several.
func HostKey(host string, partitions int) string {
	if partitions < 2 {
		return HostID(host)
	}
	return strconv.Itoa(hostPartition(host, partitions)) + "." + HostID(host)
}

// hostPartition returns the partition, of n, that has the feeds of a host, as [HostOf] returns it.
func hostPartition(host string, n int) int {
	switch {
	case strings.Contains(host, "://"): // a URL without a host
		return PartitionOf(host, n)
	case strings.Contains(host, ":"):
		host = "[" + host + "]"
	}
	return PartitionOf("http://"+host, n)
}

// HostOf returns the host of a URL in lower case, or the URL if it has none.
func HostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return raw
	}
	return strings.ToLower(u.Hostname())
}

// HostID returns the ID of a host in keys. It is encoded because host names may contain characters that subjects may not.
func HostID(host string) string {
	return base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString([]byte(host))
}

// PollKey returns the subject that holds the last polls of a feed.
func PollKey(feedID string) string { return keyPrefix(PollBucket) + feedID }

// ProxyKey returns the subject that holds the record of a proxy.
func ProxyKey(id string) string { return keyPrefix(ProxyBucket) + id }

// SubscriptionKey returns the subject that holds the subscription with a token.
func SubscriptionKey(token string) string { return keyPrefix(SubscriptionBucket) + token }

// FeedState is the state of one feed.
type FeedState struct {
	FeedID  string
	State   *State
	Written time.Time // server time of the last write, if it was loaded
}

// State is the schedule's state of a feed.
type State struct {
	URL          string `json:"url"`
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"last_modified,omitempty"`
	BodyHash     string `json:"body_hash,omitempty"`

	Tier   string    `json:"tier"`
	Rate   float64   `json:"rate,omitempty"`   // items a day; 0 if not known
	Model  []byte    `json:"model,omitempty"`  // publication times: see package policy
	Next   time.Time `json:"next,omitzero"`    // next poll; zero: never
	Reason string    `json:"reason,omitempty"` // explanation of Next, as text
	Crawl  string    `json:"crawl,omitempty"`  // ID of the crawl task in flight; empty if none
	Due    time.Time `json:"due,omitzero"`     // due time stated in that task

	CrawlReason string `json:"crawl_reason,omitempty"` // explanation of the poll in flight, the former Reason; not written by older agents
	InMemory    bool   `json:"in_memory,omitempty"`    // the poll in flight has no message: it ends with the process

	Pinned   bool             `json:"pinned,omitempty"`    // set by a user: poll as often as possible
	FullText bool             `json:"full_text,omitempty"` // set by a user: extract the text of the pages that its items link to
	Request  *storage.Request `json:"request,omitempty"`   // request options of the feed; nil: the defaults

	Polled        time.Time `json:"polled,omitzero"` // last observation of the feed
	Outcome       Outcome   `json:"outcome,omitempty"`
	Status        int       `json:"status,omitempty"` // HTTP status of the last poll
	Error         string    `json:"error,omitempty"`  // of the last poll, as text
	Class         string    `json:"class,omitempty"`  // of that error
	Failures      int       `json:"failures,omitempty"`
	FailureWeight float64   `json:"weight,omitempty"`       // sum of the weights of these failures
	FailingSince  time.Time `json:"failing_since,omitzero"` // time of the first of these failures
	Changed       time.Time `json:"changed,omitzero"`       // last poll that returned new items
	Unconditional bool      `json:"whole,omitempty"`        // the poll in flight is sent without validators, to verify them
	StoreWrites   int64     `json:"writes,omitempty"`       // Writes of [storage.Feed] as last reported
	MaxAge        int       `json:"max_age,omitempty"`      // Cache-Control max-age of the last response, in seconds
	Hints         *Hints    `json:"hints,omitempty"`        // polling hints of the last document
	Malformed     string    `json:"malformed,omitempty"`    // entries left out of the last document and its repaired errors, as text; see [SplitMalformed]
	Heavy         bool      `json:"heavy,omitempty"`        // large, and never returns 304
	MovedTo       string    `json:"moves,omitempty"`        // target of permanent redirects, if the move is not applied yet
	MoveCount     int       `json:"move_seen,omitempty"`    // consecutive polls that redirected there
	PushTrust     float64   `json:"pushed,omitempty"`       // trust in its hub's pushes, 0 to 1
	PushUntil     time.Time `json:"push_until,omitzero"`    // end of the hub's subscription, as stored at the last write
}

// EndCrawl makes the feed no longer in flight.
func (s *State) EndCrawl() {
	s.Crawl, s.CrawlReason, s.Due, s.Unconditional, s.InMemory = "", "", time.Time{}, false, false
}

// IsFailing reports whether the last poll of the feed failed, and it is polled again. A feed that is gone does not fail.
func (s State) IsFailing() bool { return s.Failures > 0 && s.Outcome != Gone }

// LeftOut returns which entries of the last document were left out, as text.
func (s State) LeftOut() string { leftOut, _ := SplitMalformed(s.Malformed); return leftOut }

// Repaired returns the repaired errors of the last document, as text.
func (s State) Repaired() string { _, repaired := SplitMalformed(s.Malformed); return repaired }

// SplitMalformed separates the two parts of a text about a document, as package feed writes it and older agents stored
// it: the entries that were left out, and the repaired errors. Either may be empty.
func SplitMalformed(text string) (leftOut, repaired string) {
	if !strings.Contains(text, " entries were left out: ") {
		return "", text
	}
	leftOut, repaired, _ = strings.Cut(text, ", ")
	return leftOut, repaired
}

// Host is the schedule's record of a host.
type Host struct {
	Name        string        `json:"name"`
	Spacing     time.Duration `json:"spacing,omitempty"` // minimum time between starts of requests, if above the default
	PausedUntil time.Time     `json:"until,omitzero"`    // no requests for any of its feeds before then, at the host's request
	Reason      string        `json:"why,omitempty"`     // reason of Spacing or PausedUntil, as text

	ProxyID           string    `json:"way,omitempty"`      // proxy that receives responses where the direct route does not
	ProxySince        time.Time `json:"way_since,omitzero"` // time when that was detected
	ValidatorsChecked time.Time `json:"checked,omitzero"`   // last verification of its validators
	ValidatorsWrong   time.Time `json:"lied,omitzero"`      // last time that its validators were wrong

	Polls       int64     `json:"polls"`
	Failures    int64     `json:"failures,omitempty"` // of these
	Latency     float64   `json:"took,omitempty"`     // smoothed response time in seconds
	Status      int       `json:"status,omitempty"`   // of the last response
	Class       string    `json:"class,omitempty"`    // error class of the last response
	LastRequest time.Time `json:"asked,omitzero"`     // start of the last request
}

// Poll is one request of a feed, as stored in the feed's history.
type Poll struct {
	At              time.Time     `json:"at"`
	Duration        time.Duration `json:"took"`
	Status          int           `json:"status,omitempty"` // HTTP status; 0 without a response
	Size            int64         `json:"size,omitempty"`   // bytes of the document
	Class           string        `json:"class,omitempty"`  // error class
	ProxyID         string        `json:"way,omitempty"`    // proxy used; empty: direct
	Reason          string        `json:"reason,omitempty"` // explanation of its time, as text; empty: unknown, recorded by an older agent
	UnchangedBefore int           `json:"before,omitempty"` // polls immediately before it without new content, which have no record
}

// Proxy is the schedule's record of a proxy.
type Proxy struct {
	ID          string    `json:"id"`
	LastUsed    time.Time `json:"used,omitzero"`   // last response of a host received through it
	ProbePassed time.Time `json:"passed,omitzero"` // last successful probe
	ProbeSent   time.Time `json:"asked,omitzero"`  // last dispatch of a probe

	Failures  int       `json:"failures,omitempty"` // consecutive
	InUse     bool      `json:"in_use,omitempty"`   // the last failure was a feed request, not a probe
	Reason    string    `json:"why,omitempty"`      // error text of the last failure
	RestUntil time.Time `json:"until,omitzero"`     // not used before then, nor before a successful probe; zero: in use
}

// Lease records which agent runs the active actor of a name.
type Lease struct {
	Agent    string      `json:"agent"`            // empty after release
	Next     string      `json:"next,omitempty"`   // after release: the agent that is to acquire it; empty: any
	Renewals int64       `json:"beat"`             // incremented by each renewal
	Host     string      `json:"host,omitempty"`   // host of that agent
	Since    string      `json:"since,omitempty"`  // start of its activity, RFC 3339
	Reason   LeaseReason `json:"reason,omitempty"` // why that agent holds it
	Limit    string      `json:"limit,omitempty"`  // what its actor does with less than was set, and why; empty: nothing

	// Of the schedule, at the last renewal.
	Feeds    *ScheduleCounts   `json:"feeds,omitempty"`
	Schedule *ScheduleProgress `json:"schedule,omitempty"`
}

// Start returns the start of its activity, or zero if it is not set.
func (l Lease) Start() time.Time {
	start, _ := time.Parse(time.RFC3339, l.Since)
	return start
}

// A LeaseReason is why an agent holds a lease.
type LeaseReason string

// The reasons why an agent holds a lease. Agents of older versions state none.
const (
	LeaseOnly     LeaseReason = "only"
	LeaseAssigned LeaseReason = "assigned"
	LeaseMoves    LeaseReason = "moves"
)

// Text returns the reason in English.
func (r LeaseReason) Text() string {
	switch r {
	case LeaseOnly:
		return "no other agent competes"
	case LeaseAssigned:
		return "assigned evenly"
	case LeaseMoves:
		return "moves to another agent"
	}
	return string(r)
}

// ScheduleProgress is what the active schedule reports of its work.
type ScheduleProgress struct {
	Dispatched  int64     `json:"dispatched"`        // feeds dispatched since it became active
	Overdue     int64     `json:"overdue,omitempty"` // due feeds that are not dispatched though their hosts accept requests
	Paused      string    `json:"paused,omitempty"`  // why polling is paused, and what to do; empty if it is not
	PausedSince time.Time `json:"paused_since,omitzero"`
	Held        string    `json:"held,omitempty"` // why due feeds wait at present; empty if they need not

	Regions []MissingRegion `json:"regions,omitempty"` // without a crawler, for which feeds wait
	Notices []Notice        `json:"notices,omitempty"` // what it corrected in the last hour, newest first
}

// A MissingRegion is a region without a crawler, for which feeds wait.
type MissingRegion struct {
	Region string    `json:"region"`
	Since  time.Time `json:"since"`
}

// A Notice describes a fault that was corrected.
type Notice struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// ScheduleCounts are the numbers of the schedule's feeds by state.
type ScheduleCounts struct {
	Polled   int64 `json:"polled"`  // first poll completed
	Failing  int64 `json:"failing"` // last poll failed
	Gone     int64 `json:"gone"`    // no longer polled, at their host's request
	InFlight int64 `json:"out"`     // poll in flight
}

// Add adds n feeds with this state; a negative n removes them.
func (c *ScheduleCounts) Add(s *State, n int64) {
	switch {
	case s.Outcome == Gone:
		c.Gone += n
	case s.IsFailing():
		c.Failing += n
	}
	if !s.Polled.IsZero() {
		c.Polled += n
	}
	if s.Crawl != "" {
		c.InFlight += n
	}
}

// Rules are the active version of a rule set.
type Rules struct {
	Version int64  `json:"version"`
	Text    []byte `json:"text"` // gzip
}

// Agent is the heartbeat record of one process.
type Agent struct {
	ID      string    `json:"id"`
	Name    string    `json:"name,omitempty"` // for cordons; not written by older agents
	Host    string    `json:"host"`
	Version string    `json:"version"`
	Schema  int       `json:"schema"` // newest schema version of tasks that it can decode
	Roles   []string  `json:"roles"`
	Region  string    `json:"region,omitempty"` // of its crawler
	Store   string    `json:"store,omitempty"`  // ID of its open store
	Index   string    `json:"index,omitempty"`  // its open index: a folder of its host, or "meilisearch"
	Started time.Time `json:"started"`
	Seen    time.Time `json:"seen"`
	Load    float64   `json:"load"`   // CPU cores in use, smoothed
	Memory  int64     `json:"memory"` // bytes used by the process
	Done    uint64    `json:"done"`   // tasks completed since its start

	Rules  map[string]int64 `json:"rules,omitempty"`  // active version of each of its rule sets; 0: built in
	Leases []string         `json:"leases,omitempty"` // leases that it competes for, set by the mesh

	Cordoned bool `json:"cordoned,omitempty"` // it competes for no lease, set by the mesh
	Drained  bool `json:"drained,omitempty"`  // it takes no tasks either, set by the mesh
}

// RoleNames returns the roles of the agent, that of a crawler with its region.
func (a Agent) RoleNames() []string {
	names := slices.Clone(a.Roles)
	if i := slices.Index(names, CrawlQueue.Name); i >= 0 && a.Region != "" {
		names[i] += " in " + a.Region
	}
	return names
}

// State returns the state of the agent as one word.
func (a Agent) State() string {
	switch {
	case a.Drained:
		return "drained"
	case a.Cordoned:
		return "cordoned"
	}
	return "works"
}

// A Cordon keeps leases from the agents of a name, until it is removed.
type Cordon struct {
	Agent string    `json:"agent"`           // name
	Drain bool      `json:"drain,omitempty"` // keeps tasks from them as well
	Since time.Time `json:"since"`
}

// CordonKey returns the key of the cordon of an agent's name, which may contain any characters.
func CordonKey(name string) string { return HostID(name) }
