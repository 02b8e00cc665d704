package mesh

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"math/rand/v2"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"feedmesh/agent/fault"
	"feedmesh/agent/trace"
	"feedmesh/subjects"
)

// Serve runs a pool of workers that fetch tasks from a partition of the queue (from the whole queue if
// partition is empty) and pass them to the actor, one at a time each. It returns when ctx has ended and all
// work in progress is finished and settled.
//
// A worker fetches up to [subjects.Queue.MaxBatch] messages in a batch. The follow-up tasks of a batch go through
// the joined steps of the pipeline of this process, and what follows from them is published together when the
// batch is done.
func Serve[T subjects.Task](ctx context.Context, m *Mesh, queue subjects.Queue[T], partition string, actor Actor[T], workers int) error {
	return serve(ctx, &server[T]{mesh: m, queue: queue, actor: singleActor[T]{actor}}, partition, workers)
}

// ServeBatch is [Serve] with workers that pass each batch to the actor as a whole.
func ServeBatch[T subjects.Task](ctx context.Context, m *Mesh, queue subjects.Queue[T], partition string, actor BatchActor[T], workers int) error {
	return serve(ctx, &server[T]{mesh: m, queue: queue, actor: actor, batched: true}, partition, workers)
}

func serve[T subjects.Task](ctx context.Context, s *server[T], partition string, workers int) error {
	if s.queue.AllowLocal {
		defer s.mesh.pipeline.register(ctx, s.queue.Subjects(partition), s.follow)()
	}
	fetching := make(chan struct{}, 1)
	var group sync.WaitGroup
	s.turns = make(chan struct{}, workers)
	if s.queue.InMemory != subjects.MemoryOff && s.mesh.alone {
		q, closeQueue := s.mesh.memory.open(s.queue.Name, s.queue.InMemory, s.queue.Subjects(partition))
		defer func() { s.leave(ctx, closeQueue()) }()
		for range workers {
			group.Go(func() {
				pprof.Do(ctx, pprof.Labels("role", s.queue.Name), func(ctx context.Context) { s.serveMemory(ctx, q) })
			})
		}
	}
	for range workers {
		group.Go(func() {
			// CPU profiles distinguish roles by this label.
			pprof.Do(ctx, pprof.Labels("role", s.queue.Name), func(ctx context.Context) { s.runWorker(ctx, partition, fetching) })
		})
	}
	group.Wait()
	return nil
}

type server[T subjects.Task] struct {
	mesh    *Mesh
	queue   subjects.Queue[T]
	actor   BatchActor[T]
	batched bool // pass each batch to the actor as a whole

	// Workers for messages and those for tasks in memory share as many turns as there are workers of either.
	turns chan struct{}
}

// takeTurn calls do when less than all workers are busy. It extends the AckWait of the batch until then.
func (s *server[T]) takeTurn(batch *messageBatch, do func()) {
	for {
		select {
		case s.turns <- struct{}{}:
			do()
			<-s.turns
			return
		case <-time.After(s.queue.AckWait / 3):
			_ = s.extend(context.Background(), batch) // the next attempt ends if it has expired
		}
	}
}

// runWorker fetches and processes tasks until ctx ends. Only one worker of the pool fetches at a time, so an
// idle queue costs the requests of one worker.
func (s *server[T]) runWorker(ctx context.Context, partition string, fetching chan struct{}) {
	var consumer jetstream.Consumer
	failures := 0 // consecutive
	limit := max(1, s.queue.MaxBatch)
	available := 0 // messages to fetch without waiting; 0 if the last fetch emptied the queue
	subject := s.queue.Subjects(partition)[0]
	defer s.mesh.intake.report(ctx, s.queue.Name, subject, false)
	for ctx.Err() == nil {
		select {
		case fetching <- struct{}{}:
		case <-ctx.Done():
			return
		}
		s.mesh.intake.await(ctx, s.queue.Name, s.mesh.Serving(s.queue.Name) > 1) // while the other workers of the pool wait for this one
		shares := s.shares(ctx)
		var msgs []jetstream.Msg
		var err error
		if consumer == nil {
			consumer, err = s.mesh.js.CreateOrUpdateConsumer(ctx, s.queue.Name, s.queue.Consumer(partition))
		}
		if err == nil {
			msgs, err = s.mesh.fetchBatch(ctx, consumer, limit, available, shares)
			if available = 0; pendingCount(msgs) > 0 {
				available = min(batchLimit(msgs, limit), shareOf(pendingCount(msgs), shares))
			}
			// Exclusive tasks wait for hosts, not for this process.
			s.mesh.intake.report(ctx, s.queue.Name, subject, available > 0 && !s.queue.Exclusive)
		}
		<-fetching
		if failures++; err == nil {
			failures = 0
		}
		if err != nil && ctx.Err() == nil {
			level := slog.LevelWarn
			if failures == 1 {
				level = slog.LevelDebug // the consumer's servers may be electing a leader
			}
			s.mesh.log.Log(ctx, level, "can't take tasks", "role", s.queue.Name, "err", err)
			consumer = nil // it may be deleted together with its stream
			if errors.Is(err, jetstream.ErrStreamNotFound) {
				s.mesh.redeclare(ctx)
			}
			sleep(ctx, time.Second)
		}
		if len(msgs) > 0 {
			batch := newMessageBatch(msgs, s.mesh.log)
			s.takeTurn(batch, func() {
				s.process(ctx, batch, msgs)
				s.pause(ctx)
			})
		}
	}
}

// shares returns into how many parts the waiting tasks are divided, of which a batch takes one: as many as there are workers in the
// mesh. Otherwise some agents take all of a short queue, and the others are idle. Tasks of which a batch makes one request are not
// divided, nor those that only this agent takes, as the holder of a lease.
func (s *server[T]) shares(ctx context.Context) int {
	agents := s.mesh.Serving(s.queue.Name)
	if s.batched || agents == 1 || holds(ctx) {
		return 1
	}
	return agents * cap(s.turns)
}

// serveMemory processes tasks of a queue in memory until ctx ends.
func (s *server[T]) serveMemory(ctx context.Context, q *memoryQueue) {
	for {
		limit := 1
		if s.queue.MaxBatch > 1 {
			limit = maxMemoryTasks // take bounds the bytes
		}
		tasks := q.take(ctx, limit)
		if len(tasks) == 0 {
			return
		}
		size := len(tasks)
		if !s.batched {
			size = pipelineChunk
		}
		for chunk := range slices.Chunk(tasks, size) {
			deliveries := make([]delivery, len(chunk))
			for i, t := range chunk {
				deliveries[i] = delivery{Message: t.Message, since: t.since}
			}
			batch := newMessageBatch(nil, s.mesh.log)
			s.takeTurn(batch, func() {
				publish := s.step(Repeatable(ctx), batch, deliveries)
				for s.publish(ctx, batch, publish) != nil && sleep(ctx, time.Second) { // each message again: a duplicate is harmless
					s.mesh.log.Warn("publish failed, it is repeated", "role", s.queue.Name, "messages", len(publish))
				}
				s.mesh.memory.finish(q, chunk)
				s.pause(ctx)
			})
		}
	}
}

// pause waits, after a batch is settled, until a [Paced] actor is ready for the next, or until ctx ends.
func (s *server[T]) pause(ctx context.Context) {
	if paced, is := s.actor.(Paced); is {
		sleep(ctx, time.Until(paced.Next()))
	}
}

// leave publishes tasks that wait in memory when the workers stop, so that a process that stops in order repeats nothing.
func (s *server[T]) leave(ctx context.Context, waiting []subjects.Message) {
	if err := s.publish(ctx, newMessageBatch(nil, s.mesh.log), waiting); err != nil {
		s.mesh.log.Warn("tasks lost, they are repeated", "role", s.queue.Name, "tasks", len(waiting), "err", err)
	}
}

// job is a decoded task with its delivery.
type job[T subjects.Task] struct {
	delivery
	task T
}

// process runs the actor on the tasks of the messages and settles them. When ctx ends with the process, work
// in progress still finishes, unless it waits for a dependency.
//
// A redelivered message may have crashed its last agent. So that it does not take others with it again and again, its
// tasks are processed and settled in smaller batches with each attempt, at last alone, in random order and after those
// with fewer attempts. The tasks of such a bundle are published again as single messages.
func (s *server[T]) process(ctx context.Context, batch *messageBatch, msgs []jetstream.Msg) {
	fault.Point("taken " + s.queue.Name)
	var firstJobs, redeliveredJobs []job[T]
	for _, msg := range msgs {
		deliveries, jobs, err := s.decode(msg)
		switch {
		case len(deliveries) > 1 && (err != nil || redelivered(msg)):
			s.splitBundle(ctx, batch, deliveries)
		case err != nil:
			s.settle(ctx, batch, msg, err)
		case redelivered(msg):
			redeliveredJobs = append(redeliveredJobs, jobs...)
		default:
			batch.setDeliveries(msg, len(jobs))
			firstJobs = append(firstJobs, jobs...)
		}
	}
	chunkSize := max(1, len(firstJobs))
	if !s.batched {
		chunkSize = pipelineChunk
	}
	for chunk := range slices.Chunk(firstJobs, chunkSize) {
		s.processJobs(ctx, batch, chunk, s.outbox(s.joined))
	}
	for _, chunk := range s.redeliveredChunks(redeliveredJobs) {
		s.processJobs(ctx, batch, chunk, s.outbox(nil))
	}
}

// redeliveredChunks shuffles jobs that were delivered before, and divides them into the batches in which they are
// processed: a quarter of the size with each attempt, so that a task is alone before its deliveries end, and that an
// engine for which single tasks are slow does not get all of a large batch one by one.
func (s *server[T]) redeliveredChunks(jobs []job[T]) (chunks [][]job[T]) {
	rand.Shuffle(len(jobs), func(i, j int) { jobs[i], jobs[j] = jobs[j], jobs[i] })
	byAttempt := map[int][]job[T]{}
	for _, j := range jobs {
		byAttempt[attemptOf(j.msg)] = append(byAttempt[attemptOf(j.msg)], j)
	}
	for _, attempt := range slices.Sorted(maps.Keys(byAttempt)) {
		size := 1
		if s.batched {
			size = max(1, s.queue.MaxBatch>>(2*(attempt-1)))
		}
		chunks = slices.AppendSeq(chunks, slices.Chunk(byAttempt[attempt], size))
	}
	return chunks
}

// pipelineChunk is the number of tasks of a batch that pass through all joined steps together: enough to share
// the final publishes, few enough to bound the memory of their intermediate forms (documents, items, words).
const pipelineChunk = 32

// outbox returns a buffer for the follow-up tasks of a batch, or nil if the queue has no batches.
func (s *server[T]) outbox(joined func(subject string) bool) *outbox {
	if s.queue.MaxBatch < 2 {
		return nil
	}
	return &outbox{send: s.mesh.send, joined: joined}
}

// joined reports whether a follow-up task of the subject continues in this process.
func (s *server[T]) joined(subject string) bool {
	return s.mesh.pipeline.step(subject) != nil && s.mesh.joined(s.queue.Name, subjects.QueueOf(subject))
}

// decode decodes the tasks of a message. If one can't be decoded, it returns all deliveries and the error to
// settle with.
func (s *server[T]) decode(msg jetstream.Msg) (deliveries []delivery, jobs []job[T], err error) {
	if deliveries, err = deliveriesOf(msg); err != nil {
		return nil, nil, &permanentError{err}
	}
	for _, d := range deliveries {
		task, err := s.queue.Decode(d.Data)
		if errors.Is(err, subjects.ErrNewer) {
			err = deferToNewer(msg, err)
		} else if err != nil {
			err = &permanentError{err}
		}
		if err != nil {
			return deliveries, nil, err
		}
		jobs = append(jobs, job[T]{d, task})
	}
	return deliveries, jobs, nil
}

// splitBundle publishes the tasks of a bundle again as single messages, to be settled there.
func (s *server[T]) splitBundle(ctx context.Context, batch *messageBatch, deliveries []delivery) {
	messages := make([]subjects.Message, len(deliveries))
	for i, d := range deliveries {
		messages[i] = d.retry()
	}
	if err := s.publish(ctx, batch, messages); err != nil {
		s.settle(ctx, batch, deliveries[0].msg, err)
		return
	}
	s.ack(ctx, batch, []jetstream.Msg{deliveries[0].msg})
}

// publish publishes messages that follow from a batch, also if ctx ends meanwhile.
func (s *server[T]) publish(ctx context.Context, batch *messageBatch, messages []subjects.Message) error {
	if len(messages) == 0 {
		return nil
	}
	return s.withTimeout(context.WithoutCancel(ctx), batch, func(ctx context.Context) error { return s.mesh.send(ctx, messages) })
}

// processJobs runs the pipeline from this step on, publishes the remaining follow-up tasks, and settles the
// messages of the jobs.
func (s *server[T]) processJobs(ctx context.Context, batch *messageBatch, jobs []job[T], box *outbox) {
	messages, errs := s.runStep(ctx, batch, jobs, box)
	var done []delivery
	for i, err := range errs {
		if err == nil {
			done = append(done, jobs[i].delivery)
		} else {
			s.settle(ctx, batch, jobs[i].msg, err)
		}
	}
	s.complete(ctx, batch, done, s.publish(ctx, batch, messages))
}

// follow implements [followFunc].
func (s *server[T]) follow(ctx context.Context, batch *messageBatch, tasks []subjects.Message) (publish []subjects.Message) {
	deliveries := make([]delivery, len(tasks))
	for i, m := range tasks {
		deliveries[i] = delivery{Message: m}
	}
	return s.step(ctx, batch, deliveries)
}

// step runs this step of the pipeline, and the joined ones, on tasks without a message. It returns the messages to publish.
func (s *server[T]) step(ctx context.Context, batch *messageBatch, tasks []delivery) (publish []subjects.Message) {
	pprof.Do(ctx, pprof.Labels("role", s.queue.Name), func(ctx context.Context) {
		fault.Point("published " + s.queue.Name)
		fault.Point("taken " + s.queue.Name)
		jobs := make([]job[T], len(tasks))
		for i, d := range tasks {
			jobs[i] = job[T]{d, d.Task.(T)}
		}
		publish, _ = s.runStep(ctx, batch, jobs, s.outbox(s.joined))
		fault.Point("done " + s.queue.Name)
	})
	return publish
}

// runStep runs the actor on the jobs, and then the joined steps on their follow-up tasks. It returns the messages
// to publish: the remaining follow-up tasks, and failed tasks to be retried as single messages. errs contains the
// errors of the jobs that are single messages already, which are settled by them.
func (s *server[T]) runStep(ctx context.Context, batch *messageBatch, jobs []job[T], box *outbox) (publish []subjects.Message, errs []error) {
	errs = s.perform(ctx, batch, box, jobs)
	for i, err := range errs {
		d := jobs[i].delivery
		if err == nil || d.Single {
			continue
		}
		errs[i] = nil
		if log := s.mesh.log.With("role", s.queue.Name, "task", d.ID, "err", err); verdict(err) == "dropped" {
			log.Info("task discarded")
		} else {
			log.Warn("task failed, retry as a single message")
			publish = append(publish, d.retry())
		}
	}
	if box == nil {
		return publish, errs
	}
	return append(publish, s.mesh.pipeline.run(ctx, batch, box.drain())...), errs
}

// perform runs the actor on the jobs and returns the error of each. A failed batch is retried in halves, so that a
// bad task fails alone after few attempts, and a batch that was too large for the timeout succeeds in parts.
func (s *server[T]) perform(ctx context.Context, batch *messageBatch, outbox *outbox, jobs []job[T]) []error {
	chunkSize := 1
	if s.batched {
		chunkSize = len(jobs)
	}
	errs := make([]error, 0, len(jobs))
	var retry *retryError
	for chunk := range slices.Chunk(jobs, chunkSize) {
		var err error
		if retry != nil && ctx.Err() != nil {
			err = retry // a dependency is unavailable and the process stops: leave all to another agent
		} else {
			err = s.attempt(ctx, batch, outbox, chunk)
		}
		if isRetry := errors.As(err, &retry); err != nil && !isRetry && len(chunk) > 1 {
			for half := range slices.Chunk(chunk, (len(chunk)+1)/2) {
				errs = append(errs, s.perform(ctx, batch, outbox, half)...)
			}
			continue
		}
		for range chunk {
			errs = append(errs, err)
		}
		if err == nil {
			s.mesh.done.Add(uint64(len(chunk)))
		}
	}
	return errs
}

// complete records that deliveries are done, or failed with err, and settles the messages without pending
// deliveries.
func (s *server[T]) complete(ctx context.Context, batch *messageBatch, deliveries []delivery, err error) {
	var completed []jetstream.Msg
	for _, d := range deliveries {
		switch last, err := batch.complete(d.msg, err); {
		case last && err == nil:
			completed = append(completed, d.msg)
		case last:
			s.settle(ctx, batch, d.msg, err)
		}
	}
	s.ack(ctx, batch, completed)
}

// unavailableRetry is the delay between retries while a dependency is unavailable.
const unavailableRetry = 2 * time.Second

// attempt runs the actor on the jobs. While a dependency is unavailable, the jobs wait here without further
// deliveries, and the worker fetches nothing else. So an outage of the store of an hour puts nothing into
// quarantine, and each worker retries only once every unavailableRetry.
func (s *server[T]) attempt(ctx context.Context, batch *messageBatch, outbox *outbox, jobs []job[T]) (err error) {
	tasks, deliveries := make([]T, len(jobs)), make([]delivery, len(jobs))
	for i, j := range jobs {
		tasks[i], deliveries[i] = j.task, j.delivery
	}
	ctx, spans := s.startSpans(withSchema(ctx, deliveries), deliveries)
	defer func() { spans.end(err) }()
	mark := 0
	if outbox != nil {
		ctx, mark = withOutbox(ctx, outbox), outbox.count()
	}
	log := s.mesh.logOf(ctx)
	for waited := false; ; waited = true {
		err := s.attemptOnce(context.WithoutCancel(ctx), batch, tasks)
		if err != nil && outbox != nil {
			outbox.truncate(mark)
		}
		if s.mesh.unavailable == nil || !s.mesh.unavailable(err) {
			if waited {
				log.Info("dependency recovered", "role", s.queue.Name)
			}
			return err
		}
		if !waited {
			log.Warn("dependency unavailable, task waits", "role", s.queue.Name, "err", err)
		}
		if err := s.extend(ctx, batch); err != nil {
			return err
		}
		if !sleep(ctx, unavailableRetry) {
			return RetryAfter(time.Second, err) // to another agent
		}
	}
}

// attemptOnce calls the actor and measures its time. If the worker belongs to the holder of a lease that is lost, the
// tasks are the next holder's: this actor may have ignored them, because its state is older than they are.
func (s *server[T]) attemptOnce(ctx context.Context, batch *messageBatch, tasks []T) error {
	started := time.Now()
	err := s.withTimeout(ctx, batch, func(ctx context.Context) error { return callActor(ctx, s.actor, tasks) })
	if lost := checkLease(ctx); lost != nil {
		err = RetryAfter(time.Second, errors.Join(lost, err))
	}
	s.mesh.metrics.seconds.WithLabelValues(s.queue.Name, verdict(err)).Observe(time.Since(started).Seconds())
	return err
}

// withTimeout calls do with the queue's Timeout, and extends the AckWait of the batch before that and meanwhile, where it is time:
// the attempts at the tasks of a batch may be short, and together longer than AckWait. If the batch expires, it cancels do and
// returns errExpired.
func (s *server[T]) withTimeout(ctx context.Context, batch *messageBatch, do func(context.Context) error) error {
	if s.expired(batch) {
		return errExpired
	}
	if batch.untilExtension(s.queue.AckWait) <= 0 {
		if err := s.extend(ctx, batch); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, s.queue.Timeout)
	var heartbeat errgroup.Group
	heartbeat.Go(func() error {
		for sleep(ctx, batch.untilExtension(s.queue.AckWait)) {
			if err := s.extend(ctx, batch); err != nil {
				cancel()
				return err
			}
		}
		return nil
	})
	err := do(ctx)
	cancel()
	if expired := heartbeat.Wait(); err != nil && expired != nil {
		return expired
	}
	return err
}

// exclusive reports whether the tasks are exclusive, and another process could get them.
func (s *server[T]) exclusive() bool { return s.queue.Exclusive && !s.mesh.alone }

// expired reports whether the server may give the exclusive tasks of a batch to another process.
func (s *server[T]) expired(batch *messageBatch) bool {
	return s.exclusive() && batch.expired(s.queue.AckWait)
}

// extend restarts the AckWait of the batch. For exclusive tasks it waits for the server's confirmation, and returns errExpired
// if that does not come in time.
func (s *server[T]) extend(ctx context.Context, batch *messageBatch) error {
	if s.exclusive() {
		return batch.confirmAckWait(ctx, s.mesh.conn, s.queue.AckWait)
	}
	batch.extendAckWait()
	return nil
}

// permanentError is an error that each retry would repeat.
type permanentError struct{ error }

// settleTimeout is the timeout of the server's confirmation of an acknowledgement.
const settleTimeout = 10 * time.Second

// ack acknowledges messages. It waits for the confirmation of the last acknowledgement, which implies
// the others.
func (s *server[T]) ack(ctx context.Context, batch *messageBatch, msgs []jetstream.Msg) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	for i, msg := range msgs {
		fault.Point("done " + s.queue.Name)
		var err error
		switch {
		case fault.Redeliver() && !redelivered(msg): // a second random redelivery could use up MaxDeliver
			err = msg.Nak()
		case i < len(msgs)-1:
			err = msg.Ack()
		default:
			err = msg.DoubleAck(ctx)
		}
		batch.remove(msg, err)
	}
}

// settle settles a message that was not done, by its error: terminate, quarantine, or redeliver after a
// delay. An exclusive task that the server redelivers by itself is left as it is.
func (s *server[T]) settle(ctx context.Context, batch *messageBatch, msg jetstream.Msg, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	ctx = trace.Join(ctx, msg.Headers())
	attempt := attemptOf(msg)
	log := s.mesh.logOf(ctx).With("role", s.queue.Name, "subject", msg.Subject(), "attempt", attempt)

	var discard *discardError
	var retry *retryError
	var permanent *permanentError
	var failed error
	switch {
	case s.expired(batch), s.exclusive() && !s.mesh.conn.IsConnected():
		// The client would send a rejection when it is connected again: it would end the attempt of another process.
		log.Info("task left to another attempt", "err", err)
	case errors.As(err, &discard):
		log.Info("task discarded", "err", err)
		failed = msg.TermWithReason(firstLine(err))
	case errors.As(err, &permanent), attempt >= s.queue.MaxDeliver:
		log.Error("task quarantined", "err", err)
		failed = quarantineTask(ctx, s.mesh.client, quarantinedMessage(msg, s.queue.Name, attempt, err))
		if failed == nil {
			failed = msg.TermWithReason(firstLine(err))
		}
	case errors.As(err, &retry):
		log.Debug("task delayed", "delay", retry.delay, "err", err)
		failed = msg.NakWithDelay(retry.delay)
	default:
		delay := s.queue.Delay(attempt)
		log.Warn("task failed", "delay", delay, "err", err)
		failed = msg.NakWithDelay(delay)
	}
	batch.remove(msg, failed)
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
