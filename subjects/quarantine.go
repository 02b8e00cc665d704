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

// Quarantined is a task that failed in all its deliveries, or an unreadable value of a bucket.
type Quarantined struct {
	Seq      uint64          `json:"seq"`      // number in the quarantine
	Queue    string          `json:"queue"`    // its queue or bucket
	Subject  string          `json:"subject"`  // its subject
	Task     string          `json:"task"`     // its ID; of a value its key and revision
	Reason   string          `json:"reason"`   // error text of the last attempt
	Attempts int             `json:"attempts"` // number of attempts
	At       time.Time       `json:"at"`
	Message  json.RawMessage `json:"message,omitempty"` // the task as queued, if it is JSON
	Bytes    []byte          `json:"bytes,omitempty"`   // otherwise its bytes
}

// SetMessage sets the task as queued.
func (q *Quarantined) SetMessage(data []byte) {
	q.Message, q.Bytes = data, nil
	if !json.Valid(data) {
		q.Message, q.Bytes = nil, data
	}
}

// Data returns the task as queued.
func (q *Quarantined) Data() []byte {
	if q.Bytes != nil {
		return q.Bytes
	}
	return q.Message
}

// IsValue reports whether it is a value of a bucket.
func (q *Quarantined) IsValue() bool { return strings.HasPrefix(q.Subject, valuePrefix) }

// DeadLetter is the server's advisory that a message reached its maximum of deliveries: its last attempt
// neither succeeded nor failed, most likely because the agent crashed.
type DeadLetter struct {
	Stream     string `json:"stream"`
	Consumer   string `json:"consumer"`
	Seq        uint64 `json:"stream_seq"`
	Deliveries int    `json:"deliveries"`
}

// ID identifies the undeliverable message.
func (t DeadLetter) ID() string { return fmt.Sprintf("%s/%d", t.Stream, t.Seq) }

// QueueOf returns the name of the queue that a subject belongs to.
func QueueOf(subject string) string {
	queue, _, _ := strings.Cut(subject, ".")
	return queue
}
