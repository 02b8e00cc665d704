package capacity

import (
	"slices"

	"feedmesh/agent/role/cluster"
)

// A Cost is a measured or assumed figure from which plans are computed.
type Cost struct {
	Name   string  `json:"name"` // as formulas name it
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
	Source string  `json:"source"`
}

// The costs. Where a source starts with "bench", `just bench NAME` measures it, on one machine of two cores that runs the
// servers as well.
var (
	pollsADay = Cost{"polls a day", DefaultPollsADay, "of a feed", "bench steady: 40 polls/s of 50,000 feeds, policy price"}
	itemsADay = Cost{"items a day", DefaultItemsADay, "of a feed", "bench steady: its setting, of which 1.6 to 2.7 arrive"}
	hostFeeds = Cost{"feeds of a host", 10, "feeds", "bench steady: its setting"}

	utilisation = Cost{"utilisation", 60, "% of a core", "assumed: the rest is for peaks, searches and retries"}
	machine     = Cost{"machine", 2, "cores", "the machine of the measurements"}

	pollCPU        = Cost{"poll", 464, "us CPU", "bench sweep: unchanged polls, one node"}
	pollSchedule   = Cost{"poll in schedule", 67, "us CPU", "bench steady: role schedule 0.235 % of a core at 35.2 polls/s"}
	pollNATS       = Cost{"poll in NATS", 64, "us CPU", "bench sweep, 2026-11-22: NATS server, unchanged polls whose tasks were messages"}
	itemAgents     = Cost{"item in agents", 2.45, "ms CPU", "bench mesh: first sweep, one agent on PostgreSQL and Meilisearch"}
	itemNATS       = Cost{"item in NATS", 0.425, "ms CPU", "bench mesh: the same"}
	itemStore      = Cost{"item in PostgreSQL", 0.690, "ms CPU", "bench mesh: the same"}
	itemSearch     = Cost{"item in Meilisearch", 3.11, "ms CPU", "bench mesh: the same"}
	single         = Cost{"single item", 3.15, "times", "bench mesh: one new item in each feed 21.0 ms, first sweep 6.67 ms an item, all processes"}
	fetchTime      = Cost{"time of a fetch", 1, "s", "assumed"}
	pollMessages   = Cost{"messages of a poll", 2, "messages", "queues crawl and observe, before tasks are bundled"}
	itemMessages   = Cost{"messages of an item", 8, "messages", "queues parse, prepare, classify, cluster, store, index, views and an event, before tasks are bundled"}
	largestShare   = Cost{"largest language", 50, "% of items", "assumed"}
	eventItems     = Cost{"items of an event", 2, "items", "bench endurance: 2.0 in Russian, 3.0 in English, generated feeds"}
	maxPolls       = Cost{"polls of a partition", 4400, "polls/s", "bench sweep: the most measured of one schedule"}
	partitionFeeds = Cost{"feeds of a partition", 1e6, "feeds", "BenchmarkMillion in agent/role/schedule/plan; its part of the buckets has room for them"}
	maxIndexed     = Cost{"items of a Meilisearch", 469, "items/s", "bench mesh: items searchable, one agent, all servers on two cores"}
	smallBatch     = Cost{"batch of few items", 1.84, "s CPU", "bench search: a single item in a full index of Meilisearch"}
	maxSearched    = Cost{"items in Meilisearch", 1e6, "items", "bench search: the most measured in Meilisearch"}
	maxStored      = Cost{"items of a store", 3e6, "items", "bench growth: the most measured, in SQLite and Bleve"}
	maxWindow      = Cost{"events of a language", 750_000, "events", "bench stories: the most measured of one language in the window"}
	maxNode        = Cost{"feeds of one node", 50_000, "feeds", "bench steady: 19 % of a core, 0.9 GB of memory"}
	maxNodeItems   = Cost{"items of one node", 17, "items/s", "bench endurance: 30 % of a core"}

	agentMemory = Cost{"idle agent", 140e6, "bytes", "bench idle: memory without a restart"}
	feedMemory  = Cost{"feed in memory", 1830, "bytes", "bench schedule: the most of a partition of 625,000 feeds, free heap included"}
	itemMemory  = Cost{"item in memory", cluster.ItemBytes, "bytes", "agent/role/cluster, ItemBytes"}
	eventMemory = Cost{"event in memory", cluster.EventBytes, "bytes", "bench stories: 1.9 to 2.6 KB with its items, and a reserve"}
	itemFile    = Cost{"item in files of the window", 250, "bytes", "agent/role/cluster, ItemBytes"}
	cached      = Cost{"cached", 10, "% of the disk", "assumed"}

	stateDisk  = Cost{"state of a feed", 620, "bytes", "bench endurance: bucket schedule"}
	hostDisk   = Cost{"record of a host", 800, "bytes", "bench endurance: bucket hosts"}
	storeDisk  = Cost{"item on disk of PostgreSQL", 2200, "bytes", "bench endurance: SQLite; not measured in PostgreSQL"}
	indexDisk  = Cost{"item on disk of Meilisearch", 39_000, "bytes", "10,000 generated items of 150 to 400 words, in batches of 2,000"}
	pollWrites = Cost{"written for a poll", 343, "bytes", "bench sweep: unchanged polls, one node"}
	itemWrites = Cost{"written for an item", 53_760, "bytes", "bench sweep: one new item in each feed, one node"}

	unchangedSize = Cost{"unchanged answer", 1000, "bytes", "assumed: headers of request and response"}
	documentSize  = Cost{"document", 20_000, "bytes", "assumed: compressed"}
)

// roleCosts are the parts of the roles in the agents' CPU for an item.
var roleCosts = []Cost{
	{"role crawl", 0.719, "ms CPU", roleSource},
	{"role parse", 1.05, "ms CPU", roleSource},
	{"role prepare", 0.236, "ms CPU", roleSource},
	{"role classify", 0.455, "ms CPU", roleSource},
	{"role cluster", 0.411, "ms CPU", roleSource},
	{"role store", 0.636, "ms CPU", roleSource},
	{"role index", 0.236, "ms CPU", roleSource},
}

const roleSource = "bench sweep: one new item in each feed, CPU by role"

// Costs returns all costs.
func Costs() []Cost {
	return slices.Concat([]Cost{
		pollsADay, itemsADay, hostFeeds, utilisation, machine,
		pollCPU, pollSchedule, pollNATS, itemAgents, itemNATS, itemStore, itemSearch, single,
	}, roleCosts, []Cost{
		fetchTime, pollMessages, itemMessages, agentMemory, feedMemory, itemMemory, eventMemory, itemFile, cached,
		stateDisk, hostDisk, storeDisk, indexDisk, pollWrites, itemWrites, unchangedSize, documentSize,
		largestShare, eventItems, maxPolls, partitionFeeds, smallBatch, maxIndexed, maxSearched, maxWindow, maxStored, maxNode, maxNodeItems,
	})
}
