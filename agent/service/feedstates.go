package service

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"math"
	"net/http"
	"slices"
	"sync"
	"time"

	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// idLength is the length of a feed's ID, in bytes.
const idLength = 26

// A stateEntry is the state of one feed in the cache: 40 bytes, so that a million feeds take 40 MB, and twice
// as much during a reload.
type stateEntry struct {
	next     uint32 // Unix seconds; 0: never
	status   uint16 // HTTP
	class    uint8  // index of stateSnapshot.classes; 0: no error
	tier     uint8  // index of [subjects.Tiers]
	outcome  uint8  // index of stateSnapshot.outcomes
	polled   bool
	failing  bool // [subjects.State.IsFailing]
	gone     bool
	inFlight bool
	id       [idLength]byte
}

// A stateSnapshot is the states of all feeds in the schedule, ordered by ID.
type stateSnapshot struct {
	feeds   []stateEntry
	classes []string // of errors; the first is ""
	at      time.Time
	counts  subjects.ScheduleCounts

	outcomes []string // of last polls
}

// A stateCache caches the states of all feeds and the counts of tags. A reload reads the state of every feed,
// so it happens at most every two seconds and takes at most a twentieth of the time.
type stateCache struct {
	mu   sync.Mutex
	last *stateSnapshot
	keep time.Duration // how long last is cached

	tags     []storage.TagCount // cached in the same way
	tagsRead time.Time
}

// fresh reports whether a value read at the given time is cached for the given duration. A value of the
// future, read while the clock was ahead, is not.
func fresh(read time.Time, keep time.Duration, now time.Time) bool {
	age := now.Sub(read)
	return age >= 0 && age < keep
}

// states returns the states of all feeds, at most as old as the cache allows.
func (c *core) states(ctx context.Context) (*stateSnapshot, error) {
	return c.feedStates.get(ctx, c.Mesh, c.Now())
}

const (
	stateCacheAge   = 2 * time.Second
	stateCacheShare = 20
)

func (c *stateCache) get(ctx context.Context, m Mesh, now time.Time) (*stateSnapshot, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last != nil && fresh(c.last.at, c.keep, now) {
		return c.last, nil
	}
	began := time.Now()
	states, err := readStates(ctx, m, now)
	if err != nil {
		return nil, err
	}
	c.last, c.keep = states, max(stateCacheAge, stateCacheShare*time.Since(began))
	return states, nil
}

// tagsAge is the maximum age of the cached counts of tags, since counting them scans all feeds.
const tagsAge = 10 * time.Second

// tagsOf returns the most used tags of a store.
func (c *stateCache) tagsOf(ctx context.Context, store storage.Feeds, now time.Time) ([]storage.TagCount, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if fresh(c.tagsRead, tagsAge, now) {
		return c.tags, nil
	}
	tags, err := store.FeedTags(ctx, maxTags)
	if err == nil {
		c.tags, c.tagsRead = append([]storage.TagCount{}, tags...), now
	}
	return c.tags, err
}

// maxTags is the maximum number of tags returned.
const maxTags = 200

// readStates reads the state of every feed.
func readStates(ctx context.Context, m Mesh, now time.Time) (*stateSnapshot, error) {
	all := &stateSnapshot{at: now}
	var classes, outcomes nameTable
	err := m.LoadStates(ctx, func(f subjects.FeedState) {
		s := f.State
		one := stateEntry{
			failing: s.IsFailing(), status: uint16(max(s.Status, 0)), tier: uint8(max(slices.Index(subjects.Tiers, s.Tier), 0)),
			polled: !s.Polled.IsZero(), gone: s.Outcome == subjects.Gone, inFlight: s.Crawl != "",
		}
		if !s.Next.IsZero() {
			one.next = uint32(max(s.Next.Unix(), 1))
		}
		one.outcome, one.class = outcomes.number(string(s.Outcome)), classes.number("")
		if s.Failures > 0 {
			one.class = classes.number(s.Class)
		}
		copy(one.id[:], f.FeedID)
		all.feeds = append(all.feeds, one)
		all.counts.Add(s, 1)
	})
	slices.SortFunc(all.feeds, func(a, b stateEntry) int { return bytes.Compare(a.id[:], b.id[:]) })
	all.classes, all.outcomes = classes.names, outcomes.names
	return all, err
}

// A nameTable numbers names, to store a name in one byte. The zero value is empty.
type nameTable struct {
	names   []string // by number; the first is ""
	numbers map[string]uint8
}

// number returns the number of a name: 0 for "" and, in a full table, for new names. Classes and outcomes are
// far fewer than 256.
func (n *nameTable) number(name string) uint8 {
	if n.numbers == nil {
		n.names, n.numbers = []string{""}, map[string]uint8{"": 0}
	}
	number, is := n.numbers[name]
	if !is && len(n.names) <= math.MaxUint8 {
		number = uint8(len(n.names))
		n.names, n.numbers[name] = append(n.names, name), number
	}
	return number
}

// ID returns the ID of the feed.
func (s *stateEntry) ID() string { return string(bytes.TrimRight(s.id[:], "\x00")) }

// of returns the entry of a feed; nil if the schedule has no state of it.
func (all *stateSnapshot) of(id string) *stateEntry {
	var key [idLength]byte
	copy(key[:], id)
	at, is := slices.BinarySearchFunc(all.feeds, key, func(s stateEntry, key [idLength]byte) int { return bytes.Compare(s.id[:], key[:]) })
	if !is {
		return nil
	}
	return &all.feeds[at]
}

// is reports whether a feed is in one of [FeedStates].
func (all *stateSnapshot) is(s *stateEntry, state string) bool {
	switch state {
	case wire.StateGone:
		return s.gone
	case wire.StateFailing:
		return s.failing
	case wire.StateNew:
		return !s.polled
	case wire.StateOK:
		return s.polled && !s.failing && !s.gone
	case wire.StateDue:
		return s.next > 0 && !s.inFlight && int64(s.next) <= all.at.Unix()
	case wire.StatePolling:
		return s.inFlight
	}
	return false
}

// matches reports whether a feed matches a filter.
func (all *stateSnapshot) matches(f wire.FeedFilter, s *stateEntry) bool {
	return s != nil && (f.State == "" || all.is(s, f.State)) &&
		(f.Class == "" || all.classes[s.class] == f.Class) && (f.Tier == "" || subjects.Tiers[s.tier] == f.Tier)
}

// matching returns the IDs of the matching feeds, at most limit+1.
func (all *stateSnapshot) matching(f wire.FeedFilter, limit int) []string {
	ids := []string{}
	for i := range all.feeds {
		if all.matches(f, &all.feeds[i]) {
			if ids = append(ids, all.feeds[i].ID()); len(ids) > limit {
				break
			}
		}
	}
	return ids
}

// polls counts the polled feeds by the outcome of their last poll, those answered with an HTTP status, and
// among these those answered with 304.
func (all *stateSnapshot) polls() (outcomes map[string]int64, answers, same int64) {
	outcomes = map[string]int64{}
	for i := range all.feeds {
		s := &all.feeds[i]
		if !s.polled {
			continue
		}
		outcomes[all.outcomes[s.outcome]]++
		if s.status != 0 {
			answers++
		}
		if s.status == http.StatusNotModified {
			same++
		}
	}
	return outcomes, answers, same
}

// tally counts the feeds by state, class of error (most frequent first) and tier.
func (all *stateSnapshot) tally() (states, classes, tiers []wire.FeedCount) {
	inState, inTier := make([]int64, len(wire.FeedStates)), make([]int64, len(subjects.Tiers))
	ofClass := map[string]int64{}
	for i := range all.feeds {
		s := &all.feeds[i]
		for j, state := range wire.FeedStates {
			if all.is(s, state) {
				inState[j]++
			}
		}
		inTier[s.tier]++
		if s.class != 0 {
			ofClass[all.classes[s.class]]++
		}
	}
	for j, state := range wire.FeedStates {
		states = append(states, wire.FeedCount{Name: state, Feeds: inState[j]})
	}
	for j, tier := range subjects.Tiers {
		tiers = append(tiers, wire.FeedCount{Name: tier, Feeds: inTier[j]})
	}
	classes = []wire.FeedCount{}
	for _, class := range slices.Sorted(maps.Keys(ofClass)) {
		classes = append(classes, wire.FeedCount{Name: class, Feeds: ofClass[class]})
	}
	slices.SortStableFunc(classes, func(a, b wire.FeedCount) int { return cmp.Compare(b.Feeds, a.Feeds) })
	return states, classes, tiers
}
