package subjects

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// QuarantineStream is the name of the stream of quarantined tasks.
const QuarantineStream = "quarantine"

// InFlight is how long the schedule waits for word of a feed it handed out
// before it takes it for lost and hands it out again. Within that time the
// same crawl task is queued only once.
const InFlight = 15 * time.Minute

// Declare creates the streams and buckets of the mesh, or brings those there
// are up to date, with the given number of replicas each or more. What is as it
// should be is left alone, so that an agent that may not change streams can live
// with those of others.
func Declare(ctx context.Context, js jetstream.JetStream, replicas int) error {
	for _, want := range streams(replicas) {
		stream, err := js.Stream(ctx, want.Name)
		if err == nil && stream.CachedInfo().Config.Storage == jetstream.MemoryStorage && want.Storage == jetstream.FileStorage {
			// That can't be changed. It is about the living, who say it again.
			if err = js.DeleteStream(ctx, want.Name); err == nil {
				err = jetstream.ErrStreamNotFound
			}
		}
		switch {
		case errors.Is(err, jetstream.ErrStreamNotFound):
			_, err = js.CreateStream(ctx, want)
			if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
				err = nil // another agent was faster
			}
		case err == nil:
			have := stream.CachedInfo().Config
			if brought := upToDate(have, want); !reflect.DeepEqual(brought, have) {
				_, err = js.UpdateStream(ctx, brought)
			}
		}
		if err != nil {
			return fmt.Errorf("declare stream %s: %w", want.Name, err)
		}
	}
	return nil
}

// upToDate returns the configuration of a stream with all that we say of it as
// it is wanted, in the words of the server. It keeps replicas that are more than
// wanted: who wants fewer may not see the whole cluster.
func upToDate(have, want jetstream.StreamConfig) jetstream.StreamConfig {
	unlimited := func(n int64) int64 {
		if n == 0 {
			return -1
		}
		return n
	}
	have.Description, have.Subjects = want.Description, want.Subjects
	have.MaxAge, have.Discard, have.Duplicates = want.MaxAge, want.Discard, want.Duplicates
	have.MaxMsgs, have.MaxBytes = unlimited(want.MaxMsgs), unlimited(want.MaxBytes)
	have.MaxMsgSize = int32(unlimited(int64(want.MaxMsgSize)))
	have.MaxMsgsPerSubject = unlimited(want.MaxMsgsPerSubject)
	have.AllowRollup, have.AllowDirect, have.AllowAtomicPublish = want.AllowRollup, want.AllowDirect, want.AllowAtomicPublish
	have.Replicas = max(have.Replicas, want.Replicas)
	return have
}

// MaxBytes returns what all streams and buckets may take on disk, together.
func MaxBytes() int64 {
	var sum int64
	for _, cfg := range streams(1) {
		if cfg.Storage == jetstream.FileStorage {
			sum += cfg.MaxBytes
		}
	}
	return sum
}

func streams(replicas int) []jetstream.StreamConfig {
	// Leases and agents are about the living only: one server needs no disk for
	// them. Several do. A server that comes back with an empty memory may vote
	// for another such one, until no copy is right and the bucket stands still.
	living := jetstream.MemoryStorage
	if replicas > 1 {
		living = jetstream.FileStorage
	}
	all := []jetstream.StreamConfig{
		Crawls.stream(), Parses.stream(), Pages.stream(), Prepares.stream(), Classifys.stream(),
		Clusters.stream(), Stores.stream(), Indexes.stream(), Observes.stream(), GiveUps.stream(),
		{
			Name:        QuarantineStream,
			Description: "tasks that failed all their tries, whole, with why",
			Subjects:    []string{quarantinePrefix + ">"},
			MaxAge:      30 * 24 * time.Hour,
			MaxBytes:    256 << 20,
			// The oldest goes first: a person has had the longest time for it.
			Discard: jetstream.DiscardOld,
			// A task comes here by the actor's word and by the server's.
			Duplicates: 10 * time.Minute,
		},
		{
			Name:        EventStream,
			Description: "what happened, for those who listen",
			Subjects:    []string{eventPrefix + ">"},
			MaxAge:      time.Hour,
			MaxBytes:    64 << 20,
			Discard:     jetstream.DiscardOld,
			Duplicates:  2 * time.Minute,
		},
		bucket(ScheduleBucket, "what the schedule knows of each feed", 1<<30, jetstream.FileStorage, 0),
		bucket(HostBucket, "what the schedule knows of each host", 256<<20, jetstream.FileStorage, 0),
		history(bucket(PollBucket, "the last polls of each feed", 512<<20, jetstream.FileStorage, 0), PollsKept),
		exact(bucket(SubscriptionBucket, "where feeds are pushed from", 64<<20, jetstream.FileStorage, 0)),
		forgetful(exact(bucket(AnswerBucket, "what requests that may come again were answered", 64<<20, jetstream.FileStorage, AnswerExpiry))),
		bucket(RuleBucket, "the rules in force", 32<<20, jetstream.FileStorage, 0),
		bucket(ProxyBucket, "what the schedule knows of each proxy", 16<<20, jetstream.FileStorage, ProxyExpiry),
		bucket(LeaseBucket, "who is the one active actor", 1<<20, living, 0),
		bucket(AgentBucket, "who is in the mesh", 8<<20, living, AgentExpiry),
	}
	for i := range all {
		all[i].Replicas = replicas
	}
	return all
}

// stream returns the configuration of the queue's stream.
func (q Queue[T]) stream() jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name:       q.Name,
		Subjects:   []string{q.all()},
		Retention:  jetstream.WorkQueuePolicy,
		Discard:    jetstream.DiscardNew, // the default drops the oldest without a word
		MaxMsgs:    q.MaxTasks,
		MaxBytes:   q.MaxBytes,
		MaxMsgSize: MaxMessage,
		Duplicates: InFlight,
	}
}

// all returns the subjects of the whole queue.
func (q Queue[T]) all() string {
	switch {
	case q.From != "":
		return q.From
	case q.Lanes != nil:
		return q.Name + ".*"
	}
	return q.Name
}

// Consumer returns the configuration of the one durable consumer that serves a
// lane of the queue, or the whole queue if lane is empty.
func (q Queue[T]) Consumer(lane string) jetstream.ConsumerConfig {
	name, filter := q.Name, q.all()
	if lane != "" {
		name, filter = q.Name+"-"+lane, q.inLane(lane)
	}
	return jetstream.ConsumerConfig{
		Durable:       name,
		FilterSubject: filter,
		AckPolicy:     jetstream.AckExplicitPolicy,
		// An attempt that goes silent is taken for dead after Silence, and a
		// task that agents keep dying of comes back slower each time.
		AckWait:    q.Silence,
		BackOff:    []time.Duration{q.Silence, q.Silence, 2 * q.Silence, 3 * q.Silence},
		MaxDeliver: q.Tries,
		// Above what may be waiting out its back-off: delayed tasks count.
		MaxAckPending:   10_000,
		MaxRequestBatch: 1_000,
	}
}

// exact has reads of a bucket answered as of the last write, by the one server
// that leads: others may lag, and a hub calls back the moment it was asked.
func exact(cfg jetstream.StreamConfig) jetstream.StreamConfig {
	cfg.AllowDirect = false
	return cfg
}

// history has a bucket keep the last n values of each key: nothing depends on
// them.
func history(cfg jetstream.StreamConfig, n int64) jetstream.StreamConfig {
	cfg.MaxMsgsPerSubject = n
	return forgetful(cfg)
}

// forgetful has a bucket drop the oldest values when it is full.
func forgetful(cfg jetstream.StreamConfig) jetstream.StreamConfig {
	cfg.Discard = jetstream.DiscardOld
	return cfg
}

// bucket returns the configuration of the stream behind a key-value bucket
// (NATS ADR-8). We make it ourselves because only so it takes atomic batches.
func bucket(name, what string, maxBytes int64, storage jetstream.StorageType, expiry time.Duration) jetstream.StreamConfig {
	cfg := jetstream.StreamConfig{
		Name:               "KV_" + name,
		Description:        what,
		Subjects:           []string{keyPrefix(name) + ">"},
		MaxMsgsPerSubject:  1,
		MaxBytes:           maxBytes,
		MaxAge:             expiry,
		Discard:            jetstream.DiscardNew,
		Storage:            storage,
		AllowRollup:        true,
		DenyDelete:         true,
		AllowDirect:        true,
		AllowAtomicPublish: storage == jetstream.FileStorage,
		Duplicates:         2 * time.Minute,
	}
	if expiry > 0 {
		cfg.Duplicates = min(expiry, cfg.Duplicates)
	}
	return cfg
}
