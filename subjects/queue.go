// Package subjects declares the queues, streams and buckets of the mesh, and the tasks and records that they
// carry.
//
// A [Queue] is a durable JetStream work queue of one type of [Task]; [Declare] creates all streams and
// buckets; [Publish] puts a task on its queue through a [Publisher]. A task is at most [MaxMessage] bytes; a
// full queue makes publishers wait. Subjects are named in this package only. It does not depend on the roles
// that serve the queues.
package subjects

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Task is a unit of work.
type Task interface {
	// ID identifies the work, not the message: within a stream's duplicate window an ID is queued only once.
	ID() string
}

// Queue is a work queue of tasks of type T. Each queue is a stream of the same name.
type Queue[T Task] struct {
	Name       string         // name of the role that serves it, for example "crawl"
	Partitions []string       // subjects are Name.partition; nil: Name alone
	Partition  func(T) string // partition of a task; nil without partitions
	Unlisted   bool           // partitions may have any name, and tasks without one have the subject Name
	Nested     bool           // each partition may have partitions of any name: their subjects are Name.partition.name
	Source     string         // subjects of tasks that the server publishes without an envelope; empty: the queue's own

	// AllowLocal: the queue is a step of the pipeline of package agent/mesh: in a process that also serves the
	// queue before it, tasks go to its actor without a message. After a crash all work since the last message is
	// repeated. Intermediate results must therefore not be visible elsewhere.
	AllowLocal bool

	// InMemory: in a process that has the NATS server for itself, tasks of a source that repeats them after a crash pass
	// to the actor in memory, without a message.
	InMemory MemoryMode

	// Exclusive: the requests of an attempt to other hosts must not overlap those of the next. An agent that can't extend
	// AckWait ends the attempt, and leaves the task to the agent to which the server redelivers it.
	Exclusive bool

	Timeout    time.Duration   // timeout of one attempt
	AckWait    time.Duration   // the server redelivers a task that is not settled or extended within this time
	MaxDeliver int             // deliveries of a task before it is quarantined
	MaxBatch   int             // maximum of messages that a worker fetches in a batch; 0: one
	BackOff    []time.Duration // delay of the retry after the first, second, ... failed attempt; the last value repeats

	MaxTasks int64 // maximum of waiting tasks
	MaxBytes int64 // maximum size of waiting tasks
}

// A MemoryMode states whether tasks of a queue pass in memory, and what happens while the memory for them is full.
type MemoryMode int

// The modes.
const (
	MemoryOff    MemoryMode = iota // no task passes in memory
	MemoryWaits                    // publishers wait
	MemorySpills                   // publishers wait for a moment, then tasks become messages: an engine may be unavailable
)

func (q Queue[T]) timeout() time.Duration { return q.Timeout }

// Subject returns the subject of the task.
func (q Queue[T]) Subject(task T) string {
	if q.Partition == nil {
		return q.Name
	}
	if partition := q.Partition(task); partition != "" {
		return q.partitionSubject(partition)
	}
	return q.Name
}

func (q Queue[T]) partitionSubject(partition string) string { return q.Name + "." + partition }

// Subjects returns the subjects of a partition of the queue, such as "hot" or the nested "hot.us". If partition is empty, these are
// those of all listed partitions, or, with Unlisted partitions, that of tasks without one.
func (q Queue[T]) Subjects(partition string) (all []string) {
	switch {
	case partition != "":
		return []string{q.partitionSubject(partition)}
	case q.Partition == nil, q.Unlisted:
		return []string{q.Name}
	}
	for _, p := range q.Partitions {
		all = append(all, q.partitionSubject(p))
	}
	return all
}

// Delay returns the delay of the retry after a failed attempt. Attempts count from 1.
func (q Queue[T]) Delay(attempt int) time.Duration {
	return q.BackOff[min(max(attempt, 1), len(q.BackOff))-1]
}

// Message is a task, or an [Event], in transit. A task is encoded when its message is published, because a task
// that the publisher's own process executes needs no encoding.
type Message struct {
	Subject string
	ID      string              // of the task; see [Task]
	Header  map[string][]string // trace headers, set by the mesh
	Schema  int                 // version to encode the task in, set by the mesh
	Single  bool                // never part of a bundle, because it is retried by itself

	Data   []byte // the task, if it is encoded
	Task   any    // the task, if it is not encoded; see [Message.Encoded]
	encode func(schema int) ([]byte, error)
}

// Encoded returns the message with its Data. It returns [ErrTooLarge] for a task that exceeds the maximum size
// of a message.
func (m Message) Encoded() (_ Message, err error) {
	if m.Task != nil {
		m.Data, err = m.encode(m.Schema)
		m.Task, m.encode = nil, nil
	}
	return m, err
}

// Encode encodes the tasks of messages in place.
func Encode(messages []Message) (err error) {
	for i := range messages {
		if messages[i], err = messages[i].Encoded(); err != nil {
			return err
		}
	}
	return nil
}

// Publisher puts messages on their queues. Publish returns nil when the messages are stored by the server,
// or, within an actor, when they are certain to be before the actor's task is settled. It blocks while a
// queue is full, and returns [ErrTooLarge] for a task that exceeds the maximum size of a message. The caller
// must not use the tasks afterwards. One call with a batch of messages is cheaper than many calls.
type Publisher interface {
	Publish(ctx context.Context, m ...Message) error
}

// Publish puts the task on the queue.
func Publish[T Task](ctx context.Context, to Publisher, queue Queue[T], task T) error {
	return to.Publish(ctx, queue.Message(task))
}

// Message returns the task as a message that is not encoded.
func (q Queue[T]) Message(task T) Message {
	return Message{Subject: q.Subject(task), ID: task.ID(), Schema: Schema, Task: task, encode: func(schema int) ([]byte, error) {
		data, err := encode(task, schema)
		if err != nil {
			return nil, fmt.Errorf("encode %s task %s: %w", q.Name, task.ID(), err)
		}
		if len(data) > MaxMessage-maxHeader {
			return nil, fmt.Errorf("%s task %s has %d bytes: %w", q.Name, task.ID(), len(data), ErrTooLarge)
		}
		return data, nil
	}}
}

// encode writes a task as JSON without HTML escapes, which would double the size of markup. A newer schema
// only adds fields, so tasks of all versions are encoded the same way.
func encode[T Task](task T, schema int) ([]byte, error) {
	var body []byte
	if c, is := any(&task).(bodyCarrier); is {
		body, *c.carried() = *c.carried(), nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(envelope[T]{Schema: schema, Task: task}); err != nil || body == nil {
		return b.Bytes(), err
	}
	return appendBody(b.Bytes(), body), nil
}

// Decode decodes a message of the queue. For a newer schema version it returns [ErrNewer] and the fields of
// the task that this version defines.
func (q Queue[T]) Decode(data []byte) (T, error) {
	var e envelope[T]
	into := any(&e)
	if q.Source != "" {
		into = &e.Task
	}
	var body []byte
	c, carries := any(&e.Task).(bodyCarrier)
	if carries {
		data, body = cutBody(data)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return e.Task, fmt.Errorf("decode %s task: %w", q.Name, err)
	}
	if body != nil {
		*c.carried() = body
	}
	if e.Schema > Schema {
		return e.Task, fmt.Errorf("decode %s task: %w: schema is %d, this agent supports %d", q.Name, ErrNewer, e.Schema, Schema)
	}
	return e.Task, nil
}

// SchemaOf returns the schema version of a message, or [Schema] if the message does not state it.
func SchemaOf(data []byte) int {
	rest, is := bytes.CutPrefix(data, []byte(`{"schema":`)) // always the first field
	if end := bytes.IndexByte(rest, ','); is && end >= 0 {
		if n, err := strconv.Atoi(string(rest[:end])); err == nil {
			return n
		}
	}
	return Schema
}

type envelope[T any] struct {
	Schema int `json:"schema"`
	Task   T   `json:"task"`
}

// A Depth is the backlog of a queue.
type Depth struct {
	Queue  string  `json:"queue"`
	Tasks  uint64  `json:"tasks"`
	Bytes  uint64  `json:"bytes"`
	Oldest float64 `json:"oldest_seconds"` // age of the oldest task; 0 if there is none
	Fill   float64 `json:"fill"`           // share of the queue's bounds in use, 0 to 1

	Created time.Time     `json:"-"` // creation time of its stream, which is recreated after a loss
	Done    uint64        `json:"-"` // tasks removed since then
	Timeout time.Duration `json:"-"` // of an attempt or retry of its tasks
}
