// Package capacity estimates the machines that a mesh needs, by arithmetic from measured costs. A [Plan] contacts no
// mesh; its figures are formulas over the [Costs] and the constants of the program.
package capacity

import (
	"fmt"
	"math"
	"time"

	"feedmesh/config"
	"feedmesh/storage"
	"feedmesh/storage/meilisearch"
	"feedmesh/subjects"
)

// Uncertainty is how far measured figures are from those of another machine, in percent.
const Uncertainty = 30

// The defaults of a [Load].
const (
	DefaultPollsADay = 69
	DefaultItemsADay = 3
)

// The largest values of a [Load].
const (
	maxFeeds  = 1_000_000_000
	maxPerDay = 1440
)

// A Load describes the feeds of a mesh.
type Load struct {
	Feeds     int64        `json:"feeds"`
	PollsADay float64      `json:"pollsADay"` // of a feed
	ItemsADay float64      `json:"itemsADay"` // new items of a feed
	Keep      storage.Keep `json:"keep"`      // by age
}

// Validate returns the first error of the load.
func (l Load) Validate() error {
	switch {
	case l.Feeds < 1 || l.Feeds > maxFeeds:
		return fmt.Errorf("feeds: %d is not between 1 and %d; write the number of feeds, such as 50000", l.Feeds, maxFeeds)
	case !(l.PollsADay > 0 && l.PollsADay <= maxPerDay):
		return fmt.Errorf("polls-a-day: %v is not above 0 and at most %d; write the polls of a feed, such as 24 for one an hour", l.PollsADay, maxPerDay)
	case !(l.ItemsADay > 0 && l.ItemsADay <= maxPerDay):
		return fmt.Errorf("items-a-day: %v is not above 0 and at most %d; write the new items of a feed, such as 3", l.ItemsADay, maxPerDay)
	case l.Keep.Age == 0 || l.Keep.Items != 0:
		return fmt.Errorf("keep: a plan needs a time, not %v; write days, such as 90d", l.Keep)
	}
	return nil
}

// A Figure is a result of a plan.
type Figure struct {
	Part    string  `json:"part"` // of the mesh
	Name    string  `json:"name"`
	Value   float64 `json:"value"`
	Unit    string  `json:"unit"`
	Formula string  `json:"formula"` // over costs, constants and earlier figures
}

// A Plan is what a mesh needs for a load.
type Plan struct {
	Load     Load     `json:"load"`
	Figures  []Figure `json:"figures"` // the same ones for every load
	Notes    []string `json:"notes"`
	Warnings []string `json:"warnings"` // limits and measured maxima of the program that the load exceeds
}

// New returns the plan of a load. It returns the error of an invalid load.
func New(l Load) (*Plan, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	p := &planner{Plan: Plan{Load: l, Notes: []string{}, Warnings: []string{}}, window: config.Default().Cluster.Window}
	p.load()
	p.agents()
	p.memory()
	p.nats()
	p.engines()
	p.network()
	p.limits()
	return &p.Plan, nil
}

// A planner computes a plan. Its rates are set by load.
type planner struct {
	Plan
	window time.Duration // in which items are compared

	part                string
	feeds, hosts        float64
	polls, items        float64 // a second
	itemsOfDay, kept    float64
	windowItems, events float64
	partitions          float64 // of the schedule
}

const daySeconds = 24 * 60 * 60

func (p *planner) add(name string, value float64, unit, formula string) float64 {
	p.Figures = append(p.Figures, Figure{p.part, name, value, unit, formula})
	return value
}

func (p *planner) load() {
	p.part = "load"
	l := p.Plan.Load
	p.feeds = float64(l.Feeds)
	p.polls = p.add("polls", p.feeds*l.PollsADay/daySeconds, "/s", "feeds x polls a day / 86,400")
	p.itemsOfDay = p.add("new items a day", p.feeds*l.ItemsADay, "", "feeds x items a day")
	p.items = p.add("new items", p.itemsOfDay/daySeconds, "/s", "new items a day / 86,400")
	p.kept = p.add("items kept", p.itemsOfDay*l.Keep.Age.Hours()/24, "", "new items a day x days of --keep")
	p.windowItems = p.add("items in the window", p.items*p.window.Seconds(), "", fmt.Sprintf("new items x %v h x 3,600", p.window.Hours()))
	p.events = p.add("events in the window", p.windowItems/eventItems.Value, "", "items in the window / items of an event")
	p.hosts = p.feeds / hostFeeds.Value
}

// cores adds a figure of CPU seconds a second as cores.
func (p *planner) cores(name string, busy float64, formula string) float64 {
	return p.add(name, busy/(utilisation.Value/100), "cores", formula+" / utilisation")
}

// Units of costs, in seconds.
const (
	us = 1e-6
	ms = 1e-3
)

// agents adds the cores of agents by role.
func (p *planner) agents() {
	p.part = "agents"
	ofItems := p.add("CPU of items", p.items*itemAgents.Value*ms*single.Value, "cores", "new items x item in agents x single item")
	ofRoles := 0.0
	for _, c := range roleCosts {
		ofRoles += c.Value
	}
	all := p.cores("role schedule", p.polls*pollSchedule.Value*us, "polls x poll in schedule")
	for _, c := range roleCosts {
		busy, formula := ofItems*c.Value/ofRoles, "CPU of items x "+c.Name+" / sum of these roles"
		if c.Name == "role crawl" {
			busy, formula = busy+p.polls*pollCPU.Value*us, "(polls x poll + "+formula+")"
		}
		all += p.cores(c.Name, busy, formula)
	}
	p.add("all roles", all, "cores", "sum")
	p.partitions = p.add("--schedule-partitions", math.Exp2(math.Ceil(math.Log2(max(1, p.feeds/partitionFeeds.Value, p.polls/maxPolls.Value)))), "",
		"the larger of feeds / feeds of a partition and polls / polls of a partition, rounded up to a power of two")
	agents := p.add("agents", max(2, math.Ceil(all/machine.Value)), "", "all roles / cores of a machine, at least 2: one takes over from the other")
	parallel := config.Default().Crawl.Parallel
	p.add("--crawl-parallel", max(float64(parallel), math.Ceil(p.polls*fetchTime.Value/agents)), "", fmt.Sprintf("polls x time of a fetch / agents, at least its default, %d", parallel))
}

// memory adds the memory of agents.
func (p *planner) memory() {
	const window = "items in the window x item in memory + events in the window x event in memory"
	memory := p.windowItems*itemMemory.Value + p.events*eventMemory.Value
	p.add("--cluster-memory", max(float64(config.Default().Cluster.Memory), memory*largestShare.Value/100), "B", "largest language x ("+window+"), at least its default")
	p.add("memory of a partition of the schedule", agentMemory.Value+p.feeds/p.partitions*feedMemory.Value, "B", "idle agent + feeds / partitions x feed in memory")
	p.add("memory of role cluster", agentMemory.Value+memory, "B", "idle agent + "+window+": on one agent, if it is active for all languages")
	p.add("disk of role cluster", p.windowItems*itemFile.Value, "B", "items in the window x item in files of the window")
	p.add("memory of another agent", agentMemory.Value, "B", "idle agent")
}

// nats adds the figures of a NATS server. Each server of a cluster has a replica of everything.
func (p *planner) nats() {
	p.part = "each of 3 NATS servers"
	p.cores("cores", p.polls*pollNATS.Value*us+p.items*itemNATS.Value*ms*single.Value, "(polls x poll in NATS + new items x item in NATS x single item)")
	p.add("messages", p.polls*pollMessages.Value+p.items*itemMessages.Value, "/s", "at most polls x messages of a poll + new items x messages of an item")
	p.add("memory of buckets", p.feeds*stateDisk.Value+p.hosts*hostDisk.Value, "B", "at most feeds x state of a feed + feeds / feeds of a host x record of a host")
	p.add("disk", float64(subjects.MaxBytes(int(p.partitions))), "B", "at most the limits of all streams and buckets")
}

// engines adds the figures of PostgreSQL and Meilisearch.
func (p *planner) engines() {
	for _, e := range []struct {
		name      string
		cpu, disk Cost
	}{{"PostgreSQL", itemStore, storeDisk}, {"Meilisearch", itemSearch, indexDisk}} {
		p.part = e.name
		p.cores("cores", p.items*e.cpu.Value*ms*single.Value, "new items x "+e.cpu.Name+" x single item")
		if e.name == "Meilisearch" {
			p.cores("cores for small batches", min(1, p.items*smallBatch.Value), "at most 1: new items x batch of few items")
			p.add("indexes", math.Ceil(p.kept/meilisearch.PartSize), "", fmt.Sprintf("items kept / %s, rounded up", Number(meilisearch.PartSize)))
		}
		p.add("disk by day", p.itemsOfDay*e.disk.Value, "B", "new items a day x "+e.disk.Name)
		disk := p.add("disk with --keep", p.kept*e.disk.Value, "B", "items kept x "+e.disk.Name)
		p.add("memory", disk*cached.Value/100, "B", "disk with --keep x cached")
	}
}

// network adds the traffic with hosts of feeds and between the servers, and the bytes written.
func (p *planner) network() {
	p.part = "traffic"
	const bits = 8
	p.add("from feeds, at least", (p.polls*unchangedSize.Value+p.items*documentSize.Value)*bits, "bit/s", "8 x (polls x unchanged answer + new items x document)")
	p.add("from feeds, at most", p.polls*documentSize.Value*bits, "bit/s", "8 x polls x document: no host answers 304")
	p.add("written a day", daySeconds*(p.polls*pollWrites.Value+p.items*itemWrites.Value), "B", "86,400 x (polls x written for a poll + new items x written for an item), as on one node: replicas come on top")
}

// limits adds notes and warnings.
func (p *planner) limits() {
	if p.feeds <= maxNode.Value && p.items <= maxNodeItems.Value {
		p.Notes = append(p.Notes, "one agent without servers is enough for these rates: see the costs feeds of one node and items of one node")
	}
	p.warnAbove(p.partitions, config.MaxPartitions, "%s partitions of the schedule, and at most %s are possible")
	p.warnAbove(p.items, maxIndexed.Value, "%s new items/s, and there is one Meilisearch: %s were measured")
	p.warnAbove(p.kept, maxStored.Value, "%s items kept, and %s were measured, in SQLite and Bleve")
	p.warnAbove(p.kept, maxSearched.Value, "%s items in Meilisearch, and %s were measured: searches take longer with each of its indexes")
	p.warnAbove(p.events*largestShare.Value/100, maxWindow.Value, "%s events of the largest language in the window, and %s were measured: with less --cluster-memory the window is shorter")
}

// warnAbove warns of a value above a limit, in a format for both.
func (p *planner) warnAbove(value, limit float64, format string) {
	if value > limit {
		p.Warnings = append(p.Warnings, fmt.Sprintf(format, Number(value), Number(limit)))
	}
}

// Number formats a number with three digits and, from 1,000 on, a decimal prefix: "1.73 M".
func Number(v float64) string {
	prefixes := []string{"", " k", " M", " G", " T", " P", " E"}
	i := 0
	for ; v >= 999.5 && i < len(prefixes)-1; i++ {
		v /= 1000
	}
	digits := 0
	switch {
	case v == math.Trunc(v) && v < 1000: // "2", "50 k"
	case v < 0.995:
		digits = 3
	case v < 9.995:
		digits = 2
	case v < 99.95:
		digits = 1
	}
	return fmt.Sprintf("%.*f%s", digits, v, prefixes[i])
}

// String returns the figure with its unit.
func (f Figure) String() string {
	switch number := Number(f.Value); {
	case f.Unit == "":
		return number
	case f.Unit == "/s":
		return number + f.Unit
	case f.Unit == "cores" || f.Value < 999.5:
		return number + " " + f.Unit
	default:
		return number + f.Unit // "1.73 MB"
	}
}
