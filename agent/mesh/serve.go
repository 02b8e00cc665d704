package mesh

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"runtime/pprof"
	"slices"
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
//
// Where the queue says so, a worker takes as many messages as wait, up to a
// handful. What follows from many of them is done in this process where that is
// [subjects.Queue.Direct], and else published at once when they are done.
func Serve[T subjects.Task](ctx context.Context, m *Mesh, queue subjects.Queue[T], lane string, actor Actor[T], workers int) error {
	return serve(ctx, &server[T]{mesh: m, queue: queue, actor: one[T]{actor}}, lane, workers)
}

// ServeBatch is [Serve] with workers that give the actor all that they have in
// hand at once.
func ServeBatch[T subjects.Task](ctx context.Context, m *Mesh, queue subjects.Queue[T], lane string, actor BatchActor[T], workers int) error {
	return serve(ctx, &server[T]{mesh: m, queue: queue, actor: actor, batch: true}, lane, workers)
}

func serve[T subjects.Task](ctx context.Context, s *server[T], lane string, workers int) error {
	if s.queue.Direct {
		defer s.mesh.neighbours.settle(ctx, s.queue.Subjects(lane), s)()
	}
	turn := make(chan struct{}, 1)
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			// A CPU profile tells roles apart by this label.
			pprof.Do(ctx, pprof.Labels("role", s.queue.Name), func(ctx context.Context) { s.work(ctx, lane, turn) })
		})
	}
	group.Wait()
	return nil
}

type server[T subjects.Task] struct {
	mesh  *Mesh
	queue subjects.Queue[T]
	actor BatchActor[T]
	batch bool // whether the actor is given all in hand at once
}

// idle is how long a worker waits for a task before it looks whether it is to
// stop, or up to half as long again: the task goes to whoever waits longest, and
// where all wait alike that would always be the same one. It is not cut short: a task that the server sends to somebody who has
// left counts as an attempt and waits out the queue's Silence.
const idle = 2 * time.Second

// work takes and does tasks until ctx ends. One worker at a time has the turn to
// take some: so at rest one waits, and not all of them, each with its own requests.
func (s *server[T]) work(ctx context.Context, lane string, turn chan struct{}) {
	var consumer jetstream.Consumer
	failures := 0 // in a row
	most := max(1, s.queue.Hand)
	there := 0 // messages to be taken at once; 0 if none were left when some were taken
	for ctx.Err() == nil {
		select {
		case turn <- struct{}{}:
		case <-ctx.Done():
			return
		}
		var msgs []jetstream.Msg
		var err error
		if consumer == nil {
			consumer, err = s.mesh.js.CreateOrUpdateConsumer(ctx, s.queue.Name, s.queue.Consumer(lane))
		}
		if err == nil {
			msgs, err = take(consumer, most, there)
			if there = 0; waiting(msgs) > 0 {
				there = fitting(msgs, most)
			}
		}
		<-turn
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

// take returns up to most messages. Where so many should be there, it takes those
// that are; else it waits for the first, and has those come along that came with it.
// Nil if none came while it was idle.
func take(consumer jetstream.Consumer, most, there int) (msgs []jetstream.Msg, err error) {
	if there > 0 {
		if msgs, err = collect(consumer.FetchNoWait(there)); err != nil || len(msgs) > 0 {
			return msgs, err
		}
	}
	msgs, err = collect(consumer.Fetch(1, jetstream.FetchMaxWait(idle+rand.N(idle/2))))
	n := min(waiting(msgs), fitting(msgs, most)-1)
	if err != nil || n == 0 {
		return msgs, err
	}
	others, err := collect(consumer.FetchNoWait(n))
	if err != nil {
		return msgs, nil // the first is in hand; the error will come again
	}
	return append(msgs, others...), nil
}

// handBytes is how much a hand holds. Its messages may be bundles of half a
// megabyte, and what they are decoded to takes several times their size; each
// worker of each role has a hand.
const handBytes = 2 << 20

// fitting returns how many messages of the size of these fit into a hand: one at
// least, and at most as many as given. What comes next may be larger than what came
// before: so large a hand there is once.
func fitting(msgs []jetstream.Msg, most int) int {
	bytes := 0
	for _, msg := range msgs {
		bytes += len(msg.Data())
	}
	if bytes == 0 {
		return most
	}
	return max(1, min(most, handBytes*len(msgs)/bytes))
}

// waiting returns how many messages were still to be delivered after these.
func waiting(msgs []jetstream.Msg) int {
	if len(msgs) == 0 {
		return 0
	}
	meta, err := msgs[len(msgs)-1].Metadata()
	if err != nil {
		return 0
	}
	return int(meta.NumPending)
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

// A job is a task in hand, and what it came in.
type job[T subjects.Task] struct {
	parcel
	task T
}

// do has the tasks that the messages bring done, and settles them. ctx ends with
// the process: the work in hand is finished all the same, unless it waits for
// something.
//
// What was in some hand before may be what that agent died of. So that it does not
// take others with it each time, each such task is done and settled by itself, in
// no order, and each task of such a bundle goes back to the queue alone.
func (s *server[T]) do(ctx context.Context, msgs []jetstream.Msg) {
	fault.Point("taken " + s.queue.Name)
	hand := newHand(msgs, s.mesh.log)
	var first, before []job[T]
	for _, msg := range msgs {
		parcels, jobs, err := s.open(msg)
		switch {
		case len(parcels) > 1 && (err != nil || again(msg)):
			s.takeApart(ctx, hand, parcels)
		case err != nil:
			s.settle(ctx, hand, msg, err)
		case again(msg):
			before = append(before, jobs...)
		default:
			hand.expect(msg, len(jobs))
			first = append(first, jobs...)
		}
	}
	atOnce := max(1, len(first))
	if !s.batch {
		atOnce = directTasks
	}
	for some := range slices.Chunk(first, atOnce) {
		s.together(ctx, hand, some, s.outbox(s.queue.Name))
	}
	rand.Shuffle(len(before), func(i, j int) { before[i], before[j] = before[j], before[i] })
	for i := range before {
		s.together(ctx, hand, before[i:i+1], s.outbox(""))
	}
}

// outbox returns where what follows from tasks waits until they are done; nil if
// it does not. root is the queue they came from, if others may do at once what
// follows.
func (s *server[T]) outbox(root string) *outbox {
	if s.queue.Hand < 2 {
		return nil
	}
	return &outbox{mesh: s.mesh, root: root}
}

// open reads the tasks that a message brings. Where one can't be read, it returns
// the parcels and what to answer.
func (s *server[T]) open(msg jetstream.Msg) (parcels []parcel, jobs []job[T], err error) {
	if parcels, err = unpack(msg); err != nil {
		return nil, nil, &hopeless{err}
	}
	for _, p := range parcels {
		task, err := s.queue.Decode(p.part.Data)
		if errors.Is(err, subjects.ErrNewer) {
			err = leave(msg, err)
		} else if err != nil {
			err = &hopeless{err}
		}
		if err != nil {
			return parcels, nil, err
		}
		jobs = append(jobs, job[T]{p, task})
	}
	return parcels, jobs, nil
}

// takeApart puts the tasks of a bundle back on their queue, each in a message of
// its own, to be settled there.
func (s *server[T]) takeApart(ctx context.Context, hand *hand, parcels []parcel) {
	if err := s.sendAlone(ctx, hand, parcels); err != nil {
		s.settle(ctx, hand, parcels[0].msg, err)
		return
	}
	s.acknowledge(ctx, hand, []jetstream.Msg{parcels[0].msg})
}

func (s *server[T]) sendAlone(ctx context.Context, hand *hand, parcels []parcel) error {
	if len(parcels) == 0 {
		return nil
	}
	return s.within(context.WithoutCancel(ctx), hand, func(ctx context.Context) error {
		for _, p := range parcels {
			if err := s.mesh.sendOne(ctx, p.message()); err != nil {
				return err
			}
		}
		return nil
	})
}

// together has the actor do the jobs, and then whoever does at once what follows;
// publishes the rest of what follows from all of them at once, and settles them.
func (s *server[T]) together(ctx context.Context, hand *hand, jobs []job[T], box *outbox) {
	var done, apart []parcel
	for i, err := range s.perform(ctx, hand, box, jobs) {
		p := jobs[i].parcel
		switch drop := (*dropped)(nil); {
		case err == nil:
			done = append(done, p)
		case p.alone:
			s.settle(ctx, hand, p.msg, err)
		case errors.As(err, &drop):
			s.mesh.log.Info("dropped a task", "role", s.queue.Name, "task", p.part.ID, "err", err)
			done = append(done, p)
		default: // it has its tries by itself
			s.mesh.log.Warn("a task of many failed, and goes back to the queue", "role", s.queue.Name, "task", p.part.ID, "err", err)
			apart = append(apart, p)
		}
	}
	err := s.sendAlone(ctx, hand, apart)
	if err == nil && box != nil && len(done) > 0 {
		rest := s.mesh.doDirect(ctx, hand, box)
		err = s.within(context.WithoutCancel(ctx), hand, func(ctx context.Context) error { return s.mesh.send(ctx, rest) })
	}
	s.finish(ctx, hand, append(done, apart...), err)
}

// perform has the actor do the jobs, of a batch that failed each by itself, and
// returns what it answered to each.
func (s *server[T]) perform(ctx context.Context, hand *hand, box *outbox, jobs []job[T]) []error {
	atOnce := 1
	if s.batch {
		atOnce = len(jobs)
	}
	answers := make([]error, 0, len(jobs))
	var late *postponed
	for some := range slices.Chunk(jobs, atOnce) {
		var err error
		if late != nil && ctx.Err() != nil {
			err = late // what they stand on is away, and we are to stop: all go to another agent
		} else {
			err = s.attempt(ctx, hand, box, some)
		}
		if isLate := errors.As(err, &late); err != nil && !isLate && len(some) > 1 {
			for i := range some {
				answers = append(answers, s.perform(ctx, hand, box, some[i:i+1])...)
			}
			continue
		}
		for range some {
			answers = append(answers, err)
		}
		if err == nil {
			s.mesh.done.Add(uint64(len(some)))
		}
	}
	return answers
}

// finish notes that parcels are done, or are not for a reason, and settles the
// messages of which no other is left.
func (s *server[T]) finish(ctx context.Context, hand *hand, parcels []parcel, err error) {
	var whole []jetstream.Msg
	for _, p := range parcels {
		switch last, err := hand.done(p.msg, err); {
		case last && err == nil:
			whole = append(whole, p.msg)
		case last:
			s.settle(ctx, hand, p.msg, err)
		}
	}
	s.acknowledge(ctx, hand, whole)
}

// awayPause is how often it is tried whether what was away is back.
const awayPause = 2 * time.Second

// attempt has the actor do the jobs. While what it stands on is away, they wait
// in its hand, where they cost no tries, and nothing else is taken: so a store
// that is down for an hour leaves nothing in quarantine, and is asked by each
// worker once in a while.
func (s *server[T]) attempt(ctx context.Context, hand *hand, box *outbox, jobs []job[T]) (err error) {
	tasks, parcels := make([]T, len(jobs)), make([]parcel, len(jobs))
	for i, j := range jobs {
		tasks[i], parcels[i] = j.task, j.parcel
	}
	ctx, spans := s.follow(withSchema(ctx, parcels), parcels)
	defer func() { spans.end(err) }()
	before := 0
	if box != nil {
		ctx, before = withOutbox(ctx, box), box.count()
	}
	log := s.mesh.logOf(ctx)
	for waited := false; ; waited = true {
		err := s.once(context.WithoutCancel(ctx), hand, tasks)
		if err != nil && box != nil {
			box.keep(before)
		}
		if s.mesh.away == nil || !s.mesh.away(err) {
			if waited {
				log.Info("it is back: work goes on", "role", s.queue.Name)
			}
			return err
		}
		if !waited {
			log.Warn("a task waits for what it needs to be back", "role", s.queue.Name, "err", err)
		}
		hand.hold()
		if !sleep(ctx, awayPause) {
			return Later(time.Second, err) // to another agent
		}
	}
}

// once calls the actor.
func (s *server[T]) once(ctx context.Context, hand *hand, tasks []T) error {
	began := time.Now()
	err := s.within(ctx, hand, func(ctx context.Context) error { return receive(ctx, s.actor, tasks) })
	s.mesh.metrics.seconds.WithLabelValues(s.queue.Name, verdict(err)).Observe(time.Since(began).Seconds())
	return err
}

// within calls do within the queue's lease, while it tells the server that the
// messages are in good hands.
func (s *server[T]) within(ctx context.Context, hand *hand, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.queue.Lease)
	var beating sync.WaitGroup
	beating.Go(func() {
		for sleep(ctx, s.queue.Silence/3) {
			hand.hold()
		}
	})
	err := do(ctx)
	cancel()
	beating.Wait()
	return err
}

// A hopeless error is one that the next attempt will meet again.
type hopeless struct{ error }

// settleTime is how long the server may take to hear what became of a message.
const settleTime = 10 * time.Second

// acknowledge tells the server that tasks are done, and waits until it has heard
// of the last, and so of all.
func (s *server[T]) acknowledge(ctx context.Context, hand *hand, msgs []jetstream.Msg) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	for i, msg := range msgs {
		fault.Point("done " + s.queue.Name)
		var err error
		switch {
		case fault.Redeliver() && !again(msg): // by chance, all its tries would be gone
			err = msg.Nak()
		case i < len(msgs)-1:
			err = msg.Ack()
		default:
			err = msg.DoubleAck(ctx)
		}
		hand.release(msg, err)
	}
}

// settle tells the server what became of a task that was not done, by the actor's
// answer.
func (s *server[T]) settle(ctx context.Context, hand *hand, msg jetstream.Msg, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
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
	hand.release(msg, failed)
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
