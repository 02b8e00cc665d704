package subjects

import "time"

// The queues. Leases are some ten times what an attempt takes when all is well.
// Bounds keep all of them under 1 GB on disk; a full queue makes its publishers
// wait, up to the schedule, which then hands out less.
var (
	Crawls = Queue[Crawl]{
		Name: "crawl", Lanes: Tiers, Lane: func(t Crawl) string { return t.Tier },
		// 100 feeds that all time out after 30 s, one host's after another's.
		Lease: 10 * time.Minute, Silence: 20 * time.Second,
		Tries: 5, BackOff: soon, MaxTasks: 2_000, MaxBytes: 64 << 20,
	}
	Parses   = documents(Queue[Parse]{Name: "parse"})
	Prepares = documents(Queue[Prepare]{Name: "prepare", Direct: true})
	Pages    = Queue[Page]{
		// One at a time: a document's pages take minutes, and others wait behind them.
		Name: "pages", Lease: 5 * time.Minute, Silence: 20 * time.Second,
		Tries: 8, BackOff: patient, MaxTasks: 20_000, MaxBytes: 64 << 20,
	}
	Classifys = documents(Queue[Classify]{Name: "classify", Direct: true})
	Clusters  = documents(Queue[Cluster]{
		Name: "cluster", Lanes: Languages, Lane: func(t Cluster) string { return t.Lane }, Direct: true,
	})
	// Not direct: were an agent to die when it has stored items and before it says so,
	// a document read again would show nothing new, and they would never be indexed.
	Stores  = documents(Queue[Store]{Name: "store"})
	Indexes = Queue[Index]{
		Name: "index", Lease: 5 * time.Minute, Silence: 10 * time.Second,
		Tries: 8, BackOff: patient, Hand: 1_000, MaxTasks: 100_000, MaxBytes: 64 << 20,
	}
	Observes = Queue[Observe]{
		Name: "observe", Lease: time.Minute, Silence: 10 * time.Second,
		Tries: 8, BackOff: soon, Hand: 200, MaxTasks: 100_000, MaxBytes: 64 << 20,
	}
	GiveUps = Queue[GiveUp]{
		Name: "giveups", From: "$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.>",
		Lease: time.Minute, Silence: 20 * time.Second,
		Tries: 100, BackOff: patient, MaxTasks: 100_000, MaxBytes: 16 << 20,
	}
)

// soon suits work that fails because of what it is given; patient, work that
// fails because an engine is away, which may take minutes.
var (
	soon    = []time.Duration{time.Second, 5 * time.Second, 30 * time.Second}
	patient = []time.Duration{time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute, 5 * time.Minute}
)

// documents completes a queue whose tasks carry documents. A server that dies takes
// what is on its way to a worker with it, a whole hand: at each of the four roles in
// a row such a document waits out the silence.
func documents[T Task](q Queue[T]) Queue[T] {
	q.Lease, q.Silence = 5*time.Minute, 10*time.Second
	q.Tries, q.BackOff, q.Hand = 8, patient, 32
	q.MaxTasks, q.MaxBytes = 20_000, 128<<20
	return q
}
