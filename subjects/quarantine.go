package subjects

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

const quarantinePrefix = "quarantine."

// QuarantineSubject returns the subject of quarantined tasks of a queue.
func QuarantineSubject(queue string) string { return quarantinePrefix + queue }

// A Quarantined is a task that failed all its tries.
type Quarantined struct {
	Seq      uint64          `json:"seq"`      // names it in the quarantine
	Queue    string          `json:"queue"`    // it was on
	Subject  string          `json:"subject"`  // it travelled on
	Task     string          `json:"task"`     // its ID
	Reason   string          `json:"reason"`   // why the last try failed, in words
	Attempts int             `json:"attempts"` // how often it was tried
	At       time.Time       `json:"at"`
	Message  json.RawMessage `json:"message,omitempty"` // the task, as it was queued
}

// A GiveUp is the server's word that it delivers a message no more: its last
// attempt neither succeeded nor failed, most likely because the agent died.
type GiveUp struct {
	Stream     string `json:"stream"`
	Consumer   string `json:"consumer"`
	Seq        uint64 `json:"stream_seq"`
	Deliveries int    `json:"deliveries"`
}

// ID names the message given up.
func (t GiveUp) ID() string { return fmt.Sprintf("%s/%d", t.Stream, t.Seq) }

// QueueOf returns the name of the queue that a subject belongs to.
func QueueOf(subject string) string {
	queue, _, _ := strings.Cut(subject, ".")
	return queue
}

// QueueNames lists the queues in the order of an item's way.
var QueueNames = []string{
	Crawls.Name, Parses.Name, Pages.Name, Prepares.Name, Classifys.Name,
	Clusters.Name, Stores.Name, Indexes.Name, Observes.Name,
}
