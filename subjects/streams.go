package subjects

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// QuarantineStream is the name of the stream of quarantined tasks.
const QuarantineStream = "quarantine"

// InFlightTimeout is the timeout of the report of a dispatched feed, after which the schedule considers it lost and
// dispatches it again. Within that time the same crawl task is queued only once.
const InFlightTimeout = 15 * time.Minute

// Declare creates the streams and buckets of the mesh, or updates them, with at least the given number of
// replicas. It does not touch streams that are up to date, so an agent without the permission to change
// streams can use existing ones.
//
// A schedule bucket that it creates has the given number of partitions: see [Partitions].
func Declare(ctx context.Context, js jetstream.JetStream, replicas, partitions int) error {
	switch n, err := Partitions(ctx, js); {
	case err == nil:
		partitions = n
	case !errors.Is(err, jetstream.ErrStreamNotFound):
		return err
	}
	for _, want := range streams(replicas, partitions) {
		if want.Name == "KV_"+ScheduleBucket {
			want.Metadata = map[string]string{partitionsKey: strconv.Itoa(partitions)}
		}
		stream, err := js.Stream(ctx, want.Name)
		if err == nil && stream.CachedInfo().Config.Storage == jetstream.MemoryStorage && want.Storage == jetstream.FileStorage {
			// The storage type can't be changed. The contents are heartbeats and leases, which agents write
			// again.
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
			if merged := mergeConfig(have, want); !reflect.DeepEqual(merged, have) {
				_, err = js.UpdateStream(ctx, merged)
			}
		}
		if err != nil {
			return fmt.Errorf("declare stream %s: %w", want.Name, err)
		}
	}
	return nil
}

// mergeConfig returns the server's configuration of a stream with our settings applied, in the server's
// representation of unlimited values. It keeps a larger number of replicas: an agent that requests fewer may
// not see the whole cluster.
func mergeConfig(have, want jetstream.StreamConfig) jetstream.StreamConfig {
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

// MaxBytes returns the maximum size of all streams and buckets together on disk, of a schedule with as many partitions.
func MaxBytes(partitions int) int64 {
	var sum int64
	for _, cfg := range streams(1, partitions) {
		if cfg.Storage == jetstream.FileStorage {
			sum += cfg.MaxBytes
		}
	}
	return sum
}

// BucketBytes returns the maximum size of a bucket on disk, of a schedule with one partition, or 0 for an unknown bucket.
func BucketBytes(name string) int64 {
	for _, cfg := range streams(1, 1) {
		if cfg.Name == "KV_"+name {
			return cfg.MaxBytes
		}
	}
	return 0
}

func streams(replicas, partitions int) []jetstream.StreamConfig {
	// Leases and agents are heartbeats: with one server they stay in memory. A cluster stores them on disk,
	// because a server that restarts with empty memory may elect another empty one until no replica is valid
	// and the bucket is unusable.
	presence := jetstream.MemoryStorage
	if replicas > 1 {
		presence = jetstream.FileStorage
	}
	var all []jetstream.StreamConfig
	for _, q := range queues {
		all = append(all, q.stream())
	}
	all = append(all, []jetstream.StreamConfig{
		{
			Name:        QuarantineStream,
			Description: "tasks that failed all their tries, whole, with why",
			Subjects:    []string{quarantinePrefix + ">"},
			MaxAge:      30 * 24 * time.Hour,
			MaxBytes:    256 << 20,
			// The oldest task is discarded first, because users had the longest time to inspect it.
			Discard: jetstream.DiscardOld,
			// The actor's error and the server's advisory may both quarantine a task.
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
		bucket(ScheduleBucket, "what the schedule knows of each feed", int64(partitions)<<30, jetstream.FileStorage, 0),
		bucket(HostBucket, "what the schedule knows of each host", int64(partitions)*256<<20, jetstream.FileStorage, 0),
		withHistory(bucket(PollBucket, "the last polls of each feed", int64(partitions)*512<<20, jetstream.FileStorage, 0), MaxPolls),
		leaderReads(bucket(SubscriptionBucket, "where feeds are pushed from", 64<<20, jetstream.FileStorage, 0)),
		discardOld(leaderReads(bucket(ResponseBucket, "what requests that may come again were answered", 64<<20, jetstream.FileStorage, ResponseExpiry))),
		bucket(RuleBucket, "the rules in force", 32<<20, jetstream.FileStorage, 0),
		bucket(CordonBucket, "agents that get no leases or no tasks", 1<<20, jetstream.FileStorage, 0),
		bucket(ProxyBucket, "what the schedule knows of each proxy", 16<<20, jetstream.FileStorage, ProxyExpiry),
		bucket(LeaseBucket, "who is the one active actor", 1<<20, presence, 0),
		bucket(AgentBucket, "who is in the mesh", 8<<20, presence, AgentExpiry),
	}...)
	for i := range all {
		all[i].Replicas = replicas
	}
	return all
}

// stream returns the configuration of the queue's stream.
func (q Queue[T]) stream() jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name:       q.Name,
		Subjects:   q.sources(),
		Retention:  jetstream.WorkQueuePolicy,
		Discard:    jetstream.DiscardNew, // the default discards the oldest without an error
		MaxMsgs:    q.MaxTasks,
		MaxBytes:   q.MaxBytes,
		MaxMsgSize: MaxMessage,
		Duplicates: InFlightTimeout,
	}
}

// sources returns the subjects of the whole queue. Each has a consumer, or the schedule removes its tasks: a task of any other
// subject would stay in the queue for ever, so the server refuses it.
func (q Queue[T]) sources() []string {
	if q.Source != "" {
		return []string{q.Source}
	}
	if q.Unlisted {
		return []string{q.Name, q.partitionSubject("*")}
	}
	listed := q.Subjects("")
	if q.Nested {
		listed = append(listed, q.partitionSubject("*.*"))
	}
	return listed
}

// Consumer returns the configuration of the durable consumer of a partition of the queue, which is empty for a
// queue without partitions, and for tasks without one.
func (q Queue[T]) Consumer(partition string) jetstream.ConsumerConfig {
	name, filter := q.Name, q.sources()[0]
	if partition != "" {
		name, filter = q.Name+"-"+strings.ReplaceAll(partition, ".", "-"), q.partitionSubject(partition)
	}
	return jetstream.ConsumerConfig{
		Durable:       name,
		FilterSubject: filter,
		AckPolicy:     jetstream.AckExplicitPolicy,
		// An attempt without heartbeats is redelivered after AckWait. A task that repeatedly crashes agents
		// is redelivered with growing delays.
		AckWait:    q.AckWait,
		BackOff:    []time.Duration{q.AckWait, q.AckWait, 2 * q.AckWait, 3 * q.AckWait},
		MaxDeliver: q.MaxDeliver,
		// More than the tasks that wait for a delayed retry, which count as pending.
		MaxAckPending:   10_000,
		MaxRequestBatch: 1_000,
	}
}

// leaderReads makes the bucket's leader answer all reads, so that they return the last write. Replicas may
// lag, and a hub calls back immediately after the request of a subscription.
func leaderReads(cfg jetstream.StreamConfig) jetstream.StreamConfig {
	cfg.AllowDirect = false
	return cfg
}

// withHistory makes a bucket store the last n values of each key, and discard the oldest values when it is
// full.
func withHistory(cfg jetstream.StreamConfig, n int64) jetstream.StreamConfig {
	cfg.MaxMsgsPerSubject = n
	return discardOld(cfg)
}

// discardOld makes a bucket discard the oldest values when it is full.
func discardOld(cfg jetstream.StreamConfig) jetstream.StreamConfig {
	cfg.Discard = jetstream.DiscardOld
	return cfg
}

// bucket returns the configuration of the stream of a key-value bucket (NATS ADR-8). Buckets created by the
// client do not accept atomic batches, so their streams are declared here.
func bucket(name, description string, maxBytes int64, storage jetstream.StorageType, expiry time.Duration) jetstream.StreamConfig {
	cfg := jetstream.StreamConfig{
		Name:               "KV_" + name,
		Description:        description,
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
