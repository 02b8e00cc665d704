// Package subjects declares the queues, streams and buckets of the mesh, and
// the tasks and records they carry. It is the one place where a subject is
// named; who serves a queue is not known here.
package subjects

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// A Task is one piece of work.
type Task interface {
	// ID names the work, not the message: publishing the same ID twice
	// within a stream's duplicate window queues it once.
	ID() string
}

// A Queue is a work queue whose messages decode to T. Each queue is a stream of
// its own, named for it.
type Queue[T Task] struct {
	Name  string         // of the role that serves it, as in "crawl"
	Lanes []string       // the queue's subjects are Name.lane; nil: Name alone
	Lane  func(T) string // the lane a task goes to; nil where there are none
	From  string         // the subjects it takes instead, if others publish its tasks, bare

	// Direct says that an agent which serves the queue does a task at once that
	// follows from one in its hands: no message travels. A crash then repeats all
	// from the task that came in a message. So it is for work of which nobody else
	// sees a part before the end.
	Direct bool

	Lease   time.Duration   // time one attempt may take before another may begin
	Silence time.Duration   // time without a sign of life after which an attempt is taken for dead
	Tries   int             // attempts before a task is quarantined
	Hand    int             // the most tasks that a worker takes at once; 0: one
	BackOff []time.Duration // wait after the first, second, ... failed attempt; the last one repeats

	MaxTasks int64 // tasks waiting, at most
	MaxBytes int64 // of tasks waiting, at most
}

// Subject returns the subject that the task travels on.
func (q Queue[T]) Subject(task T) string {
	if q.Lane == nil {
		return q.Name
	}
	return q.inLane(q.Lane(task))
}

func (q Queue[T]) inLane(lane string) string { return q.Name + "." + lane }

// Subjects returns the subjects of a lane of the queue, or of all of it if lane is
// empty.
func (q Queue[T]) Subjects(lane string) (all []string) {
	switch {
	case lane != "":
		return []string{q.inLane(lane)}
	case q.Lane == nil:
		return []string{q.Name}
	}
	for _, lane := range q.Lanes {
		all = append(all, q.inLane(lane))
	}
	return all
}

// Delay returns how long to wait after the attempt-th attempt failed, from 1.
func (q Queue[T]) Delay(attempt int) time.Duration {
	return q.BackOff[min(max(attempt, 1), len(q.BackOff))-1]
}

// A Message is a task on its way to a queue.
type Message struct {
	Subject string
	ID      string              // of the task; see [Task]
	Header  map[string][]string // set by the mesh: the trace it belongs to
	Data    []byte

	// Task is the task itself in place of Data, which is written if it has to be.
	Task  any
	write func(schema int) ([]byte, error)
}

// Written returns the message with its Data, in a version of the schema. It returns
// [ErrTooLarge] for a task that fits no message.
func (m Message) Written(schema int) (_ Message, err error) {
	if m.Task != nil {
		m.Data, err = m.write(schema)
		m.Task, m.write = nil, nil
	}
	return m, err
}

// A Neighbour is a [Publisher] that may have who does a task in its own process.
// Nearby reports whether one that is published under ctx is done there, and so need
// not be written. Whoever publishes it must not use it afterwards.
type Neighbour interface {
	Nearby(ctx context.Context, subject string) bool
}

// A Publisher puts messages on their queues. Publish returns nil when all of them
// are safe in the mesh, or will be before the task is settled that is in the hands
// of an actor; while a queue is full, it waits. Many are cheaper than as many
// calls.
type Publisher interface {
	Publish(ctx context.Context, m ...Message) error

	// Schema returns the version that a task published under ctx is written in:
	// our own, or an older one that all who may read it know.
	Schema(ctx context.Context) int
}

// Publish puts the task on the queue.
func Publish[T Task](ctx context.Context, to Publisher, queue Queue[T], task T) error {
	if near, is := to.(Neighbour); is && queue.Direct && near.Nearby(ctx, queue.Subject(task)) {
		return to.Publish(ctx, queue.unwritten(task))
	}
	m, err := queue.Message(task, to.Schema(ctx))
	if err != nil {
		return err
	}
	return to.Publish(ctx, m)
}

// unwritten returns the task as one that need not travel.
func (q Queue[T]) unwritten(task T) Message {
	return Message{Subject: q.Subject(task), ID: task.ID(), Task: task, write: func(schema int) ([]byte, error) {
		m, err := q.Message(task, schema)
		return m.Data, err
	}}
}

// Message returns the task as it travels, written in a version of the schema. It
// returns [ErrTooLarge] for one that fits no message.
func (q Queue[T]) Message(task T, schema int) (Message, error) {
	data, err := encode(task, schema)
	if err != nil {
		return Message{}, fmt.Errorf("encode %s task %s: %w", q.Name, task.ID(), err)
	}
	if len(data) > MaxMessage-maxHeader {
		return Message{}, fmt.Errorf("%s task %s has %d bytes: %w", q.Name, task.ID(), len(data), ErrTooLarge)
	}
	return Message{Subject: q.Subject(task), ID: task.ID(), Data: data}, nil
}

// encode writes a task as JSON, and markup in it as it is: the escapes that make
// JSON safe inside a web page would double the size of ours. A newer version only
// adds to an older one, so a task of an older version is written the same way.
func encode[T Task](task T, schema int) ([]byte, error) {
	var body []byte
	if c, is := any(&task).(carrier); is {
		body, *c.carried() = *c.carried(), nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(envelope[T]{Schema: schema, Task: task}); err != nil || body == nil {
		return b.Bytes(), err
	}
	return withBody(b.Bytes(), body), nil
}

// Decode reads a message of the queue. For one of a newer version it returns
// [ErrNewer] and as much of the task as this version knows.
func (q Queue[T]) Decode(data []byte) (T, error) {
	var e envelope[T]
	into := any(&e)
	if q.From != "" {
		into = &e.Task
	}
	var body []byte
	c, carries := any(&e.Task).(carrier)
	if carries {
		data, body = withoutBody(data)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return e.Task, fmt.Errorf("decode %s task: %w", q.Name, err)
	}
	if body != nil {
		*c.carried() = body
	}
	if e.Schema > Schema {
		return e.Task, fmt.Errorf("decode %s task: %w: it is of schema %d, this agent knows %d", q.Name, ErrNewer, e.Schema, Schema)
	}
	return e.Task, nil
}

// SchemaOf returns the version that a message is written in, or [Schema] if it does
// not say.
func SchemaOf(data []byte) int {
	rest, is := bytes.CutPrefix(data, []byte(`{"schema":`)) // it comes first
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
