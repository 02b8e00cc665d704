package subjects

import (
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// The queues. Timeouts are about ten times the duration of a normal attempt. The bounds keep all queues
// together under 1 GB on disk. A full queue blocks its publishers, up to the schedule, which then dispatches
// fewer feeds.
var (
	CrawlQueue = Queue[Crawl]{
		Name: "crawl", Partitions: Tiers, Nested: true, Partition: func(t Crawl) string { return CrawlPartition(t.Tier, t.Region) },
		// 100 feeds of one host that all time out after 30 s, one after another.
		Exclusive: true, Timeout: 10 * time.Minute, AckWait: 20 * time.Second,
		MaxDeliver: 5, BackOff: shortBackoff, MaxTasks: 2_000, MaxBytes: 64 << 20, InMemory: MemoryWaits,
	}
	ParseQueue   = documentQueue(Queue[Parse]{Name: "parse", InMemory: MemoryWaits})
	PrepareQueue = documentQueue(Queue[Prepare]{Name: "prepare", AllowLocal: true})
	PageQueue    = Queue[Page]{
		// One at a time: the pages of a document take minutes, and further documents of a batch would wait
		// behind them.
		Name: "pages", Exclusive: true, Timeout: 5 * time.Minute, AckWait: 20 * time.Second,
		MaxDeliver: 8, BackOff: longBackoff, MaxTasks: 20_000, MaxBytes: 64 << 20,
	}
	ClassifyQueue = documentQueue(Queue[Classify]{Name: "classify", AllowLocal: true})
	ClusterQueue  = documentQueue(Queue[Cluster]{
		Name: "cluster", Partitions: Languages, Partition: func(t Cluster) string { return t.Partition }, AllowLocal: true,
	})
	// No local delivery: if an agent crashed after it stored items and before it published their index task,
	// a retry of the document's parse would find no new items, and they would be indexed late: by the comparison of
	// the index with the store. A process that has the server for itself begins with that comparison, and with that of
	// the views.
	StoreQueue = documentQueue(Queue[Store]{Name: "store", InMemory: MemoryWaits})
	IndexQueue = Queue[Index]{
		Name: "index", Timeout: 5 * time.Minute, AckWait: 10 * time.Second,
		MaxDeliver: 8, BackOff: longBackoff, MaxBatch: 1_000, MaxTasks: 100_000, MaxBytes: 64 << 20, InMemory: MemorySpills,
	}
	ViewQueue = Queue[View]{
		Name: "views", Timeout: 5 * time.Minute, AckWait: 10 * time.Second,
		MaxDeliver: 8, BackOff: longBackoff, MaxBatch: 50, MaxTasks: 100_000, MaxBytes: 64 << 20, InMemory: MemorySpills,
	}
	ObserveQueue = Queue[Observe]{
		Name: "observe", Partition: func(t Observe) string { return PartitionName(t.partition()) }, Unlisted: true, Timeout: time.Minute, AckWait: 10 * time.Second,
		MaxDeliver: 8, BackOff: shortBackoff, MaxBatch: 200, MaxTasks: 100_000, MaxBytes: 64 << 20, InMemory: MemoryWaits,
	}
	DeadLetterQueue = Queue[DeadLetter]{
		Name: "giveups", Source: "$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.>",
		Timeout: time.Minute, AckWait: 20 * time.Second,
		MaxDeliver: 100, BackOff: longBackoff, MaxTasks: 100_000, MaxBytes: 16 << 20,
	}
)

// queues is the table of all queues, in the order in which an item passes them.
var queues = []interface {
	stream() jetstream.StreamConfig
	timeout() time.Duration
}{
	CrawlQueue, ParseQueue, PageQueue, PrepareQueue, ClassifyQueue, ClusterQueue, StoreQueue, IndexQueue, ViewQueue, ObserveQueue, DeadLetterQueue,
}

// QueueNames lists the queues that roles serve, in the order of the table.
var QueueNames = queueNames()

// TimeoutOf returns the timeout of a queue's tasks, or 0 for an unknown queue.
func TimeoutOf(queue string) time.Duration {
	for _, q := range queues {
		if q.stream().Name == queue {
			return q.timeout()
		}
	}
	return 0
}

func queueNames() (names []string) {
	for _, q := range queues {
		if name := q.stream().Name; name != DeadLetterQueue.Name {
			names = append(names, name)
		}
	}
	return names
}

// MaxPageAge is the age at which a document continues without the pages of its entries.
const MaxPageAge = 5 * time.Minute

// shortBackoff is for work whose failures depend on its input; longBackoff is for work that fails while an
// engine is unavailable, which may last minutes.
var (
	shortBackoff = []time.Duration{time.Second, 5 * time.Second, 30 * time.Second}
	longBackoff  = []time.Duration{time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute, 5 * time.Minute}
)

// documentQueue sets the timeouts and bounds of a queue whose tasks carry documents. When a server crashes,
// the batches in transit to workers are lost and redelivered after AckWait; that can happen at each of the
// four roles in a row.
func documentQueue[T Task](q Queue[T]) Queue[T] {
	q.Timeout, q.AckWait = 5*time.Minute, 10*time.Second
	q.MaxDeliver, q.BackOff, q.MaxBatch = 8, longBackoff, 32
	q.MaxTasks, q.MaxBytes = 20_000, 128<<20
	return q
}
