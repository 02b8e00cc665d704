package mesh

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"runtime/pprof"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/agent/fault"
	"feedmesh/agent/trace"
	"feedmesh/subjects"
)

// Serve has workers goroutines pull tasks from a lane of the queue (from all
// of it if lane is empty) and hand them to the actor, one at a time each. It
// returns when ctx has ended and the work in hand is finished and settled.
func Serve[T subjects.Task](ctx context.Context, m *Mesh, queue subjects.Queue[T], lane string, actor Actor[T], workers int) error {
	return serve(ctx, m, queue, lane, one[T]{actor}, workers, 1)
}

// ServeBatch is [Serve] with one worker that hands over at most size tasks at
// a time: as many as wait when it is ready for more, and at least one.
func ServeBatch[T subjects.Task](ctx context.Context, m *Mesh, queue subjects.Queue[T], lane string, actor BatchActor[T], size int) error {
	return serve(ctx, m, queue, lane, actor, 1, size)
}

func serve[T subjects.Task](ctx context.Context, m *Mesh, queue subjects.Queue[T], lane string, actor BatchActor[T], workers, size int) error {
	s := &server[T]{mesh: m, queue: queue, actor: actor, size: size}
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			// A CPU profile tells roles apart by this label.
			pprof.Do(ctx, pprof.Labels("role", queue.Name), func(ctx context.Context) { s.work(ctx, lane) })
		})
	}
	group.Wait()
	return nil
}

type server[T subjects.Task] struct {
	mesh  *Mesh
	queue subjects.Queue[T]
	actor BatchActor[T]
	size  int
}

// idle is how long a worker waits for a task before it looks whether it is to
// stop, or up to half as long again: the task goes to whoever waits longest, and
// where all wait alike that would always be the same one. It is not cut short: a task that the server sends to somebody who has
// left counts as an attempt and waits out the queue's Silence.
const idle = 2 * time.Second

// work takes and does tasks until ctx ends.
func (s *server[T]) work(ctx context.Context, lane string) {
	var consumer jetstream.Consumer
	failures := 0 // in a row
	for ctx.Err() == nil {
		var msgs []jetstream.Msg
		var err error
		if consumer == nil {
			consumer, err = s.mesh.js.CreateOrUpdateConsumer(ctx, s.queue.Name, s.queue.Consumer(lane))
		}
		if err == nil {
			msgs, err = take(consumer, s.size)
		}
		if failures++; err == nil {
			failures = 0
		}
		if err != nil && ctx.Err() == nil {
			level := slog.LevelWarn
			if failures == 1 {
				level = slog.LevelDebug // a consumer's servers may be choosing a leader just then
			}
			s.mesh.log.Log(ctx, level, "can't take tasks", "role", s.queue.Name, "err", err)
			consumer = nil // it may be gone together with its stream
			if errors.Is(err, jetstream.ErrStreamNotFound) {
				s.mesh.redeclare(ctx)
			}
			sleep(ctx, time.Second)
		}
		if len(msgs) > 0 {
			s.do(ctx, msgs)
		}
	}
}

// take returns up to size messages: it waits for the first, and has those
// come along that are there already. Nil if none came while it was idle.
func take(consumer jetstream.Consumer, size int) ([]jetstream.Msg, error) {
	msgs, err := collect(consumer.Fetch(1, jetstream.FetchMaxWait(idle+rand.N(idle/2))))
	if err != nil || len(msgs) == 0 || size == 1 {
		return msgs, err
	}
	more, err := collect(consumer.FetchNoWait(size - 1))
	if err != nil {
		return msgs, nil // the first is in hand; the error will come again
	}
	return append(msgs, more...), nil
}

func collect(batch jetstream.MessageBatch, err error) ([]jetstream.Msg, error) {
	if err != nil {
		return nil, err
	}
	var msgs []jetstream.Msg
	for msg := range batch.Messages() {
		msgs = append(msgs, msg)
	}
	if err := batch.Error(); err != nil && !errors.Is(err, nats.ErrTimeout) && len(msgs) == 0 {
		return nil, err
	}
	return msgs, nil
}

// do hands the messages to the actor and settles them. ctx ends with the process:
// the work in hand is finished all the same, unless it waits for something.
func (s *server[T]) do(ctx context.Context, msgs []jetstream.Msg) {
	fault.Point("taken " + s.queue.Name)
	tasks := make([]T, 0, len(msgs))
	sound := msgs[:0:0]
	for _, msg := range msgs {
		task, err := s.queue.Decode(msg.Data())
		if errors.Is(err, subjects.ErrNewer) {
			err = leave(msg, err)
		} else if err != nil {
			err = &hopeless{err}
		}
		if err != nil {
			s.settle(ctx, msg, err)
			continue
		}
		tasks, sound = append(tasks, task), append(sound, msg)
	}
	if len(tasks) == 0 {
		return
	}
	err := s.attempt(ctx, sound, tasks)
	if later := (*postponed)(nil); err != nil && len(sound) > 1 && !errors.As(err, &later) {
		for i := range sound {
			s.settle(ctx, sound[i], s.attempt(ctx, sound[i:i+1], tasks[i:i+1]))
		}
		return
	}
	for _, msg := range sound {
		s.settle(ctx, msg, err)
	}
}

// awayPause is how often it is tried whether what was away is back.
const awayPause = 2 * time.Second

// attempt has the actor do the tasks. While what it stands on is away, they wait
// in its hand, where they cost no tries, and nothing else is taken: so a store
// that is down for an hour leaves nothing in quarantine, and is asked by each
// worker once in a while.
func (s *server[T]) attempt(ctx context.Context, msgs []jetstream.Msg, tasks []T) (err error) {
	ctx, spans := s.follow(withSchema(ctx, msgs), msgs)
	defer func() { spans.end(err) }()
	log := s.mesh.logOf(ctx)
	for waited := false; ; waited = true {
		err := s.once(context.WithoutCancel(ctx), msgs, tasks)
		if s.mesh.away == nil || !s.mesh.away(err) {
			if waited {
				log.Info("it is back: work goes on", "role", s.queue.Name)
			}
			return err
		}
		if !waited {
			log.Warn("a task waits for what it needs to be back", "role", s.queue.Name, "err", err)
		}
		if !s.hold(ctx, msgs) {
			return Later(time.Second, err) // to another agent
		}
	}
}

// hold keeps the messages in hand for a while, and reports whether the process is
// to go on.
func (s *server[T]) hold(ctx context.Context, msgs []jetstream.Msg) bool {
	s.inProgress(msgs)
	return sleep(ctx, awayPause)
}

// once calls the actor within the queue's lease, while it tells the server that
// the messages are in good hands.
func (s *server[T]) once(ctx context.Context, msgs []jetstream.Msg, tasks []T) error {
	ctx, cancel := context.WithTimeout(ctx, s.queue.Lease)
	defer cancel()
	var beating sync.WaitGroup
	beating.Go(func() {
		for sleep(ctx, s.queue.Silence/3) {
			s.inProgress(msgs)
		}
	})
	began := time.Now()
	err := receive(ctx, s.actor, tasks)
	s.mesh.metrics.seconds.WithLabelValues(s.queue.Name, verdict(err)).Observe(time.Since(began).Seconds())
	cancel()
	beating.Wait()
	return err
}

func (s *server[T]) inProgress(msgs []jetstream.Msg) {
	for _, msg := range msgs {
		if err := msg.InProgress(); err != nil {
			s.mesh.log.Warn("can't hold on to a task", "role", s.queue.Name, "subject", msg.Subject(), "err", err)
		}
	}
}

// A hopeless error is one that the next attempt will meet again.
type hopeless struct{ error }

// settle tells the server what became of a message, by the actor's answer.
func (s *server[T]) settle(ctx context.Context, msg jetstream.Msg, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	ctx = trace.Join(ctx, msg.Headers())
	attempt := 1
	if meta, err := msg.Metadata(); err == nil {
		attempt = int(meta.NumDelivered)
	}
	log := s.mesh.logOf(ctx).With("role", s.queue.Name, "subject", msg.Subject(), "attempt", attempt)

	var drop *dropped
	var later *postponed
	var never *hopeless
	var failed error
	switch {
	case err == nil:
		s.mesh.done.Add(1)
		fault.Point("done " + s.queue.Name)
		if fault.Redeliver() {
			failed = msg.Nak()
			break
		}
		failed = msg.DoubleAck(ctx)
	case errors.As(err, &drop):
		log.Info("dropped a task", "err", err)
		failed = msg.TermWithReason(firstLine(err))
	case errors.As(err, &never), attempt >= s.queue.Tries:
		log.Error("task goes to quarantine", "err", err)
		failed = s.mesh.quarantine(ctx, giveUp(msg, s.queue.Name, attempt, err))
		if failed == nil {
			failed = msg.TermWithReason(firstLine(err))
		}
	case errors.As(err, &later):
		log.Debug("task comes again later", "delay", later.delay, "err", err)
		failed = msg.NakWithDelay(later.delay)
	default:
		delay := s.queue.Delay(attempt)
		log.Warn("task failed", "delay", delay, "err", err)
		failed = msg.NakWithDelay(delay)
	}
	if failed != nil {
		// The server will deliver it again, and doing it again is harmless.
		log.Warn("can't settle a task", "err", failed)
	}
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
